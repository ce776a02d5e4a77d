//! A model whose every turn is written down beforehand.
//!
//! One JSON object a line is one assistant turn:
//!
//! ```text
//! // what the weather is
//! {"tool_calls": [{"name": "get_weather", "arguments": {"city": "上海"}}]}
//! {"expect": "31 °C", "text": "上海 31 °C。"}
//! ```
//!
//! The script checks whoever plays it: each request must answer every call exactly once, right after it and in order.

mod check;

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use surehand_model::{
    Finish, FinishReason, ModelEvent, ModelRequest, ModelTurn, Part, PartKind, RawJson, Tool, ToolCall, Usage,
};

use crate::{BoxFuture, EventSink, Provider, ProviderError};

/// The longest pause that `delay_ms` may ask for.
const LONGEST_DELAY_MS: u64 = 600_000;

/// Plays a script: one line for each time it is asked.
///
/// Keys of a line, all optional, at least `text` or `tool_calls`:
///
/// | key | what |
/// |---|---|
/// | `text` | what the model says |
/// | `tool_calls` | list of `{"name", "arguments"?, "id"?}`; arguments are an object, or a string that is passed on as the model's own text |
/// | `expect` | a text, or a list of texts, that the newest results or the newest question must contain |
/// | `delay_ms` | how long the model takes, in milliseconds, at most 600,000 |
/// | `finish` | `stop`, `tool_calls` or `length`; by default what fits the line |
///
/// A name stands for the offered tool of that name, or else for the only offered tool whose name ends with `__` and the name.
/// Blank lines and lines that begin with `//` are skipped.
#[derive(Debug)]
pub struct ScriptProvider {
    id: String,
    turns: Vec<ScriptTurn>,
    next: Mutex<usize>,
}

impl ScriptProvider {
    /// Reads a script from its text. Its id is `script`.
    ///
    /// # Errors
    ///
    /// [`ProviderError::Script`] names the first line that is wrong, and why.
    pub fn parse(text: &str) -> Result<Self, ProviderError> {
        Self::parse_named("script", text)
    }

    /// Reads a script from a file. Its id is `script:` and the path.
    ///
    /// # Errors
    ///
    /// [`ProviderError::Script`] when the file cannot be read or a line of it is wrong.
    pub fn load(path: &Path) -> Result<Self, ProviderError> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| script_error(format!("cannot read the script `{}`: {error}", path.display())))?;
        Self::parse_named(&format!("script:{}", path.display()), &text)
    }

    fn parse_named(id: &str, text: &str) -> Result<Self, ProviderError> {
        let mut turns = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim().trim_start_matches('\u{feff}');
            if line.is_empty() || line.starts_with("//") {
                continue;
            }
            turns.push(ScriptTurn::parse(index + 1, line)?);
        }
        Ok(Self { id: id.to_owned(), turns, next: Mutex::new(0) })
    }

    /// How many lines have not been played yet.
    pub fn remaining(&self) -> usize {
        self.turns.len() - *self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Result<(usize, &ScriptTurn), ProviderError> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let index = *next;
        let turn = self.turns.get(index).ok_or_else(|| {
            script_error(format!(
                "it has {} turn{}, and the model was asked once more",
                self.turns.len(),
                if self.turns.len() == 1 { "" } else { "s" }
            ))
        })?;
        *next += 1;
        Ok((index + 1, turn))
    }
}

impl Provider for ScriptProvider {
    fn id(&self) -> &str {
        &self.id
    }

    fn answer<'a>(
        &'a self,
        request: &'a ModelRequest,
        sink: EventSink<'a>,
    ) -> BoxFuture<'a, Result<ModelTurn, ProviderError>> {
        Box::pin(async move {
            check::calls_and_results(request).map_err(script_error)?;
            let (number, script) = self.take()?;
            check::expectations(request, &script.expect)
                .map_err(|what| script_error(format!("line {}: {what}", script.line)))?;
            if script.delay_ms > 0 {
                tokio::time::sleep(Duration::from_millis(script.delay_ms)).await;
            }
            let turn = script.turn(number, &request.tools);
            for part in &turn.parts {
                match &part.kind {
                    PartKind::Text(text) => sink(ModelEvent::Text(text.clone())),
                    PartKind::Call(call) => {
                        sink(ModelEvent::CallStarted { name: call.name.clone() });
                        sink(ModelEvent::Call(call.clone()));
                    }
                    _ => {}
                }
            }
            Ok(turn)
        })
    }
}

#[derive(Debug)]
struct ScriptTurn {
    line: usize,
    text: Option<String>,
    calls: Vec<ScriptCall>,
    expect: Vec<String>,
    delay_ms: u64,
    finish: FinishReason,
}

#[derive(Debug)]
struct ScriptCall {
    id: Option<String>,
    name: String,
    raw_arguments: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TurnLine {
    text: Option<String>,
    tool_calls: Option<Vec<CallLine>>,
    expect: Option<RawJson>,
    delay_ms: Option<u64>,
    finish: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallLine {
    id: Option<String>,
    name: String,
    arguments: Option<RawJson>,
}

impl ScriptTurn {
    fn parse(line: usize, text: &str) -> Result<Self, ProviderError> {
        let wrong = |what: String| script_error(format!("line {line}: {what}"));
        let read: TurnLine = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        if read.text.is_none() && read.tool_calls.is_none() {
            return Err(wrong("it has neither `text` nor `tool_calls`".to_owned()));
        }
        let calls: Vec<ScriptCall> =
            read.tool_calls.unwrap_or_default().into_iter().map(ScriptCall::from).collect();
        let expect = match read.expect {
            None => Vec::new(),
            Some(raw) => match raw.to_type::<String>() {
                Ok(one) => vec![one],
                Err(_) => raw
                    .to_type::<Vec<String>>()
                    .map_err(|_| wrong(format!("`expect` is a text or a list of texts, not {raw}")))?,
            },
        };
        let delay_ms = read.delay_ms.unwrap_or(0);
        if delay_ms > LONGEST_DELAY_MS {
            return Err(wrong(format!("`delay_ms` is at most {LONGEST_DELAY_MS}, not {delay_ms}")));
        }
        let finish = match read.finish.as_deref() {
            None if calls.is_empty() => FinishReason::Stop,
            None | Some("tool_calls") => FinishReason::ToolCalls,
            Some("stop") => FinishReason::Stop,
            Some("length") => FinishReason::Length,
            Some(other) => {
                return Err(wrong(format!("`finish` is `stop`, `tool_calls` or `length`, not `{other}`")));
            }
        };
        Ok(Self { line, text: read.text, calls, expect, delay_ms, finish })
    }

    fn turn(&self, number: usize, offered: &[Tool]) -> ModelTurn {
        let mut parts = Vec::new();
        if let Some(text) = self.text.as_ref().filter(|text| !text.is_empty()) {
            parts.push(Part::text(text.clone()));
        }
        for (index, call) in self.calls.iter().enumerate() {
            let id = call.id.clone().unwrap_or_else(|| format!("call_{number}_{}", index + 1));
            let mut made = ToolCall::new(id, offered_name(&call.name, offered), call.raw_arguments.clone());
            made.id_minted = call.id.is_none();
            made.truncated = self.finish == FinishReason::Length;
            parts.push(PartKind::Call(made).into());
        }
        ModelTurn {
            parts,
            finish: Finish { reason: self.finish, raw: None },
            usage: Usage::default(),
            model: Some("script".to_owned()),
            notes: Vec::new(),
        }
    }
}

impl From<CallLine> for ScriptCall {
    fn from(line: CallLine) -> Self {
        let raw_arguments = match line.arguments {
            None => String::new(),
            Some(raw) => raw.to_type::<String>().unwrap_or_else(|_| raw.as_str().to_owned()),
        };
        Self { id: line.id, name: line.name, raw_arguments }
    }
}

/// The offered tool that a name in a script stands for, or the name itself where none or several would fit.
fn offered_name(name: &str, offered: &[Tool]) -> String {
    if offered.iter().any(|tool| tool.name == name) {
        return name.to_owned();
    }
    let ending = format!("__{name}");
    let mut fitting = offered.iter().filter(|tool| tool.name.ends_with(&ending));
    match (fitting.next(), fitting.next()) {
        (Some(only), None) => only.name.clone(),
        _ => name.to_owned(),
    }
}

fn script_error(message: String) -> ProviderError {
    ProviderError::Script { message }
}
