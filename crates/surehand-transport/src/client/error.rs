use std::time::Duration;

use surehand_mcp::{OpeningFault, ResultFault, RpcError, ShapeFault};
use surehand_model::RawJson;
use surehand_sandbox::SpawnError;
use thiserror::Error;

/// Why a connection to a server did not open.
#[derive(Debug, Error)]
pub enum OpenError {
    /// Its process did not start.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// It said nothing usable in time. `stderr` is what it said there, the end of it, possibly empty.
    #[error("the server did not answer within {} s{}", after.as_secs_f64(), said(stderr))]
    Timeout {
        /// The time it had.
        after: Duration,
        /// Its last words on stderr.
        stderr: String,
    },
    /// It went away. `why` says how, with its last words.
    #[error("the server is gone: {why}")]
    Closed {
        /// How it ended, and what it said last.
        why: String,
    },
    /// Nobody answers at that address, or what answers is in trouble.
    #[error("{url} is not reachable: {why}")]
    Unreachable {
        /// The address, without user name and password.
        url: String,
        /// What happened.
        why: String,
    },
    /// It answers, and wants a login first.
    #[error("{url} wants a login{}", said(challenge))]
    LoginNeeded {
        /// The address.
        url: String,
        /// Its `WWW-Authenticate` header or its words.
        challenge: String,
    },
    /// The server wants a login, and there was none to be had.
    #[error("the login to {url} did not come about: {why}")]
    LoginFailed {
        /// The address.
        url: String,
        /// What the authorizer says.
        why: String,
    },
    /// It answers, and the two sides do not come together.
    #[error(transparent)]
    Protocol(#[from] OpeningFault),
    /// The address or a header cannot be used.
    #[error("{what}")]
    Settings {
        /// What is wrong with it.
        what: String,
    },
}

/// Why a request has no result.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ClientError {
    /// The server answered with an error.
    #[error("{message} (code {code})")]
    Rpc {
        /// A JSON-RPC code.
        code: i64,
        /// The server's words.
        message: String,
        /// What else it said.
        data: Option<RawJson>,
    },
    /// The answer did not come in time. The server has been told to cancel.
    #[error("no answer within {} s", after.as_secs_f64())]
    Timeout {
        /// The time it had.
        after: Duration,
    },
    /// The connection is gone, and with it every request that waited.
    #[error("the server is gone: {why}")]
    Closed {
        /// How it ended, with its last words on stderr.
        why: String,
    },
    /// Nobody answers at that address, or what answers is in trouble.
    #[error("{url} is not reachable: {why}")]
    Unreachable {
        /// The address, without user name and password.
        url: String,
        /// What happened.
        why: String,
    },
    /// The server broke the protocol.
    #[error("{what}")]
    Protocol {
        /// How.
        what: String,
    },
    /// The server asks for something before it answers, and does not get it.
    #[error("the server asks for input ({what}) before it answers, and {why}")]
    InputRequired {
        /// The methods of its questions.
        what: String,
        /// Why it gets no answer.
        why: String,
        /// The whole result.
        raw: RawJson,
    },
    /// The server wants a login, or a better one.
    #[error("{url} wants a login{}", said(challenge))]
    LoginNeeded {
        /// The address.
        url: String,
        /// Its `WWW-Authenticate` header or its words.
        challenge: String,
    },
    /// The server wants a login, and there was none to be had.
    #[error("the login to {url} did not come about: {why}")]
    LoginFailed {
        /// The address.
        url: String,
        /// What the authorizer says.
        why: String,
    },
    /// The task that the call became was given up.
    #[error("the task was given up{}", because(why))]
    TaskCancelled {
        /// In the server's words.
        why: Option<String>,
    },
    /// Nothing has been asked, for the server does not offer it.
    #[error("the server does not offer {what}")]
    NotOffered {
        /// What was wanted.
        what: &'static str,
    },
}

fn because(why: &Option<String>) -> String {
    why.as_ref().map(|why| format!(": {why}")).unwrap_or_default()
}

fn said(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!("; it said: {words}") }
}

impl From<RpcError> for ClientError {
    fn from(error: RpcError) -> Self {
        let RpcError { code, message, data } = error;
        Self::Rpc { code, message, data }
    }
}

impl From<ShapeFault> for ClientError {
    fn from(fault: ShapeFault) -> Self {
        Self::Protocol { what: fault.to_string() }
    }
}

impl ClientError {
    /// A result that is none, and `why` a server that asks for input gets no answer.
    pub(super) fn unmet(fault: ResultFault, why: String) -> Self {
        match fault {
            ResultFault::InputRequired { what, raw } => Self::InputRequired { what, why, raw },
            ResultFault::UnknownType(_) => Self::Protocol { what: fault.to_string() },
        }
    }
}

impl From<ResultFault> for ClientError {
    fn from(fault: ResultFault) -> Self {
        Self::unmet(fault, "may not do so here".to_owned())
    }
}
