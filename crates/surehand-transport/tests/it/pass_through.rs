//! A relay made of our client and our server changes nothing that it only hands on.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use surehand_mcp::{
    BoxFuture, CallFailure, Implementation, RpcError, ServerHandler, ToolInvocation, ToolOutput,
};
use surehand_model::{RawJson, Tool};
use surehand_transport::{
    CallOptions, Client, ClientError, ClientOptions, Era, HttpServer, HttpServerOptions, Target, serve_http,
};
use tokio_util::sync::CancellationToken;

use crate::fixture::{Targeted, echo_process, http};

/// A server that says what it was told to say, and keeps what it was asked.
#[derive(Default)]
struct Given {
    tools: Mutex<Vec<Tool>>,
    outcome: Mutex<Option<Result<ToolOutput, CallFailure>>>,
    asked: Mutex<Vec<(String, RawJson)>>,
}

impl ServerHandler for Given {
    fn implementation(&self) -> Implementation {
        Implementation { name: "given".to_owned(), title: None, version: "1".to_owned() }
    }

    fn tools(&self) -> Vec<Tool> {
        self.tools.lock().unwrap().clone()
    }

    fn call<'a>(&'a self, call: ToolInvocation<'a>) -> BoxFuture<'a, Result<ToolOutput, CallFailure>> {
        self.asked.lock().unwrap().push((call.name.to_owned(), call.arguments));
        let outcome = self.outcome.lock().unwrap().clone();
        Box::pin(async move { outcome.unwrap() })
    }
}

/// Hands everything on to the server behind its client.
struct Relay {
    client: Client,
    tools: Mutex<Vec<Tool>>,
}

impl Relay {
    async fn learn(&self) {
        // Its server tells nobody that its tools have changed.
        self.client.forget_kept();
        let listing = self.client.list_tools().await.unwrap();
        *self.tools.lock().unwrap() = listing.items;
    }
}

impl ServerHandler for Relay {
    fn implementation(&self) -> Implementation {
        Implementation { name: "relay".to_owned(), title: None, version: "1".to_owned() }
    }

    fn tools(&self) -> Vec<Tool> {
        self.tools.lock().unwrap().clone()
    }

    fn call<'a>(&'a self, call: ToolInvocation<'a>) -> BoxFuture<'a, Result<ToolOutput, CallFailure>> {
        Box::pin(async move {
            match self.client.call_tool(call.name, &call.arguments, CallOptions::default()).await {
                Ok(outcome) => Ok(ToolOutput {
                    content: outcome.content,
                    structured: outcome.structured,
                    is_error: outcome.is_error,
                    whole: Some(outcome.raw),
                }),
                Err(ClientError::Rpc { code, message, data }) => {
                    Err(CallFailure::Rpc(RpcError { code, message, data }))
                }
                Err(error) => Err(CallFailure::Internal(error.to_string())),
            }
        })
    }
}

/// A client of a relay of a server.
struct Chain {
    client: Client,
    relay: Arc<Relay>,
    _served: Vec<HttpServer>,
}

async fn serve(handler: Arc<dyn ServerHandler>) -> HttpServer {
    serve_http(handler, HttpServerOptions::default(), CancellationToken::new()).await.unwrap()
}

async fn opened(target: Target, era: Era) -> Client {
    Client::open(target, ClientOptions { era, ..ClientOptions::default() }, &http()).await.unwrap()
}

async fn chained(upstream: Target, mut served: Vec<HttpServer>, era: Era) -> Chain {
    let relay = Arc::new(Relay { client: opened(upstream, era).await, tools: Mutex::default() });
    let server = serve(relay.clone()).await;
    let client = opened(server.target(), era).await;
    served.push(server);
    Chain { client, relay, _served: served }
}

/// Any JSON, as short texts of what careless readers change.
fn any_value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        "-?[1-9][0-9]{0,45}(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?",
        Just("1.10".to_owned()),
        "\"[a-z é中\u{1f600}]{0,8}\"",
        Just("\"\\u00E9\\ud800\\/\\n\"".to_owned()),
        Just("null".to_owned()),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let key = prop_oneof![
            "\"[a-c]\"".boxed(),
            Just("\"\\u0061\"".to_owned()).boxed(),
            Just("\"_meta\"".to_owned()).boxed()
        ];
        let pair = (key, inner.clone()).prop_map(|(key, value)| format!("{key} : {value}"));
        prop_oneof![
            proptest::collection::vec(inner, 0..3).prop_map(|items| format!("[{}]", items.join(" ,"))),
            proptest::collection::vec(pair, 0..3).prop_map(|pairs| format!("{{{}}}", pairs.join(","))),
        ]
    })
}

#[test]
fn a_relay_hands_on_calls_results_errors_and_definitions_byte_for_byte() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for era in [Era::Legacy, Era::Auto] {
        let given = Arc::new(Given::default());
        let chain = runtime.block_on(async {
            let server = serve(given.clone()).await;
            chained(server.target(), vec![server], era).await
        });
        let mut runner = TestRunner::new(Config { cases: 48, ..Config::default() });
        let values = (any_value(), any_value(), any_value());
        let passed = runner.run(&values, |(a, b, c)| {
            runtime.block_on(async {
                let arguments = RawJson::parse(format!(r#"{{"z":{a},"a" : {b},"a":{c}}}"#)).unwrap();
                let kind = if era == Era::Legacy { "" } else { r#""resultType":"complete","# };
                let whole = RawJson::parse(format!(
                    r#"{{{kind}"structuredContent":{{"n":{a}}},"_meta":{{"k" : {b}}},"content":[{{"type":"hologram","x":{c}}}],"x":{a}}}"#
                ))
                .unwrap();
                let output = ToolOutput { whole: Some(whole.clone()), ..ToolOutput::default() };
                *given.outcome.lock().unwrap() = Some(Ok(output));
                let outcome = chain.client.call_tool("t", &arguments, CallOptions::default()).await;
                prop_assert_eq!(outcome.map(|outcome| outcome.raw), Ok(whole));
                let asked = given.asked.lock().unwrap().pop();
                prop_assert_eq!(asked, Some(("t".to_owned(), arguments)));

                let data = RawJson::parse(c.clone()).unwrap();
                let error = RpcError { code: -31999, message: "no: \"é\"".to_owned(), data: Some(data) };
                *given.outcome.lock().unwrap() = Some(Err(CallFailure::Rpc(error.clone())));
                let outcome = chain.client.call_tool("t", &RawJson::empty_object(), CallOptions::default()).await;
                prop_assert_eq!(outcome.err(), Some(ClientError::from(error)));

                let definition = format!(
                    r#"{{"icons":{a},"inputSchema" : {{"type":"object","x":{b}}},"x":{c},"name":"t","_meta":{{"k":{a}}}}}"#
                );
                let definition = RawJson::parse(definition).unwrap();
                let tool = Tool { definition: Some(definition.clone()), ..Tool::new("t", "", RawJson::empty_object()) };
                *given.tools.lock().unwrap() = vec![tool];
                chain.relay.learn().await;
                chain.client.forget_kept();
                let listing = chain.client.list_tools().await.unwrap();
                let definitions: Vec<_> = listing.items.into_iter().map(|tool| tool.definition).collect();
                prop_assert_eq!(definitions, [Some(definition)]);
                Ok(())
            })
        });
        passed.unwrap();
    }
}

#[tokio::test]
async fn a_relay_of_a_process_hands_on_its_results_byte_for_byte() {
    let arguments = RawJson::parse(
        r#"{"b":1.10,"a":[1E+2,-0,1234567890123456789012345678901234567890],"a":"\u00e9\ud83d\/","":{"x" : [ ]}}"#,
    )
    .unwrap();
    for era in [Era::Legacy, Era::Auto] {
        let chain = chained(Target::Child(echo_process()), Vec::new(), era).await;
        let options = CallOptions::default();
        let straight = chain.relay.client.call_tool("echo", &arguments, options).await.unwrap();
        let relayed = chain.client.call_tool("echo", &arguments, options).await.unwrap();
        assert_eq!(relayed, straight);
        assert_eq!(relayed.structured, Some(arguments.clone()));
    }
}
