//! Servers that ask the client for completions, folders and addresses to open. What reached the server is what counts.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use surehand_mcp::{BoxFuture, ErrorCode, RpcError};
use surehand_model::RawJson;
use surehand_transport::{
    CallOptions, Client, ClientError, ClientOptions, ElicitAnswer, ElicitAsk, ElicitRequest,
    ElicitationModes, Elicitor, Root, Roots, Sampler, SamplingModes, Target,
};

use crate::fixture::open;
use crate::scripted::{DISCOVERED, INITIALIZED, NO_DISCOVERY, process};

/// Answers every question with the same thing, and writes down what it was asked.
#[derive(Default)]
struct Model {
    modes: SamplingModes,
    refuses: bool,
    asked: Mutex<Vec<String>>,
}

const SAID: &str =
    r#"{"role":"assistant","content":{"type":"text","text":"4.10"},"model":"m", "stopReason":"endTurn"}"#;

impl Sampler for Model {
    fn modes(&self) -> SamplingModes {
        self.modes
    }

    fn sample<'a>(&'a self, params: &'a RawJson) -> BoxFuture<'a, Result<RawJson, RpcError>> {
        self.asked.lock().unwrap().push(params.as_str().to_owned());
        let refused = RpcError::new(ErrorCode::REJECTED, "User rejected sampling request");
        let answer = if self.refuses { Err(refused) } else { Ok(RawJson::parse(SAID).unwrap()) };
        Box::pin(async { answer })
    }
}

struct Folder;

impl Roots for Folder {
    fn roots(&self) -> Vec<Root> {
        vec![Root { uri: "file:///w".to_owned(), name: Some("w".to_owned()) }]
    }
}

struct Person {
    says: ElicitAnswer,
    asked: Mutex<Vec<String>>,
}

impl Person {
    fn who_says(says: ElicitAnswer) -> Arc<Self> {
        Arc::new(Self { says, asked: Mutex::default() })
    }
}

impl Elicitor for Person {
    fn modes(&self) -> ElicitationModes {
        ElicitationModes { forms: true, addresses: true }
    }

    fn elicit<'a>(&'a self, request: &'a ElicitRequest) -> BoxFuture<'a, ElicitAnswer> {
        let url = match &request.ask {
            ElicitAsk::Address { url, .. } => url.clone(),
            ElicitAsk::Form(_) => String::new(),
        };
        self.asked.lock().unwrap().push(format!("{} {url}", request.message));
        Box::pin(async { self.says.clone() })
    }
}

async fn connect(target: Target, options: ClientOptions) -> Client {
    open(target, options).await.0.unwrap()
}

fn with(model: &Arc<Model>) -> ClientOptions {
    ClientOptions {
        on_sampling: Some(model.clone()),
        roots: Some(Arc::new(Folder)),
        ..ClientOptions::default()
    }
}

async fn call(client: &Client) -> Result<Value, ClientError> {
    let outcome = client.call_tool("t", &RawJson::empty_object(), CallOptions::default()).await?;
    Ok(outcome.structured.unwrap().to_value())
}

const QUESTION: &str =
    r#"{"messages":[{"role":"user","content":{"type":"text","text":"2.10+2?"}}],"maxTokens":1e2}"#;

/// A process of the older era that asks `method` in the middle of each call, and gives back what it heard.
fn asking(method: &str, params: &str) -> Target {
    let ask = format!(r#"{{"jsonrpc":"2.0","id":"ask","method":"{method}","params":{params}}}"#);
    process(&[
        NO_DISCOVERY,
        INITIALIZED,
        ("=*tools/call*", &[&ask]),
        (
            r#"*\"id\":\"ask\"*"#,
            &[r#"{"jsonrpc":"2.0","id":KEPT_ID,"result":{"content":[],"structuredContent":LINE}}"#],
        ),
    ])
}

#[tokio::test]
async fn a_process_has_the_model_answer_and_hears_the_folders_as_they_were_written() {
    let model = Arc::new(Model::default());
    let client = connect(asking("sampling/createMessage", QUESTION), with(&model)).await;
    let said: Value = serde_json::from_str(SAID).unwrap();
    assert_eq!(call(&client).await.unwrap(), json!({"jsonrpc": "2.0", "id": "ask", "result": said}));
    assert_eq!(*model.asked.lock().unwrap(), [QUESTION]);

    let client = connect(asking("roots/list", "{}"), with(&model)).await;
    let roots = json!({"roots": [{"uri": "file:///w", "name": "w"}]});
    assert_eq!(call(&client).await.unwrap()["result"], roots);
}

#[tokio::test]
async fn tools_that_were_not_offered_a_person_who_says_no_and_nobody_at_all_are_errors_to_the_server() {
    let tools = r#"{"messages":[],"tools":[]}"#;
    let model = Arc::new(Model::default());
    let client = connect(asking("sampling/createMessage", tools), with(&model)).await;
    assert_eq!(
        call(&client).await.unwrap()["error"],
        json!({"code": -32602, "message": "`tools` is used, and this client has not offered `sampling.tools`"})
    );
    assert_eq!(*model.asked.lock().unwrap(), [""; 0]);

    let willing =
        Arc::new(Model { modes: SamplingModes { tools: true, context: false }, ..Model::default() });
    let client = connect(asking("sampling/createMessage", tools), with(&willing)).await;
    assert_eq!(call(&client).await.unwrap()["result"]["model"], json!("m"));

    let unwilling = Arc::new(Model { refuses: true, ..Model::default() });
    let client = connect(asking("sampling/createMessage", QUESTION), with(&unwilling)).await;
    let refused = json!({"code": -1, "message": "User rejected sampling request"});
    assert_eq!(call(&client).await.unwrap()["error"], refused);

    for method in ["sampling/createMessage", "roots/list"] {
        let client = connect(asking(method, QUESTION), ClientOptions::default()).await;
        assert_eq!(call(&client).await.unwrap()["error"]["code"], json!(-32601));
    }
}

/// A stateless process that needs this first, and gives back the second request.
fn needing(requests: &str) -> Target {
    let needs = format!(
        r#"{{"jsonrpc":"2.0","id":ID,"result":{{"resultType":"input_required","requestState":"s","inputRequests":{requests}}}}}"#
    );
    process(&[
        DISCOVERED,
        (
            "*requestState*",
            &[
                r#"{"jsonrpc":"2.0","id":ID,"result":{"resultType":"complete","content":[],"structuredContent":LINE}}"#,
            ],
        ),
        ("*tools/call*", &[&needs]),
    ])
}

#[tokio::test]
async fn a_stateless_server_gets_every_kind_of_input_at_once_and_sees_what_was_offered() {
    let model = Arc::new(Model::default());
    let person: Arc<dyn Elicitor> = Person::who_says(ElicitAnswer::Accept(Vec::new()));
    let options = ClientOptions { on_elicitation: Some(person), ..with(&model) };
    let requests = format!(
        r#"{{"open":{{"method":"elicitation/create","params":{{"mode":"url","url":"https://a.test","message":"?"}}}},"say":{{"method":"sampling/createMessage","params":{QUESTION}}},"where":{{"method":"roots/list"}}}}"#
    );
    let client = connect(needing(&requests), options).await;
    let params = call(&client).await.unwrap()["params"].clone();
    let said: Value = serde_json::from_str(SAID).unwrap();
    assert_eq!(
        params["inputResponses"],
        json!({"open": {"action": "accept"}, "say": said, "where": {"roots": [{"uri": "file:///w", "name": "w"}]}})
    );
    assert_eq!(
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"],
        json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}})
    );
}

#[tokio::test]
async fn a_stateless_server_that_gets_no_answer_costs_only_its_call_and_says_why() {
    let model = Arc::new(Model { refuses: true, ..Model::default() });
    for (requests, why) in [
        (r#"{"k":{"method":"files/read"}}"#, "`files/read` under `k` is nothing that a client can give"),
        (r#"{"k":{"method":"elicitation/create","params":{}}}"#, "this client has not offered to give any"),
        (
            r#"{"k":{"method":"sampling/createMessage","params":{"messages":[]}}}"#,
            "`k` has no answer: User rejected sampling request (code -1)",
        ),
    ] {
        let client = connect(needing(requests), with(&model)).await;
        match call(&client).await.unwrap_err() {
            ClientError::InputRequired { why: said, .. } => assert_eq!(said, why),
            other => panic!("{other:?}"),
        }
        assert!(!client.is_closed());
    }
}

/// A process that takes a call only after an address has been opened, and tells when it has been. Gives back how often it was
/// called.
fn behind_an_address() -> Target {
    process(&[
        NO_DISCOVERY,
        INITIALIZED,
        (
            r#"*\"id\":4,*"#,
            &[r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":{"calls":2}}}"#],
        ),
        (
            "*tools/call*",
            &[
                r#"{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e1"}}"#,
                r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32042,"message":"open it","data":{"elicitations":[{"mode":"url","elicitationId":"e1","url":"https://a.test/x","message":"Sign in"}]}}}"#,
            ],
        ),
    ])
}

#[tokio::test]
async fn a_call_is_made_once_more_when_the_person_has_opened_the_address_it_was_refused_for() {
    let person = Person::who_says(ElicitAnswer::Accept(Vec::new()));
    let options = ClientOptions {
        on_elicitation: Some(person.clone()),
        // Only the server's own word ends the wait.
        address_wait: Duration::from_secs(3_600),
        ..ClientOptions::default()
    };
    let client = connect(behind_an_address(), options).await;
    assert_eq!(call(&client).await.unwrap(), json!({"calls": 2}));
    assert_eq!(*person.asked.lock().unwrap(), ["Sign in https://a.test/x"]);
}

#[tokio::test]
async fn a_person_who_does_not_open_the_address_leaves_the_refusal_as_it_was() {
    let person = Person::who_says(ElicitAnswer::Decline);
    let options = ClientOptions { on_elicitation: Some(person), ..ClientOptions::default() };
    for options in [options, ClientOptions::default()] {
        let client = connect(behind_an_address(), options).await;
        let failure = call(&client).await.unwrap_err();
        assert!(matches!(&failure, ClientError::Rpc { code: -32042, .. }), "{failure}");
    }
}

#[tokio::test]
async fn a_server_that_was_told_of_folders_is_told_when_they_change() {
    let model = Arc::new(Model::default());
    let target = || {
        process(&[
            NO_DISCOVERY,
            INITIALIZED,
            ("=*list_changed*", &[]),
            (
                "*tools/call*",
                &[r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":KEPT}}"#],
            ),
        ])
    };
    let client = connect(target(), with(&model)).await;
    client.roots_changed().await.unwrap();
    let told = json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"});
    assert_eq!(call(&client).await.unwrap(), told);
}

#[tokio::test]
async fn a_server_may_ask_as_a_task_and_come_back_for_the_answer() {
    let question = QUESTION.replace("{\"messages\"", "{\"task\":{\"ttl\":60000},\"messages\"");
    let ask =
        format!(r#"{{"jsonrpc":"2.0","id":"ask","method":"sampling/createMessage","params":{question}}}"#);
    let script = r#"task=$(printf '%s' "$line" | sed -n 's/.*"taskId":"\([0-9a-f]*\)".*/\1/p')"#;
    let with_task = |method: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":"{method}","method":"tasks/{method}","params":{{"taskId":"TASK"}}}}"#
        )
    };
    let (get, fetch) = (with_task("get"), with_task("result"));
    let target = crate::scripted::process_with(
        script,
        &[
            NO_DISCOVERY,
            INITIALIZED,
            ("=*tools/call*", &[&ask]),
            (r#"*\"id\":\"ask\"*"#, &[&fetch]),
            (r#"*\"id\":\"result\"*"#, &[&get]),
            (
                r#"*\"id\":\"get\"*"#,
                &[r#"{"jsonrpc":"2.0","id":KEPT_ID,"result":{"content":[],"structuredContent":LINE}}"#],
            ),
        ],
    );
    let model = Arc::new(Model::default());
    let options = ClientOptions { hosts_tasks: true, ..with(&model) };
    let client = connect(target, options).await;
    let stands = call(&client).await.unwrap()["result"].clone();
    assert_eq!(
        (&stands["status"], &stands["ttl"], stands["taskId"].as_str().map(str::len)),
        (&json!("completed"), &json!(60_000), Some(32))
    );
    assert_eq!(model.asked.lock().unwrap().len(), 1);
}
