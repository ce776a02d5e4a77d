//! One question, answered by a scripted model with the help of tools.

use expect_test::{Expect, expect};

use crate::home::Home;

const MODEL: [&str; 2] = ["--model", "script:model.jsonl"];

/// Calls run side by side, so their lines are sorted.
fn check(home: &Home, arguments: &[&str], expected: Expect) {
    let mut ran = home.run(&[&["ask"], arguments, &MODEL].concat());
    let mut lines: Vec<&str> = ran.stderr.split_inclusive('\n').collect();
    let calls = lines.iter().take_while(|line| line.starts_with(['✓', '✗', '⊘', ' '])).count();
    lines[..calls].sort_unstable();
    ran.stderr = lines.concat();
    expected.assert_eq(&ran.to_string());
}

/// Reads two files at once, then answers.
fn reader() -> Home {
    let home = Home::with_script(&[
        r#"{"text":"Let me look.","tool_calls":[{"id":"a","name":"read_text_file","arguments":{"path":"one.txt"}},{"id":"b","name":"read_text_file","arguments":{"path":"two.txt"}}]}"#,
        r#"{"expect":["first","second"],"text":"**one** says first, two says second."}"#,
    ]);
    home.write("work/one.txt", "first");
    home.write("work/two.txt", "second");
    home
}

#[test]
fn the_answer_alone_goes_to_stdout_and_the_calls_to_stderr() {
    check(
        &reader(),
        &["what do the files say?"],
        expect![[r#"
            exit 0
            --- stdout
            **one** says first, two says second.
            --- stderr
            ✓ files/read_text_file {"path":"one.txt"} (0 ms, 0 B)
            ✓ files/read_text_file {"path":"two.txt"} (0 ms, 0 B)
        "#]],
    );
}

#[test]
fn json_is_one_object_with_every_call_under_its_id() {
    check(
        &reader(),
        &["what do the files say?", "--output", "json"],
        expect![[r#"
            exit 0
            --- stdout
            {"answer":"**one** says first, two says second.","stop":"complete","model":"script:model.jsonl","turns":2,"calls":[{"id":"a","server":"files","tool":"read_text_file","arguments":{"path":"one.txt"},"decision":"allowed","decided_by":"policy","rule":"default for bundled tools","result":{"content":[{"type":"text","text":"first"}],"isError":false},"labels":[{"integrity":"untrusted","sources":["files/read_text_file"]}],"started_ms":0,"duration_ms":0},{"id":"b","server":"files","tool":"read_text_file","arguments":{"path":"two.txt"},"decision":"allowed","decided_by":"policy","rule":"default for bundled tools","result":{"content":[{"type":"text","text":"second"}],"isError":false},"labels":[{"integrity":"untrusted","sources":["files/read_text_file"]}],"started_ms":0,"duration_ms":0}],"usage":{"input_tokens":0,"output_tokens":0},"servers":[{"name":"files","status":"connected","version":"0.1.0","tools":5,"notes":[]},{"name":"time","status":"connected","version":"0.1.0","tools":2,"notes":[]},{"name":"weather","status":"connected","version":"0.1.0","tools":1,"notes":[]}],"skipped":[]}
        "#]],
    );
}

#[test]
fn stream_json_tells_the_same_as_it_happens() {
    let ran = reader().run(&["ask", "what?", "--output", "stream-json", MODEL[0], MODEL[1]]);
    let kinds: Vec<&str> =
        ran.stdout.lines().filter_map(|line| line.strip_prefix("{\"type\":\"")?.split('"').next()).collect();
    // The calls run side by side, so only what each of them depends on has a fixed order.
    let mut sorted = kinds[2..kinds.len() - 2].to_vec();
    sorted.sort_unstable();
    assert_eq!((kinds[0], kinds[1]), ("init", "text"), "{ran}");
    assert_eq!(sorted, ["tool_call", "tool_call", "tool_result", "tool_result"], "{ran}");
    assert_eq!(kinds[kinds.len() - 2..], ["text", "result"], "{ran}");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
}

#[test]
fn the_question_may_come_from_stdin() {
    let home = Home::with_script(&[r#"{"expect":"from stdin","text":"heard"}"#]);
    let ran = home.run_with(&["ask", "--model", "script:model.jsonl"], "a question from stdin\n", &[]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "heard\n", ""), "{ran}");
}

#[test]
fn several_words_are_one_question() {
    let home = Home::with_script(&[r#"{"expect":"what is this","text":"heard"}"#]);
    check(
        &home,
        &["what", "is", "this"],
        expect![[r#"
        exit 0
        --- stdout
        heard
    "#]],
    );
}

#[test]
fn a_script_that_does_not_fit_is_exit_1() {
    check(
        &Home::with_script(&[r#"{"expect":"something else","text":"no"}"#]),
        &["hello"],
        expect![[r#"
            exit 1
            --- stderr
            error: the script does not fit: line 1: expected to be told "something else", but was told "hello"
        "#]],
    );
}

#[test]
fn a_limit_of_turns_is_exit_7() {
    let call = r#"{"tool_calls":[{"id":"a","name":"list_allowed_directories"}]}"#;
    check(
        &Home::with_script(&[call, call, call]),
        &["hello", "--max-turns", "2"],
        expect![[r#"
            exit 7
            --- stderr
            ✓ files/list_allowed_directories  (0 ms, 0 B)
            ✓ files/list_allowed_directories  (0 ms, 0 B)
            error: the limit of turns was reached: the model was asked 2 times
            hint: --max-turns N allows more.
        "#]],
    );
    let ran = Home::with_script(&[call, call]).run(&[
        "ask",
        "hello",
        "--max-turns",
        "1",
        "--output",
        "json",
        MODEL[0],
        MODEL[1],
    ]);
    assert_eq!(ran.code, 7, "{ran}");
    assert!(ran.stdout.contains("\"stop\":\"max_turns\""), "{ran}");
    assert!(ran.stderr.starts_with("{\"error\":{\"code\":\"limit_reached\""), "{ran}");
}

#[test]
fn a_limit_of_time_is_exit_7() {
    let ran = Home::with_script(&[r#"{"text":"late","delay_ms":60000}"#]).run(&[
        "ask",
        "hello",
        "--timeout",
        "200ms",
        MODEL[0],
        MODEL[1],
    ]);
    assert_eq!((ran.code, ran.stdout.as_str()), (7, ""), "{ran}");
}

#[test]
fn a_failing_and_a_refused_call_are_answers_not_ends() {
    let home = Home::with_script(&[
        r#"{"tool_calls":[{"id":"a","name":"read_text_file","arguments":{"path":"nothing.txt"}},{"id":"b","name":"no_such_tool","arguments":{}},{"id":"c","name":"mcp__clock__get_current_time","arguments":{"timezone":"UTC"}}]}"#,
        r#"{"expect":["unknown_tool","denied"],"text":"I could not."}"#,
    ]);
    let server = format!("clock={} server time", env!("CARGO_BIN_EXE_surehand"));
    check(
        &home,
        &["try", "--server", &server],
        expect![[r#"
            exit 0
            --- stdout
            I could not.
            --- stderr
              {"error":"denied","reason":"This call needs a person's approval (No rule is about this tool. Its server says that it on…
              {"error":"not_found","message":"`~/work/nothing.txt` does not exist: there is no `nothing.txt`.","retryab…
              {"error":"unknown_tool","tool":"no_such_tool","did_you_mean":["mcp__clock__get_current_time","mcp__clock__convert_time"…
            ⊘ clock/get_current_time {"timezone":"UTC"} (denied)
            ✗ files/read_text_file {"path":"nothing.txt"} (0 ms, 0 B)
            ✗ no_such_tool  (not run)
        "#]],
    );
}

#[test]
fn what_was_left_out_is_said() {
    let home = Home::with_script(&[r#"{"text":"ok"}"#]);
    home.write(
        "config/surehand/surehand.json",
        "{\n  // the team's\n  \"mcpServers\": {\n    \"bad\": {\"command\": 5},\n    \"unset\": {\"command\": \"srv\", \"args\": [\"${NOPE}\"]},\n  },\n}\n",
    );
    home.write("work/.mcp.json", r#"{"mcpServers":{"theirs":{"command":"srv"}}}"#);
    check(
        &home,
        &["hello"],
        expect![[r#"
            exit 0
            --- stdout
            ok
            --- stderr
            note: ~/config/surehand/surehand.json:4:24, server `bad`, `command`: not started: it is a number, not a text
            note: ~/config/surehand/surehand.json:5:42, server `unset`, `args[0]`: not started: the variable NOPE is not set: set NOPE, or give a default: ${NOPE:-…}
            note: ~/work/.mcp.json: the project's file is not trusted yet; nothing in it is used: look at it, then run `surehand mcp trust`
            note: theirs: server not available: the project's file is not trusted: look at it, then run `surehand mcp trust`
            note: bad: server not available: `command`: it is a number, not a text
            note: unset: server not available: `args[0]`: the variable NOPE is not set (set NOPE, or give a default: ${NOPE:-…})
        "#]],
    );
}
