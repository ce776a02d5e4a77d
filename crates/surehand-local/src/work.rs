//! What the model does for one request, on its own thread: decide, call, or answer.

use std::sync::Arc;

use surehand_model::{
    Finish, FinishReason, Json, ModelEvent, ModelRequest, ModelTurn, Note, Part, PartKind, Role, Tool,
    ToolCall, ToolChoice,
};
use surehand_schema::Validator;

use crate::answer::write_answer;
use crate::conversation::View;
use crate::decide::{JUDGE_SYSTEM, Signs, judge_user};
use crate::items::{later_steps, listed, names};
use crate::prompt::{CALL_CLOSE, CALL_OPEN, call_system, plain};
use crate::runtime::{Ending, EngineError, Session, Stop, call_grammar};
use crate::search::{Picked, fit, pick_tools};

/// The most tokens of one call.
const CALL_TOKENS: usize = 512;

/// Told of everything that happens while the model works.
pub(crate) type Tell<'a> = &'a mut dyn FnMut(ModelEvent);

/// Answers one request.
pub(crate) fn answer(
    session: &mut Session<'_>,
    request: &Arc<ModelRequest>,
    stop: &Stop,
    tell: Tell<'_>,
) -> Result<ModelTurn, EngineError> {
    let _ = session.take_usage();
    let view = View::of(&request.messages);
    let mut turn = ModelTurn::default();
    if view.has_media {
        let note = Note::new(
            "conversation",
            "pictures and sounds were left out",
            "the embedded model reads text only",
        );
        tell(ModelEvent::Note(note.clone()));
        turn.notes.push(note);
    }
    let mut caller = Caller { session, request, view: &view, stop, notes: Vec::new() };
    let calls = caller.calls(tell)?;
    turn.notes.append(&mut caller.notes);
    if calls.is_empty() {
        let (text, ending) = write_answer(session, request, &view, stop, tell)?;
        turn.parts.push(Part::text(text));
        turn.finish = finish(if ending == Ending::Cut { FinishReason::Length } else { FinishReason::Stop });
    } else {
        turn.parts = calls.into_iter().map(|call| PartKind::Call(call).into()).collect();
        turn.finish = finish(FinishReason::ToolCalls);
    }
    turn.usage = session.take_usage();
    Ok(turn)
}

fn finish(reason: FinishReason) -> Finish {
    Finish { reason, raw: None }
}

/// Finds out which calls a request needs.
struct Caller<'a, 'm> {
    session: &'a mut Session<'m>,
    request: &'a ModelRequest,
    view: &'a View,
    stop: &'a Stop,
    notes: Vec<Note>,
}

impl Caller<'_, '_> {
    /// The calls to make now, none where the answer is to be written.
    fn calls(&mut self, tell: Tell<'_>) -> Result<Vec<ToolCall>, EngineError> {
        let topic = self.view.topic();
        let (picked, must) = match &self.request.tool_choice {
            ToolChoice::None => return Ok(Vec::new()),
            ToolChoice::Auto => (pick_tools(&topic, &self.request.tools), false),
            ToolChoice::Required => (pick_tools(&topic, &self.request.tools), true),
            ToolChoice::Named(name) => {
                let at = self.request.tools.iter().position(|tool| tool.name == *name);
                (Picked::one(at), true)
            }
        };
        let tools: Vec<&Tool> = picked.shown.iter().map(|&index| &self.request.tools[index]).collect();
        let is_first = self.view.results.is_empty();
        // After results, one more round only for each further step that the question itself names.
        let is_done = !is_first && self.view.rounds.len() > later_steps(&self.view.question);
        if tools.is_empty() || is_done || self.view.question.trim().is_empty() {
            return Ok(Vec::new());
        }
        self.read_question(&tools, "")?;
        if is_first && !must && !self.decide(&tools, picked.best)? {
            return Ok(Vec::new());
        }
        let likely: Vec<&Tool> = picked.likely.iter().map(|&index| &self.request.tools[index]).collect();
        self.write_calls(&tools, likely, is_first, tell)
    }

    /// Reads instructions, tools, what came before and the question, up to where the model would begin to speak.
    fn read_question(&mut self, tools: &[&Tool], hint: &str) -> Result<(), EngineError> {
        let system = call_system(&self.view.operator, tools);
        let mut messages: Vec<(&str, String)> = vec![("system", system)];
        for (role, text) in &self.view.before {
            messages.push((if *role == Role::User { "user" } else { "assistant" }, text.clone()));
        }
        messages.push(("user", format!("{}{hint}", self.view.question)));
        for (calls, results) in rounds(self.view) {
            let calls: Vec<String> =
                calls.iter().map(|call| format!("{CALL_OPEN}{}{CALL_CLOSE}", written(call))).collect();
            messages.push(("assistant", calls.join("\n")));
            let share = 6000 / results.len().max(1);
            let results: Vec<String> = results
                .iter()
                .map(|result| {
                    format!(
                        "<tool_response>\n{}\n</tool_response>",
                        crate::prompt::clip(&plain(result), share)
                    )
                })
                .collect();
            messages.push(("user", results.join("\n")));
        }
        let messages: Vec<(&str, &str)> =
            messages.iter().map(|(role, text)| (*role, text.as_str())).collect();
        let (prompt, starts) = self.session.prompt(&messages, "");
        self.session.read(&prompt, starts[1], self.stop)
    }

    /// Whether the question needs a tool. The question must just have been read.
    fn decide(&mut self, tools: &[&Tool], words: f64) -> Result<bool, EngineError> {
        let begins_call = self.session.chances(&["{", "```", "<tool_call>"]).iter().sum();
        let signs = Signs { begins_call, words };
        if let Some(settled) = signs.settled() {
            return Ok(settled);
        }
        let user = judge_user(&self.view.question);
        let (prompt, _) = self.session.prompt(&[("system", JUDGE_SYSTEM), ("user", &user)], "");
        self.session.read(&prompt, 0, self.stop)?;
        let chances = self.session.chances(&["yes", "Yes", "no", "No"]);
        let yes = chances[0] + chances[1];
        let general = yes / (yes + chances[2] + chances[3]).max(f32::MIN_POSITIVE);
        let needs = signs.weighed(general);
        if needs {
            self.read_question(tools, "")?;
        }
        Ok(needs)
    }

    /// Writes one call, and further ones while the question lists more things and each further call is a new one.
    fn write_calls<'t>(
        &mut self,
        tools: &[&'t Tool],
        likely: Vec<&'t Tool>,
        is_first: bool,
        tell: Tell<'_>,
    ) -> Result<Vec<ToolCall>, EngineError> {
        let pieces = listed(&self.view.question);
        let most = if self.request.parallel_calls && is_first { pieces.len() } else { 1 };
        let made_before = self.view.calls().count();
        let mut calls: Vec<ToolCall> = Vec::new();
        let mut allowed = likely;
        for number in 0..most {
            let opening =
                if number == 0 { CALL_OPEN.to_owned() } else { format!("{CALL_CLOSE}\n{CALL_OPEN}") };
            let id = format!("local_{}", made_before + number + 1);
            let mut written = self.write_call(&id, &opening, &allowed, number == 0, tell)?;
            if let Err(why) = &written
                && number == 0
            {
                // Once more, with what was wrong.
                let hint = format!("\n(Mind the rules of the arguments. Wrong was: {why})");
                self.read_question(tools, &hint)?;
                written = self.write_call(&id, CALL_OPEN, &allowed, false, tell)?;
            }
            let call = match written {
                Ok(call) => call,
                Err(why) => {
                    let note = Note::new("call", "a call was dropped", why);
                    tell(ModelEvent::Note(note.clone()));
                    self.notes.push(note);
                    break;
                }
            };
            let is_known = self.view.calls().chain(&calls).any(|known| is_same(known, &call));
            if is_known || calls.first().is_some_and(|first| !is_grounded(&self.view.question, first, &call))
            {
                break;
            }
            if number > 0 {
                tell(ModelEvent::CallStarted { name: call.name.clone() });
            }
            tell(ModelEvent::Call(call.clone()));
            calls.push(call);
            // The things of a list mostly want the same tool; another one only where the words of the next piece speak for it.
            if let (Some(piece), Some(first)) = (pieces.get(number + 1), calls.first()) {
                allowed = same_or_better(piece, tools, &first.name);
            }
        }
        Ok(calls)
    }

    /// Writes one call of one of the tools, valid against its schema, or says why it is none.
    ///
    /// Where it `is_first`, it is sure to be made, and its name is told as soon as it is written; a further one may turn out to be none.
    fn write_call(
        &mut self,
        id: &str,
        opening: &str,
        allowed: &[&Tool],
        is_first: bool,
        tell: Tell<'_>,
    ) -> Result<Result<ToolCall, String>, EngineError> {
        let opening = self.session.tokens(opening, true);
        self.session.read_on(&opening, self.stop)?;
        let grammar = call_grammar(allowed.iter().copied());
        let mut heard = String::new();
        let mut is_told = !is_first;
        let mut on_text = |text: &str| {
            heard.push_str(text);
            if !is_told && let Some(name) = started(&heard) {
                tell(ModelEvent::CallStarted { name });
                is_told = true;
            }
        };
        let (text, ending) = self.session.write_by_grammar(&grammar, CALL_TOKENS, self.stop, &mut on_text)?;
        Ok(parse_call(id, &text, ending, allowed, &self.view.question))
    }
}

/// The name of a call whose text has been written as far as to its arguments.
fn started(text: &str) -> Option<String> {
    let (head, _) = text.split_once(", \"arguments\": ")?;
    Some(Json::parse(&format!("{head}}}")).ok()?.get("name")?.as_str()?.to_owned())
}

/// The first call's tool, and those that fit the next piece of the question better than it.
fn same_or_better<'t>(piece: &str, tools: &[&'t Tool], name: &str) -> Vec<&'t Tool> {
    let owned: Vec<Tool> = tools.iter().map(|tool| (*tool).clone()).collect();
    let scores = fit(piece, &owned);
    let least =
        tools.iter().zip(&scores).find(|(tool, _)| tool.name == name).map_or(0.0, |(_, score)| *score);
    tools
        .iter()
        .zip(&scores)
        .filter(|(tool, score)| tool.name == name || **score > least)
        .map(|(tool, _)| *tool)
        .collect()
}

/// Whether a further call is as much about the question as the first: what sets it apart must be named in the question, unless what
/// the first call used was not named there either (a city's time zone, a translated name).
fn is_grounded(question: &str, first: &ToolCall, further: &ToolCall) -> bool {
    let values = |call: &ToolCall| -> Vec<String> {
        let arguments = call.arguments_or_empty().to_json().unwrap_or(Json::Null);
        arguments
            .as_object()
            .unwrap_or_default()
            .iter()
            .filter_map(|(_, value)| value.as_str().map(str::to_owned))
            .collect()
    };
    let firsts = values(first);
    let new: Vec<String> = values(further).into_iter().filter(|value| !firsts.contains(value)).collect();
    if new.is_empty() {
        return further.name != first.name;
    }
    let was_named = firsts.iter().any(|value| names(question, value));
    !was_named || new.iter().any(|value| names(question, value))
}

/// The text of a call as a call, its arguments checked against the tool's own schema and repaired where the schema proves how.
fn parse_call(
    id: &str,
    text: &str,
    ending: Ending,
    tools: &[&Tool],
    question: &str,
) -> Result<ToolCall, String> {
    if ending == Ending::Cut {
        return Err(format!("it was longer than {CALL_TOKENS} tokens"));
    }
    let json = Json::parse(text).map_err(|error| error.to_string())?;
    let name = json.get("name").and_then(Json::as_str).ok_or("it has no name")?;
    let arguments = json.get("arguments").cloned().unwrap_or_else(|| Json::Object(Vec::new()));
    let tool = tools.iter().find(|tool| tool.name == name).ok_or("it names no tool")?;
    let arguments = without_fillers(arguments, tool, question);
    let arguments = match Validator::new(&tool.input_schema) {
        Ok(validator) => valid(&validator, arguments, tool).map_err(|why| format!("{name}: {why}"))?,
        // A schema that nobody can read is checked by whoever runs the call.
        Err(_) => arguments,
    };
    let mut call = ToolCall::new(id, name, arguments.to_string());
    call.id_minted = true;
    Ok(call)
}

/// The arguments in a form that the schema allows: as they are, else repaired, else without the optional ones that break it. Rules that
/// the grammar has no word for can still be broken.
fn valid(validator: &Validator, arguments: Json, tool: &Tool) -> Result<Json, String> {
    if validator.is_valid(&arguments) {
        return Ok(arguments);
    }
    let mut arguments = validator.repair(&arguments).arguments;
    let schema = tool.input_schema.to_json().unwrap_or(Json::Null);
    let required = schema.get("required").and_then(Json::as_array).unwrap_or_default();
    for violation in validator.check(&arguments) {
        let name = violation.path.split('/').nth(1).unwrap_or_default().replace("~1", "/").replace("~0", "~");
        if !required.iter().any(|word| word.as_str() == Some(&name)) {
            arguments.remove(&name);
        }
    }
    match validator.check(&arguments).into_iter().next() {
        None => Ok(arguments),
        Some(violation) => Err(violation.message),
    }
}

/// Without what small models put into optional arguments only because they are there: `null`, the default, and the least count
/// that the schema allows where the question speaks of no such count. Left out, they mean what the tool means by it.
fn without_fillers(mut arguments: Json, tool: &Tool, question: &str) -> Json {
    let schema = tool.input_schema.to_json().unwrap_or(Json::Null);
    let required = schema.get("required").and_then(Json::as_array).unwrap_or_default();
    let is_filler = |name: &str, value: &Json| {
        let rule = |key: &str| schema.get("properties")?.get(name)?.get(key);
        match value {
            Json::Null => true,
            Json::Number(number) if rule("minimum") == Some(value) => !says_number(question, number),
            other => rule("default") == Some(other),
        }
    };
    if let Json::Object(members) = &mut arguments {
        members.retain(|(name, value)| {
            required.iter().any(|word| word.as_str() == Some(name)) || !is_filler(name, value)
        });
    }
    arguments
}

/// Whether a text speaks of a number, in digits or as a small word.
fn says_number(text: &str, number: &str) -> bool {
    const WORDS: [&[&str]; 3] = [
        &["zero", "no", "零", "没有"],
        &["one", "first", "single", "一", "首"],
        &["two", "second", "二", "两"],
    ];
    // "Have a look" and "together" are no counts.
    let lower = text.to_lowercase().replace("一下", "").replace("一起", "");
    let is_word = |word: &&str| match word.is_ascii() {
        true => lower.split(|c: char| !c.is_alphanumeric()).any(|said| said == *word),
        false => lower.contains(*word),
    };
    let words = number.parse::<usize>().ok().and_then(|value| WORDS.get(value)).copied().unwrap_or_default();
    lower.split(|c: char| !c.is_ascii_digit()).any(|said| said == number) || words.iter().any(is_word)
}

fn is_same(one: &ToolCall, other: &ToolCall) -> bool {
    let value = |call: &ToolCall| call.arguments_or_empty().to_value();
    one.name == other.name && value(one) == value(other)
}

/// A call as the model writes it.
fn written(call: &ToolCall) -> String {
    let arguments = crate::prompt::spaced(&call.arguments_or_empty().to_value());
    format!("{{\"name\": {}, \"arguments\": {arguments}}}", Json::from(call.name.as_str()))
}

/// The rounds so far, each with its results.
fn rounds(view: &View) -> Vec<(&[ToolCall], Vec<&surehand_model::ToolResult>)> {
    view.rounds
        .iter()
        .map(|calls| {
            let results = calls
                .iter()
                .filter_map(|call| view.results.iter().find(|result| result.id == call.id))
                .collect();
            (calls.as_slice(), results)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use surehand_model::RawJson;

    use super::*;

    fn tool(name: &str, schema: &str) -> Tool {
        Tool::new(name, format!("{name} tool"), RawJson::parse(schema).unwrap())
    }

    fn call(name: &str, arguments: &str) -> ToolCall {
        ToolCall::new("1", name, arguments)
    }

    #[test]
    fn the_same_call_is_the_same_whatever_its_spacing_and_order() {
        assert!(is_same(&call("f", r#"{"a":1,"b":2}"#), &call("f", r#"{ "b": 2, "a": 1 }"#)));
        assert!(!is_same(&call("f", r#"{"a":1}"#), &call("f", r#"{"a":2}"#)));
        assert!(!is_same(&call("f", "{}"), &call("g", "{}")));
    }

    #[test]
    fn a_further_call_must_be_about_the_question() {
        let weather = |city: &str| call("get_weather", &format!(r#"{{"city":"{city}"}}"#));
        let time = |zone: &str| call("get_time", &format!(r#"{{"timezone":"{zone}"}}"#));
        assert!(is_grounded("上海和北京天气", &weather("上海"), &weather("北京")));
        assert!(!is_grounded("上海和它的天气", &weather("上海"), &weather("北京")));
        assert!(is_grounded("巴黎和柏林几点", &time("Europe/Paris"), &time("Europe/Berlin")));
        assert!(!is_grounded("Time in Paris and so on", &time("Europe/Paris"), &time("Asia/Tokyo")));
        assert!(!is_grounded(
            "上海天气",
            &weather("上海"),
            &call("get_weather", r#"{"city":"上海","days":2}"#)
        ));
    }

    #[test]
    fn a_call_that_breaks_its_schema_is_no_call() {
        let tools = [tool(
            "f",
            r#"{"type":"object","properties":{"n":{"type":"integer","maximum":3}},"required":["n"]}"#,
        )];
        let tools: Vec<&Tool> = tools.iter().collect();
        let parse = |text: &str, ending| parse_call("1", text, ending, &tools, "");
        assert_eq!(
            parse(r#"{"name": "f", "arguments": {"n": 2}}"#, Ending::Whole).unwrap().raw_arguments,
            r#"{"n":2}"#
        );
        assert!(parse(r#"{"name": "f", "arguments": {"n": 9}}"#, Ending::Whole).is_err());
        assert!(parse(r#"{"name": "g", "arguments": {}}"#, Ending::Whole).is_err());
        assert!(parse(r#"{"name": "f", "arguments": {"n": 2}}"#, Ending::Cut).is_err());
    }

    #[test]
    fn optional_arguments_that_nobody_spoke_of_are_left_out() {
        let schema = r#"{"properties":{"path":{},"head":{"minimum":1},"tail":{}},"required":["path"]}"#;
        let tool = tool("read", schema);
        let kept = |arguments: &str, question: &str| {
            without_fillers(Json::parse(arguments).unwrap(), &tool, question).to_string()
        };
        assert_eq!(kept(r#"{"path":"a","head":1,"tail":null}"#, "读一下 a"), r#"{"path":"a"}"#);
        assert_eq!(kept(r#"{"path":null,"head":1}"#, "Read the first line"), r#"{"path":null,"head":1}"#);
        assert_eq!(kept(r#"{"path":"a","head":2}"#, "读 a"), r#"{"path":"a","head":2}"#);
    }

    #[test]
    fn another_tool_joins_where_the_next_piece_speaks_of_it() {
        let tools = [tool("get_weather", "{}"), tool("get_time", "{}")];
        let tools: Vec<&Tool> = tools.iter().collect();
        let names = |piece: &str| -> Vec<String> {
            same_or_better(piece, &tools, "get_weather").iter().map(|tool| tool.name.clone()).collect()
        };
        assert_eq!(names("Quito"), ["get_weather"]);
        assert_eq!(names("what time it is in Quito"), ["get_weather", "get_time"]);
    }
}
