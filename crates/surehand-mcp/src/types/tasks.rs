//! Work that goes on after its request has been answered. Source: MCP 2025-11-25, "Tasks"; SEP-2663, "Tasks extension".

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use surehand_model::{RawJson, Tool};

use super::{Page, ReadResult, ShapeFault};
use crate::client::{InputRequest, InputRequired, Listed};
use crate::error::RpcError;
use crate::members::Members;
use crate::meta::{MetaKey, push_member, with_meta};
use crate::method::{GetTask, ListTasks, Method, PagedMethod};

/// The identifier of the tasks extension.
pub const TASKS: &str = "io.modelcontextprotocol/tasks";

/// How a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskStatus {
    /// It goes on.
    Working,
    /// It waits for something from the client.
    InputRequired,
    /// It has a result.
    Completed,
    /// It has an error.
    Failed,
    /// It was given up.
    Cancelled,
}

impl TaskStatus {
    /// As it stands on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::InputRequired => "input_required",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// The status of that name, exactly.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Working, Self::InputRequired, Self::Completed, Self::Failed, Self::Cancelled]
            .into_iter()
            .find(|status| status.as_str() == text)
    }

    /// Whether it stays as it is.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// A task as its server tells of it, in either spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskState {
    /// Under which it is asked for.
    pub id: String,
    /// How it stands. A status that is not known counts as going on.
    pub status: TaskStatus,
    /// The same in words.
    pub status_message: Option<String>,
    /// How long it is kept after it was made, in milliseconds; none where it is kept for ever or the server does not say.
    pub ttl: Option<u64>,
    /// How long to wait before it is asked for again, in milliseconds.
    pub poll_interval: Option<u64>,
    /// What it waits for, where the server says so here.
    pub requests: Vec<InputRequest>,
    /// What came of it, where the server says so here.
    pub outcome: Option<Result<RawJson, RpcError>>,
    /// All of it as it came.
    pub raw: RawJson,
}

impl TaskState {
    fn of(raw: &RawValue) -> Result<Self, String> {
        let members = Members::of(raw).ok_or("it is not an object")?;
        let id = members.string("taskId").filter(|id| !id.is_empty()).ok_or("it has no `taskId`")?;
        let status = members.string("status").and_then(|status| TaskStatus::parse(&status));
        let milliseconds = |keys: [&str; 2]| {
            let number = keys.into_iter().find_map(|key| members.number(key));
            number.filter(|number| *number >= 0.0).map(|number| number as u64)
        };
        let result = members.present("result").map(|result| Ok(RawJson::from(result)));
        let error = || members.present("error").map(|error| Err(RpcError::read(error)));
        Ok(Self {
            id,
            status: status.unwrap_or(TaskStatus::Working),
            status_message: members.string("statusMessage"),
            ttl: milliseconds(["ttlMs", "ttl"]),
            poll_interval: milliseconds(["pollIntervalMs", "pollInterval"]),
            requests: InputRequired::read_requests(&members),
            outcome: result.or_else(error),
            raw: RawJson::from(raw),
        })
    }

    /// The task that a request was answered with in the place of its result; nothing where it has its result.
    pub fn created(result: &RawJson) -> Option<Self> {
        let members = Members::parse(result.as_str())?;
        match members.string("resultType").as_deref() {
            Some("task") => Self::of(serde_json::from_str(result.as_str()).ok()?).ok(),
            // The older spelling has no word for it but the member itself.
            None if members.present("content").is_none() => Self::of(members.present("task")?).ok(),
            _ => None,
        }
    }

    /// The parameters of a notification that tells of a task.
    pub(crate) fn told(params: Option<&RawValue>) -> Option<Self> {
        Self::of(params?).ok()
    }
}

impl ReadResult for TaskState {
    fn read(result: &RawJson) -> Result<Self, ShapeFault> {
        let fault = |what: String| ShapeFault { method: GetTask::NAME, what };
        let raw = serde_json::from_str(result.as_str()).map_err(|error| fault(error.to_string()))?;
        Self::of(raw).map_err(fault)
    }
}

impl ReadResult for Page<TaskState> {
    fn read(result: &RawJson) -> Result<Self, ShapeFault> {
        Self::read_items(result, (ListTasks::NAME, "tasks"), |raw, _| TaskState::of(raw))
    }
}

impl Listed for TaskState {
    fn key(&self) -> &str {
        &self.id
    }
}

impl PagedMethod for ListTasks {
    type Item = TaskState;
}

/// What `tasks/get`, `tasks/result` and `tasks/cancel` ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskParams {
    /// Which task.
    pub task_id: String,
}

/// What `tasks/update` asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskUpdateParams {
    /// Which task.
    pub task_id: String,
    /// What it waited for, by key: an object.
    pub input_responses: RawJson,
}

/// Whether a tool's calls may become tasks, where the client says so with each call (2025-11-25).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TaskSupport {
    /// Never.
    #[default]
    Forbidden,
    /// As the client likes.
    Optional,
    /// Always.
    Required,
}

impl TaskSupport {
    /// As it stands on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Forbidden => "forbidden",
            Self::Optional => "optional",
            Self::Required => "required",
        }
    }

    /// What a tool's definition says of it.
    pub fn of(tool: &Tool) -> Self {
        let support = tool.definition.as_ref().and_then(|definition| {
            Members::parse(definition.as_str())?.object("execution")?.string("taskSupport")
        });
        match support.as_deref() {
            Some("required") => Self::Required,
            Some("optional") => Self::Optional,
            _ => Self::Forbidden,
        }
    }
}

/// The parameters of a call that is to become a task, kept for `ttl` milliseconds.
pub fn as_task(params: &RawJson, ttl: Option<u64>) -> RawJson {
    let members = Members::parse(params.as_str()).map(|members| members.0).unwrap_or_default();
    let mut out = String::from("{");
    for (key, value) in members.iter().filter(|(key, _)| key != "task") {
        push_member(&mut out, key, value.get());
    }
    let task = ttl.map_or_else(|| "{}".to_owned(), |ttl| format!(r#"{{"ttl":{ttl}}}"#));
    push_member(&mut out, "task", &task);
    out.push('}');
    RawJson::parse(out).unwrap_or_else(|_| params.clone())
}

/// The answer to a request that belongs to a task says so too (2025-11-25).
pub fn with_related_task(params: Option<&RawJson>, result: RawJson) -> RawJson {
    let related = params.and_then(|params| {
        Members::parse(params.as_str())?.object("_meta")?.present(MetaKey::RELATED_TASK).map(RawJson::from)
    });
    match related {
        Some(task) => {
            let text = with_meta(Some(&result), &[(MetaKey::RELATED_TASK, task)]);
            RawJson::parse(text).unwrap_or(result)
        }
        None => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> RawJson {
        RawJson::parse(text).unwrap()
    }

    #[test]
    fn both_spellings_are_read_and_an_unknown_status_goes_on() {
        let older = raw(
            r#"{"task":{"taskId":"a","status":"working","statusMessage":"m","createdAt":"x","ttl":null,"pollInterval":5e2}}"#,
        );
        let state = TaskState::created(&older).unwrap();
        assert_eq!(
            (
                state.id.as_str(),
                state.status,
                state.status_message.as_deref(),
                state.ttl,
                state.poll_interval
            ),
            ("a", TaskStatus::Working, Some("m"), None, Some(500))
        );
        let newer =
            raw(r#"{"resultType":"task","taskId":"b","status":"resting","ttlMs":60000,"pollIntervalMs":10}"#);
        let state = TaskState::created(&newer).unwrap();
        assert_eq!(
            (state.id.as_str(), state.status, state.ttl, state.poll_interval, &state.raw),
            ("b", TaskStatus::Working, Some(60_000), Some(10), &newer)
        );
        for result in [
            r#"{"content":[],"task":{"taskId":"a"}}"#,
            r#"{"resultType":"complete","task":{"taskId":"a"}}"#,
            r#"{"resultType":"task","taskId":""}"#,
        ] {
            assert_eq!(TaskState::created(&raw(result)), None, "{result}");
        }
    }

    #[test]
    fn a_task_tells_what_it_waits_for_and_what_came_of_it() {
        let state = |text: &str| TaskState::read(&raw(text)).unwrap();
        let waiting = state(
            r#"{"taskId":"a","status":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{"n":1.10}}}}"#,
        );
        assert_eq!((waiting.requests.len(), waiting.requests[0].key.as_str()), (1, "k"));
        let done = state(r#"{"taskId":"a","status":"completed","result":{"content":[],"n":1.10}}"#);
        assert_eq!(done.outcome, Some(Ok(raw(r#"{"content":[],"n":1.10}"#))));
        let failed = state(r#"{"taskId":"a","status":"failed","error":{"code":-32603,"message":"no"}}"#);
        assert_eq!(failed.outcome, Some(Err(RpcError::new(-32603, "no"))));
        let page =
            Page::<TaskState>::read(&raw(r#"{"tasks":[{"taskId":"a","status":"failed"},{}]}"#)).unwrap();
        assert_eq!((page.items.len(), page.notes.len()), (1, 1));
    }

    #[test]
    fn a_call_becomes_a_task_and_an_answer_belongs_to_it_with_all_other_bytes_as_they_were() {
        let params = raw(r#"{"name":"t","arguments":{"n": 1.10 }}"#);
        assert_eq!(
            as_task(&params, Some(60_000)).as_str(),
            r#"{"name":"t","arguments":{"n": 1.10 },"task":{"ttl":60000}}"#
        );
        assert_eq!(as_task(&raw("{}"), None).as_str(), r#"{"task":{}}"#);
        let asked = raw(r#"{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"a"}}}"#);
        assert_eq!(
            with_related_task(Some(&asked), raw(r#"{"action":"decline"}"#)).as_str(),
            r#"{"action":"decline","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"a"}}}"#
        );
        assert_eq!(with_related_task(None, raw(r#"{"n":1.10}"#)).as_str(), r#"{"n":1.10}"#);
    }

    #[test]
    fn a_definition_says_whether_calls_become_tasks() {
        let support = |definition: &str| {
            TaskSupport::of(&Tool { definition: Some(raw(definition)), ..Tool::new("t", "", raw("{}")) })
        };
        assert_eq!(support(r#"{"execution":{"taskSupport":"required"}}"#), TaskSupport::Required);
        assert_eq!(support(r#"{"execution":{"taskSupport":"optional"}}"#), TaskSupport::Optional);
        assert_eq!(support(r#"{"execution":{"taskSupport":"often"}}"#), TaskSupport::Forbidden);
        assert_eq!(TaskSupport::of(&Tool::new("t", "", raw("{}"))), TaskSupport::Forbidden);
    }
}
