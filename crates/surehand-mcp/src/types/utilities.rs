//! Progress, log messages and cancellation. Source: MCP specification, "Utilities".

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use surehand_model::RawJson;

use crate::envelope::Id;
use crate::members::Members;

/// How far a request has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Grows with every report, in whatever unit the server counts.
    pub progress: f64,
    /// Where it ends, where known.
    pub total: Option<f64>,
    /// In words.
    pub message: Option<String>,
}

/// The parameters of `notifications/progress`: for which request, and how far.
pub(crate) fn read_progress(params: Option<&RawValue>) -> Option<(Id, Progress)> {
    let members = Members::of(params?)?;
    let token = Id::read(members.get("progressToken")?)?;
    let progress = members.number("progress")?;
    Some((token, Progress { progress, total: members.number("total"), message: members.string("message") }))
}

/// How much a log message matters, least first.
///
/// Source: RFC 5424, section 6.2.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// For whoever looks for a fault.
    Debug,
    /// All is well.
    Info,
    /// All is well, and worth noticing.
    Notice,
    /// Something may go wrong.
    Warning,
    /// Something went wrong.
    Error,
    /// Something that others need went wrong.
    Critical,
    /// Somebody must act now.
    Alert,
    /// Nothing works.
    Emergency,
}

impl LogLevel {
    /// Every level, least first.
    pub const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    /// As it stands on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }

    /// The level of that name, exactly.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == text)
    }
}

impl fmt::Display for LogLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What `logging/setLevel` asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetLevelParams {
    /// The least level; see [`LogLevel`].
    pub level: String,
}

/// Something that a server logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogMessage {
    /// `debug` to `emergency`, as of RFC 5424.
    pub level: String,
    /// Who says it.
    pub logger: Option<String>,
    /// Any JSON value.
    pub data: RawJson,
}

/// The parameters of `notifications/message`.
pub(crate) fn read_log(params: Option<&RawValue>) -> Option<LogMessage> {
    let members = Members::of(params?)?;
    Some(LogMessage {
        level: members.string("level").unwrap_or_else(|| "info".to_owned()),
        logger: members.string("logger"),
        data: members.get("data").map_or_else(RawJson::null, RawJson::from),
    })
}

/// The request that `notifications/cancelled` names.
pub(crate) fn read_cancelled(params: Option<&RawValue>) -> Option<Id> {
    Id::read(Members::of(params?)?.get("requestId")?)
}
