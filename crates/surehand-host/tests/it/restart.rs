//! A server process that dies: what the call is told that was under way, and what the next one finds.

use std::sync::Arc;

use surehand_host::config::Launch;
use surehand_host::{ApproveAll, Verdict};
use surehand_testkit::{ScriptedModel, call, say};

use crate::fixture::{Setup, server_settings};

/// A server of the older era with two tools: `hello` answers, `die` ends the process without an answer.
const MORTAL: &str = r#"while read -r line; do
    id=${line#*'"id":'}; id=${id%%[!0-9]*}
    case "$line" in
    *server/discover*) echo '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32601,"message":"?"}}' ;;
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}}' ;;
    *tools/list*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"tools":[{"name":"hello","inputSchema":{"type":"object"}},{"name":"die","inputSchema":{"type":"object"}}]}}' ;;
    *'"die"'*) echo 'no more memory' >&2; exit 3 ;;
    *'"hello"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"content":[{"type":"text","text":"hello"}]}}' ;;
    esac
done"#;

#[tokio::test]
async fn a_server_that_died_is_started_again_for_the_next_call_three_times_at_most() {
    let mut setup = Setup::new().approver(Arc::new(ApproveAll));
    let launch = Launch::Child {
        command: "/bin/sh".to_owned(),
        args: vec!["-c".to_owned(), MORTAL.to_owned()],
        env: Vec::new(),
        cwd: None,
    };
    setup.settings.servers.push(server_settings("m", launch));
    let ready = setup.open().await;
    let die = || call(&[("", "mcp__m__die", "{}")]);
    let hello = || call(&[("", "mcp__m__hello", "{}")]);
    let model = ScriptedModel::new([die(), hello(), die(), die(), die(), hello(), say("done")]);
    let answer = ready.ask(&model, "go").await.unwrap();
    let told: Vec<String> = answer.calls.iter().map(|record| record.result.joined_text()).collect();
    let died = r#"{"error":"tool_failed","message":"the server is gone: its process exited with code 3; its last words: no more memory","retryable":true}"#;
    let given_up = r#"{"error":"tool_failed","message":"the server is gone: its process exited with code 3; its last words: no more memory; it was started again 3 times already","retryable":true}"#;
    assert_eq!(told, [died, "hello", died, died, died, given_up]);
    assert_eq!(
        answer.calls.iter().map(|record| record.decided.verdict).collect::<Vec<_>>(),
        [Verdict::Approved; 6]
    );
    ready.host.close().await;
}
