use std::collections::{BTreeMap, HashSet};
use std::task::Waker;

use surehand_model::RawJson;

use super::stamp::stamp;
use super::table::Owner;
use crate::error::RpcError;
use crate::handler::{CallFailure, Question};
use crate::meta::push_member;
use crate::revision::Revision;

/// One task.
pub(crate) struct Task {
    pub(super) id: String,
    /// Those that began later have greater ones.
    pub(super) number: u64,
    pub(super) owner: Owner,
    /// In seconds since 1970.
    pub(super) created: u64,
    /// In seconds since 1970.
    pub(super) updated: u64,
    pub(super) ttl_ms: u64,
    pub(super) poll_interval_ms: u64,
    pub(super) message: Option<String>,
    pub(super) stage: Stage,
    /// What has been asked and not yet been taken.
    pub(super) asked: Vec<Asked>,
    /// Under which keys anything was ever asked.
    pub(super) keys: HashSet<String>,
    /// Who waits for a change.
    pub(super) waiting: BTreeMap<u64, Waker>,
}

/// How far a task is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Working,
    Completed {
        /// The result object of the request.
        result: String,
        is_error: bool,
    },
    Failed(RpcError),
    Cancelled,
}

/// One question of a task.
pub(super) struct Asked {
    pub(super) key: String,
    pub(super) question: Question,
    pub(super) answer: Option<Result<RawJson, CallFailure>>,
    /// In the era of handshakes: somebody is asking the client just now.
    pub(super) is_on_its_way: bool,
}

impl Task {
    /// Whether nothing will become of it any more.
    pub(crate) fn is_over(&self) -> bool {
        self.stage != Stage::Working
    }

    pub(crate) fn stage(&self) -> &Stage {
        &self.stage
    }

    fn open(&self) -> impl Iterator<Item = &Asked> {
        self.asked.iter().filter(|asked| asked.answer.is_none())
    }

    /// A question that nobody has put to the client yet, which the caller now does.
    pub(crate) fn next_question(&mut self) -> Option<(String, Question)> {
        let next = self.asked.iter_mut().find(|asked| asked.answer.is_none() && !asked.is_on_its_way)?;
        next.is_on_its_way = true;
        Some((next.key.clone(), next.question.clone()))
    }

    /// A key like this one that this task has never used before.
    pub(super) fn fresh_key(&mut self, key: &str) -> String {
        let numbered = (2..).map(|number| format!("{key}-{number}"));
        let mut keys = std::iter::once(key.to_owned()).chain(numbered);
        let key = keys.find(|key| !self.keys.contains(key)).unwrap_or_default();
        self.keys.insert(key.clone());
        key
    }

    /// What it keeps, in bytes.
    pub(super) fn size(&self) -> usize {
        match &self.stage {
            Stage::Completed { result, .. } => result.len(),
            Stage::Failed(error) => {
                error.message.len() + error.data.as_ref().map_or(0, |data| data.as_str().len())
            }
            Stage::Working | Stage::Cancelled => 0,
        }
    }

    /// Its members in a revision, without braces: how it stands.
    pub(crate) fn write(&self, revision: Revision) -> String {
        let is_modern = revision.is_modern();
        let status = match &self.stage {
            Stage::Working if self.open().next().is_some() => "input_required",
            Stage::Working => "working",
            // The core of 2025-11-25 takes a tool that failed for a task that failed, the extension does not.
            Stage::Completed { is_error: true, .. } if !is_modern => "failed",
            Stage::Completed { .. } => "completed",
            Stage::Failed(_) => "failed",
            Stage::Cancelled => "cancelled",
        };
        let message = match &self.stage {
            Stage::Failed(error) => Some(&error.message),
            _ => self.message.as_ref(),
        };
        let mut out = String::from("{");
        push_member(&mut out, "taskId", RawJson::from_serialize(&self.id).as_str());
        push_member(&mut out, "status", &format!("\"{status}\""));
        if let Some(message) = message {
            push_member(&mut out, "statusMessage", RawJson::from_serialize(message).as_str());
        }
        for (key, seconds) in [("createdAt", self.created), ("lastUpdatedAt", self.updated)] {
            push_member(&mut out, key, &format!("\"{}\"", stamp(seconds)));
        }
        let (ttl, interval) = if is_modern { ("ttlMs", "pollIntervalMs") } else { ("ttl", "pollInterval") };
        push_member(&mut out, ttl, &self.ttl_ms.to_string());
        push_member(&mut out, interval, &self.poll_interval_ms.to_string());
        out.split_off(1)
    }

    /// Its members in the stateless era, without braces: how it stands, what it asks, and what became of it.
    pub(crate) fn write_whole(&self, revision: Revision) -> String {
        let mut out = self.write(revision);
        match &self.stage {
            Stage::Working => {
                let mut requests = String::from("{");
                for Asked { key, question, .. } in self.open() {
                    push_member(&mut requests, key, &question.write());
                }
                if requests.len() > 1 {
                    push_member(&mut out, "inputRequests", &format!("{requests}}}"));
                }
            }
            Stage::Completed { result, .. } => push_member(&mut out, "result", result),
            Stage::Failed(error) => {
                let mut text = String::new();
                error.write(&mut text);
                push_member(&mut out, "error", &text);
            }
            Stage::Cancelled => {}
        }
        out
    }
}
