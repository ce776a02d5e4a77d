//! Calls that go on after they were answered: the answer is a task, and the client comes back for what becomes of it.
//!
//! One table serves both ways of the protocol: the extension of 2026-07-28, where the server decides, and the core of
//! 2025-11-25, where the client does.
//!
//! Source: SEP-2663; MCP 2025-11-25, "Tasks".

mod stamp;
mod table;
mod task;

use std::time::Duration;

pub(crate) use self::stamp::stamp;
pub(crate) use self::table::{Begun, Owner, TaskTable};
pub(crate) use self::task::Stage;
use crate::handler::BoxFuture;

/// Works on what goes on after its request was answered. Transports hand it in; what it works on ends with the server.
pub trait Background: Send + Sync {
    /// Works on this until it ends or the server does.
    fn carry_on(&self, work: BoxFuture<'static, ()>);

    /// Ends when this time is over.
    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()>;
}

/// What a handler says of the task that its call becomes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskOptions {
    /// How long the task may take and its result is kept, in milliseconds from its beginning; at most a day. An hour where it
    /// is not said. Where the client asks for a time, that one counts.
    pub ttl_ms: Option<u64>,
    /// How often the client may ask after it, in milliseconds. A second where it is not said.
    pub poll_interval_ms: Option<u64>,
    /// How it stands, for people.
    pub status_message: Option<String>,
}
