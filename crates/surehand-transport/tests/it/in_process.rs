//! A server in this process has all that one behind a wire has.

use std::sync::{Arc, Mutex};

use serde_json::json;
use surehand_mcp::{
    BoxFuture, CallFailure, Change, Changes, GetPromptParams, Implementation, LogLevel, LogMessage, Offers,
    PromptMessage, PromptOutput, Question, RequestContext, ServerHandler, ToolInvocation, ToolOutput,
};
use surehand_model::{ContentBlock, RawJson, ResourceContents, Tool};
use surehand_transport::{
    CallOptions, ClientError, ClientEvent, ClientOptions, ElicitAnswer, ElicitRequest, ElicitationModes,
    Elicitor, Resource, ServerNotice, Target,
};

use crate::fixture::open;

#[derive(Default)]
struct Full {
    changes: Changes,
}

const FORM: &str = r#"{"message":"?","requestedSchema":{"type":"object","properties":{"n":{"type":"number","default":1.10}}}}"#;

impl ServerHandler for Full {
    fn implementation(&self) -> Implementation {
        Implementation { name: "full".to_owned(), title: None, version: "1".to_owned() }
    }

    fn offers(&self) -> Offers {
        Offers { resources: true, prompts: true, logging: true, tools_change: true, ..Offers::tools() }
    }

    fn tools(&self) -> Vec<Tool> {
        vec![Tool::new("t", "", RawJson::empty_object())]
    }

    fn call<'a>(&'a self, call: ToolInvocation<'a>) -> BoxFuture<'a, Result<ToolOutput, CallFailure>> {
        Box::pin(async move {
            let form = Question::Elicit(RawJson::parse(FORM).unwrap());
            let answer = call.context.ask("k", form).await?;
            call.context.progress(1.0, Some(2.0), Some("half"));
            call.context.log(LogLevel::Info, None, &RawJson::from_serialize("logged"));
            self.changes.announce(&Change::Tools);
            call.context.progress(2.0, None, None);
            Ok(ToolOutput { structured: Some(answer), ..ToolOutput::default() })
        })
    }

    fn resources(&self) -> Vec<Resource> {
        vec![Resource {
            uri: "a:1".to_owned(),
            name: "one".to_owned(),
            title: None,
            description: None,
            mime_type: None,
            size: None,
            raw: RawJson::parse(r#"{"uri":"a:1","name":"one"}"#).unwrap(),
        }]
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
        _: RequestContext,
    ) -> BoxFuture<'a, Result<Vec<ResourceContents>, CallFailure>> {
        Box::pin(async move {
            let text = Some("text".to_owned());
            let contents = ResourceContents { uri: uri.to_owned(), mime_type: None, text, blob: None };
            if uri == "a:1" { Ok(vec![contents]) } else { Err(CallFailure::UnknownResource(uri.to_owned())) }
        })
    }

    fn prompt(
        &self,
        _: GetPromptParams,
        _: RequestContext,
    ) -> BoxFuture<'_, Result<PromptOutput, CallFailure>> {
        let content = ContentBlock::Text("said".to_owned());
        let messages = vec![PromptMessage { role: "user".to_owned(), content }];
        Box::pin(async { Ok(PromptOutput { description: None, messages }) })
    }

    fn changes(&self) -> Option<&Changes> {
        Some(&self.changes)
    }
}

struct Agreeable;

impl Elicitor for Agreeable {
    fn modes(&self) -> ElicitationModes {
        ElicitationModes { forms: true, addresses: false }
    }

    fn elicit<'a>(&'a self, _: &'a ElicitRequest) -> BoxFuture<'a, ElicitAnswer> {
        Box::pin(async { ElicitAnswer::Accept(Vec::new()) })
    }
}

#[tokio::test]
async fn it_asks_reports_logs_and_tells_of_changes() {
    let options = ClientOptions { on_elicitation: Some(Arc::new(Agreeable)), ..ClientOptions::default() };
    let (client, events) = open(Target::InProcess(Arc::new(Full::default())), options).await;
    let client = client.unwrap();
    client.set_log_level(LogLevel::Info).await.unwrap();
    let reports = Mutex::new(Vec::new());
    let on_progress =
        |progress: surehand_transport::Progress| reports.lock().unwrap().push(progress.progress);
    let options = CallOptions { on_progress: Some(&on_progress), ..CallOptions::default() };
    let outcome = client.call_tool("t", &RawJson::empty_object(), options).await.unwrap();
    assert_eq!(outcome.structured.unwrap().to_value(), json!({"action": "accept", "content": {"n": 1.10}}));
    assert_eq!(*reports.lock().unwrap(), [1.0, 2.0]);
    let log = LogMessage { level: "info".to_owned(), logger: None, data: RawJson::from_serialize("logged") };
    // A change is told while the call runs, what the call says when it is next looked at.
    assert_eq!(
        *events.lock().unwrap(),
        [ClientEvent::Notice(ServerNotice::ToolsChanged), ClientEvent::Notice(ServerNotice::Log(log))]
    );
}

#[tokio::test]
async fn its_resources_and_prompts_are_there() {
    let target = Target::InProcess(Arc::new(Full::default()));
    let client = open(target, ClientOptions::default()).await.0.unwrap();
    assert_eq!(client.list_resources().await.unwrap().items[0].uri, "a:1");
    assert_eq!(client.read_resource("a:1").await.unwrap().contents[0].text.as_deref(), Some("text"));
    let missing = client.read_resource("a:2").await;
    assert!(matches!(&missing, Err(ClientError::Rpc { code: -32602, .. })), "{missing:?}");
    let params = GetPromptParams { name: "p".to_owned(), arguments: Default::default() };
    let prompt = client.get_prompt(&params).await.unwrap();
    assert_eq!(prompt.messages[0].content, ContentBlock::Text("said".to_owned()));
    let refused = client.call_tool("t", &RawJson::empty_object(), CallOptions::default()).await;
    assert!(matches!(&refused, Err(ClientError::Rpc { code: -32021, .. })), "{refused:?}");
}
