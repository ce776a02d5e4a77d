use std::path::Path;

use needle_infer::v3_engine::{V3Engine, V3Options, extract_tool_call};
use surehand_model::{
    Finish, FinishReason, Json, ModelEvent, ModelRequest, ModelTurn, Note, Part, PartKind, Tool, ToolCall,
    ToolChoice, Usage,
};
use surehand_schema::Validator;

use crate::EngineError;
use crate::conversation::View;
use crate::prompt::{Language, lean, result_data};
use crate::search::{Picked, pick_tools};

/// From which confidence on a call is made. Below it, most calls to a question that needs none are found.
const SURE: f32 = 0.5;
/// From which confidence on a call is made where words of the question speak of the tool, and how well they must fit.
const SURE_WITH_WORDS: f32 = 0.25;
const WORDS: f64 = 2.0;
/// How much of a result is shown, in characters.
const SHOWN: usize = 4000;

/// A Needle model: picks tools and fills arguments in English, says how sure it is, and writes no prose.
pub(crate) struct Needle(V3Engine);

impl Needle {
    /// Loads the container. Blocks.
    pub(crate) fn load(path: &Path) -> Result<Self, EngineError> {
        if !path.is_file() {
            return Err(EngineError::NoFile { path: path.to_owned() });
        }
        let engine = V3Engine::load(path)
            .map_err(|error| EngineError::Load { path: path.to_owned(), why: error.to_string() })?;
        Ok(Self(engine))
    }

    /// Answers one request. Blocks, a few seconds with five tools.
    pub(crate) fn answer(&self, request: &ModelRequest, tell: &mut dyn FnMut(ModelEvent)) -> ModelTurn {
        let view = View::of(&request.messages);
        let mut turn = ModelTurn::default();
        if view.results.is_empty() {
            let calls = self.calls(request, &view, &mut turn);
            for call in &calls {
                tell(ModelEvent::CallStarted { name: call.name.clone() });
                tell(ModelEvent::Call(call.clone()));
            }
            if !calls.is_empty() {
                turn.parts = calls.into_iter().map(|call| PartKind::Call(call).into()).collect();
                turn.finish = Finish { reason: FinishReason::ToolCalls, raw: None };
                return turn;
            }
        }
        let text = shown(&view);
        tell(ModelEvent::Text(text.clone()));
        turn.parts.push(Part::text(text));
        turn
    }

    fn calls(&self, request: &ModelRequest, view: &View, turn: &mut ModelTurn) -> Vec<ToolCall> {
        let (picked, must) = match &request.tool_choice {
            ToolChoice::None => return Vec::new(),
            ToolChoice::Auto => (pick_tools(&view.topic(), &request.tools), false),
            ToolChoice::Required => (pick_tools(&view.topic(), &request.tools), true),
            ToolChoice::Named(name) => {
                let at = request.tools.iter().position(|tool| tool.name == *name);
                (Picked::one(at), true)
            }
        };
        // It keeps nothing from one question to the next, so each tool more is read anew: only those that fit are shown.
        let tools: Vec<&Tool> = picked.likely.iter().map(|&index| &request.tools[index]).collect();
        if tools.is_empty() || view.question.trim().is_empty() {
            return Vec::new();
        }
        let signatures: Vec<serde_json::Value> = tools
            .iter()
            .map(|tool| {
                serde_json::json!({
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": lean(tool.input_schema.to_value()),
                })
            })
            .collect();
        let signatures = serde_json::Value::from(signatures).to_string();
        let result = self.0.generate(&view.question, &signatures, &V3Options::default());
        turn.usage = Usage {
            input_tokens: result.positions.saturating_sub(result.tokens.len()) as u64,
            output_tokens: result.tokens.len() as u64,
        };
        let calls = extract_tool_call(&result.text)
            .map(|text| parse(&text, &tools, &mut turn.notes))
            .unwrap_or_default();
        let calls: Vec<ToolCall> =
            if request.parallel_calls { calls } else { calls.into_iter().take(1).collect() };
        if calls.is_empty() || must {
            return calls;
        }
        let confidence = self.0.confidence_for(&view.question, &signatures, &result.text).unwrap_or(1.0);
        let needed = if picked.best >= WORDS { SURE_WITH_WORDS } else { SURE };
        turn.notes.push(Note::new(
            "needle-3",
            format!("it is sure to {confidence:.2}"),
            format!("for this question it calls from {needed} on"),
        ));
        if confidence >= needed { calls } else { Vec::new() }
    }
}

/// The calls in a payload, valid against their schemas, each once.
fn parse(payload: &str, tools: &[&Tool], notes: &mut Vec<Note>) -> Vec<ToolCall> {
    let Ok(json) = Json::parse(payload) else { return Vec::new() };
    let single = std::slice::from_ref(&json);
    let mut calls: Vec<ToolCall> = Vec::new();
    for item in json.as_array().unwrap_or(single) {
        let Some(tool) = item
            .get("name")
            .and_then(Json::as_str)
            .and_then(|name| tools.iter().find(|tool| tool.name == name))
        else {
            continue;
        };
        let mut arguments = item.get("arguments").cloned().unwrap_or_else(|| Json::Object(Vec::new()));
        if let Ok(validator) = Validator::new(&tool.input_schema)
            && !validator.check(&arguments).is_empty()
        {
            arguments = validator.repair(&arguments).arguments;
            if let Some(violation) = validator.check(&arguments).first() {
                notes.push(Note::new(
                    "call",
                    format!("a call of {} was dropped", tool.name),
                    violation.message.clone(),
                ));
                continue;
            }
        }
        let mut call =
            ToolCall::new(format!("local_{}", calls.len() + 1), tool.name.as_str(), arguments.to_string());
        call.id_minted = true;
        if !calls.iter().any(|known| known.name == call.name && known.raw_arguments == call.raw_arguments) {
            calls.push(call);
        }
    }
    calls
}

/// What it can say: the results as they are, or that it has none.
fn shown(view: &View) -> String {
    let chinese = Language::of(&view.question) == Language::Chinese;
    if view.results.is_empty() {
        return if chinese {
            "needle-3 只懂英文，只会挑选工具，不会写回答；这个问题它没有把握。请换 --model local/qwen2.5-coder-1.5b。".to_owned()
        } else {
            "needle-3 only picks tools and writes no prose, and it is not sure that any tool fits this question. Ask it otherwise, \
             or use --model local/qwen2.5-coder-1.5b."
                .to_owned()
        };
    }
    let results: Vec<String> = view
        .results
        .iter()
        .map(|result| result_data(view.calls().find(|call| call.id == result.id), result, SHOWN))
        .collect();
    let head = if chinese {
        "needle-3 不写回答，结果原样如下："
    } else {
        "needle-3 writes no prose; these are the results as they are:"
    };
    format!("{head}\n\n{}", results.join("\n\n"))
}

#[cfg(test)]
mod tests {
    use surehand_model::{CallId, Message, RawJson, Role, ToolResult};

    use super::*;

    #[test]
    fn only_valid_calls_of_known_tools_are_taken_and_each_once() {
        let tool = Tool::new(
            "get_weather",
            "",
            RawJson::parse(
                r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}"#,
            )
            .unwrap(),
        );
        let payload = r#"[{"name":"get_weather","arguments":{"city":"Rome"}},{"name":"get_weather","arguments":{"city":"Rome"}},
            {"name":"other","arguments":{}},{"name":"get_weather","arguments":{}}]"#;
        let mut notes = Vec::new();
        let calls: Vec<(String, String)> = parse(payload, &[&tool], &mut notes)
            .into_iter()
            .map(|call| (call.id.0, call.raw_arguments))
            .collect();
        assert_eq!(calls, [("local_1".to_owned(), r#"{"city":"Rome"}"#.to_owned())]);
        assert_eq!(notes.len(), 1);
    }

    #[test]
    fn results_are_shown_as_they_are() {
        let call = ToolCall::new("1", "get_weather", r#"{"city":"Rome"}"#);
        let messages = [
            Message::text(Role::User, "Weather in Rome"),
            Message { role: Role::Assistant, parts: vec![PartKind::Call(call).into()] },
            Message::results(vec![ToolResult::text(
                CallId::from("1"),
                "get_weather",
                r#"{"sky":"clear","c":21.50}"#,
            )]),
        ];
        assert_eq!(
            shown(&View::of(&messages)),
            "needle-3 writes no prose; these are the results as they are:\n\n[get_weather({\"city\":\"Rome\"})]\nsky: clear\nc: 21.50"
        );
    }
}
