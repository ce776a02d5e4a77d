use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio_util::sync::CancellationToken;

use crate::echo::Echo;

/// Sends these lines to a server over streams, closes, and gives what it answers.
async fn say(lines: &str) -> Vec<String> {
    let (near, far) = tokio::io::duplex(1 << 16);
    let (input, output) = tokio::io::split(far);
    let (answers, mut questions) = tokio::io::split(near);
    let serving = surehand_transport::serve_streams(Echo::handler(), input, output, CancellationToken::new());
    let talking = async {
        questions.write_all(lines.as_bytes()).await.unwrap();
        questions.shutdown().await.unwrap();
        let mut answers = BufReader::new(answers).lines();
        let mut heard = Vec::new();
        while let Some(line) = answers.next_line().await.unwrap() {
            heard.push(line);
        }
        heard
    };
    let served = async {
        serving.await.unwrap();
    };
    tokio::join!(talking, served).0
}

#[tokio::test]
async fn calls_under_way_are_answered_after_the_client_has_closed_its_side() {
    let heard = say(concat!(
        r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"meet","arguments":{"n":2,"who":1}}}"#,
        "\n\n",
        r#"{"jsonrpc":"2.0","id":"b","method":"ping"}"#,
        "\r\n",
        r#"{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"meet","arguments":{"n":2,"who":2}}}"#,
    ))
    .await;
    let mut ids: Vec<&str> = heard.iter().map(|line| &line[17..25]).collect();
    ids.sort_unstable();
    assert_eq!(ids, [r#""id":"a""#, r#""id":"b""#, r#""id":"c""#]);
}

#[tokio::test]
async fn an_id_that_is_still_in_use_is_refused_and_a_cancelled_call_is_not_answered() {
    let wait = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}"#;
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let dropped = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"dropped"}}"#;
    let heard = say(&[wait, wait, cancel, dropped].join("\n")).await;
    assert_eq!(
        heard,
        [
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"a request with id 1 is still running"}}"#,
            r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"a call was dropped"}]}}"#,
        ]
    );
}

#[tokio::test]
async fn what_is_no_message_is_answered_and_serving_goes_on() {
    let heard = say("hello\n{\"jsonrpc\":\"2.0\",\"id\":1.50,\"method\":\"ping\"}\n").await;
    assert_eq!(
        heard,
        [
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not JSON: expected value at line 1 column 1"}}"#,
            r#"{"jsonrpc":"2.0","id":1.50,"result":{}}"#,
        ]
    );
}

#[tokio::test]
async fn what_is_being_written_when_the_client_closes_its_side_arrives_whole() {
    let (near, far) = tokio::io::duplex(1 << 16);
    let (small, out) = tokio::io::duplex(16);
    let serving = surehand_transport::serve_streams(Echo::handler(), far, out, CancellationToken::new());
    let talking = async {
        let (mut near, mut small) = (near, small);
        for id in 0..10 {
            let ping = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n");
            near.write_all(ping.as_bytes()).await.unwrap();
        }
        let mut heard = vec![0; 1];
        small.read_exact(&mut heard).await.unwrap();
        near.shutdown().await.unwrap();
        tokio::task::yield_now().await;
        small.read_to_end(&mut heard).await.unwrap();
        String::from_utf8(heard).unwrap()
    };
    let served = async { serving.await.unwrap() };
    let (heard, ()) = tokio::join!(talking, served);
    let expected: Vec<String> =
        (0..10).map(|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)).collect();
    assert_eq!(heard.lines().collect::<Vec<_>>(), expected);
}

#[tokio::test(start_paused = true)]
async fn serving_ends_even_where_the_client_no_longer_reads() {
    let (mut near, far) = tokio::io::duplex(1 << 16);
    let (_unread, out) = tokio::io::duplex(16);
    near.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").await.unwrap();
    let stop = CancellationToken::new();
    let serving = surehand_transport::serve_streams(Echo::handler(), far, out, stop.clone());
    let asking = async {
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        stop.cancel();
    };
    let ended =
        tokio::time::timeout(std::time::Duration::from_secs(60), async { tokio::join!(serving, asking).0 });
    assert!(matches!(ended.await, Ok(Err(surehand_transport::ServeError::Write(_)))));
}
