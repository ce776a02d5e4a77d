//! A client that asks for everything and answers everything.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use surehand_mcp::{
    BoxFuture, CompleteParams, CompletionArgument, CompletionContext, CompletionRef, LogLevel, Revision,
    Root, RpcError, SamplingModes,
};
use surehand_model::{Json, RawJson};
use surehand_sandbox::ChildSpec;
use surehand_transport::{
    CallOptions, Client, ClientOptions, ElicitAnswer, ElicitAsk, ElicitRequest, ElicitationModes, Elicitor,
    Era, GetPromptParams, HttpClient, HttpOptions, Roots, Sampler, Target,
};

use crate::handler::{TOOLS, URI, raw};

struct Person;

impl Elicitor for Person {
    fn modes(&self) -> ElicitationModes {
        ElicitationModes { forms: true, addresses: true }
    }

    fn elicit<'a>(&'a self, request: &'a ElicitRequest) -> BoxFuture<'a, ElicitAnswer> {
        let values = match request.ask {
            ElicitAsk::Form(_) => vec![("name".to_owned(), Json::String("Ann".into()))],
            ElicitAsk::Address { .. } => Vec::new(),
        };
        Box::pin(async move { ElicitAnswer::Accept(values) })
    }
}

impl Sampler for Person {
    fn modes(&self) -> SamplingModes {
        SamplingModes { tools: true, context: true }
    }

    fn sample<'a>(&'a self, _: &'a RawJson) -> BoxFuture<'a, Result<RawJson, RpcError>> {
        let content = serde_json::json!({"type": "text", "text": "Hello."});
        let result = serde_json::json!({"role": "assistant", "content": content, "model": "m", "stopReason": "endTurn"});
        Box::pin(async move { Ok(raw(&result)) })
    }
}

impl Roots for Person {
    fn roots(&self) -> Vec<Root> {
        vec![Root { uri: "file:///work".to_owned(), name: Some("work".to_owned()) }]
    }
}

/// Goes through every method of a revision with a server whose lines go to `log`.
pub(crate) async fn converse(log: &Path, revision: Revision) {
    let me = std::env::current_exe().unwrap().to_string_lossy().into_owned();
    let args = ["serve", &log.to_string_lossy(), revision.as_str()].map(str::to_owned).to_vec();
    let person = Arc::new(Person);
    let options = ClientOptions {
        era: if revision.is_modern() { Era::Auto } else { Era::Legacy },
        on_elicitation: Some(person.clone()),
        on_sampling: Some(person.clone()),
        roots: Some(person),
        ..ClientOptions::default()
    };
    let target = Target::Child(ChildSpec { command: me, args, ..ChildSpec::default() });
    let client = Client::open(target, options, &HttpClient::new(HttpOptions::default())).await.unwrap();
    assert_eq!(client.server().revision, revision);

    let is_modern = revision.is_modern();
    client.set_log_level(LogLevel::Debug).await.unwrap();
    if is_modern {
        client.discover().await.unwrap();
    } else {
        client.ping().await.unwrap();
        client.roots_changed().await.unwrap();
    }
    client.subscribe(URI).await.unwrap();
    client.list_tools().await.unwrap();
    client.list_resources().await.unwrap();
    client.list_resource_templates().await.unwrap();
    client.list_prompts().await.unwrap();
    client.read_resource(URI).await.unwrap();
    client.read_resource("file:///none").await.unwrap_err();
    let arguments = [("name".to_owned(), "Ann".to_owned())].into();
    client.get_prompt(&GetPromptParams { name: "greet".to_owned(), arguments }).await.unwrap();
    let none = GetPromptParams { name: "none".to_owned(), arguments: [].into() };
    client.get_prompt(&none).await.unwrap_err();
    for r#ref in [
        CompletionRef::Prompt { name: "greet".to_owned() },
        CompletionRef::Resource { uri: "file:///{name}".to_owned() },
    ] {
        let argument = CompletionArgument { name: "name".to_owned(), value: "a".to_owned() };
        let context = CompletionContext { arguments: [("x".to_owned(), "y".to_owned())].into() };
        client.complete(&CompleteParams { r#ref, argument, context }).await.unwrap();
    }
    let heard = |_| {};
    for tool in TOOLS.iter().copied().filter(|tool| *tool != "wait") {
        let options = CallOptions { on_progress: Some(&heard), ..CallOptions::default() };
        // What a revision cannot be asked, it is not: those calls fail, and their failure is a message too.
        let _ = client.call_tool(tool, &raw(&serde_json::json!({"a": "b"})), options).await;
    }
    client.call_tool("none", &RawJson::empty_object(), CallOptions::default()).await.unwrap_err();
    let briefly = CallOptions { timeout: Duration::from_millis(50), ..CallOptions::default() };
    client.call_tool("wait", &RawJson::empty_object(), briefly).await.unwrap_err();
    client.unsubscribe(URI).await.unwrap();
    client.close().await;
}
