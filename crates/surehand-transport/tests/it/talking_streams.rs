//! What a server over standard streams says beside its answers.

use std::sync::Arc;

use surehand_mcp::Change;
use surehand_transport::{ServeError, serve_streams};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::talk::Talk;
use crate::wire::{call, said};

/// One client of a server over streams.
struct Talking {
    handler: Arc<Talk>,
    stop: CancellationToken,
    write: WriteHalf<DuplexStream>,
    read: Lines<BufReader<ReadHalf<DuplexStream>>>,
    serving: JoinSet<Result<(), ServeError>>,
}

impl Talking {
    fn start() -> Self {
        let (near, far) = tokio::io::duplex(1 << 16);
        let (input, output) = tokio::io::split(far);
        let (read, write) = tokio::io::split(near);
        let (handler, stop) = (Talk::handler(), CancellationToken::new());
        let mut serving = JoinSet::new();
        serving.spawn(serve_streams(handler.clone(), input, output, stop.clone()));
        Self { handler, stop, write, read: BufReader::new(read).lines(), serving }
    }

    async fn initialize(capabilities: &str) -> Self {
        let mut talking = Self::start();
        talking
            .say(&format!(
                r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"2025-11-25","capabilities":{capabilities}}}}}"#
            ))
            .await;
        talking.hear().await;
        talking
    }

    async fn say(&mut self, line: &str) {
        self.write.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    async fn hear(&mut self) -> String {
        let line = tokio::time::timeout(std::time::Duration::from_secs(20), self.read.next_line());
        line.await.unwrap().unwrap().unwrap_or_else(|| "end".to_owned())
    }
}

const PROGRESS: &str = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1,"total":2}}"#;
const HALFWAY: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","data":"halfway"}}"#;
const TOOLS_CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

#[tokio::test]
async fn progress_and_log_messages_go_before_the_answer_down_to_the_level_that_was_set() {
    let mut talking = Talking::initialize("{}").await;
    talking.say(&call(1, "work")).await;
    for expected in [PROGRESS, HALFWAY, &said(1, "worked")] {
        assert_eq!(talking.hear().await, expected);
    }
    talking.say(r#"{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"error"}}"#).await;
    assert_eq!(talking.hear().await, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    talking.say(&call(3, "work")).await;
    for expected in [PROGRESS, &said(3, "worked")] {
        assert_eq!(talking.hear().await, expected);
    }
}

#[tokio::test]
async fn a_question_is_a_request_to_the_client_and_its_answer_or_refusal_comes_back_to_the_tool() {
    let mut talking = Talking::initialize(r#"{"elicitation":{}}"#).await;
    for (id, answer, expected) in [
        (1, r#""result":{"action":"cancel"}"#, said(1, r#"{\"action\":\"cancel\"}"#)),
        (
            2,
            r#""error":{"code":-1,"message":"no"}"#,
            r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"the client did not answer: no (code -1)"}],"isError":true}}"#.to_owned(),
        ),
    ] {
        talking.say(&call(id, "ask")).await;
        let question: serde_json::Value = serde_json::from_str(&talking.hear().await).unwrap();
        assert_eq!(question["method"], "elicitation/create");
        talking.say(&format!(r#"{{"jsonrpc":"2.0","id":{},{answer}}}"#, question["id"])).await;
        assert_eq!(talking.hear().await, expected);
    }
}

#[tokio::test]
async fn a_client_of_a_handshake_hears_of_changed_lists_and_of_resources_it_subscribed_to() {
    let mut talking = Talking::initialize("{}").await;
    let change = Change::Resource("a:b".to_owned());
    let subscribe = |id: u32, method: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"resources/{method}","params":{{"uri":"a:b"}}}}"#)
    };
    talking.handler.announce(&change);
    talking.say(&subscribe(1, "subscribe")).await;
    assert_eq!(talking.hear().await, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    talking.handler.announce(&change);
    talking.handler.announce(&Change::Tools);
    let updated = r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b"}}"#;
    assert_eq!(talking.hear().await, updated);
    assert_eq!(talking.hear().await, TOOLS_CHANGED);
    talking.say(&subscribe(2, "unsubscribe")).await;
    assert_eq!(talking.hear().await, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    talking.handler.announce(&change);
    talking.handler.announce(&Change::Tools);
    assert_eq!(talking.hear().await, TOOLS_CHANGED);
}

#[tokio::test]
async fn streams_of_changes_are_told_apart_by_their_ids_and_end_when_taken_back_or_when_serving_ends() {
    let mut talking = Talking::start();
    let listen = |id: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"subscriptions/listen","params":{{"notifications":{{"toolsListChanged":true}},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
        )
    };
    let tag = |id: &str| format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}"#);
    for id in ["7", r#""7""#] {
        talking.say(&listen(id)).await;
        let acknowledged = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{{},"notifications":{{"toolsListChanged":true}}}}}}"#,
            tag(id)
        );
        assert_eq!(talking.hear().await, acknowledged);
    }
    talking.say(&listen("7")).await;
    let in_use = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"a request with id 7 is still running"}}"#;
    assert_eq!(talking.hear().await, in_use);
    let changed = |id: &str| {
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{{{}}}}}"#, tag(id))
    };
    talking.handler.announce(&Change::Tools);
    for id in ["7", r#""7""#] {
        assert_eq!(talking.hear().await, changed(id));
    }
    talking.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#).await;
    // Its id is free again, which shows that it was read.
    talking.say(&listen("7").replace("toolsListChanged", "promptsListChanged")).await;
    talking.hear().await;
    talking.handler.announce(&Change::Tools);
    assert_eq!(talking.hear().await, changed(r#""7""#));
    talking.stop.cancel();
    let last = |id: &str| {
        [
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete",{}}}}}"#, tag(id)),
            format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
            ),
        ]
    };
    for expected in [last(r#""7""#), last("7")].concat() {
        assert_eq!(talking.hear().await, expected);
    }
    assert!(matches!(talking.serving.join_next().await, Some(Ok(Ok(())))));
}
