//! Servers that ask the person behind the client while a call runs. What reached the server is what counts.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{Method, Response};
use axum::routing::any;
use serde_json::{Value, json};
use surehand_mcp::BoxFuture;
use surehand_model::{Json, RawJson};
use surehand_transport::{
    CallOptions, Client, ClientError, ClientOptions, ElicitAnswer, ElicitRequest, ElicitationModes, Elicitor,
    Era, Target,
};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::fixture::{http_target, open, shell, within};

const FORM: &str = r#"{"message":"Where to?","requestedSchema":{"type":"object","required":["city"],"properties":{"city":{"type":"string"},"unit":{"type":"string","enum":["C","F"],"default":"C"}}}}"#;

/// A person who takes a while, and then says what the test wrote down.
struct Person {
    thinks: Duration,
    says: ElicitAnswer,
    asked: Mutex<Vec<String>>,
}

impl Person {
    fn who_says(says: ElicitAnswer) -> Arc<Self> {
        Self::who_thinks(Duration::ZERO, says)
    }

    fn who_thinks(thinks: Duration, says: ElicitAnswer) -> Arc<Self> {
        Arc::new(Self { thinks, says, asked: Mutex::default() })
    }
}

impl Elicitor for Person {
    fn modes(&self) -> ElicitationModes {
        ElicitationModes { forms: true, addresses: true }
    }

    fn elicit<'a>(&'a self, request: &'a ElicitRequest) -> BoxFuture<'a, ElicitAnswer> {
        Box::pin(async move {
            self.asked.lock().unwrap().push(request.message.clone());
            tokio::time::sleep(self.thinks).await;
            self.says.clone()
        })
    }
}

/// Nobody is there, and nothing is offered.
struct Nobody;

impl Elicitor for Nobody {
    fn modes(&self) -> ElicitationModes {
        ElicitationModes::default()
    }

    fn elicit<'a>(&'a self, _: &'a ElicitRequest) -> BoxFuture<'a, ElicitAnswer> {
        panic!("nobody is there to be asked")
    }
}

fn city() -> ElicitAnswer {
    ElicitAnswer::Accept(vec![("city".to_owned(), Json::from("上海"))])
}

fn filled_in() -> Value {
    json!({"action": "accept", "content": {"city": "上海", "unit": "C"}})
}

/// A process of the older era that asks in the middle of each call, and gives back what it heard and how it was greeted.
fn legacy_process() -> Target {
    let script = r#"while read -r line; do
        id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
        case "$line" in
        *server/discover*) printf '%s\n' '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32601,"message":"?"}}';;
        *\"initialize\"*) greeting=$line
            printf '%s\n' '{"jsonrpc":"2.0","id":'"$id"',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}}';;
        *tools/call*) waiting=$id
            printf '%s\n' '{"jsonrpc":"2.0","id":"ask","method":"elicitation/create","params":FORM}';;
        *\"id\":\"ask\"*) printf '%s\n' '{"jsonrpc":"2.0","id":'"$waiting"',"result":{"content":[],"structuredContent":{"heard":'"$line"',"greeting":'"$greeting"'}}}';;
        esac
    done"#;
    Target::Child(shell(&script.replace("FORM", FORM)))
}

/// A stateless process that needs an answer first, and gives back the second request.
fn modern_process(asks: &str) -> Target {
    let script = r#"while read -r line; do
        id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
        case "$line" in
        *server/discover*) printf '%s\n' '{"jsonrpc":"2.0","id":'"$id"',"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}';;
        *requestState*) printf '%s\n' '{"jsonrpc":"2.0","id":'"$id"',"result":{"resultType":"complete","content":[],"structuredContent":{"first":'"$first"',"second":'"$line"'}}}';;
        *tools/call*) first=$line
            printf '%s\n' '{"jsonrpc":"2.0","id":'"$id"',"result":{"resultType":"input_required","requestState":"s\/1\u00e9"ASKS}}';;
        esac
    done"#;
    Target::Child(shell(&script.replace("ASKS", asks)))
}

fn asks(method: &str) -> String {
    format!(r#","inputRequests":{{"where":{{"method":"{method}","params":{FORM}}}}}"#)
}

async fn connect(target: Target, person: Option<Arc<dyn Elicitor>>) -> Client {
    let options = ClientOptions { on_elicitation: person, ..ClientOptions::default() };
    open(target, options).await.0.unwrap()
}

/// Calls a tool and gives what the server gave back.
async fn call(client: &Client, options: CallOptions<'_>) -> Result<RawJson, ClientError> {
    let arguments = RawJson::parse(r#"{"n":1.10}"#).unwrap();
    client.call_tool("t", &arguments, options).await.map(|outcome| outcome.structured.unwrap())
}

#[tokio::test]
async fn a_process_hears_the_answer_with_defaults_filled_in_and_no_timer_runs_meanwhile() {
    let person = Person::who_thinks(Duration::from_millis(2_500), city());
    let client = connect(legacy_process(), Some(person.clone())).await;
    let got = call(&client, within(Duration::from_secs(2))).await.unwrap().to_value();
    assert_eq!(got["heard"], json!({"jsonrpc": "2.0", "id": "ask", "result": filled_in()}));
    assert_eq!(got["greeting"]["params"]["capabilities"], json!({"elicitation": {"form": {}, "url": {}}}));
    assert_eq!(*person.asked.lock().unwrap(), ["Where to?"]);
    client.close().await;
}

#[tokio::test]
async fn a_person_may_decline_and_an_answer_that_does_not_fit_is_never_sent() {
    for (says, heard) in [
        (ElicitAnswer::Decline, "decline"),
        (ElicitAnswer::Cancel, "cancel"),
        (ElicitAnswer::Accept(vec![]), "cancel"),
        (ElicitAnswer::Accept(vec![("city".to_owned(), Json::Bool(true))]), "cancel"),
    ] {
        let client = connect(legacy_process(), Some(Person::who_says(says.clone()))).await;
        let got = call(&client, CallOptions::default()).await.unwrap().to_value();
        assert_eq!(got["heard"]["result"], json!({"action": heard}), "{says:?}");
    }
}

#[tokio::test]
async fn where_nobody_can_be_asked_nothing_is_offered_and_the_server_is_told_at_once() {
    let client = connect(legacy_process(), Some(Arc::new(Nobody))).await;
    let got = call(&client, CallOptions::default()).await.unwrap().to_value();
    assert_eq!(got["heard"]["result"], json!({"action": "decline"}));
    assert_eq!(got["greeting"]["params"]["capabilities"], json!({}));

    let client = connect(legacy_process(), None).await;
    let got = call(&client, CallOptions::default()).await.unwrap().to_value();
    assert_eq!(got["heard"]["error"]["code"], json!(-32601));
    assert_eq!(got["greeting"]["params"]["capabilities"], json!({}));
}

#[tokio::test]
async fn a_connection_that_is_closed_lets_go_of_the_person() {
    struct Patient(mpsc::UnboundedSender<&'static str>);
    struct Gone(mpsc::UnboundedSender<&'static str>);
    impl Drop for Gone {
        fn drop(&mut self) {
            self.0.send("let go").unwrap();
        }
    }
    impl Elicitor for Patient {
        fn modes(&self) -> ElicitationModes {
            ElicitationModes { forms: true, addresses: false }
        }
        fn elicit<'a>(&'a self, _: &'a ElicitRequest) -> BoxFuture<'a, ElicitAnswer> {
            let gone = Gone(self.0.clone());
            self.0.send("asked").unwrap();
            Box::pin(async move {
                let _gone = gone;
                std::future::pending().await
            })
        }
    }
    let (sender, mut heard) = mpsc::unbounded_channel();
    let client = connect(legacy_process(), Some(Arc::new(Patient(sender)))).await;
    let both = async { tokio::join!(call(&client, CallOptions::default()), heard.recv()) };
    // The call never ends: nobody answers, and while somebody is asked no timer runs.
    assert!(tokio::time::timeout(Duration::from_millis(500), both).await.is_err());
    client.close().await;
    assert_eq!(heard.recv().await, Some("let go"));
}

#[tokio::test]
async fn a_stateless_server_is_asked_again_with_the_answer_and_its_own_state() {
    let person = Person::who_thinks(Duration::from_millis(2_500), city());
    let client = connect(modern_process(&asks("elicitation/create")), Some(person)).await;
    let got = call(&client, within(Duration::from_secs(2))).await.unwrap();
    assert!(
        got.as_str().contains(r#""arguments":{"n":1.10},"inputResponses":{"where":{"action":"accept","content":{"city":"上海","unit":"C"}}},"requestState":"s\/1\u00e9","#),
        "{got}"
    );
    let got = got.to_value();
    assert_ne!(got["first"]["id"], got["second"]["id"]);
    let capabilities =
        |request: &str| got[request]["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"].clone();
    let offered = json!({"elicitation": {"form": {}, "url": {}}});
    assert_eq!((capabilities("first"), capabilities("second")), (offered.clone(), offered));
}

#[tokio::test]
async fn a_stateless_server_that_wants_something_else_or_never_has_enough_is_an_error() {
    let person: Arc<dyn Elicitor> = Person::who_says(city());
    let client = connect(modern_process(&asks("sampling/createMessage")), Some(person.clone())).await;
    let failure = call(&client, CallOptions::default()).await.unwrap_err();
    assert!(
        matches!(&failure, ClientError::InputRequired { what, .. } if what == "sampling/createMessage"),
        "{failure}"
    );

    let client = connect(modern_process(&asks("elicitation/create")), None).await;
    let failure = call(&client, CallOptions::default()).await.unwrap_err();
    assert!(matches!(&failure, ClientError::InputRequired { .. }), "{failure}");

    // Only wants to be asked again, which takes no person.
    let client = connect(modern_process(""), None).await;
    let got = call(&client, CallOptions::default()).await.unwrap().to_value();
    assert_eq!(
        (&got["second"]["params"]["inputResponses"], &got["second"]["params"]["requestState"]),
        (&Value::Null, &json!("s/1é"))
    );

    let again = r#"while read -r line; do
        id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
        case "$line" in
        *server/discover*) printf '%s\n' '{"jsonrpc":"2.0","id":'"$id"',"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}';;
        *) printf '%s\n' '{"jsonrpc":"2.0","id":'"$id"',"result":{"resultType":"input_required","requestState":"again"}}';;
        esac
    done"#;
    let client = connect(Target::Child(shell(again)), Some(person)).await;
    let failure = call(&client, CallOptions::default()).await.unwrap_err();
    assert!(matches!(&failure, ClientError::InputRequired { what, .. } if what == "a retry"), "{failure}");
}

/// An HTTP server of the older era that asks on the stream of a call.
struct Endpoint {
    address: std::net::SocketAddr,
    script: Arc<Script>,
    _tasks: JoinSet<()>,
}

#[derive(Default)]
struct Script {
    /// Where it asks, unless it does so on the stream of the call.
    aside: Option<mpsc::Sender<String>>,
    /// The other end, until somebody listens.
    heard_aside: Mutex<Option<mpsc::Receiver<String>>>,
    /// The stream of the call, and the call's id.
    call: Mutex<Option<(mpsc::Sender<String>, Value)>>,
    heard: Mutex<Vec<Value>>,
}

impl Endpoint {
    async fn start() -> Self {
        Self::serve(Script::default()).await
    }

    /// It asks on the stream for what belongs to no request.
    async fn asking_aside() -> Self {
        let (aside, heard) = mpsc::channel(8);
        Self::serve(Script { aside: Some(aside), heard_aside: Mutex::new(Some(heard)), ..Script::default() })
            .await
    }

    async fn serve(script: Script) -> Self {
        let script = Arc::new(script);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let app = Router::new().fallback(any(answer)).with_state(script.clone());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { address, script, _tasks: tasks }
    }

    fn target(&self) -> Target {
        http_target(&format!("http://{}/mcp", self.address))
    }
}

fn events(mut events: mpsc::Receiver<String>) -> Response<Body> {
    let events = futures_util::stream::poll_fn(move |context| {
        events
            .poll_recv(context)
            .map(|event| event.map(|event| Ok::<_, Infallible>(format!("event: message\ndata: {event}\n\n"))))
    });
    Response::builder().header("Content-Type", "text/event-stream").body(Body::from_stream(events)).unwrap()
}

async fn answer(State(script): State<Arc<Script>>, method: Method, body: Bytes) -> Response<Body> {
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let reply = |status: u16, kind: &str, body: Body| {
        Response::builder().status(status).header("Content-Type", kind).body(body).unwrap()
    };
    let json = |value: Value| reply(200, "application/json", Body::from(value.to_string()));
    let id = message["id"].clone();
    let listened = if method == Method::GET { script.heard_aside.lock().unwrap().take() } else { None };
    if let Some(stream) = listened {
        return events(stream);
    }
    match message["method"].as_str() {
        Some("initialize") => {
            script.heard.lock().unwrap().push(message["params"]["capabilities"].clone());
            json(
                json!({"jsonrpc": "2.0", "id": id, "result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "h", "version": "1"}}}),
            )
        }
        Some("tools/call") => {
            let (sender, stream) = mpsc::channel(8);
            let form: Value = serde_json::from_str(FORM).unwrap();
            let ask = json!({"jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": form})
                .to_string();
            *script.call.lock().unwrap() = Some((sender.clone(), id));
            script.aside.as_ref().unwrap_or(&sender).send(ask).await.unwrap();
            events(stream)
        }
        Some("notifications/initialized" | "notifications/cancelled") => {
            reply(202, "text/plain", Body::empty())
        }
        Some(_) => json(json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "?"}})),
        None if message.get("result").is_some() || message.get("error").is_some() => {
            script.heard.lock().unwrap().push(message);
            let waiting = script.call.lock().unwrap().take();
            let (sender, id) = waiting.unwrap();
            let result =
                json!({"jsonrpc": "2.0", "id": id, "result": {"content": [], "structuredContent": {}}});
            sender.send(result.to_string()).await.unwrap();
            reply(202, "text/plain", Body::empty())
        }
        None => reply(405, "text/plain", Body::empty()),
    }
}

#[tokio::test]
async fn a_server_behind_an_address_hears_the_answer_and_no_timer_runs_meanwhile() {
    let endpoint = Endpoint::start().await;
    let person = Person::who_thinks(Duration::from_millis(2_500), city());
    let client = connect(endpoint.target(), Some(person)).await;
    call(&client, within(Duration::from_secs(2))).await.unwrap();
    assert_eq!(
        *endpoint.script.heard.lock().unwrap(),
        [
            json!({"elicitation": {"form": {}, "url": {}}}),
            json!({"jsonrpc": "2.0", "id": 7, "result": filled_in()})
        ]
    );
}

#[tokio::test]
async fn a_server_behind_an_address_is_told_at_once_that_nobody_is_there() {
    let endpoint = Endpoint::start().await;
    let client = connect(endpoint.target(), Some(Arc::new(Nobody))).await;
    call(&client, CallOptions::default()).await.unwrap();
    let declined = json!({"jsonrpc": "2.0", "id": 7, "result": {"action": "decline"}});
    assert_eq!(*endpoint.script.heard.lock().unwrap(), [json!({}), declined]);
}

#[tokio::test]
async fn a_server_may_ask_on_the_stream_that_belongs_to_no_call() {
    let endpoint = Endpoint::asking_aside().await;
    let person = Person::who_thinks(Duration::from_millis(2_500), city());
    let client = connect(endpoint.target(), Some(person)).await;
    call(&client, within(Duration::from_secs(2))).await.unwrap();
    let heard = endpoint.script.heard.lock().unwrap()[1].clone();
    assert_eq!(heard, json!({"jsonrpc": "2.0", "id": 7, "result": filled_in()}));
    client.close().await;
}

/// A server of the older era that takes its time over whoever listens, and writes down what it did in which order.
struct SlowToListen {
    answers_listeners_after: Duration,
    did: Mutex<Vec<String>>,
}

async fn answer_slowly(
    State(server): State<Arc<SlowToListen>>,
    method: Method,
    body: Bytes,
) -> Response<Body> {
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let did = |what: &str| server.did.lock().unwrap().push(what.to_owned());
    let reply = |status: u16, body: String| {
        Response::builder()
            .status(status)
            .header("Content-Type", "application/json")
            .body(Body::from(body))
            .unwrap()
    };
    if method == Method::GET {
        tokio::time::sleep(server.answers_listeners_after).await;
        did("the listener is answered");
        return reply(405, String::new());
    }
    let asked = message["method"].as_str().unwrap();
    did(asked);
    let result = match asked {
        "initialize" => {
            json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}})
        }
        "notifications/initialized" => return reply(202, String::new()),
        _ => json!({"content": [], "structuredContent": {}}),
    };
    reply(200, json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string())
}

async fn calls_a_server_slow_to_listen(answers_listeners_after: Duration) -> Vec<String> {
    let server = Arc::new(SlowToListen { answers_listeners_after, did: Mutex::default() });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = http_target(&format!("http://{}/mcp", listener.local_addr().unwrap()));
    let app = Router::new().fallback(any(answer_slowly)).with_state(server.clone());
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { axum::serve(listener, app).await.unwrap() });
    let options = ClientOptions {
        era: Era::Legacy,
        on_elicitation: Some(Person::who_says(ElicitAnswer::Decline)),
        ..ClientOptions::default()
    };
    let client = open(target, options).await.0.unwrap();
    call(&client, CallOptions::default()).await.unwrap();
    server.did.lock().unwrap().clone()
}

#[tokio::test]
async fn no_call_is_made_before_the_server_has_answered_the_listener_for_its_questions() {
    assert_eq!(
        calls_a_server_slow_to_listen(Duration::from_millis(200)).await,
        ["initialize", "notifications/initialized", "the listener is answered", "tools/call"]
    );
}

#[tokio::test]
async fn a_server_that_never_answers_the_listener_is_called_all_the_same() {
    assert_eq!(
        calls_a_server_slow_to_listen(Duration::from_secs(3_600)).await,
        ["initialize", "notifications/initialized", "tools/call"]
    );
}
