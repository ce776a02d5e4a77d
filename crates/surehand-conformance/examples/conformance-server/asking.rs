//! Tools that ask the client something on the way. One code serves both eras.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use surehand_macros::tool;
use surehand_mcp::{CallFailure, Question, RequestContext, ToolFailure, Toolset};
use surehand_model::RawJson;

pub(crate) fn add(tools: Toolset) -> Toolset {
    tools
        .with(test_sampling)
        .with(test_elicitation)
        .with(test_elicitation_sep1034_defaults)
        .with(test_elicitation_sep1330_enums)
        .with(test_input_required_result_elicitation)
        .with(test_input_required_result_sampling)
        .with(test_input_required_result_list_roots)
        .with(test_input_required_result_request_state)
        .with(test_input_required_result_multiple_inputs)
        .with(test_input_required_result_multi_round)
        .with(test_input_required_result_tampered_state)
}

#[derive(Deserialize, JsonSchema)]
struct Sampling {
    /// What the client's model is asked.
    prompt: String,
}

/// Asks the client's model.
#[tool(effect = "reads")]
async fn test_sampling(arguments: Sampling, context: RequestContext) -> Result<String, ToolFailure> {
    let answer = context.ask("answer", sample(&arguments.prompt)).await?;
    Ok(format!("LLM response: {}", spoken(&answer)))
}

#[derive(Deserialize, JsonSchema)]
struct Elicitation {
    /// What the person is shown.
    message: String,
}

/// Asks the person for a name and an address.
#[tool(effect = "reads")]
async fn test_elicitation(arguments: Elicitation, context: RequestContext) -> Result<String, ToolFailure> {
    let fields = json!({
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"}
    });
    let answer = context.ask("user", form(&arguments.message, fields, &["username", "email"])).await?;
    Ok(format!("User response: {}", filled_in(&answer)))
}

/// Asks the person with a form whose fields all have defaults.
#[tool(effect = "reads")]
async fn test_elicitation_sep1034_defaults(context: RequestContext) -> Result<String, ToolFailure> {
    let fields = json!({
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true}
    });
    let answer = context.ask("user", form("Please look through these values", fields, &[])).await?;
    Ok(format!("Elicitation completed: {}", filled_in(&answer)))
}

/// Asks the person with a form that has every kind of choice.
#[tool(effect = "reads")]
async fn test_elicitation_sep1330_enums(context: RequestContext) -> Result<String, ToolFailure> {
    let titled = json!([
        {"const": "value1", "title": "First Option"},
        {"const": "value2", "title": "Second Option"},
        {"const": "value3", "title": "Third Option"}
    ]);
    let fields = json!({
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"]
        },
        "untitledMulti": {
            "type": "array",
            "items": {"type": "string", "enum": ["option1", "option2", "option3"]}
        },
        "titledMulti": {"type": "array", "items": {"anyOf": titled}}
    });
    let answer = context.ask("user", form("Please choose", fields, &[])).await?;
    Ok(format!("Elicitation completed: {}", filled_in(&answer)))
}

/// Asks for a name.
#[tool(effect = "reads")]
async fn test_input_required_result_elicitation(context: RequestContext) -> Result<String, ToolFailure> {
    let answer = context.ask("user_name", ask_name("What is your name?")).await?;
    Ok(format!("Hello, {}!", field(&answer, "name")))
}

/// Asks the client's model.
#[tool(effect = "reads")]
async fn test_input_required_result_sampling(context: RequestContext) -> Result<String, ToolFailure> {
    let answer = context.ask("capital_question", sample("What is the capital of France?")).await?;
    Ok(spoken(&answer))
}

/// Asks for the client's roots.
#[tool(effect = "reads")]
async fn test_input_required_result_list_roots(context: RequestContext) -> Result<String, ToolFailure> {
    let answer = context.ask("client_roots", Question::Roots).await?;
    Ok(format!("The roots are {}", value(&answer)["roots"]))
}

/// Asks for a yes, and carries a state.
#[tool(effect = "reads")]
async fn test_input_required_result_request_state(context: RequestContext) -> Result<String, ToolFailure> {
    let answer = context.ask("confirm", ask_ok()).await?;
    Ok(format!("state-ok: {}", filled_in(&answer)))
}

/// Asks the person, the model and for roots at once.
#[tool(effect = "reads")]
async fn test_input_required_result_multiple_inputs(context: RequestContext) -> Result<String, ToolFailure> {
    let questions = vec![
        ("user_name".to_owned(), ask_name("What is your name?")),
        ("greeting".to_owned(), sample("Generate a greeting")),
        ("client_roots".to_owned(), Question::Roots),
    ];
    let answers = context.ask_all(questions).await?;
    let all: Vec<&str> = answers.iter().map(RawJson::as_str).collect();
    Ok(format!("Got {}", all.join(" and ")))
}

/// Asks for a name and then for a colour.
#[tool(effect = "reads")]
async fn test_input_required_result_multi_round(context: RequestContext) -> Result<String, ToolFailure> {
    let name = context.ask("step1", ask_name("Step 1: What is your name?")).await?;
    let color = json!({"color": {"type": "string"}});
    let color = context.ask("step2", form("Step 2: What is your favorite color?", color, &["color"])).await?;
    Ok(format!("{} likes {}.", field(&name, "name"), field(&color, "color")))
}

/// Asks for a yes; a state that was changed on the way is refused.
#[tool(effect = "reads")]
async fn test_input_required_result_tampered_state(context: RequestContext) -> Result<String, ToolFailure> {
    let answer = context.ask("confirm", ask_ok()).await?;
    Ok(filled_in(&answer))
}

pub(crate) fn ask_name(message: &str) -> Question {
    form(message, json!({"name": {"type": "string"}}), &["name"])
}

fn ask_ok() -> Question {
    form("Please confirm", json!({"ok": {"type": "boolean"}}), &["ok"])
}

/// A form as the protocol has it: flat fields, some of them required.
pub(crate) fn form(message: &str, fields: Value, required: &[&str]) -> Question {
    let mut schema = json!({"type": "object", "properties": fields});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    Question::Elicit(RawJson::from(&json!({"message": message, "requestedSchema": schema})))
}

pub(crate) fn sample(prompt: &str) -> Question {
    Question::Sample(RawJson::from(&json!({
        "messages": [{"role": "user", "content": {"type": "text", "text": prompt}}],
        "maxTokens": 100
    })))
}

fn value(answer: &RawJson) -> Value {
    answer.to_type().unwrap_or_default()
}

/// One field of a form that was filled in.
pub(crate) fn field(answer: &RawJson, name: &str) -> String {
    value(answer)["content"][name].as_str().unwrap_or_default().to_owned()
}

/// A form as it came back.
fn filled_in(answer: &RawJson) -> String {
    let answer = value(answer);
    format!("action={}, content={}", answer["action"].as_str().unwrap_or_default(), answer["content"])
}

/// What the client's model said.
fn spoken(answer: &RawJson) -> String {
    value(answer)["content"]["text"].as_str().unwrap_or_default().to_owned()
}

/// Asks for whatever the client declares that it can be asked, all at once.
pub(crate) async fn ask_what_is_possible(context: &RequestContext) -> Result<Vec<RawJson>, CallFailure> {
    let mut questions = vec![
        ("user_name".to_owned(), ask_name("What is your name?")),
        ("greeting".to_owned(), sample("Generate a greeting")),
        ("client_roots".to_owned(), Question::Roots),
    ];
    questions.retain(|(_, question)| context.declares(question.needs()));
    context.ask_all(questions).await
}
