//! The Model Context Protocol as data and state machines: a JSON-RPC envelope with raw payloads, revisions as one table, typed
//! views chosen by method. Pure: no I/O, no clock.

mod handler;

pub use handler::{BoxFuture, CallFailure, Implementation, ServerHandler, ToolInvocation, ToolOutput};
