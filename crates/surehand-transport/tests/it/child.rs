use std::time::Duration;

use surehand_mcp::{LogMessage, Revision};
use surehand_model::{Note, RawJson};
use surehand_transport::{
    CallOptions, Client, ClientError, ClientEvent, ClientOptions, Era, OpenError, ServerNotice, Target,
};

use crate::fixture::{Events, open, shell, text, within};

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}}"#;

/// A server of the older era that answers the handshake under whatever id it has, then goes on with `rest`, a piece of the
/// shell that sees each further line as `$line`.
fn legacy(rest: &str) -> String {
    let answer = INITIALIZED.replace("ID", "'\"$id\"'");
    format!(
        r#"while read -r line; do
            id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
            case "$line" in
            *server/discover*) printf '%s\n' '{{"jsonrpc":"2.0","id":'"$id"',"error":{{"code":-32601,"message":"?"}}}}';;
            *\"initialize\"*) printf '%s\n' '{answer}';;
            *notifications/initialized*) ;;
            *) {rest} ;;
            esac
        done"#
    )
}

const ANSWER: &str =
    r#"printf '%s\n' '{"jsonrpc":"2.0","id":'"$id"',"result":{"content":[{"type":"text","text":"hello"}]}}'"#;

async fn started(script: &str, options: ClientOptions) -> (Client, Events) {
    let (client, events) = open(Target::Child(shell(script)), options).await;
    (client.unwrap(), events)
}

async fn call(client: &Client) -> Result<String, ClientError> {
    let outcome = client.call_tool("t", &RawJson::empty_object(), CallOptions::default()).await;
    outcome.map(|outcome| text(&outcome).to_owned())
}

#[tokio::test]
async fn a_server_of_the_older_era_is_found_out_and_used() {
    let (client, events) = started(&legacy(ANSWER), ClientOptions::default()).await;
    assert_eq!((client.server().name.as_str(), client.server().revision), ("sh", Revision::V2025_06_18));
    assert_eq!(call(&client).await, Ok("hello".to_owned()));
    client.close().await;
    assert_eq!(*events.lock().unwrap(), []);
}

#[tokio::test]
async fn a_bridge_that_wraps_the_refusal_of_a_server_of_the_older_era_is_one_itself() {
    let wrapped = r#""code":-32001,"message":"Error POSTing to endpoint (HTTP 400): Bad Request: Server not initialized""#;
    let script = legacy(ANSWER).replace(r#""code":-32601,"message":"?""#, wrapped);
    assert!(script.contains(wrapped));
    let (client, _) = started(&script, ClientOptions::default()).await;
    assert_eq!(client.server().revision, Revision::V2025_06_18);
    assert_eq!(call(&client).await, Ok("hello".to_owned()));
}

#[tokio::test]
async fn a_server_that_ends_on_the_question_is_started_again() {
    let script = format!(
        r#"read -r line; case "$line" in *server/discover*) exit 3;; esac
        printf '%s\n' '{}'; {}"#,
        INITIALIZED.replace("ID", "2").replace("\"id\":2", "\"id\":1"),
        legacy(ANSWER)
    );
    let (client, _) = started(&script, ClientOptions::default()).await;
    assert_eq!(call(&client).await, Ok("hello".to_owned()));
}

#[tokio::test]
async fn a_server_that_keeps_silent_on_the_question_is_asked_for_a_handshake_too() {
    let script = format!("read -r discover; {}", legacy(ANSWER));
    let options = ClientOptions { probe_timeout: Duration::from_millis(50), ..ClientOptions::default() };
    let (client, _) = started(&script, options).await;
    assert_eq!(call(&client).await, Ok("hello".to_owned()));
}

#[tokio::test]
async fn noise_on_the_output_is_noted_and_survived() {
    let script =
        format!("echo 'Starting up...'; printf '\\377\\n\\n'; {}", legacy(&format!("echo log; {ANSWER}")));
    let (client, events) = started(&script, ClientOptions::default()).await;
    assert_eq!(call(&client).await, Ok("hello".to_owned()));
    let note = |what: &str| {
        ClientEvent::Note(Note::new("server", what, "not JSON: expected value at line 1 column 1"))
    };
    assert_eq!(
        *events.lock().unwrap(),
        [note("dropped: Starting up..."), note("dropped: \u{fffd}"), note("dropped: log")]
    );
}

#[tokio::test]
async fn whatever_is_no_message_is_noise_and_a_last_answer_needs_no_line_end() {
    let noise = r#"printf '\342\234\223 ready\n\n   \ninfo: started\r\n{"level":30,"msg":"a log"}\n[1,2]\n'"#;
    let last = r#"printf '%s' '{"jsonrpc":"2.0","id":'"$id"',"result":{"content":[{"type":"text","text":"hello"}]}}'; exit 0"#;
    let script = format!("{noise}; {}", legacy(last));
    let (client, events) = started(&script, ClientOptions::default()).await;
    assert_eq!(call(&client).await, Ok("hello".to_owned()));
    let events = events.lock().unwrap();
    let notes = events.iter().filter_map(|event| match event {
        ClientEvent::Note(note) => Some(note.to_string()),
        _ => None,
    });
    assert_eq!(
        notes.collect::<Vec<_>>(),
        [
            "server: dropped: \u{2713} ready: not JSON: expected value at line 1 column 1",
            "server: dropped: info: started: not JSON: expected value at line 1 column 1",
            "server: dropped: {\"level\":30,\"msg\":\"a log\"}: not a JSON-RPC message: it has no `jsonrpc` and members that no message has",
            "server: dropped: 1: not a JSON-RPC message: it is not an object",
            "server: dropped: 2: not a JSON-RPC message: it is not an object",
        ]
    );
}

#[tokio::test]
async fn a_server_that_says_a_lot_beside_is_never_held_up() {
    let script = legacy(&format!("head -c 3000000 /dev/zero | tr '\\0' x >&2; {ANSWER}"));
    let (client, _) = started(&script, ClientOptions::default()).await;
    assert_eq!(call(&client).await, Ok("hello".to_owned()));
}

#[tokio::test]
async fn a_server_that_dies_fails_all_that_wait_and_says_how_and_with_which_words() {
    let script = legacy("sleep 0.05; echo 'out of cheese' >&2; exit 7");
    let (client, events) =
        started(&script, ClientOptions { era: Era::Legacy, ..ClientOptions::default() }).await;
    let (first, second) = tokio::join!(call(&client), call(&client));
    let why = "its process exited with code 7; its last words: out of cheese".to_owned();
    let closed = Err(ClientError::Closed { why: why.clone() });
    assert_eq!((first, second), (closed.clone(), closed.clone()));
    assert!(client.is_closed());
    assert_eq!(call(&client).await, closed);
    assert_eq!(*events.lock().unwrap(), [ClientEvent::Closed { why }]);
}

#[tokio::test]
async fn a_server_that_does_not_start_says_why() {
    let script = "echo 'Error: DATABASE_URL is not set' >&2; exit 1";
    let (client, _) = open(Target::Child(shell(script)), ClientOptions::default()).await;
    let error = client.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the server is gone: its process exited with code 1; its last words: Error: DATABASE_URL is not set"
    );
    let missing = surehand_sandbox::ChildSpec { command: "/no/such/server".to_owned(), ..Default::default() };
    let (client, _) = open(Target::Child(missing), ClientOptions::default()).await;
    assert!(matches!(client.unwrap_err(), OpenError::Spawn(_)));
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up_with_its_words() {
    let script = "echo 'waiting for the moon' >&2; while read -r line; do :; done";
    let options = ClientOptions {
        startup_timeout: Duration::from_millis(300),
        probe_timeout: Duration::from_millis(50),
        ..ClientOptions::default()
    };
    let (client, _) = open(Target::Child(shell(script)), options).await;
    assert_eq!(
        client.unwrap_err().to_string(),
        "the server did not answer within 0.3 s; it said: waiting for the moon"
    );
}

#[tokio::test]
async fn a_line_over_the_limit_ends_the_connection_with_a_clear_word() {
    let script = legacy("head -c 100000 /dev/zero | tr '\\0' x; echo");
    let options = ClientOptions { message_limit: 10_000, ..ClientOptions::default() };
    let (client, _) = started(&script, options).await;
    let why = "it wrote a line of more than 10000 bytes, which is over the limit".to_owned();
    assert_eq!(call(&client).await, Err(ClientError::Closed { why }));
}

#[tokio::test]
async fn a_time_out_tells_the_server_and_a_late_answer_is_dropped() {
    // Answers a call only once it has been cancelled, and tells the cancellation as a log message.
    let script = legacy(
        r#"case "$line" in
            *notifications/cancelled*) printf '%s\n' '{"jsonrpc":"2.0","id":'"$waiting"',"result":{"content":[]}}'
                printf '%s\n' '{"method":"notifications/message","params":{"level":"info","data":'"$line"'}}';;
            *\"name\":\"slow\"*) waiting=$id;;
            *) printf '%s\n' '{"jsonrpc":"2.0","id":'"$id"',"result":{"content":[{"type":"text","text":"hello"}]}}';;
            esac"#,
    );
    let (client, events) = started(&script, ClientOptions::default()).await;
    let after = Duration::from_millis(50);
    let outcome = client.call_tool("slow", &RawJson::empty_object(), within(after)).await;
    assert_eq!(outcome, Err(ClientError::Timeout { after }));
    assert_eq!(call(&client).await, Ok("hello".to_owned()));
    let data = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3,"reason":"no answer in time"}}"#;
    let log = LogMessage { level: "info".to_owned(), logger: None, data: RawJson::parse(data).unwrap() };
    assert_eq!(*events.lock().unwrap(), [ClientEvent::Notice(ServerNotice::Log(log))]);
}

#[tokio::test]
async fn progress_is_reported_in_order_and_only_to_who_asked() {
    let script = legacy(&format!(
        r#"for n in 1 2 3; do
            printf '%s\n' '{{"method":"notifications/progress","params":{{"progressToken":'"$id"',"progress":'"$n"',"total":3}}}}'
        done; {ANSWER}"#
    ));
    let (client, _) = started(&script, ClientOptions::default()).await;
    let reports = std::sync::Mutex::new(Vec::new());
    let listen = |progress: surehand_transport::Progress| reports.lock().unwrap().push(progress.progress);
    let options = CallOptions { on_progress: Some(&listen), ..CallOptions::default() };
    client.call_tool("t", &RawJson::empty_object(), options).await.unwrap();
    assert_eq!(*reports.lock().unwrap(), [1.0, 2.0, 3.0]);
    assert_eq!(call(&client).await, Ok("hello".to_owned()));
}

#[tokio::test]
async fn a_ping_of_the_server_is_answered_before_the_answer_comes() {
    let script = legacy(
        r#"case "$line" in
            *tools/call*) waiting=$id; printf '%s\n' '{"jsonrpc":"2.0","id":"are you there","method":"ping"}';;
            *\"id\":\"are\ you\ there\"*result*) printf '%s\n' '{"jsonrpc":"2.0","id":'"$waiting"',"result":{"content":[{"type":"text","text":"hello"}]}}';;
            esac"#,
    );
    let (client, _) = started(&script, ClientOptions::default()).await;
    assert_eq!(call(&client).await, Ok("hello".to_owned()));
}

#[tokio::test]
async fn a_server_that_does_not_end_by_itself_is_ended() {
    let script = format!("trap '' TERM; {}; sleep 600", legacy(ANSWER));
    let (client, _) = started(&script, ClientOptions::default()).await;
    let closing = tokio::time::timeout(Duration::from_secs(20), client.close()).await;
    assert_eq!(closing, Ok(()));
}
