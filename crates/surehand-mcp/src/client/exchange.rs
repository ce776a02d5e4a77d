use std::collections::{HashMap, HashSet};

use serde_json::value::RawValue;
use surehand_model::{Note, RawJson};

use super::kinds::{InputKind, InputKinds};
use super::wanted::Wanted;
use crate::envelope::{
    EnvelopeFault, EnvelopeLimits, Id, Message, parse_message, split_batch, write_error, write_result,
};
use crate::error::{ErrorCode, RpcError};
use crate::members::Members;
use crate::meta::MetaKey;
use crate::method::name;
use crate::revision::{Feature, Revision};
use crate::types::tasks::TaskState;
use crate::types::utilities::{LogMessage, Progress, read_log, read_progress};

/// The requests of a client that wait for an answer, each with whatever waits for it (`W`).
///
/// Bytes come in, and what is to be done about them comes out. What a server sends that makes no sense is said and survived.
#[derive(Debug)]
pub struct Exchange<W> {
    next: u64,
    waiting: HashMap<u64, W>,
    revision: Option<Revision>,
    limits: EnvelopeLimits,
    takes: InputKinds,
    /// Those that wait which listen for changes: their answer ends the listening.
    subscriptions: HashSet<u64>,
    /// It has been said that the server writes our ids in another way.
    is_respelling_said: bool,
}

/// What a message from the server means.
#[derive(Debug)]
pub enum Incoming<W> {
    /// The answer that `waiter` waited for.
    Answer {
        /// Handed back.
        waiter: W,
        /// The result as it came, or the server's error.
        outcome: Result<RawJson, RpcError>,
    },
    /// How far a request that still waits has come.
    Progress {
        /// Which request.
        id: u64,
        /// How far.
        progress: Progress,
    },
    /// The server asks something of the client. To be answered under `id`.
    Question {
        /// The server's own.
        id: Id,
        /// What.
        kind: InputKind,
        /// As they came; [`crate::ElicitRequest::read`] and [`crate::read_sampling`] read them.
        params: Option<RawJson>,
    },
    /// The server no longer wants an answer to its question.
    Withdrawn {
        /// Which question.
        id: Id,
    },
    /// To be sent to the server at once.
    Reply(String),
    /// The server will tell of this much from now on.
    Granted {
        /// Which request listens.
        id: u64,
        /// Possibly less than was wanted.
        granted: Wanted,
    },
    /// The server tells something that nobody asked for.
    Notice(ServerNotice),
    /// Something odd.
    Note(Note),
}

/// Something a server tells on its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerNotice {
    /// Its tools are not what they were.
    ToolsChanged,
    /// Its resources are not what they were.
    ResourcesChanged,
    /// Its prompts are not what they were.
    PromptsChanged,
    /// One resource is not what it was.
    ResourceUpdated {
        /// Which.
        uri: String,
    },
    /// What was to be done behind an address is done.
    ElicitationComplete {
        /// The question's own; empty where the server did not say.
        id: String,
    },
    /// A task does not stand as it did.
    Task(Box<TaskState>),
    /// It logs something.
    Log(LogMessage),
    /// A notification that this client has no word for.
    Other {
        /// Which.
        method: String,
        /// As they came.
        params: Option<RawJson>,
    },
}

impl<W> Exchange<W> {
    /// Nothing waits yet. `revision` is none while the connection is being opened.
    pub fn new(revision: Option<Revision>, limits: EnvelopeLimits) -> Self {
        Self {
            next: 1,
            waiting: HashMap::new(),
            revision,
            limits,
            takes: InputKinds::default(),
            subscriptions: HashSet::new(),
            is_respelling_said: false,
        }
    }

    /// Hands out what the server asks of these kinds; to all else it is told that the client does not offer it.
    pub fn taking_questions(mut self, takes: InputKinds) -> Self {
        self.takes = takes;
        self
    }

    /// From here on the connection speaks this revision.
    pub fn settle(&mut self, revision: Revision) {
        self.revision = Some(revision);
    }

    /// Takes an id for a request that is about to be sent. Never used again on this connection.
    pub fn begin(&mut self, waiter: W) -> u64 {
        let id = self.next;
        self.expect(id, waiter);
        id
    }

    /// The same, where the id has been chosen elsewhere.
    pub fn expect(&mut self, id: u64, waiter: W) {
        self.next = self.next.max(id + 1);
        self.waiting.insert(id, waiter);
    }

    /// The request of this id listens for changes until it is answered or forgotten.
    pub fn subscribe(&mut self, id: u64) {
        self.subscriptions.insert(id);
    }

    /// Who waits for this answer.
    pub fn waiter(&self, id: u64) -> Option<&W> {
        self.waiting.get(&id)
    }

    /// Nobody waits for this answer any more; when it comes, it is dropped.
    pub fn forget(&mut self, id: u64) -> Option<W> {
        self.subscriptions.remove(&id);
        self.waiting.remove(&id)
    }

    /// Everybody who still waits, for when the connection is gone.
    pub fn abandon(&mut self) -> Vec<W> {
        self.subscriptions.clear();
        self.waiting.drain().map(|(_, waiter)| waiter).collect()
    }

    /// How many wait.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Takes one message (one line, one event, one body) in.
    pub fn receive(&mut self, text: &str) -> Vec<Incoming<W>> {
        let mut incoming = Vec::with_capacity(1);
        match parse_message(text, self.limits) {
            Ok(message) => self.message(message, &mut incoming),
            Err(EnvelopeFault::Batch)
                if self.revision.is_none_or(|revision| revision.has(Feature::Batch)) =>
            {
                match split_batch(text, self.limits) {
                    Ok(items) => {
                        for item in items {
                            match parse_message(item, self.limits) {
                                Ok(message) => self.message(message, &mut incoming),
                                Err(fault) => self.fault(&fault, item, &mut incoming),
                            }
                        }
                    }
                    Err(fault) => self.fault(&fault, text, &mut incoming),
                }
            }
            Err(fault) => self.fault(&fault, text, &mut incoming),
        }
        incoming
    }

    fn message(&mut self, message: Message<'_>, incoming: &mut Vec<Incoming<W>>) {
        match message {
            Message::Answer { id, outcome } => {
                let Some(waiter) = self.take_waiter(id.as_ref(), outcome.is_err()) else {
                    if id.as_ref().and_then(Id::as_number).is_none_or(|id| id >= self.next) {
                        let what = match &id {
                            Some(id) => format!("answer under id {id} dropped"),
                            None => "answer without an id dropped".to_owned(),
                        };
                        incoming.push(Incoming::Note(Note::new(
                            "server",
                            what,
                            "nothing was asked under it",
                        )));
                    }
                    return;
                };
                let respelled = id.filter(|id| id.as_number().is_some_and(|ours| Id::number(ours) != *id));
                if let Some(id) = respelled
                    && !std::mem::replace(&mut self.is_respelling_said, true)
                {
                    let what = format!("answer under id {id} taken");
                    let why = "ids are to come back as they were sent; this is said once";
                    incoming.push(Incoming::Note(Note::new("server", what, why)));
                }
                incoming.push(Incoming::Answer { waiter, outcome: outcome.map(RawJson::from) });
            }
            Message::Request { id, method, params } => self.request(id, &method, params, incoming),
            Message::Notification { method, params } => self.notification(&method, params, incoming),
        }
    }

    /// An error without an id can only mean the one request that waits, be it that the only one listens.
    fn take_waiter(&mut self, id: Option<&Id>, is_error: bool) -> Option<W> {
        let id = match id {
            Some(id) => id.as_number()?,
            None if is_error => {
                let mut asked = self.waiting.keys().filter(|id| !self.subscriptions.contains(id));
                match (asked.next(), asked.next()) {
                    (Some(id), None) => *id,
                    (None, _) if self.waiting.len() == 1 => *self.waiting.keys().next()?,
                    _ => return None,
                }
            }
            None => return None,
        };
        self.forget(id)
    }

    /// Whether a stateless server tells this for a request that no longer listens. What names no request is let pass.
    fn is_stale(&self, params: Option<&Members<'_>>) -> bool {
        self.revision.is_some_and(Revision::is_modern)
            && subscription(params)
                .is_some_and(|id| id.as_number().is_none_or(|id| !self.subscriptions.contains(&id)))
    }

    /// A request of the server. A stateless server must not send any, and is not answered.
    fn request(&self, id: Id, method: &str, params: Option<&RawValue>, incoming: &mut Vec<Incoming<W>>) {
        if self.revision.is_some_and(Revision::is_modern) {
            let what = format!("request `{method}` of the server dropped");
            incoming.push(Incoming::Note(Note::new(
                "server",
                what,
                "this revision has no requests to clients",
            )));
            return;
        }
        if let Some(kind) = InputKind::of(method).filter(|kind| self.takes.has(*kind)) {
            incoming.push(Incoming::Question { id, kind, params: params.map(RawJson::from) });
            return;
        }
        incoming.push(Incoming::Reply(if method == name::PING {
            write_result(&id, "{}")
        } else {
            let words = format!("this client does not offer {method}");
            write_error(Some(&id), &RpcError::new(ErrorCode::METHOD_NOT_FOUND, words))
        }));
    }

    fn notification(&mut self, method: &str, params: Option<&RawValue>, incoming: &mut Vec<Incoming<W>>) {
        if TOLD_TO_LISTENERS.contains(&method) {
            let members = params.and_then(Members::of);
            if self.is_stale(members.as_ref()) {
                return;
            }
            if method == name::ACKNOWLEDGED {
                let id = subscription(members.as_ref()).and_then(|id| id.as_number());
                let only = || self.subscriptions.iter().next().copied();
                let granted = Wanted::read(members.as_ref());
                incoming.extend(id.or_else(only).map(|id| Incoming::Granted { id, granted }));
                return;
            }
        }
        let notice = match method {
            name::PROGRESS => {
                let Some((token, progress)) = read_progress(params) else {
                    let what = "progress report dropped";
                    incoming.push(Incoming::Note(Note::new(
                        "server",
                        what,
                        "it names no request or no number",
                    )));
                    return;
                };
                if let Some(id) = token.as_number().filter(|id| self.waiting.contains_key(id)) {
                    incoming.push(Incoming::Progress { id, progress });
                }
                return;
            }
            // Answers that the server has given up on are waited for until their deadline all the same.
            name::CANCELLED => {
                let members = params.and_then(Members::of);
                let id = members.and_then(|members| Id::read(members.get("requestId")?));
                // A server that goes away ends what listens to it; nothing else is ended by the one who is asked.
                let ended = id.as_ref().and_then(Id::as_number).filter(|id| self.subscriptions.contains(id));
                if let Some(waiter) = ended.and_then(|id| self.forget(id)) {
                    incoming.push(Incoming::Answer { waiter, outcome: Ok(RawJson::empty_object()) });
                    return;
                }
                if self.takes.any() {
                    incoming.extend(id.map(|id| Incoming::Withdrawn { id }));
                }
                return;
            }
            name::TOOLS_CHANGED => ServerNotice::ToolsChanged,
            name::RESOURCES_CHANGED => ServerNotice::ResourcesChanged,
            name::PROMPTS_CHANGED => ServerNotice::PromptsChanged,
            name::RESOURCE_UPDATED => ServerNotice::ResourceUpdated {
                uri: params
                    .and_then(Members::of)
                    .and_then(|members| members.string("uri"))
                    .unwrap_or_default(),
            },
            name::ELICITATION_COMPLETE => ServerNotice::ElicitationComplete {
                id: params
                    .and_then(Members::of)
                    .and_then(|members| members.string("elicitationId"))
                    .unwrap_or_default(),
            },
            name::TASK_CHANGED | name::TASK_STATUS => match TaskState::told(params) {
                Some(state) => ServerNotice::Task(Box::new(state)),
                None => return,
            },
            name::MESSAGE => match read_log(params) {
                Some(message) => ServerNotice::Log(message),
                None => return,
            },
            _ => ServerNotice::Other { method: method.to_owned(), params: params.map(RawJson::from) },
        };
        incoming.push(Incoming::Notice(notice));
    }

    fn fault(&mut self, fault: &EnvelopeFault, text: &str, incoming: &mut Vec<Incoming<W>>) {
        if text.trim().is_empty() {
            return;
        }
        // An answer that is broken beyond its id still ends the wait.
        if let Some(waiter) = fault.id().and_then(Id::as_number).and_then(|id| self.forget(id)) {
            let outcome = Err(RpcError::new(ErrorCode::INTERNAL, fault.to_string()));
            incoming.push(Incoming::Answer { waiter, outcome });
            return;
        }
        incoming.push(Incoming::Note(Note::new(
            "server",
            format!("dropped: {}", excerpt(text)),
            fault.to_string(),
        )));
    }
}

/// What a stateless server tells only to those that listen.
const TOLD_TO_LISTENERS: [&str; 5] = [
    name::ACKNOWLEDGED,
    name::TOOLS_CHANGED,
    name::PROMPTS_CHANGED,
    name::RESOURCES_CHANGED,
    name::RESOURCE_UPDATED,
];

/// The request that a notification belongs to.
fn subscription(params: Option<&Members<'_>>) -> Option<Id> {
    Id::read(params?.object("_meta")?.get(MetaKey::SUBSCRIPTION_ID)?)
}

/// The start of a text, on one line, for a note.
fn excerpt(text: &str) -> String {
    const LENGTH: usize = 120;
    let line: String =
        text.trim().chars().take(LENGTH).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if line.len() < text.trim().len() { format!("{line}...") } else { line }
}

#[cfg(test)]
mod tests;
