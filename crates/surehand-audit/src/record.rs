use serde::{Deserialize, Serialize};
use surehand_model::RawJson;

use crate::chain::sha256_hex;
use crate::mask::masked;
use crate::time::rfc3339;

/// How many bytes of arguments a record holds at most.
const ARGUMENTS_LIMIT: usize = 64 * 1024;
/// How many bytes of any other text from outside a record holds at most.
const TEXT_LIMIT: usize = 1024;
/// How many repairs a record lists at most.
const REPAIRS_LIMIT: usize = 100;

/// A call that is about to run, or that was refused. Written before anything happens.
#[derive(Clone, Copy, Debug)]
pub struct Intent<'a> {
    /// When, in milliseconds since 1970 UTC.
    pub time_ms: u64,
    /// The run it belongs to.
    pub run: &'a str,
    /// The call's id.
    pub call: &'a str,
    /// The server's name in the configuration.
    pub server: &'a str,
    /// The tool's name as the server spells it.
    pub tool: &'a str,
    /// The arguments that are sent. Secrets are masked before anything is written. `None` where they could not be read.
    pub arguments: Option<&'a RawJson>,
    /// Whether it runs.
    pub decision: Verdict,
    /// Who decided: `policy`, `person`, or whatever else the caller names.
    pub decided_by: &'a str,
    /// The rule that decided.
    pub rule: &'a str,
    /// What was repaired in the arguments.
    pub repairs: &'a [RepairNote],
}

/// How a call that ran has ended.
#[derive(Clone, Copy, Debug)]
pub struct Outcome<'a> {
    /// When, in milliseconds since 1970 UTC.
    pub time_ms: u64,
    /// The run it belongs to.
    pub run: &'a str,
    /// The call's id.
    pub call: &'a str,
    /// The server's name in the configuration.
    pub server: &'a str,
    /// The tool's name as the server spells it.
    pub tool: &'a str,
    /// The bytes of the result as it came. Only their digest and their number are written. `None` where none came.
    pub result: Option<&'a [u8]>,
    /// Whether the call went wrong.
    pub is_error: bool,
    /// How long it took.
    pub duration_ms: u64,
}

/// What became of a call before it ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It runs; nobody had to be asked.
    Allowed,
    /// It runs; a person said yes.
    Approved,
    /// It does not run.
    Denied,
    /// It does not run, since its arguments are wrong.
    Invalid,
}

/// One repair of the arguments. Only the kinds of value are written, since the values may be secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepairNote {
    /// Where, as a JSON Pointer.
    pub path: String,
    /// What stood there. Written up to the first blank, so that `string "5"` becomes `string`.
    pub from: String,
    /// What stands there now. Written up to the first blank.
    pub to: String,
}

/// What a record tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A call is about to run, or was refused.
    Intent,
    /// A call has ended.
    Outcome,
}

/// A result, by its digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultDigest {
    /// SHA-256 in lower-case hexadecimal digits.
    pub sha256: String,
    /// How many bytes.
    pub bytes: u64,
}

/// A record as it stands in the file, one line each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Its number in the log, from 1.
    pub seq: u64,
    /// When, as RFC 3339 in UTC.
    pub time: String,
    /// The run.
    pub run: String,
    /// What it tells.
    pub kind: Kind,
    /// The call's id.
    pub call: String,
    /// The server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// The arguments, secrets masked; the first part of them as text where they are too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<RawJson>,
    /// Why the arguments do not stand there as they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments_note: Option<String>,
    /// Intents only: whether it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Verdict>,
    /// Intents only: who decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// Intents only: the rule that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Intents only: what was repaired.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<RepairNote>,
    /// Outcomes only: the result's digest, where there was a result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<ResultDigest>,
    /// Outcomes only: whether it went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// Outcomes only: how long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// How many bytes of an unfinished record, left by a crash, were taken away in front of this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped_bytes: Option<u64>,
    /// The hash of the record before; zeros for the first.
    pub prev: String,
    /// Its own hash. Left out of what it is computed from.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hash: String,
}

impl Record {
    pub(crate) fn of_intent(intent: &Intent<'_>) -> Self {
        let (arguments, arguments_note) = match intent.arguments {
            None => (None, Some("could not be read".to_owned())),
            Some(raw) => recorded_arguments(raw),
        };
        let mut repairs: Vec<RepairNote> =
            intent.repairs.iter().take(REPAIRS_LIMIT).map(kinds_only).collect();
        if intent.repairs.len() > REPAIRS_LIMIT {
            let more = intent.repairs.len() - REPAIRS_LIMIT;
            repairs.push(RepairNote { path: format!("{more} more"), from: String::new(), to: String::new() });
        }
        Self {
            arguments,
            arguments_note,
            decision: Some(intent.decision),
            decided_by: Some(cut(intent.decided_by)),
            rule: Some(cut(intent.rule)),
            repairs,
            ..Self::bare(Kind::Intent, intent.time_ms, intent.run, intent.call, intent.server, intent.tool)
        }
    }

    pub(crate) fn of_outcome(outcome: &Outcome<'_>) -> Self {
        Self {
            result: outcome
                .result
                .map(|bytes| ResultDigest { sha256: sha256_hex(bytes), bytes: bytes.len() as u64 }),
            is_error: Some(outcome.is_error),
            duration_ms: Some(outcome.duration_ms),
            ..Self::bare(
                Kind::Outcome,
                outcome.time_ms,
                outcome.run,
                outcome.call,
                outcome.server,
                outcome.tool,
            )
        }
    }

    fn bare(kind: Kind, time_ms: u64, run: &str, call: &str, server: &str, tool: &str) -> Self {
        Self {
            seq: 0,
            time: rfc3339(time_ms),
            run: cut(run),
            kind,
            call: cut(call),
            server: cut(server),
            tool: cut(tool),
            arguments: None,
            arguments_note: None,
            decision: None,
            decided_by: None,
            rule: None,
            repairs: Vec::new(),
            result: None,
            is_error: None,
            duration_ms: None,
            dropped_bytes: None,
            prev: String::new(),
            hash: String::new(),
        }
    }
}

/// The arguments as a record holds them: secrets masked, on one line, and cut where they are too long.
fn recorded_arguments(raw: &RawJson) -> (Option<RawJson>, Option<String>) {
    let json = match raw.to_json() {
        Ok(json) => json,
        Err(error) => return (None, Some(format!("not recorded: {error}"))),
    };
    let text = masked(&json).to_string();
    if text.len() <= ARGUMENTS_LIMIT {
        return (RawJson::parse(text).ok(), None);
    }
    let shown = &text[..text.floor_char_boundary(ARGUMENTS_LIMIT)];
    (Some(RawJson::from_serialize(shown)), Some(format!("the first part of {} bytes, as text", text.len())))
}

fn kinds_only(repair: &RepairNote) -> RepairNote {
    let kind = |text: &str| cut(text.split(' ').next().unwrap_or_default());
    RepairNote { path: cut(&repair.path), from: kind(&repair.from), to: kind(&repair.to) }
}

fn cut(text: &str) -> String {
    if text.len() <= TEXT_LIMIT {
        return text.to_owned();
    }
    format!("{}...", &text[..text.floor_char_boundary(TEXT_LIMIT)])
}
