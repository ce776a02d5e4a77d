//! What happened: one record a call, one answer a run.

use serde::Serialize;
use surehand_model::{CallId, ContentBlock, Label, Note, RawJson, ToolResult, Usage};

use crate::status::ServerStatus;

/// What became of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRecord {
    /// The call's id.
    pub id: CallId,
    /// Which server ran it, or would have; empty for a tool nobody has.
    pub server: String,
    /// The tool's own name there, or the name as the model wrote it for a tool nobody has.
    pub tool: String,
    /// What was sent, or would have been.
    pub arguments: RawJson,
    /// How it was decided, and by whom.
    pub decided: Decided,
    /// What the model is told.
    pub result: ToolResult,
    /// What was changed in the arguments before they were sent.
    pub repairs: Vec<Note>,
    /// Since the run began, in milliseconds.
    pub started_ms: u64,
    /// How long it took, time spent asking a person left out, in milliseconds.
    pub duration_ms: u64,
}

/// How a call was decided, and on what that rests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// How.
    pub verdict: Verdict,
    /// Who: `policy`, `person`, `schema`, `catalog` or `audit`.
    pub by: String,
    /// The rule that decided or that made a person be asked.
    pub rule: String,
}

impl Decided {
    /// A decision from its three parts.
    pub fn new(verdict: Verdict, by: &str, rule: &str) -> Self {
        Self { verdict, by: by.to_owned(), rule: rule.to_owned() }
    }
}

/// How a call was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Policy let it run.
    Allowed,
    /// A person let it run.
    Approved,
    /// Policy or a person refused it.
    Denied,
    /// It could not be run: no such tool, or arguments that break the schema.
    Invalid,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The model had no more to say.
    Complete,
    /// The model was asked as often as allowed, or kept making calls that cannot be run.
    MaxTurns,
    /// The time for the whole run was up.
    Timeout,
    /// The tokens for the whole run were used up.
    Budget,
    /// The person cancelled.
    Cancelled,
}

/// The outcome of one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The model's last words.
    pub text: String,
    /// Why the run ended.
    pub stop: Stop,
    /// More about why, where there is more to say.
    pub detail: Option<String>,
    /// Who answered, `provider/model`.
    pub model: String,
    /// How often the model was asked.
    pub turns: u32,
    /// Every call, in the order in which the model made them.
    pub calls: Vec<CallRecord>,
    /// What it cost.
    pub usage: Usage,
    /// The servers and their state.
    pub servers: Vec<ServerStatus>,
    /// Everything that was left out on the way.
    pub skipped: Vec<Note>,
}

#[derive(Serialize)]
struct CallShape<'a> {
    id: &'a CallId,
    server: &'a str,
    tool: &'a str,
    arguments: &'a RawJson,
    decision: Verdict,
    decided_by: &'a str,
    rule: &'a str,
    #[serde(skip_serializing_if = "<[Note]>::is_empty")]
    repairs: &'a [Note],
    result: ResultShape,
    labels: [&'a Label; 1],
    started_ms: u64,
    duration_ms: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultShape {
    content: Vec<RawJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<RawJson>,
    is_error: bool,
}

/// The record as `--output json` prints it.
impl Serialize for CallRecord {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        CallShape {
            id: &self.id,
            server: &self.server,
            tool: &self.tool,
            arguments: &self.arguments,
            decision: self.decided.verdict,
            decided_by: &self.decided.by,
            rule: &self.decided.rule,
            repairs: &self.repairs,
            result: ResultShape {
                content: self.result.content.iter().map(block_json).collect(),
                structured_content: self.result.structured.clone(),
                is_error: self.result.is_error,
            },
            labels: [&self.result.label],
            started_ms: self.started_ms,
            duration_ms: self.duration_ms,
        }
        .serialize(serializer)
    }
}

#[derive(Serialize)]
struct AnswerShape<'a> {
    answer: &'a str,
    stop: Stop,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
    model: &'a str,
    turns: u32,
    calls: &'a [CallRecord],
    usage: Usage,
    servers: &'a [ServerStatus],
    skipped: &'a [Note],
}

/// The answer as `--output json` prints it.
impl Serialize for Answer {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        AnswerShape {
            answer: &self.text,
            stop: self.stop,
            detail: self.detail.as_deref(),
            model: &self.model,
            turns: self.turns,
            calls: &self.calls,
            usage: self.usage,
            servers: &self.servers,
            skipped: &self.skipped,
        }
        .serialize(serializer)
    }
}

/// One content block in the shape every MCP revision has for it.
pub(crate) fn block_json(block: &ContentBlock) -> RawJson {
    use serde_json::json;
    let value = match block {
        ContentBlock::Text(text) => json!({ "type": "text", "text": text }),
        ContentBlock::Image { data, mime_type } => {
            json!({ "type": "image", "data": data, "mimeType": mime_type })
        }
        ContentBlock::Audio { data, mime_type } => {
            json!({ "type": "audio", "data": data, "mimeType": mime_type })
        }
        ContentBlock::Resource(contents) => {
            let mut resource = json!({ "uri": contents.uri });
            for (key, value) in
                [("mimeType", &contents.mime_type), ("text", &contents.text), ("blob", &contents.blob)]
            {
                if let Some(value) = value {
                    resource[key] = json!(value);
                }
            }
            json!({ "type": "resource", "resource": resource })
        }
        ContentBlock::ResourceLink { uri, name, mime_type, description } => {
            let mut link = json!({ "type": "resource_link", "uri": uri, "name": name });
            for (key, value) in [("mimeType", mime_type), ("description", description)] {
                if let Some(value) = value {
                    link[key] = json!(value);
                }
            }
            link
        }
        ContentBlock::Unknown(raw) => return raw.clone(),
    };
    RawJson::from(&value)
}
