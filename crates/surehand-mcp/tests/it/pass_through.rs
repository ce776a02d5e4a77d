//! What is not ours to read goes through both machines, and through a relay made of them, byte for byte.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use surehand_mcp::{
    Arrival, BoxFuture, CallFailure, CallToolParams, CallToolResult, ClientCapabilities, EnvelopeLimits,
    Exchange, Implementation, Incoming, Negotiated, Page, ReadResult, Revision, RpcError, ServerHandler,
    ServerMachine, Speaker, ToolInvocation, ToolOutput, Verdict,
};
use surehand_model::{RawJson, Tool};

use crate::any_json::{any_id, any_object, any_value, unknown_members};
use crate::fixture::{Outgoing, machine_of, run};
use crate::server::Echo;

fn me() -> Implementation {
    Implementation { name: "c".to_owned(), title: None, version: "1".to_owned() }
}

fn machine(handler: impl ServerHandler) -> ServerMachine {
    machine_of(handler)
}

fn session(revision: Revision) -> Option<Negotiated> {
    Some(revision).filter(|revision| !revision.is_modern()).map(Negotiated::new)
}

/// A tool that gives what it is told to, and tells what reached it.
struct Giving(Result<ToolOutput, CallFailure>, Arc<Mutex<Option<RawJson>>>);

impl ServerHandler for Giving {
    fn implementation(&self) -> Implementation {
        Echo.implementation()
    }

    fn tools(&self) -> Vec<Tool> {
        Echo.tools()
    }

    fn call<'a>(&'a self, call: ToolInvocation<'a>) -> BoxFuture<'a, Result<ToolOutput, CallFailure>> {
        *self.1.lock().unwrap() = Some(call.arguments);
        Box::pin(async { self.0.clone() })
    }
}

/// What a client makes of the server's answer to a call whose tool gives `given`.
fn called(
    revision: Revision,
    given: Result<ToolOutput, CallFailure>,
    arguments: &RawJson,
) -> (RawJson, Result<RawJson, RpcError>) {
    let speaker = Speaker::new(revision, &me(), ClientCapabilities::default());
    let mut exchange = Exchange::new(Some(revision), EnvelopeLimits::default());
    let id = exchange.begin(());
    let params = CallToolParams { name: "echo".to_owned(), arguments: Some(arguments.clone()) };
    let sent = speaker.request(id, "tools/call", Some(&RawJson::from_serialize(&params)), true);
    let reached = Arc::new(Mutex::new(None));
    let session = session(revision);
    let mut verdicts = machine(Giving(given, reached.clone()))
        .receive(&sent, Arrival::Stream { session: session.as_ref(), principal: None });
    let Some(Verdict::Run(request)) = verdicts.pop() else { panic!("{sent}") };
    let answer = run(request, Outgoing::default()).body;
    let Some(Incoming::Answer { outcome, .. }) = exchange.receive(&answer).pop() else { panic!("{answer}") };
    let reached = reached.lock().unwrap().take();
    (reached.unwrap(), outcome)
}

/// A server that offers what another one defined.
struct Relay(Vec<Tool>);

impl ServerHandler for Relay {
    fn implementation(&self) -> Implementation {
        me()
    }

    fn tools(&self) -> Vec<Tool> {
        self.0.clone()
    }

    fn call<'a>(&'a self, call: ToolInvocation<'a>) -> BoxFuture<'a, Result<ToolOutput, CallFailure>> {
        Echo.call(call)
    }
}

fn listed(handler: impl ServerHandler, revision: Revision) -> Page<Tool> {
    let speaker = Speaker::new(revision, &me(), ClientCapabilities::default());
    let mut exchange = Exchange::new(Some(revision), EnvelopeLimits::default());
    let sent = speaker.request(exchange.begin(()), "tools/list", None, false);
    let session = session(revision);
    let mut verdicts =
        machine(handler).receive(&sent, Arrival::Stream { session: session.as_ref(), principal: None });
    let Some(Verdict::Answer(reply)) = verdicts.pop() else { panic!("{sent}") };
    let mut incoming = exchange.receive(&reply.body);
    let Some(Incoming::Answer { outcome: Ok(result), .. }) = incoming.pop() else { panic!("{}", reply.body) };
    Page::read(&result).unwrap()
}

proptest! {
    #[test]
    fn arguments_and_structured_results_pass_both_machines_in_every_revision(
        arguments in any_object(),
        result in any_object(),
    ) {
        for revision in Revision::ALL {
            let given = ToolOutput { structured: Some(result.clone()), ..ToolOutput::default() };
            let (reached, answered) = called(revision, Ok(given), &arguments);
            prop_assert_eq!(&reached, &arguments);
            let received = CallToolResult::read(&answered.unwrap()).unwrap();
            let has_structured = revision >= Revision::V2025_06_18;
            prop_assert_eq!(received.structured, Some(result.clone()).filter(|_| has_structured));
            prop_assert_eq!(received.content, [surehand_model::ContentBlock::Text(result.as_str().to_owned())]);
        }
    }

    #[test]
    fn a_whole_result_of_another_server_is_handed_on_as_it_came(
        block in any_object(),
        structured in any_object(),
        meta in any_object(),
        unknown in unknown_members(),
    ) {
        let members = format!(
            r#""structuredContent":{structured},"_meta": {meta}{unknown},"content" :[{{"type":"hologram","x":{block}}},{{"annotations":{block},"type":"text","text":"\u0061"}}]"#
        );
        for revision in Revision::ALL {
            let kind = if revision.is_modern() { r#""resultType":"complete","# } else { "" };
            let whole = RawJson::parse(format!("{{{kind}{members}}}")).unwrap();
            let CallToolResult { content, structured, is_error, .. } = CallToolResult::read(&whole).unwrap();
            let given = ToolOutput { content, structured, is_error, whole: Some(whole.clone()) };
            let (_, answered) = called(revision, Ok(given), &RawJson::empty_object());
            prop_assert_eq!(answered, Ok(whole));
        }
    }

    #[test]
    fn an_error_of_another_server_is_handed_on_with_its_data(code in any::<i32>(), message in "[a-zé \"]{0,9}", data in any_value()) {
        for revision in Revision::ALL {
            let error = RpcError { code: code.into(), message: message.clone(), data: Some(data.clone()) };
            let (_, answered) = called(revision, Err(CallFailure::Rpc(error.clone())), &RawJson::empty_object());
            prop_assert_eq!(answered, Err(error));
        }
    }

    #[test]
    fn a_definition_of_another_server_is_handed_on_as_it_came(
        schema in any_object(),
        meta in any_object(),
        icons in any_value(),
        unknown in unknown_members(),
    ) {
        let text = format!(
            r#"{{"icons":{icons},"inputSchema" : {schema}{unknown},"name":"\u0074","annotations":{{"readOnlyHint":true ,"x":{meta}}}, "_meta":{meta},"execution":{{"taskSupport":"optional"}}}}"#
        );
        let upstream = Page::<Tool>::read(&RawJson::parse(format!(r#"{{"tools":[{text}]}}"#)).unwrap()).unwrap();
        for revision in Revision::ALL {
            let page = listed(Relay(upstream.items.clone()), revision);
            prop_assert_eq!(&page.items, &upstream.items);
            prop_assert_eq!(page.items[0].definition.as_ref().map(RawJson::as_str), Some(text.as_str()));
        }
    }

    #[test]
    fn an_id_comes_back_as_it_was_written(id in any_id()) {
        for method in ["ping", "tools/list", "no/such"] {
            let sent = format!(r#"{{"jsonrpc":"2.0","method":"{method}","id" : {id} }}"#);
            let mut verdicts = machine(Echo).receive(&sent, Arrival::Stream { session: session(Revision::V2025_11_25).as_ref(), principal: None });
            let Some(Verdict::Answer(reply)) = verdicts.pop() else { panic!("{sent}") };
            prop_assert!(reply.body.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"#)), "{}", reply.body);
        }
    }

    #[test]
    fn what_stands_twice_where_it_decides_is_refused_wherever_the_second_stands(
        (first, second) in (any_value(), any_value()),
        at in 0_usize..3,
    ) {
        let refused = |text: &str| {
            let mut verdicts = machine(Echo).receive(text, Arrival::Stream { session: session(Revision::V2025_11_25).as_ref(), principal: None });
            matches!(verdicts.pop(), Some(Verdict::Answer(reply)) if reply.body.contains("stands twice"))
        };
        for key in ["id", "method", "params"] {
            let mut members = vec![r#""jsonrpc":"2.0""#.to_owned(), r#""x":1"#.to_owned(), format!(r#""{key}":{first}"#)];
            members.insert(at, format!(r#""{key}" : {second}"#));
            let text = format!("{{{}}}", members.join(","));
            prop_assert!(refused(&text), "{}", text);
        }
        for key in ["name", "arguments", "_meta"] {
            let mut members = vec![r#""x":1"#.to_owned(), r#""y":1"#.to_owned(), format!(r#""{key}":{first}"#)];
            members.insert(at, format!(r#""{key}" : {second}"#));
            let params = members.join(",");
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{{params}}}}}"#);
            prop_assert!(refused(&text), "{}", text);
        }
    }
}

#[test]
fn a_result_that_crosses_eras_gains_or_loses_only_what_the_era_demands() {
    let handed_on = |revision, whole: &str| {
        let whole = RawJson::parse(whole).unwrap();
        let CallToolResult { content, structured, is_error, .. } = CallToolResult::read(&whole).unwrap();
        let given = ToolOutput { content, structured, is_error, whole: Some(whole) };
        called(revision, Ok(given), &RawJson::empty_object()).1.unwrap().as_str().to_owned()
    };
    let (older, stateless) = (Revision::V2025_11_25, Revision::V2026_07_28);
    assert_eq!(
        handed_on(stateless, r#"{"content" : [],"x":1.10 }"#),
        r#"{"resultType":"complete","content" : [],"x":1.10 ,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","title":"S","version":"2"}}}"#
    );
    assert_eq!(
        handed_on(stateless, "{}"),
        r#"{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","title":"S","version":"2"}}}"#
    );
    assert_eq!(
        handed_on(older, r#"{"resultType":"complete","content":[],"_meta":{"a" : 1}}"#),
        r#"{"content":[],"_meta":{"a" : 1}}"#
    );
    // Nothing but a structured value, with or without an empty list beside it.
    for bare in [
        r#"{"structuredContent":{"total":3}}"#,
        r#"{"content":[],"structuredContent":{"total":3},"isError":false}"#,
    ] {
        assert_eq!(handed_on(older, bare), bare);
    }
    let list = r#"{"resultType":"complete","content":[],"structuredContent":[1,2],"_meta":{}}"#;
    assert_eq!(handed_on(stateless, list), list);
    // No object, which an older client would refuse; and a block that the first revision has no word for.
    let array =
        r#"{"content":[{"type":"text","text":"[1]"}],"structuredContent":[1],"resultType":"complete"}"#;
    assert_eq!(handed_on(older, array), r#"{"content":[{"type":"text","text":"[1]"}]}"#);
    let link = r#"{"content":[{"type":"resource_link","uri":"db://1","name":"row"}],"x":1}"#;
    assert_eq!(handed_on(older, link), link);
    assert_eq!(
        handed_on(Revision::V2024_11_05, link),
        r#"{"content":[{"type":"text","text":"row: db://1"}]}"#
    );
}
