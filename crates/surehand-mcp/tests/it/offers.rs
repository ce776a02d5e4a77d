//! What a server offers beside tools, in every revision.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use surehand_mcp::{
    Arrival, CallFailure, Change, ChangeListener, Changes, CompletionRef, LogLevel, Negotiated, Prompt,
    PromptMessage, PromptOutput, Resource, ResourceTemplate, Revision, ServerMachine, Toolset, Verdict,
};
use surehand_model::{ContentBlock, ResourceContents};

use crate::fixture::{Outgoing, machine_of, run};

fn text(uri: &str, text: &str) -> ResourceContents {
    let mime_type = Some("text/plain".to_owned());
    ResourceContents { uri: uri.to_owned(), mime_type, text: Some(text.to_owned()), blob: None }
}

fn library(changes: &Arc<Changes>) -> Toolset {
    let resource = Resource::new("book://1", "first", "The first book.").with_mime_type("text/plain");
    let template = ResourceTemplate::new("page://{book}/{page}", "page", "One page.");
    let prompt = Prompt::new("summarise", "Asks for a summary.").with_argument("book", "Which.", true);
    Toolset::new("s", "2")
        .with_resource(resource, |_| async { Ok(vec![text("book://1", "Once.")]) })
        .with_resource_template(template, |uri, values: BTreeMap<String, String>, _| async move {
            Ok(vec![text(&uri, &format!("{} of {}", values["page"], values["book"]))])
        })
        .with_prompt(prompt, |arguments, _| async move {
            let content = ContentBlock::Text(format!("Summarise {}.", arguments["book"]));
            let messages = vec![PromptMessage { role: "user".to_owned(), content }];
            Ok(PromptOutput { description: None, messages })
        })
        .with_completion(CompletionRef::Prompt { name: "summarise".to_owned() }, "book", |value, _| {
            (0..150).map(|number| format!("{value}{number}")).collect()
        })
        .with_changes(changes.clone())
}

fn library_machine() -> ServerMachine {
    machine_of(library(&Arc::default()))
}

/// One request in one revision: the result, or the error.
fn asked(machine: &ServerMachine, revision: Revision, method: &str, params: &Value) -> Result<Value, Value> {
    let mut params = params.clone();
    let session = (!revision.is_modern()).then(|| Negotiated::new(revision));
    if revision.is_modern() {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": revision.as_str(),
            "io.modelcontextprotocol/clientCapabilities": {},
        });
    }
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let reply = match machine
        .receive(&body, Arrival::Stream { session: session.as_ref(), principal: None })
        .pop()
        .unwrap()
    {
        Verdict::Answer(reply) | Verdict::Open { reply, .. } => reply,
        Verdict::Run(request) => run(request, Outgoing::default()),
        other => panic!("{other:?}"),
    };
    let mut answer: Value = serde_json::from_str(&reply.body).unwrap();
    match answer["result"].take() {
        Value::Null => Err(answer["error"].take()),
        mut result => {
            let members = result.as_object_mut().unwrap();
            let is_modern = members.remove("_meta").is_some();
            assert_eq!(is_modern, revision.is_modern(), "{method} in {revision}");
            if is_modern {
                assert_eq!(members.remove("resultType"), Some(json!("complete")));
            }
            Ok(result)
        }
    }
}

#[test]
fn lists_reads_prompts_and_completion_are_answered_in_every_revision() {
    let machine = library_machine();
    for revision in Revision::ALL {
        let is_modern = revision.is_modern();
        let cached = |mut value: Value, lifetime: u32| {
            if is_modern {
                value["ttlMs"] = json!(lifetime);
                value["cacheScope"] = json!("private");
            }
            Ok(value)
        };
        let ask = |method: &str, params: Value| asked(&machine, revision, method, &params);
        let resource = json!({"uri": "book://1", "name": "first", "description": "The first book.", "mimeType": "text/plain"});
        assert_eq!(ask("resources/list", json!({})), cached(json!({"resources": [resource]}), 60_000));
        let template =
            json!({"uriTemplate": "page://{book}/{page}", "name": "page", "description": "One page."});
        assert_eq!(
            ask("resources/templates/list", json!({})),
            cached(json!({"resourceTemplates": [template]}), 60_000)
        );
        let argument = json!({"name": "book", "description": "Which.", "required": true});
        let prompt =
            json!({"name": "summarise", "description": "Asks for a summary.", "arguments": [argument]});
        assert_eq!(ask("prompts/list", json!({})), cached(json!({"prompts": [prompt]}), 60_000));

        let contents = json!({"uri": "page://a/7", "mimeType": "text/plain", "text": "7 of a"});
        assert_eq!(
            ask("resources/read", json!({"uri": "page://a/7"})),
            cached(json!({"contents": [contents]}), 0)
        );
        let missing = ask("resources/read", json!({"uri": "book://2"})).unwrap_err();
        let code = if is_modern { -32602 } else { -32002 };
        assert_eq!((&missing["code"], &missing["data"]), (&json!(code), &json!({"uri": "book://2"})));

        let message = json!({"role": "user", "content": {"type": "text", "text": "Summarise Emma."}});
        let got = ask("prompts/get", json!({"name": "summarise", "arguments": {"book": "Emma"}}));
        assert_eq!(got, Ok(json!({"messages": [message]})));
        for (params, words) in [
            (json!({"name": "summarise"}), "the prompt `summarise` needs the argument `book`"),
            (json!({"name": "nothing"}), "Unknown prompt: nothing"),
            (json!({}), "`name` is missing or is not a string"),
        ] {
            assert_eq!(ask("prompts/get", params), Err(json!({"code": -32602, "message": words})));
        }

        let wanted = json!({"ref": {"type": "ref/prompt", "name": "summarise"}, "argument": {"name": "book", "value": "E"}});
        let completion = ask("completion/complete", wanted).unwrap()["completion"].take();
        assert_eq!(completion["values"].as_array().unwrap().len(), 100);
        assert_eq!((&completion["total"], &completion["hasMore"]), (&json!(150), &json!(true)));
        let unknown =
            json!({"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "book", "value": ""}});
        let unknown = ask("completion/complete", unknown).unwrap_err();
        assert_eq!(unknown, json!({"code": -32602, "message": "Unknown prompt: x"}));

        // It has no tools, so it has no method that lists them.
        assert_eq!(ask("tools/list", json!({})).unwrap_err()["code"], -32601);
        assert_eq!(ask("resources/list", json!({"cursor": ""})).unwrap_err()["code"], -32602);
    }
}

#[test]
fn capabilities_are_told_in_the_words_of_each_revision() {
    let machine = library_machine();
    let told = |revision: Revision| {
        let (method, params) = match revision.is_modern() {
            true => ("server/discover", json!({})),
            false => ("initialize", json!({"protocolVersion": revision.as_str(), "capabilities": {}})),
        };
        let session = if revision.is_modern() {
            asked(&machine, revision, method, &params)
        } else {
            let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
            let Some(Verdict::Open { reply, session }) =
                machine.receive(&body, Arrival::Stream { session: None, principal: None }).pop()
            else {
                panic!("{body}")
            };
            assert_eq!(Negotiated { number: 0, ..session }, Negotiated::new(revision));
            Ok(serde_json::from_str::<Value>(&reply.body).unwrap()["result"].take())
        };
        session.unwrap()["capabilities"].take()
    };
    let changing = json!({"listChanged": true});
    let resources = json!({"subscribe": true, "listChanged": true});
    let oldest = json!({"prompts": changing, "resources": resources});
    assert_eq!(told(Revision::V2024_11_05), oldest);
    let completing = json!({"prompts": changing, "resources": resources, "completions": {}});
    for revision in &Revision::ALL[1..] {
        assert_eq!(told(*revision), completing, "{revision}");
    }
}

#[test]
fn a_session_subscribes_and_sets_the_level_of_its_log() {
    let machine = library_machine();
    let session = Negotiated::new(Revision::V2025_06_18);
    let verdict = |method: &str, params: Value| {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        machine.receive(&body, Arrival::Stream { session: Some(&session), principal: None }).pop().unwrap()
    };
    let empty = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    match verdict("resources/subscribe", json!({"uri": "book://1"})) {
        Verdict::Subscribe { id: _, uri, reply } => {
            assert_eq!((uri.as_str(), reply.body.as_str()), ("book://1", empty))
        }
        other => panic!("{other:?}"),
    }
    match verdict("resources/unsubscribe", json!({"uri": "book://1"})) {
        Verdict::Unsubscribe { uri, reply } => {
            assert_eq!((uri.as_str(), reply.body.as_str()), ("book://1", empty))
        }
        other => panic!("{other:?}"),
    }
    match verdict("logging/setLevel", json!({"level": "error"})) {
        Verdict::SetLevel { level, reply } => {
            assert_eq!((level, reply.body.as_str()), (LogLevel::Error, empty))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_listener_hears_of_what_it_asked_for_and_nothing_else() {
    let changes = Arc::new(Changes::new());
    let machine = machine_of(library(&changes));
    let body = r#"{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["book://1"],"other":1},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let Some(Verdict::Listen(subscription)) =
        machine.receive(body, Arrival::Stream { session: None, principal: None }).pop()
    else {
        panic!("{body}")
    };
    let meta = r#"{"io.modelcontextprotocol/subscriptionId":"l"}"#;
    assert_eq!(
        subscription.acknowledgement(),
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"_meta":{meta},"notifications":{{"promptsListChanged":true,"resourceSubscriptions":["book://1"]}}}}}}"#
        )
    );
    let heard = Arc::new(Mutex::new(Vec::new()));
    let (into, of) = (heard.clone(), subscription.clone());
    let listener: ChangeListener =
        Arc::new(move |change| into.lock().unwrap().extend(of.message_for(change)));
    machine.listen(&listener);
    for change in [
        Change::Tools,
        Change::Prompts,
        Change::Resources,
        Change::Resource("book://2".to_owned()),
        Change::Resource("book://1".to_owned()),
    ] {
        changes.announce(&change);
    }
    drop(listener);
    changes.announce(&Change::Prompts);
    let expected = [
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/prompts/list_changed","params":{{"_meta":{meta}}}}}"#
        ),
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{{"uri":"book://1","_meta":{meta}}}}}"#
        ),
    ];
    assert_eq!(*heard.lock().unwrap(), expected);
    assert_eq!(
        subscription.finished(),
        format!(r#"{{"jsonrpc":"2.0","id":"l","result":{{"resultType":"complete","_meta":{meta}}}}}"#)
    );
    // In the era of handshakes the same is told to everybody.
    assert_eq!(
        Change::Resource("a\"b".to_owned()).to_notification().unwrap(),
        r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a\"b"}}"#
    );
    assert_eq!(
        Change::Tools.to_notification().unwrap(),
        r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#
    );
}

#[test]
fn a_handler_that_panics_costs_its_request_alone() {
    let broken = Toolset::new("s", "2").with_resource(Resource::new("a:b", "a", "b"), |_| async {
        if std::hint::black_box(true) {
            panic!("the shelf fell over");
        }
        Err(CallFailure::InputRequired)
    });
    let failed = asked(&machine_of(broken), Revision::LATEST, "resources/read", &json!({"uri": "a:b"}));
    let expected = json!({"code": -32603, "message": "the resource `a:b` panicked: the shelf fell over"});
    assert_eq!(failed, Err(expected));
}
