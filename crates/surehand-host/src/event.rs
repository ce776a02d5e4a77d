//! What happens while a question is being answered, told to whoever watches.

use surehand_model::{CallId, Note, RawJson};

use crate::approval::ApprovalRequest;
use crate::question::ServerQuestion;
use crate::record::{Answer, CallRecord};
use crate::status::ServerStatus;

/// Something that happened. In the order in which it happened.
#[derive(Clone, Debug)]
pub enum HostEvent {
    /// The servers are connected, or are not; everything that was left out is said here.
    Init {
        /// Every configured server.
        servers: Vec<ServerStatus>,
        /// What was left out and why.
        skipped: Vec<Note>,
    },
    /// The model is asked, for the n-th time, from 1.
    TurnStarted(u32),
    /// More of the answer.
    Text(String),
    /// More of the model's thinking.
    Reasoning(String),
    /// The model began to write a call of this name; its arguments are on the way.
    CallAnnounced(String),
    /// A call was made.
    CallStarted {
        /// Its id.
        id: CallId,
        /// Which server; empty for a tool nobody has.
        server: String,
        /// Which tool.
        tool: String,
        /// As they would be sent.
        arguments: RawJson,
    },
    /// A running call tells how far it is.
    CallProgress {
        /// Its id.
        id: CallId,
        /// In words, or numbers as text.
        message: String,
    },
    /// A person is being asked.
    ApprovalAsked(ApprovalRequest),
    /// A server asks the person something while its tool runs.
    ServerAsked(ServerQuestion),
    /// A call was answered.
    CallFinished(Box<CallRecord>),
    /// Something worth telling: a retry, a repair, something left out.
    Note(Note),
    /// The run ended.
    Finished(Box<Answer>),
}

/// Whoever watches. Must not block.
pub trait Observer: Send + Sync {
    /// Takes one event.
    fn event(&self, event: HostEvent);
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct NobodyWatches;

impl Observer for NobodyWatches {
    fn event(&self, _: HostEvent) {}
}
