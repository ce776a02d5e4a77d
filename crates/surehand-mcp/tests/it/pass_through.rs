use std::sync::Arc;

use proptest::prelude::*;
use surehand_mcp::{
    Arrival, CallToolParams, CallToolResult, ClientCapabilities, EnvelopeLimits, Exchange, Implementation,
    Incoming, ReadResult, Revision, ServerMachine, Speaker, ToolOutput, Verdict,
};
use surehand_model::RawJson;

use crate::server::Echo;

/// Any JSON object, with what a careless reader would change: digits, escapes, white space, key order, keys that stand twice,
/// keys that the protocol uses itself.
fn any_object() -> impl Strategy<Value = RawJson> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        "-?[1-9][0-9]{0,30}(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?",
        "\"[a-z é中\u{1f600}]{0,8}\"",
        Just("\"\\u00E9\\ud800\\/\\n\"".to_owned()),
        Just("null".to_owned()),
        Just("true".to_owned()),
    ];
    let key = prop_oneof![
        "\"[a-c]\"",
        Just("\"_meta\"".to_owned()),
        Just("\"name\"".to_owned()),
        Just("\"\\u0061\"".to_owned())
    ];
    let pairs = move |inner: BoxedStrategy<String>| {
        proptest::collection::vec((key.clone(), inner), 0..4)
            .prop_map(|pairs| {
                pairs.into_iter().map(|(key, value)| format!("{key} : {value}")).collect::<Vec<_>>().join(",")
            })
            .prop_map(|pairs| format!("{{{pairs}}}"))
    };
    let nested = {
        let pairs = pairs.clone();
        leaf.prop_recursive(3, 16, 4, move |inner| {
            let list = proptest::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[{}]", items.join(" ,")));
            prop_oneof![list, pairs(inner.boxed())]
        })
    };
    pairs(nested.boxed()).prop_map(|text| RawJson::parse(text).unwrap())
}

proptest! {
    #[test]
    fn arguments_and_results_pass_both_machines_byte_for_byte_in_every_revision(
        arguments in any_object(),
        result in any_object(),
        wants_progress in any::<bool>(),
    ) {
        let server = ServerMachine::new(Arc::new(Echo), EnvelopeLimits::default());
        let who = Implementation { name: "c".to_owned(), title: None, version: "1".to_owned() };
        for revision in Revision::ALL {
            let speaker = Speaker::new(revision, &who, ClientCapabilities::default());
            let mut exchange = Exchange::new(Some(revision), EnvelopeLimits::default());
            let id = exchange.begin(());
            let params = CallToolParams { name: "echo".to_owned(), arguments: Some(arguments.clone()) };
            let sent = speaker.request(id, "tools/call", Some(&RawJson::from_serialize(&params)), wants_progress);

            let negotiated = Some(revision).filter(|revision| !revision.is_modern());
            let mut verdicts = server.receive(&sent, Arrival::Stream { negotiated });
            let Some(Verdict::Call(call)) = verdicts.pop() else { panic!("{sent}") };
            prop_assert_eq!((&call.arguments, call.name.as_str(), call.revision), (&arguments, "echo", revision));

            let answer = call.finish(Ok(ToolOutput { structured: Some(result.clone()), ..ToolOutput::default() })).body;
            let Some(Incoming::Answer { outcome: Ok(received), .. }) = exchange.receive(&answer).pop() else { panic!("{answer}") };
            let received = CallToolResult::read(&received).unwrap();
            let has_structured = revision >= Revision::V2025_06_18;
            prop_assert_eq!(received.structured, Some(result.clone()).filter(|_| has_structured));
            prop_assert_eq!(received.content, [surehand_model::ContentBlock::Text(result.as_str().to_owned())]);
        }
    }
}
