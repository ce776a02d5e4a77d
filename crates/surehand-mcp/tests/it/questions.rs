//! A handler asks its client something: a request in the era of handshakes, a round of its own in the stateless one.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use surehand_mcp::{
    Arrival, ClientFeature, HttpFacts, LogLevel, Negotiated, Question, RequestContext, Revision,
    ServerMachine, ToolEntry, ToolFacts, ToolFailure, Toolset, Verdict,
};
use surehand_model::RawJson;

use crate::fixture::{OpenSeal, Outgoing, machine_with, run};

fn raw(value: &Value) -> RawJson {
    RawJson::from(value)
}

/// Asks for a name, then for a color that goes with it, and tells both.
async fn paint(context: RequestContext) -> Result<String, ToolFailure> {
    context.progress(1.0, Some(2.0), Some("asking"));
    context.progress(1.0, Some(2.0), None);
    context.log(LogLevel::Debug, Some("paint"), &raw(&json!("not wanted")));
    context.log(LogLevel::Warning, Some("paint"), &raw(&json!({"n": 1})));
    let name = context.ask("name", Question::Elicit(raw(&json!({"message": "Name?"})))).await?;
    let name = name.to_value()["content"]["name"].as_str().unwrap_or("nobody").to_owned();
    let color = Question::Sample(raw(&json!({"messages": [], "maxTokens": 9, "about": name})));
    let mut all =
        context.ask_all(vec![("color".to_owned(), color), ("roots".to_owned(), Question::Roots)]).await?;
    let roots = all.pop().unwrap().to_value();
    Ok(format!("{name} {} {}", all[0].to_value()["content"]["text"], roots["roots"]))
}

async fn needs_sampling(context: RequestContext) -> Result<String, ToolFailure> {
    context.require(ClientFeature::Sampling)?;
    Ok("fine".to_owned())
}

fn toolset() -> Toolset {
    let facts = |name: &str| ToolFacts { name: name.to_owned(), ..ToolFacts::default() };
    Toolset::new("s", "2")
        .with_logging()
        .with_entry(ToolEntry::with_context(facts("paint"), |_: surehand_mcp::NoArguments, context| {
            paint(context)
        }))
        .with_entry(ToolEntry::with_context(
            facts("needs_sampling"),
            |_: surehand_mcp::NoArguments, context| needs_sampling(context),
        ))
}

const CAPABILITIES: &str = r#"{"elicitation":{},"sampling":{},"roots":{}}"#;

/// Sends one call in the stateless era and gives what is sent meanwhile, the answer and its status.
fn ask(
    machine: &ServerMachine,
    principal: Option<&str>,
    (tool, capabilities): (&str, &str),
    more: &Value,
) -> (Vec<Value>, Value, u16) {
    let mut params = json!({"name": tool, "arguments": {}, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": serde_json::from_str::<Value>(capabilities).unwrap(),
        "io.modelcontextprotocol/logLevel": "notice",
        "progressToken": "t",
    }});
    for (key, value) in more.as_object().unwrap() {
        params[key] = value.clone();
    }
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let facts = HttpFacts {
        version: Some("2026-07-28"),
        method: Some("tools/call"),
        name: Some(tool),
        principal,
        ..HttpFacts::default()
    };
    let mut sent = Vec::new();
    let reply = match machine.receive(&body, Arrival::Http(facts)).pop().unwrap() {
        Verdict::Run(request) => {
            let outgoing = Outgoing::default();
            let reply = run(request, outgoing.clone());
            sent.extend(outgoing.sent.lock().unwrap().iter().map(|text| serde_json::from_str(text).unwrap()));
            reply
        }
        Verdict::Answer(reply) => reply,
        other => panic!("{other:?}"),
    };
    (sent, serde_json::from_str(&reply.body).unwrap(), reply.status)
}

#[test]
fn a_stateless_client_is_asked_in_rounds_and_what_it_answered_stays_with_it() {
    let machine = machine_with(toolset(), Arc::default());
    let paint = ("paint", CAPABILITIES);
    let (sent, first, _) = ask(&machine, None, paint, &json!({}));
    let params = json!({"progressToken": "t", "progress": 1, "total": 2, "message": "asking"});
    let log = json!({"level": "warning", "logger": "paint", "data": {"n": 1}});
    let expected = [
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}),
        json!({"jsonrpc": "2.0", "method": "notifications/message", "params": log}),
    ];
    assert_eq!(sent, expected);
    let who = json!({"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "2"}});
    let expected = json!({
        "resultType": "input_required",
        "inputRequests": {"name": {"method": "elicitation/create", "params": {"message": "Name?"}}},
        "requestState": first["result"]["requestState"],
        "_meta": who,
    });
    assert_eq!(first["result"], expected);

    let name = json!({"action": "accept", "content": {"name": "Ada"}});
    let answers = json!({"inputResponses": {"name": name, "extra": {}}, "requestState": first["result"]["requestState"]});
    let (_, second, _) = ask(&machine, None, paint, &answers);
    let expected = json!({
        "color": {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 9, "about": "Ada"}},
        "roots": {"method": "roots/list", "params": {}},
    });
    assert_eq!(second["result"]["inputRequests"], expected);
    assert_ne!(second["result"]["requestState"], first["result"]["requestState"]);

    // What is no answer is asked again, and what was answered is kept.
    let color = json!({"role": "assistant", "content": {"type": "text", "text": "blue"}, "model": "m"});
    let state = &second["result"]["requestState"];
    let half = json!({"inputResponses": {"color": color, "roots": null}, "requestState": state});
    let (_, third, _) = ask(&machine, None, paint, &half);
    let expected = json!({"roots": {"method": "roots/list", "params": {}}});
    assert_eq!(third["result"]["inputRequests"], expected);

    let roots = json!({"roots": [{"uri": "file:///a"}]});
    let state = &third["result"]["requestState"];
    let (_, done, _) =
        ask(&machine, None, paint, &json!({"inputResponses": {"roots": roots}, "requestState": state}));
    let text = r#"Ada "blue" [{"uri":"file:///a"}]"#;
    let expected =
        json!({"resultType": "complete", "content": [{"type": "text", "text": text}], "_meta": who});
    assert_eq!(done["result"], expected);
}

#[test]
fn a_state_is_taken_from_whoever_got_it_for_what_they_asked_and_for_ten_minutes() {
    let seal = Arc::new(OpenSeal::default());
    let machine = machine_with(toolset(), seal.clone());
    let paint = ("paint", CAPABILITIES);
    let (_, first, _) = ask(&machine, Some("ada"), paint, &json!({}));
    let state = &first["result"]["requestState"];
    let refused = |principal: Option<&str>, more: Value| {
        let (_, answer, _) = ask(&machine, principal, paint, &more);
        (answer["error"]["code"].as_i64(), answer["error"]["message"].as_str().map(str::to_owned))
    };
    let invalid = |words: &str| (Some(-32602), Some(format!("`requestState` {words}")));
    let foreign = invalid("belongs to another request");
    assert_eq!(refused(Some("bob"), json!({"requestState": state})), foreign);
    assert_eq!(refused(None, json!({"requestState": state})), foreign);
    assert_eq!(refused(Some("ada"), json!({"requestState": state, "arguments": {"a": 1}})), foreign);
    let unknown = invalid("was not given out by this server");
    assert_eq!(refused(Some("ada"), json!({"requestState": "sealed-9-00"})), unknown);
    assert_eq!(refused(Some("ada"), json!({"requestState": "other"})), unknown);
    assert_eq!(refused(Some("ada"), json!({"requestState": 7})), invalid("is not a string"));
    seal.now.store(600, Ordering::Relaxed);
    assert_eq!(refused(Some("ada"), json!({"requestState": state})), (None, None));
    seal.now.store(601, Ordering::Relaxed);
    assert_eq!(
        refused(Some("ada"), json!({"requestState": state})),
        invalid("has expired: ask again without it")
    );
}

#[test]
fn a_client_is_asked_nothing_that_it_does_not_declare() {
    let machine = machine_with(toolset(), Arc::default());
    for (tool, capabilities, missing) in [
        ("paint", r#"{"sampling":{}}"#, Some(json!({"elicitation": {"form": {}}}))),
        ("paint", r#"{"elicitation":{"url":{}}}"#, Some(json!({"elicitation": {"form": {}}}))),
        ("needs_sampling", "{}", Some(json!({"sampling": {}}))),
        ("needs_sampling", r#"{"sampling":true}"#, Some(json!({"sampling": {}}))),
        ("needs_sampling", r#"{"sampling":{}}"#, None),
    ] {
        let (_, answer, status) = ask(&machine, None, (tool, capabilities), &json!({}));
        let expected = missing.map(|missing| json!({"requiredCapabilities": missing}));
        assert_eq!(answer["error"].get("data"), expected.as_ref(), "{tool} {capabilities}");
        let code = expected.as_ref().map(|_| -32021);
        assert_eq!(
            (answer["error"]["code"].as_i64(), status),
            (code, if code.is_some() { 400 } else { 200 })
        );
    }
}

/// The same in the era of handshakes: what is sent meanwhile, and the answer.
fn ask_older(level: Option<LogLevel>, capabilities: &str, outgoing: &Outgoing) -> Value {
    let machine = machine_with(toolset(), Arc::default());
    let session = Negotiated {
        capabilities: RawJson::parse(capabilities).unwrap(),
        log_level: level,
        ..Negotiated::new(Revision::V2025_11_25)
    };
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"paint","_meta":{"progressToken":7}}}"#;
    let verdict = machine.receive(body, Arrival::Stream { session: Some(&session), principal: None }).pop();
    let Some(Verdict::Run(request)) = verdict else { panic!("{verdict:?}") };
    serde_json::from_str(&run(request, outgoing.clone()).body).unwrap()
}

#[test]
fn a_client_with_a_handshake_is_asked_by_requests_while_its_own_runs() {
    let outgoing = Outgoing {
        answers: vec![
            ("elicitation/create", r#"{"action":"accept","content":{"name":"Ada"}}"#),
            ("sampling/createMessage", r#"{"role":"assistant","content":{"type":"text","text":"blue"}}"#),
            ("roots/list", r#"{"roots":[]}"#),
        ],
        ..Outgoing::default()
    };
    let answer = ask_older(None, CAPABILITIES, &outgoing);
    let expected = [
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1,"total":2,"message":"asking"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"paint","data":{"n":1}}}"#,
        r#"elicitation/create {"message":"Name?"}"#,
        r#"sampling/createMessage {"messages":[],"maxTokens":9,"about":"Ada"}"#,
        "roots/list {}",
    ];
    assert_eq!(*outgoing.sent.lock().unwrap(), expected);
    assert_eq!(answer["result"], json!({"content": [{"type": "text", "text": r#"Ada "blue" []"#}]}));

    // Nobody answers: the tool failed, in words for the model.
    let silent = Outgoing::default();
    let answer = ask_older(Some(LogLevel::Critical), CAPABILITIES, &silent);
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(answer["result"]["isError"] == true && text.contains("nobody is here"), "{text}");
    assert_eq!(silent.sent.lock().unwrap().len(), 2, "no log message below the level that was set");

    let answer = ask_older(None, "{}", &Outgoing::default());
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(
        answer["result"]["isError"] == true && text.contains(r#"{\"elicitation\":{\"form\":{}}}"#),
        "{text}"
    );
}
