//! A server whose tools change while the program runs.

use surehand_host::config::Launch;
use surehand_host::{Approval, HostEvent};
use surehand_testkit::{ScriptedModel, call, say};

use crate::fixture::{Person, Setup, server_settings};

/// A server of the older era. `grow` makes `grown` of it, tells so before it answers, and changes what `stay` is said to do.
const GROWING: &str = r#"stage=before
while read -r line; do
    id=${line#*'"id":'}; id=${id%%[!0-9]*}
    case "$line" in
    *server/discover*) echo '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32601,"message":"?"}}' ;;
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"sh","version":"1"}}}' ;;
    *tools/list*)
        first=grow; test "$stage" = after && first=grown
        echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"tools":[{"name":"'"$first"'","inputSchema":{"type":"object"}},{"name":"stay","description":"'"$stage"'","inputSchema":{"type":"object"}}]}}' ;;
    *'"name":"grow"'*) stage=after
        echo '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
        echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"content":[{"type":"text","text":"it grew"}]}}' ;;
    *tools/call*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"content":[{"type":"text","text":"'"$stage"'"}]}}' ;;
    esac
done"#;

#[tokio::test]
async fn the_model_is_shown_the_new_tools_in_its_next_turn_and_a_person_is_asked_anew_about_a_changed_one() {
    let person = Person::who_says(Approval::ForSession);
    let mut setup = Setup::new().approver(person.clone());
    let launch = Launch::Child {
        command: "/bin/sh".to_owned(),
        args: vec!["-c".to_owned(), GROWING.to_owned()],
        env: Vec::new(),
        cwd: None,
    };
    setup.settings.servers.push(server_settings("m", launch));
    let ready = setup.open().await;
    let model = ScriptedModel::new([
        call(&[("", "mcp__m__stay", "{}")]),
        call(&[("", "mcp__m__stay", "{}")]),
        call(&[("", "mcp__m__grow", "{}")]),
        call(&[("", "mcp__m__grown", "{}"), ("", "mcp__m__stay", "{}"), ("", "mcp__m__grow", "{}")]),
        say("done"),
    ]);
    let answer = ready.ask(&model, "go").await.unwrap();
    let told: Vec<String> = answer.calls.iter().map(|record| record.result.joined_text()).collect();
    let unknown = r#"{"error":"unknown_tool","tool":"mcp__m__grow","did_you_mean":["mcp__m__grown"]}"#;
    assert_eq!(told, ["before", "before", "it grew", "after", "after", unknown]);
    let mut asked: Vec<String> = person.asked().into_iter().map(|request| request.tool).collect();
    asked[2..].sort();
    assert_eq!(asked, ["stay", "grow", "grown", "stay"]);
    let offered: Vec<String> = ready.host.offered().into_iter().map(|tool| tool.name).collect();
    assert_eq!(offered, ["mcp__m__grown", "mcp__m__stay"]);
    let notes: Vec<String> = ready
        .seen
        .events()
        .into_iter()
        .filter_map(|event| match event {
            HostEvent::Note(note) => Some(format!("{}: {}: {}", note.r#where, note.what, note.why)),
            _ => None,
        })
        .collect();
    assert_eq!(notes, ["m: tools are not what they were: added grown; removed grow; changed stay"]);
    ready.host.close().await;
}
