//! What goes wrong is said in words, in JSON where JSON was asked for, and by the exit code.

use std::time::Duration;

use expect_test::{Expect, expect};
use tokio::time::Instant;

use crate::home::Home;

fn check(home: &Home, arguments: &[&str], expected: Expect) {
    expected.assert_eq(&home.run(arguments).to_string());
}

#[test]
fn an_unknown_command_is_a_usage_error_with_a_suggestion() {
    check(
        &Home::new(),
        &["tolls"],
        expect![[r#"
        exit 2
        --- stderr
        error: unrecognized subcommand 'tolls'
        Usage: surehand [OPTIONS] [COMMAND]
        hint: Some similar subcommands exist: 'models', 'tools'.
    "#]],
    );
}

#[test]
fn a_group_of_commands_without_one_of_them_says_what_there_is() {
    check(
        &Home::new(),
        &["mcp"],
        expect![[r#"
        exit 2
        --- stderr
        error: a command is missing
        Usage: surehand mcp [OPTIONS] <COMMAND>
        Commands:
          add       Add a server: a command line behind `--`, one command, or a URL
          add-json  Add a server from its JSON entry, as a README shows it
          list      List the configured servers. Starts nothing
          get       Show one server: where it is written, how it is started, what is wrong with it
          remove    Remove a server from the file it is written in
          enable    Switch a server on again
          disable   Switch a server off and keep its entry
          trust     Trust this project's .mcp.json, so that its servers may start
          login     Log in to a server behind a URL, in a browser. Whatever login there was is replaced
          logout    Forget the login to a server
        hint: Try --help.
    "#]],
    );
}

#[test]
fn a_program_reads_its_error_as_one_line_of_json() {
    check(
        &Home::new(),
        &["--output", "json", "tolls"],
        expect![[r#"
        exit 2
        --- stderr
        {"error":{"code":"usage","message":"unrecognized subcommand 'tolls'\nUsage: surehand [OPTIONS] [COMMAND]","hint":"Some similar subcommands exist: 'models', 'tools'."}}
    "#]],
    );
}

#[test]
fn a_wrong_value_of_a_flag_is_named() {
    check(
        &Home::new(),
        &["ask", "--timeout", "soon", "hello"],
        expect![[r#"
        exit 2
        --- stderr
        error: invalid value 'soon' for '--timeout <DURATION>': `soon` is not a duration; write 30s, 5m, 1h or 500ms
        hint: Try --help.
    "#]],
    );
}

#[test]
fn a_question_must_be_asked() {
    check(
        &Home::new(),
        &["ask", "--model", "script:x"],
        expect![[r#"
        exit 2
        --- stderr
        error: there is no question
        hint: surehand ask "What time is it in Shanghai?"
    "#]],
    );
}

#[test]
fn a_model_without_a_provider_is_completed_in_words() {
    check(
        &Home::new(),
        &["ask", "--model", "claude-sonnet-5", "hello"],
        expect![[r#"
        exit 2
        --- stderr
        error: `claude-sonnet-5` is no name of a model: write `provider/model`, for example `anthropic/claude-sonnet-5`
    "#]],
    );
}

#[test]
fn an_unknown_provider_gets_a_suggestion() {
    check(
        &Home::new(),
        &["ask", "--model", "antropic/x", "hello"],
        expect![[r#"
        exit 2
        --- stderr
        error: there is no provider `antropic`; did you mean `anthropic`?
        hint: `surehand models list` shows what can answer.
    "#]],
    );
}

#[test]
fn a_missing_key_names_the_variable() {
    check(
        &Home::new(),
        &["ask", "--model", "anthropic/claude-sonnet-5", "hello", "--output", "json"],
        expect![[r#"
            exit 3
            --- stderr
            {"error":{"code":"login_needed","message":"anthropic needs a key: set ANTHROPIC_API_KEY"}}
        "#]],
    );
}

#[test]
fn a_script_that_is_not_there_is_named() {
    check(
        &Home::new(),
        &["ask", "--model", "script:nowhere.jsonl", "hello"],
        expect![[r#"
        exit 2
        --- stderr
        error: the script does not fit: cannot read the script `nowhere.jsonl`: No such file or directory (os error 2)
    "#]],
    );
}

#[test]
fn a_model_that_cannot_be_reached_is_exit_4() {
    let home = Home::new();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let ran = home.run_with(
        &["ask", "--model", "openai/x", "hello", "--timeout", "5s"],
        "",
        &[("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", &format!("http://{closed}/v1"))],
    );
    assert_eq!((ran.code, ran.stdout.as_str()), (4, ""), "{ran}");
    assert!(ran.stderr.contains("\nerror: openai is not reachable"), "{ran}");
}

#[test]
fn a_configuration_that_was_named_must_be_there() {
    check(
        &Home::new(),
        &["tools", "--config", "nowhere.json"],
        expect![[r#"
        exit 2
        --- stderr
        error: there is no configuration file ~/work/nowhere.json
    "#]],
    );
}

#[test]
fn a_server_of_the_command_line_that_makes_no_sense_is_named() {
    check(
        &Home::new(),
        &["tools", "--server", "nothing"],
        expect![[r#"
        exit 2
        --- stderr
        error: `nothing` is no server: there is no `=`; write NAME=COMMAND or NAME=URL
    "#]],
    );
}

#[test]
fn an_unknown_tool_gets_a_suggestion() {
    check(
        &Home::new(),
        &["call", "get_curent_time"],
        expect![[r#"
            exit 5
            --- stderr
            error: there is no tool `get_curent_time`
            hint: Did you mean time/get_current_time?
        "#]],
    );
    check(
        &Home::new(),
        &["call", "time/nothing", "--output", "json"],
        expect![[r#"
            exit 5
            --- stderr
            {"error":{"code":"unknown_tool","message":"there is no tool `time/nothing`","hint":"`surehand tools` lists what there is."}}
        "#]],
    );
}

#[test]
fn a_server_that_is_not_there_is_exit_4_and_costs_nobody_else() {
    let home = Home::new();
    home.write("config/surehand/surehand.json", r#"{"mcpServers":{"gone":{"command":"no-such-command"}}}"#);
    check(
        &home,
        &["call", "gone/tool"],
        expect![[r#"
            exit 4
            --- stderr
            error: server `gone` is not available: command `no-such-command` was not found (install it, or set `command` to the absolute path of the program)
            hint: `surehand doctor` looks at everything.
        "#]],
    );
    let ran = home.run(&["call", "time/get_current_time", "timezone=UTC"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran}");
}

#[test]
fn a_stream_ends_with_the_error_and_stderr_has_it_too() {
    let home = Home::with_script(&[r#"{"expect":"other","text":"no"}"#]);
    let ran = home.run(&["ask", "hello", "--model", "script:model.jsonl", "--output", "stream-json"]);
    let error = r#"{"error":{"code":"failed","message":"the script does not fit: line 1: expected to be told \"other\", but was told \"hello\""}}"#;
    let last = ran.stdout.lines().last().unwrap();
    assert_eq!((ran.code, ran.stderr.trim_end()), (1, error), "{ran}");
    assert_eq!(last, error.replacen('{', r#"{"type":"error","#, 1));
}

#[test]
fn a_configuration_that_cannot_be_read_is_said_and_costs_only_itself() {
    let home = Home::new();
    home.write(
        "config/surehand/surehand.json",
        "{\"mcpServers\": {\n  \"a\": {\"command\": \"C:\\Users\\me\"}\n}}",
    );
    check(
        &home,
        &["tools", "weather"],
        expect![[r#"
        exit 0
        --- stdout
        weather/get_weather  (city, days?, units?)  Current weather and forecast for a city (天气).
        --- stderr
        note: ~/config/surehand/surehand.json:2:23: the file cannot be read, so nothing in it is used: `\U` is no escape that JSON knows: in JSON each backslash of a path is doubled: "C:\\Users\\me"
    "#]],
    );
}

#[test]
fn a_server_that_never_begins_is_not_waited_for_longer_than_was_asked() {
    let since = Instant::now();
    let ran = Home::new().run(&["tools", "mute", "--server", "mute=/bin/sleep 60", "--timeout", "200ms"]);
    assert_eq!(ran.code, 4, "{ran}");
    assert!(ran.stderr.contains("did not answer within 0.2 s"), "{ran}");
    assert!(since.elapsed() < Duration::from_secs(20), "it took {:?}", since.elapsed());
}
