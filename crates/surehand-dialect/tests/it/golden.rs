//! Answers as they come, each in a file, with what is made of them beside it.
//!
//! `golden/DIALECT/CASE.json` is a whole answer, `CASE.sse` a stream. `CASE.turn.txt` is the turn it means, and `CASE.OTHER.json` what
//! the dialect OTHER makes of the conversation that goes on from there, with a result for each call. A new case is a new file;
//! `UPDATE_EXPECT=1` writes what belongs to it.

use std::path::{Path, PathBuf};

use expect_test::expect_file;
use surehand_model::{Json, Message, ModelTurn, Part, Role, ToolResult};

use crate::support::{DIALECTS, dialect, encode, names, question, request, stream};

fn folder(dialect: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(dialect)
}

/// The cases of a dialect: name and file.
fn cases(dialect: &str) -> Vec<(String, PathBuf)> {
    let mut cases: Vec<(String, PathBuf)> = std::fs::read_dir(folder(dialect))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter_map(|path| {
            let name = path.file_name()?.to_str()?.to_owned();
            let (case, ending) = name.split_once('.')?;
            matches!(ending, "json" | "sse").then(|| (case.to_owned(), path.clone()))
        })
        .collect();
    cases.sort();
    cases
}

fn read(name: &str, file: &Path) -> ModelTurn {
    let text = std::fs::read_to_string(file).unwrap();
    if file.extension().is_some_and(|ending| ending == "sse") {
        let events = text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
        stream(name, events).unwrap().1
    } else {
        dialect(name).decode(text.as_bytes(), &names(name)).unwrap()
    }
}

fn describe(turn: &ModelTurn) -> String {
    let mut text = String::new();
    for Part { kind, state } in &turn.parts {
        text.push_str(&format!("{kind:#?}\n"));
        for state in state {
            text.push_str(&format!("  + {} {}: {}\n", state.dialect, state.key, state.value));
        }
    }
    text.push_str(&format!("{:?}\n{:?}\nmodel {:?}\n", turn.finish, turn.usage, turn.model));
    for note in &turn.notes {
        text.push_str(&format!("note {note}\n"));
    }
    text
}

/// JSON over several lines, members in their order and numbers as they stand. What fits on a line stays on one.
fn pretty(json: &Json, depth: usize) -> String {
    let short = json.to_string();
    if short.chars().count() + 2 * depth <= 100 {
        return short;
    }
    let inner = "  ".repeat(depth + 1);
    let lines: Vec<String> = match json {
        Json::Array(items) => {
            items.iter().map(|item| format!("{inner}{}", pretty(item, depth + 1))).collect()
        }
        Json::Object(members) => members
            .iter()
            .map(|(key, value)| format!("{inner}{}: {}", Json::from(key.as_str()), pretty(value, depth + 1)))
            .collect(),
        _ => return short,
    };
    let (open, close) = if matches!(json, Json::Array(_)) { ('[', ']') } else { ('{', '}') };
    format!("{open}\n{}\n{}{close}", lines.join(",\n"), "  ".repeat(depth))
}

/// The conversation that goes on after a turn: every call is answered, the last one with an error.
fn conversation(turn: &ModelTurn) -> Vec<Message> {
    let mut messages = vec![Message::text(Role::System, "Be brief.")];
    messages.extend(question().messages);
    messages.push(turn.to_message());
    let calls: Vec<_> = turn.to_message().calls().cloned().collect();
    let results: Vec<ToolResult> = calls
        .iter()
        .enumerate()
        .map(|(at, call)| ToolResult {
            is_error: at + 1 == calls.len() && at > 0,
            ..ToolResult::text(call.id.clone(), call.name.clone(), format!("result {}", at + 1))
        })
        .collect();
    if !results.is_empty() {
        messages.push(Message::results(results));
    }
    messages.push(Message::text(Role::User, "And now?"));
    messages
}

#[test]
fn answers_mean_what_they_mean_and_every_dialect_can_go_on_from_them() {
    let mut seen = 0;
    for name in DIALECTS {
        for (case, file) in cases(name) {
            seen += 1;
            let turn = read(name, &file);
            expect_file![folder(name).join(format!("{case}.turn.txt"))].assert_eq(&describe(&turn));
            for other in DIALECTS {
                let encoded = encode(other, &request(conversation(&turn)));
                let mut body = Json::parse(std::str::from_utf8(&encoded.body).unwrap()).unwrap();
                // Tools have tests of their own.
                body.remove("tools");
                let written = format!("{}\n", pretty(&body, 0));
                expect_file![folder(name).join(format!("{case}.{other}.json"))].assert_eq(&written);
            }
        }
    }
    assert!(seen >= 12, "only {seen} cases were found");
}

#[test]
fn a_stream_means_the_same_as_the_whole_answer_beside_it() {
    let mut seen = 0;
    for name in DIALECTS {
        let cases = cases(name);
        for (case, file) in
            cases.iter().filter(|(_, file)| file.extension().is_some_and(|ending| ending == "sse"))
        {
            let whole = file.with_extension("json");
            let whole = whole.with_file_name(format!("{}.json", case.trim_end_matches("_stream")));
            if case.ends_with("_stream") && whole.exists() {
                seen += 1;
                let (streamed, whole) = (read(name, file), read(name, &whole));
                assert_eq!(streamed, whole, "{name}/{case}");
            }
        }
    }
    assert!(seen >= 3, "only {seen} pairs were found");
}
