//! A server that asks the person in the middle of a call.

use crate::home::Home;
use crate::terminal::Terminal;

/// Asks in the middle of each call and gives back what it heard.
const SERVER: &str = r#"while read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    case "$line" in
    *server/discover*) printf '%s\n' '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32601,"message":"?"}}';;
    *\"initialize\"*) printf '%s\n' '{"jsonrpc":"2.0","id":'"$id"',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}}';;
    *tools/list*) printf '%s\n' '{"jsonrpc":"2.0","id":'"$id"',"result":{"tools":[{"name":"book","inputSchema":{"type":"object"}}]}}';;
    *tools/call*) waiting=$id
        printf '%s\n' '{"jsonrpc":"2.0","id":"ask","method":"elicitation/create","params":{"message":"Where\u001b[2J to?","requestedSchema":{"type":"object","required":["city"],"properties":{"city":{"type":"string","minLength":3},"unit":{"type":"string","enum":["C","F"],"default":"C"}}}}}';;
    *\"id\":\"ask\"*) printf '%s' "$line" > heard
        printf '%s\n' '{"jsonrpc":"2.0","id":'"$waiting"',"result":{"content":[{"type":"text","text":"done"}]}}';;
    esac
done
"#;

const ARGUMENTS: [&str; 6] =
    ["call", "trips/book", "--server", "trips=/bin/sh server.sh", "--approve", "always"];

fn home() -> Home {
    let home = Home::new();
    home.write("work/server.sh", SERVER);
    home
}

#[test]
fn a_person_fills_in_the_form_and_the_server_hears_it() {
    let home = home();
    let mut terminal = Terminal::run(&home, &ARGUMENTS, &[]);
    terminal.at("trips", "");
    terminal.at("[1/2]", "X\n");
    terminal.at("> ", "上海市\n");
    terminal.at("[2/2]", "\n");
    terminal.at("Send this to trips?", "y\n");
    let (seen, code) = terminal.end();
    assert_eq!(code, 0, "{seen}");
    assert!(seen.contains("  Where[2J to?\r\n") && seen.contains("done"), "{seen}");
    assert_eq!(
        home.read("work/heard"),
        r#"{"jsonrpc":"2.0","id":"ask","result":{"action":"accept","content":{"city":"上海市","unit":"C"}}}"#
    );
}

#[test]
fn a_person_says_no_or_puts_it_away() {
    for (keys, action) in [("/decline\n", "decline"), ("/cancel\n", "cancel")] {
        let home = home();
        let mut terminal = Terminal::run(&home, &ARGUMENTS, &[]);
        terminal.at("[1/2]", keys);
        let (seen, code) = terminal.end();
        assert_eq!(code, 0, "{seen}");
        let heard = format!(r#"{{"jsonrpc":"2.0","id":"ask","result":{{"action":"{action}"}}}}"#);
        assert_eq!(home.read("work/heard"), heard);
    }
}

#[test]
fn a_program_that_reads_the_stream_is_told_that_a_person_is_asked() {
    let home = home();
    let mut terminal = Terminal::run(&home, &[&ARGUMENTS[..], &["--output", "stream-json"]].concat(), &[]);
    let line = r#"{"type":"approval","server":"trips","question":{"message":"Where[2J to?","schema":{"type":"object","#;
    terminal.at(line, "");
    terminal.at("[1/2]", "/decline\n");
    let (seen, code) = terminal.end();
    assert_eq!(code, 0, "{seen}");
}

#[test]
fn without_a_terminal_the_server_is_told_no_at_once() {
    let home = home();
    let ran = home.run(&ARGUMENTS);
    assert_eq!((ran.stdout.as_str(), ran.code), ("done\n", 0), "{ran}");
    assert_eq!(home.read("work/heard"), r#"{"jsonrpc":"2.0","id":"ask","result":{"action":"decline"}}"#);
}

#[test]
fn ctrl_c_at_the_form_ends_the_call_and_the_command() {
    let home = home();
    let mut terminal = Terminal::run(&home, &ARGUMENTS, &[]);
    terminal.at("[1/2]", "\u{3}");
    let (seen, code) = terminal.end();
    assert_eq!(code, 1, "{seen}");
    for words in ["trips no longer waits for an answer.", "cancelled", "Whether the call had an effect"] {
        assert!(seen.contains(words), "{words} is not in {seen}");
    }
}
