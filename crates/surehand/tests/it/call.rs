//! One tool, called by a person.

use expect_test::{Expect, expect};

use crate::home::Home;

fn check(home: &Home, arguments: &[&str], expected: Expect) {
    expected.assert_eq(&home.run(arguments).to_string());
}

fn home_with_a_file() -> Home {
    let home = Home::new();
    home.write("work/notes.txt", "one\ntwo\nthree\n");
    home
}

#[test]
fn a_tool_by_its_own_name_prints_its_result_alone() {
    check(
        &home_with_a_file(),
        &["call", "read_text_file", "path=notes.txt"],
        expect![[r#"
        exit 0
        --- stdout
        one
        two
        three
    "#]],
    );
}

#[test]
fn words_become_what_the_schema_says() {
    check(
        &home_with_a_file(),
        &["call", "files/read_text_file", "path=notes.txt", "head=1"],
        expect![[r#"
        exit 0
        --- stdout
        one
    "#]],
    );
}

#[test]
fn exact_json_is_sent_as_it_is() {
    check(
        &home_with_a_file(),
        &["call", "files/read_text_file", "--args", r#"{"path":"notes.txt","head":1}"#, "--output", "json"],
        expect![[r#"
            exit 0
            --- stdout
            {"content":[{"type":"text","text":"one\n"}],"isError":false}
        "#]],
    );
}

#[test]
fn a_tool_that_reports_an_error_prints_it_and_exits_5() {
    check(
        &home_with_a_file(),
        &["call", "files/read_text_file", "path=nothing.txt"],
        expect![[r#"
        exit 5
        --- stdout
        {"error":"not_found","message":"`~/work/nothing.txt` does not exist: there is no `nothing.txt`.","retryable":false,"suggestion":"Use list_directory or search_files to see what is there.","did_you_mean":["notes.txt"]}
        --- stderr
        error: the tool `files/read_text_file` reported an error
    "#]],
    );
    let ran =
        home_with_a_file().run(&["call", "files/read_text_file", "path=nothing.txt", "--output", "json"]);
    assert_eq!(ran.code, 5, "{ran}");
    assert!(ran.stdout.ends_with("\"isError\":true}\n"), "{ran}");
}

#[test]
fn wrong_arguments_are_told_by_their_place_before_anything_runs() {
    check(
        &home_with_a_file(),
        &["call", "files/read_text_file", "--args", r#"{"head":[]}"#],
        expect![[r#"
            exit 2
            --- stderr
            error: the arguments of `files/read_text_file` do not fit:
              `/head`: expected integer or null, got array [].
              `/path` is missing: expected string.
            hint: `surehand tools files/read_text_file` shows what it takes.
        "#]],
    );
}

#[test]
fn words_that_are_no_arguments_are_named() {
    check(
        &home_with_a_file(),
        &["call", "files/read_text_file", "notes.txt"],
        expect![[r#"
        exit 2
        --- stderr
        error: `notes.txt` is not an argument
        hint: Arguments are KEY=VALUE; see `surehand tools files/read_text_file`.
    "#]],
    );
    check(
        &home_with_a_file(),
        &["call", "files/read_text_file", "path=notes.txt", "head=many"],
        expect![[r#"
            exit 2
            --- stderr
            error: `head` must be a whole number or empty, not `many`
            hint: Arguments are KEY=VALUE; see `surehand tools files/read_text_file`.
        "#]],
    );
    check(
        &home_with_a_file(),
        &["call", "files/read_text_file", "--args", "{path"],
        expect![[r#"
        exit 2
        --- stderr
        error: --args is not JSON: key must be a string at line 1 column 2
        hint: Quote it: --args '{"key":1}'.
    "#]],
    );
    check(
        &home_with_a_file(),
        &["call", "files/read_text_file", "--args", "[]"],
        expect![[r#"
        exit 2
        --- stderr
        error: --args must be a JSON object
    "#]],
    );
}

#[test]
fn a_tool_of_a_server_from_outside_asks_and_is_refused_where_nobody_is_there() {
    let home = home_with_a_file();
    let server = format!("clock={} server time", env!("CARGO_BIN_EXE_surehand"));
    let call = ["call", "clock/get_current_time", "timezone=Asia/Shanghai", "--server", &server];
    check(
        &home,
        &call,
        expect![[r#"
            exit 6
            --- stderr
            error: `clock/get_current_time` was not run: This call needs a person's approval (No rule is about this tool. Its server says that it only reads; nobody else vouches for that) and there is nobody to ask.
            hint: --approve always runs it without asking.
        "#]],
    );
    let ran = home.run(&[&call[..], &["--approve", "always"]].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran}");
    assert!(ran.stdout.contains("+08:00"), "{ran}");
}

#[test]
fn what_policy_denies_stays_denied() {
    let home = home_with_a_file();
    home.write(
        "config/surehand/surehand.json",
        r#"{"policy":{"rules":[{"name":"no reading","match":{"server":"files"},"decision":"deny","reason":"Not today."}]}}"#,
    );
    check(
        &home,
        &["call", "files/read_text_file", "path=notes.txt", "--approve", "always"],
        expect![[r#"
            exit 6
            --- stderr
            error: `files/read_text_file` was not run: Not today.
        "#]],
    );
}
