//! Asking a person before something runs.

use surehand_model::{CallId, RawJson};
use surehand_provider::BoxFuture;

/// Everything a person needs to see before saying yes. What is shown is what runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalRequest {
    /// The call it is about.
    pub id: CallId,
    /// Which server would run it.
    pub server: String,
    /// The tool's own name there.
    pub tool: String,
    /// The arguments exactly as they would be sent.
    pub arguments: RawJson,
    /// Which rule asks.
    pub rule: String,
    /// Why it asks.
    pub reason: String,
}

/// What a person said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Approval {
    /// This call, once.
    Once,
    /// This call, and every later one of the same tool until the program ends.
    ForSession,
    /// No. The reason is told to the model.
    Deny {
        /// In words.
        reason: String,
        /// Whether a person said it; otherwise there was nobody to ask, which counts as policy.
        by_person: bool,
    },
}

/// Whoever can be asked. The pipeline asks one question at a time.
pub trait Approver: Send + Sync {
    /// Asks, and waits for the answer. Time spent here does not count against any time limit of the call or the run.
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval>;
}

/// Nobody to ask: whatever would ask is denied.
#[derive(Clone, Copy, Debug, Default)]
pub struct NobodyToAsk;

impl Approver for NobodyToAsk {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        let reason = format!(
            "This call needs a person's approval ({}) and there is nobody to ask.",
            request.reason.trim_end_matches('.')
        );
        Box::pin(async move { Approval::Deny { reason, by_person: false } })
    }
}

/// The person agreed beforehand: whatever would ask runs. What policy denies stays denied.
#[derive(Clone, Copy, Debug, Default)]
pub struct ApproveAll;

impl Approver for ApproveAll {
    fn ask<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        Box::pin(async { Approval::Once })
    }
}
