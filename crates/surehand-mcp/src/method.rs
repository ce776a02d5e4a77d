//! The methods of the protocol, one line each.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use surehand_model::Tool;

use crate::types::completion::{CompleteParams, CompleteResult};
use crate::types::empty::{Done, NoParams};
use crate::types::prompts::{GetPromptParams, GetPromptResult, Prompt};
use crate::types::resources::{ReadResourceParams, ReadResourceResult, Resource, ResourceTemplate};
use crate::types::tasks::{TaskParams, TaskState, TaskUpdateParams};
use crate::types::tools::{CallToolParams, CallToolResult};
use crate::types::utilities::SetLevelParams;
use crate::types::{Page, ReadResult};

/// A method of the protocol; its types hang on it.
pub trait Method {
    /// As it stands on the wire.
    const NAME: &'static str;
    /// What is asked.
    type Params: Serialize + DeserializeOwned + Send;
    /// What is answered.
    type Result: ReadResult + Send;
}

/// A method whose answer comes in pages.
pub trait PagedMethod: Method<Params = ListParams, Result = Page<Self::Item>> {
    /// What is listed.
    type Item: Send;
}

/// What every list method asks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListParams {
    /// Where the page starts, as the page before said; none for the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

macro_rules! methods {
    ($($(#[$doc:meta])* $method:ident = $name:literal: $params:ty => $result:ty;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub enum $method {}
        impl Method for $method {
            const NAME: &'static str = $name;
            type Params = $params;
            type Result = $result;
        }
    )*};
}

methods! {
    /// Lists tools.
    ListTools = "tools/list": ListParams => Page<Tool>;
    /// Runs one tool.
    CallTool = "tools/call": CallToolParams => CallToolResult;
    /// Lists resources.
    ListResources = "resources/list": ListParams => Page<Resource>;
    /// Lists families of resources.
    ListResourceTemplates = "resources/templates/list": ListParams => Page<ResourceTemplate>;
    /// Reads one resource.
    ReadResource = "resources/read": ReadResourceParams => ReadResourceResult;
    /// Lists prompts.
    ListPrompts = "prompts/list": ListParams => Page<Prompt>;
    /// Fills in one prompt.
    GetPrompt = "prompts/get": GetPromptParams => GetPromptResult;
    /// Completes one argument.
    Complete = "completion/complete": CompleteParams => CompleteResult;
    /// Wants to be told when a resource changes.
    Subscribe = "resources/subscribe": ReadResourceParams => Done;
    /// No longer wants to be told.
    Unsubscribe = "resources/unsubscribe": ReadResourceParams => Done;
    /// Asks how a task stands.
    GetTask = "tasks/get": TaskParams => TaskState;
    /// Waits for what comes of a task (2025-11-25).
    TaskResult = "tasks/result": TaskParams => CallToolResult;
    /// Lists tasks (2025-11-25).
    ListTasks = "tasks/list": ListParams => Page<TaskState>;
    /// Gives a task what it waits for.
    UpdateTask = "tasks/update": TaskUpdateParams => Done;
    /// Gives a task up.
    CancelTask = "tasks/cancel": TaskParams => Done;
    /// Asks whether anybody is there.
    Ping = "ping": NoParams => Done;
    /// Says from which level on the server logs.
    SetLevel = "logging/setLevel": SetLevelParams => Done;
}

impl PagedMethod for ListTools {
    type Item = Tool;
}
impl PagedMethod for ListResources {
    type Item = Resource;
}
impl PagedMethod for ListResourceTemplates {
    type Item = ResourceTemplate;
}
impl PagedMethod for ListPrompts {
    type Item = Prompt;
}

/// A server's question to the person behind the client.
pub const ELICIT: &str = name::ELICIT;

/// Asks a stateless server who it is.
pub const DISCOVER: &str = name::DISCOVER;

/// A client's word that its folders are others than before.
pub const ROOTS_CHANGED: &str = name::ROOTS_CHANGED;

/// Methods and notifications that the state machines deal with themselves.
pub(crate) mod name {
    pub(crate) const INITIALIZE: &str = "initialize";
    pub(crate) const INITIALIZED: &str = "notifications/initialized";
    pub(crate) const DISCOVER: &str = "server/discover";
    pub(crate) const ELICIT: &str = "elicitation/create";
    pub(crate) const SAMPLE: &str = "sampling/createMessage";
    pub(crate) const ROOTS: &str = "roots/list";
    pub(crate) const LISTEN: &str = "subscriptions/listen";
    pub(crate) const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
    pub(crate) const SUBSCRIBE: &str = "resources/subscribe";
    pub(crate) const UNSUBSCRIBE: &str = "resources/unsubscribe";
    pub(crate) const TASK_GET: &str = "tasks/get";
    pub(crate) const TASK_UPDATE: &str = "tasks/update";
    pub(crate) const TASK_RESULT: &str = "tasks/result";
    pub(crate) const TASK_LIST: &str = "tasks/list";
    pub(crate) const TASK_CANCEL: &str = "tasks/cancel";
    pub(crate) const TASK_STATUS: &str = "notifications/tasks/status";
    pub(crate) const TASK_CHANGED: &str = "notifications/tasks";
    pub(crate) const PING: &str = "ping";
    pub(crate) const SET_LEVEL: &str = "logging/setLevel";
    pub(crate) const CANCELLED: &str = "notifications/cancelled";
    pub(crate) const PROGRESS: &str = "notifications/progress";
    pub(crate) const MESSAGE: &str = "notifications/message";
    pub(crate) const TOOLS_CHANGED: &str = "notifications/tools/list_changed";
    pub(crate) const RESOURCES_CHANGED: &str = "notifications/resources/list_changed";
    pub(crate) const PROMPTS_CHANGED: &str = "notifications/prompts/list_changed";
    pub(crate) const RESOURCE_UPDATED: &str = "notifications/resources/updated";
    pub(crate) const ROOTS_CHANGED: &str = "notifications/roots/list_changed";
    pub(crate) const ELICITATION_COMPLETE: &str = "notifications/elicitation/complete";
}
