//! The Model Context Protocol as data and state machines: a JSON-RPC envelope with raw payloads, revisions as one table, typed
//! views chosen by method. Pure: no I/O, no clock.

mod client;
mod contain;
mod envelope;
mod error;
mod handler;
mod header;
mod members;
mod meta;
mod method;
mod revision;
mod server;
mod skills;
mod tasks;
mod toolset;
mod types;

pub use client::{
    Ask, CacheHints, CacheKey, CacheLimits, CacheTicket, ClientCapabilities, ElicitationModes, Era, Exchange,
    HostedTasks, Incoming, InputKind, InputKinds, InputRequest, InputRequired, Listed, Listing, Opened,
    Opening, OpeningFault, OpeningOutcome, OpeningRequest, OpeningStep, OutputSchemas, Paging, ResultCache,
    ResultFault, SamplingModes, ServerNotice, Speaker, TaskStep, TaskWatch, Wanted, check_result,
    wanted_addresses,
};
pub use envelope::{
    EnvelopeFault, EnvelopeLimits, Id, Message, parse_message, split_batch, write_error, write_notification,
    write_request, write_result,
};
pub use error::{ErrorCode, RpcError};
pub use handler::{
    BoxFuture, CallFailure, Caller, Change, ChangeListener, Changes, ClientFeature, Implementation, Offers,
    Outbox, PromptOutput, Question, RequestContext, ServerHandler, ToolInvocation, ToolOutput,
};
pub use header::{ParamHeader, decode_header_value, encode_header_value, encode_params, param_headers};
pub use meta::with_log_level;
pub use method::{
    CallTool, CancelTask, Complete, DISCOVER, ELICIT, GetPrompt, GetTask, ListParams, ListPrompts,
    ListResourceTemplates, ListResources, ListTasks, ListTools, Method, PagedMethod, Ping, ROOTS_CHANGED,
    ReadResource, SetLevel, Subscribe, TaskResult, Unsubscribe, UpdateTask,
};
pub use revision::{Feature, Revision};
pub use server::{
    Arrival, HttpFacts, HttpSession, Negotiated, PendingRequest, Reply, ServerMachine, StateSeal,
    Subscription, Verdict, encode_output,
};
pub use skills::{
    FrontmatterFault, GetSkill, ListSkills, READ_DIRECTORY, SKILLS, ShelfFault, Skill, SkillFault, SkillFile,
    SkillFiles, SkillParams, SkillShelf, read_frontmatter,
};
pub use surehand_policy::Effect;
pub use tasks::{Background, TaskOptions};
pub use toolset::{
    IntoToolOutput, NoArguments, RunTool, Structured, Text, ToolCard, ToolEntry, ToolFacts, ToolFailure,
    Tools, Toolset, nothing_found,
};
pub use types::completion::{
    CompleteParams, CompleteResult, CompletionArgument, CompletionContext, CompletionRef,
};
pub use types::elicitation::{
    Choice, ElicitAnswer, ElicitAsk, ElicitRequest, FieldFault, FieldKind, Form, FormField,
};
pub use types::empty::{Done, NoParams};
pub use types::icons::{Icon, read_icons};
pub use types::lifecycle::ServerFacts;
pub use types::prompts::{GetPromptParams, GetPromptResult, Prompt, PromptArgument, PromptMessage};
pub use types::resources::{ReadResourceParams, ReadResourceResult, Resource, ResourceTemplate};
pub use types::roots::{Root, write_roots};
pub use types::sampling::read_sampling;
pub use types::tasks::{
    TASKS, TaskParams, TaskState, TaskStatus, TaskSupport, TaskUpdateParams, as_task, with_related_task,
};
pub use types::tools::{CallToolParams, CallToolResult, write_tool};
pub use types::utilities::{LogLevel, LogMessage, Progress, SetLevelParams};
pub use types::{Page, ReadResult, ShapeFault};
