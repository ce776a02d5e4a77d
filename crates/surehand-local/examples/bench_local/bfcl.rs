use std::path::Path;

use serde_json::{Map, Value};
use surehand_local::LocalProvider;
use surehand_model::{Message, ModelRequest, RawJson, Role, Tool, ToolCall, ToolChoice};
use surehand_provider::Provider;
use surehand_schema::Validator;

use crate::arguments::Arguments;
use crate::score::are_right;
use crate::{Bar, Fault};

/// The public question sets: one tool, and several to choose from. A call is demanded; the first one counts.
pub(crate) async fn bars(provider: &LocalProvider, arguments: &Arguments) -> Result<Vec<Bar>, Fault> {
    let folder =
        arguments.bfcl.as_deref().ok_or("--bfcl is missing: the folder with BFCL_v4_simple_python.json")?;
    let least = if arguments.is_large() { 0.85 } else { 0.70 };
    let mut bars = Vec::new();
    for set in ["simple_python", "multiple"] {
        let items = items(folder, set, arguments.count)?;
        let (mut exact, mut named, mut valid) = (0, 0, 0);
        for item in &items {
            let mut request = ModelRequest::new(
                "",
                vec![Message::text(Role::User, item.question.as_str())],
                item.tools.clone(),
            );
            request.tool_choice = ToolChoice::Required;
            request.parallel_calls = false;
            let turn = provider.answer(&request, &mut |_| ()).await?;
            let message = turn.to_message();
            let call = message.calls().next();
            let is_valid = call.is_some_and(|call| is_valid(call, &item.tools));
            let is_named = call.is_some_and(|call| call.name == item.name);
            let is_exact = is_named
                && call.is_some_and(|call| are_right(&call.arguments_or_empty().to_value(), &item.accepted));
            valid += usize::from(is_valid);
            named += usize::from(is_named);
            exact += usize::from(is_exact);
            if !is_exact {
                let said = call.map(|call| format!("{}({})", call.name, call.raw_arguments));
                println!("  {} missed: {}", item.id, said.unwrap_or_else(|| "no call".to_owned()));
            }
        }
        let total = items.len();
        println!("bfcl {set}: exact {exact}/{total}, right tool {named}/{total}, valid {valid}/{total}");
        bars.push(Bar::at_least(format!("bfcl {set}, exact"), ratio(exact, total), least));
        bars.push(Bar::at_least(format!("bfcl {set}, valid against its schema"), ratio(valid, total), 1.0));
    }
    Ok(bars)
}

fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

pub(crate) fn is_valid(call: &ToolCall, tools: &[Tool]) -> bool {
    let Some(tool) = tools.iter().find(|tool| tool.name == call.name) else { return false };
    let Some(arguments) = call.arguments.as_ref().and_then(|arguments| arguments.to_json().ok()) else {
        return false;
    };
    Validator::new(&tool.input_schema).is_ok_and(|validator| validator.is_valid(&arguments))
}

struct Item {
    id: String,
    question: String,
    tools: Vec<Tool>,
    name: String,
    accepted: Map<String, Value>,
}

fn items(folder: &Path, set: &str, count: usize) -> Result<Vec<Item>, Fault> {
    let questions = lines(&folder.join(format!("BFCL_v4_{set}.json")))?;
    let answers = lines(&folder.join(format!("possible_answer/BFCL_v4_{set}.json")))?;
    let mut items = Vec::new();
    for question in questions.into_iter().take(count) {
        let id = question["id"].as_str().ok_or("a question without an id")?;
        let answer =
            answers.iter().find(|answer| answer["id"] == id).ok_or("a question without an answer")?;
        let (name, accepted) = answer["ground_truth"][0]
            .as_object()
            .and_then(|calls| calls.iter().next())
            .ok_or("an answer without a call")?;
        let mut tools = Vec::new();
        for function in question["function"].as_array().ok_or("a question without tools")? {
            let mut schema = function["parameters"].clone();
            to_json_schema(&mut schema);
            let name = function["name"].as_str().unwrap_or_default().replace('.', "_");
            let description = function["description"].as_str().unwrap_or_default();
            tools.push(Tool::new(name, description, RawJson::from(&schema)));
        }
        items.push(Item {
            id: id.to_owned(),
            question: question["question"][0][0]["content"].as_str().unwrap_or_default().to_owned(),
            tools,
            name: name.replace('.', "_"),
            accepted: accepted.as_object().cloned().unwrap_or_default(),
        });
    }
    Ok(items)
}

fn lines(path: &Path) -> Result<Vec<Value>, Fault> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

/// The set names types as Python does.
fn to_json_schema(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            let renamed = match members.get("type").and_then(Value::as_str) {
                Some("dict") => Some("object"),
                Some("float") => Some("number"),
                Some("tuple") => Some("array"),
                Some("any") => Some(""),
                _ => None,
            };
            match renamed {
                Some("") => drop(members.remove("type")),
                Some(name) => drop(members.insert("type".to_owned(), name.into())),
                None => {}
            }
            members.values_mut().for_each(to_json_schema);
        }
        Value::Array(items) => items.iter_mut().for_each(to_json_schema),
        _ => {}
    }
}
