//! A conversation whose lines come from a pipe.

use expect_test::expect;

use crate::home::Home;

const CHAT: [&str; 3] = ["chat", "--model", "script:model.jsonl"];

#[test]
fn what_was_said_is_known_in_the_next_turn_and_commands_are_no_questions() {
    let home = Home::with_script(&[
        r#"{"expect":"my name is Li","text":"Hello Li."}"#,
        r#"{"expect":"what is\nmy name?","text":"Li."}"#,
    ]);
    let lines = "my name is Li\n/model\n/mcp\n/help\nwhat is\\\nmy name?\n/quit\nnever read\n";
    expect![[r#"
        exit 0
        --- stdout
        Hello Li.
        script:model.jsonl
        files    5 tools
        time     2 tools
        weather  1 tool
        /tools  the tools that can be called; /tools SERVER for one server's
        /mcp    the servers and how they are doing
        /model  who answers; /model PROVIDER/MODEL for another one
        /clear  forget what was said
        /help   this list
        /quit   end (Ctrl-D too)
        Li.
    "#]]
    .assert_eq(&home.run_with(&CHAT, lines, &[]).to_string());
}

#[test]
fn a_slip_in_a_command_is_no_question_and_a_path_is_one() {
    let home = Home::with_script(&[r#"{"expect":"/tmp is what?","text":"A folder."}"#]);
    let ran = home.run_with(&CHAT, "/tool\n/compact now\n/tmp is what?\n", &[]);
    expect![[r#"
        exit 0
        --- stdout
        A folder.
        --- stderr
        error: there is no command `/tool`
        hint: Did you mean /tools?
        error: there is no command `/compact`
        hint: /help lists them.
    "#]]
    .assert_eq(&ran.to_string());
}

#[test]
fn a_cleared_conversation_is_forgotten_and_the_last_one_can_be_taken_up() {
    let home = Home::with_script(&[r#"{"text":"one"}"#, r#"{"text":"two"}"#]);
    let ran = home.run_with(&CHAT, "first\n/clear\nsecond\n", &[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "one\ntwo\n"), "{ran}");
    let ran = home.run_with(&[&CHAT[..], &["--continue"]].concat(), "third\n", &[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "one\n"), "{ran}");
    let mut kept: Vec<_> = std::fs::read_dir(home.path("state/surehand/sessions")).unwrap().collect();
    assert_eq!(kept.len(), 2);
    let last = kept.pop().unwrap().unwrap();
    assert!(std::fs::read_to_string(last.path()).unwrap().lines().count() >= 2);
}

#[test]
fn a_failure_ends_a_conversation_that_nobody_types() {
    let home = Home::with_script(&[r#"{"text":"one"}"#]);
    let ran = home.run_with(&CHAT, "first\nsecond\n", &[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, "one\n"), "{ran}");
}
