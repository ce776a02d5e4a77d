//! Bytes on the move: stdio, Streamable HTTP and in-process, both sides each, and the one guarded HTTP client.
//!
//! The one decision that shapes this crate: **the protocol lives elsewhere.** What a message means and what follows from it is
//! decided by the state machines of `surehand-mcp`; here bytes are carried, waits have ends, and whoever starts a task owns it.

mod client;
mod http;
mod lines;
mod outgoing;
mod server;
mod sse;

pub use client::{
    Authorizer, CallOptions, CallOutcome, Challenge, Client, ClientError, ClientEvent, ClientOptions,
    Credentials, Elicitor, HttpTarget, OpenError, Retry, Roots, Sampler, SkillError, Started, Target,
};
pub use http::{
    AddressGuard, HeaderMap, HttpClient, HttpError, HttpOptions, HttpRequest, HttpResponse, Method,
    ProxyOptions, Redirects, is_loopback_host,
};
pub use lines::{Line, LineReader, LineSplitter};
pub use server::{
    Caller, Gate, GateDocument, GateRefusal, HttpServer, HttpServerError, HttpServerOptions, SealKey,
    SealKeyError, ServeError, serve_http, serve_stdio, serve_streams,
};
pub use sse::{SseDecoder, SseError, SseEvent};
pub use surehand_mcp::{
    Choice, ElicitAnswer, ElicitAsk, ElicitRequest, ElicitationModes, Era, FieldFault, FieldKind, Form,
    FormField, GetPromptParams, GetPromptResult, Icon, Listing, Progress, Prompt, ReadResourceResult,
    Resource, ResourceTemplate, Root, SKILLS, SamplingModes, ServerFacts, ServerNotice, Skill, SkillFault,
    SkillFile, SkillFiles, TASKS, TaskState, TaskStatus,
};
