//! What the help says. Flags are part of the contract.

use expect_test::{Expect, expect};

use crate::home::Home;

/// Blanks at the end of a line, which clap leaves where nothing stands, do not count.
fn check(arguments: &[&str], expected: Expect) {
    let shown = Home::new().run(arguments).to_string();
    let lines: Vec<&str> = shown.lines().map(str::trim_end).collect();
    expected.assert_eq(&format!("{}\n", lines.join("\n")));
}

#[test]
fn without_arguments_the_three_things_people_do_come_first() {
    check(
        &[],
        expect![[r#"
            exit 0
            --- stdout
            Ask something:     surehand ask "What time is it in Shanghai and in Paris?"
            Talk:              surehand chat
            Add a tool server: surehand mcp add files -- npx -y @modelcontextprotocol/server-filesystem .

            Commands:
              ask          Ask one question; tools are used as needed
              chat         Talk with a model; tools are used as needed
              tools        List the tools of all servers, or of one
              call         Call one tool
              mcp          Add, look at, remove and trust MCP servers, and log in to them
              server       Be one of the bundled MCP servers, on stdio or at an address
              models       See what can answer; fetch an embedded model
              doctor       Look at everything and say what is wrong and what to do
              completions  Print a completion script for a shell

            More: surehand --help, surehand COMMAND --help
        "#]],
    );
}

#[test]
fn the_whole_help() {
    check(
        &["--help"],
        expect![[r#"
            exit 0
            --- stdout
            Ask something:     surehand ask "What time is it in Shanghai and in Paris?"
            Talk:              surehand chat
            Add a tool server: surehand mcp add files -- npx -y @modelcontextprotocol/server-filesystem .

            Gives any model a sure pair of hands: tools over MCP, called by whatever model answers

            Usage: surehand [OPTIONS] [COMMAND]

            Commands:
              ask          Ask one question; tools are used as needed
              chat         Talk with a model; tools are used as needed
              tools        List the tools of all servers, or of one
              call         Call one tool
              mcp          Add, look at, remove and trust MCP servers, and log in to them
              server       Be one of the bundled MCP servers, on stdio or at an address
              models       See what can answer; fetch an embedded model
              doctor       Look at everything and say what is wrong and what to do
              completions  Print a completion script for a shell

            Options:
              -h, --help     Print help
              -V, --version  Print version

            Common options:
                  --config <FILE>              Read this configuration file instead of the user's
                  --server <NAME=COMMAND|URL>  Use this server too, for this run only. May be given several
                                               times
                  --model <PROVIDER/MODEL>     Who answers, for example anthropic/claude-sonnet-5, ollama/qwen3,
                                               local/qwen2.5-coder-1.5b, script:FILE
                  --output <FORM>              The form of the results [default: text] [possible values: text,
                                               json, stream-json]
                  --json                       The same as --output json
                  --approve <HOW>              What happens to calls that need a person's approval; always does
                                               not touch what policy denies [default: ask on a terminal, never
                                               elsewhere] [possible values: ask, never, always]
                  --max-turns <N>              Ask the model at most this often for one question
                  --timeout <DURATION>         Stop after this long, for example 30s, 5m, 500ms. A bare number
                                               is seconds
              -v, --verbose...                 Say more on stderr
              -y, --yes                        Answer yes to questions about downloads and overwriting;
                                               approvals of calls are --approve's part

            Exit codes: 0 done, 1 failed, 2 usage or configuration, 3 login needed, 4 model or server
            unreachable, 5 the tool reported an error or does not exist, 6 refused by policy or by a person, 7 a
            limit was reached.
        "#]],
    );
}

#[test]
fn help_of_ask() {
    check(
        &["ask", "--help"],
        expect![[r#"
            exit 0
            --- stdout
            Ask one question; tools are used as needed

            Without a question on the command line, it is read from stdin. The answer goes to stdout, everything
            else to stderr.

            Usage: surehand ask [OPTIONS] [PROMPT]...

            Arguments:
              [PROMPT]...
                      The question. Several words need no quotes

            Options:
              -h, --help
                      Print help (see a summary with '-h')

            Common options:
                  --config <FILE>
                      Read this configuration file instead of the user's

                  --server <NAME=COMMAND|URL>
                      Use this server too, for this run only. May be given several times

                  --model <PROVIDER/MODEL>
                      Who answers, for example anthropic/claude-sonnet-5, ollama/qwen3,
                      local/qwen2.5-coder-1.5b, script:FILE

                  --output <FORM>
                      The form of the results

                      [default: text]
                      [possible values: text, json, stream-json]

                  --json
                      The same as --output json

                  --approve <HOW>
                      What happens to calls that need a person's approval; always does not touch what policy
                      denies [default: ask on a terminal, never elsewhere]

                      [possible values: ask, never, always]

                  --max-turns <N>
                      Ask the model at most this often for one question

                  --timeout <DURATION>
                      Stop after this long, for example 30s, 5m, 500ms. A bare number is seconds

              -v, --verbose...
                      Say more on stderr

              -y, --yes
                      Answer yes to questions about downloads and overwriting; approvals of calls are
                      --approve's part

            Examples:
              surehand ask "What time is it in Shanghai and in Paris?"
              surehand ask --model ollama/qwen3 --output json "今天北京天气怎么样？"
              surehand ask --server everything="npx -y @modelcontextprotocol/server-everything" "Add 2 and 3"
              echo "What is in this folder?" | surehand ask --approve always
        "#]],
    );
}

#[test]
fn help_of_chat() {
    check(
        &["chat", "--help"],
        expect![[r#"
            exit 0
            --- stdout
            Talk with a model; tools are used as needed

            Ctrl-C cancels what is being answered, Ctrl-D or /quit ends the conversation. A line that ends in a
            backslash goes on in the next one. Conversations are kept; --continue takes up the last one.

            Usage: surehand chat [OPTIONS]

            Options:
              -r, --continue
                      Go on with the last conversation

              -h, --help
                      Print help (see a summary with '-h')

            Common options:
                  --config <FILE>
                      Read this configuration file instead of the user's

                  --server <NAME=COMMAND|URL>
                      Use this server too, for this run only. May be given several times

                  --model <PROVIDER/MODEL>
                      Who answers, for example anthropic/claude-sonnet-5, ollama/qwen3,
                      local/qwen2.5-coder-1.5b, script:FILE

                  --output <FORM>
                      The form of the results

                      [default: text]
                      [possible values: text, json, stream-json]

                  --json
                      The same as --output json

                  --approve <HOW>
                      What happens to calls that need a person's approval; always does not touch what policy
                      denies [default: ask on a terminal, never elsewhere]

                      [possible values: ask, never, always]

                  --max-turns <N>
                      Ask the model at most this often for one question

                  --timeout <DURATION>
                      Stop after this long, for example 30s, 5m, 500ms. A bare number is seconds

              -v, --verbose...
                      Say more on stderr

              -y, --yes
                      Answer yes to questions about downloads and overwriting; approvals of calls are
                      --approve's part
        "#]],
    );
}

#[test]
fn help_of_tools() {
    check(
        &["tools", "--help"],
        expect![[r#"
            exit 0
            --- stdout
            List the tools of all servers, or of one

            With SERVER/TOOL, everything about one tool. The formats print the tools as the providers' APIs take
            them.

            Usage: surehand tools [OPTIONS] [SERVER]

            Arguments:
              [SERVER]
                      SERVER, or SERVER/TOOL

            Options:
                  --format <FORMAT>
                      How they are written

                      [possible values: table, json, openai, anthropic, gemini, mcp]

              -h, --help
                      Print help (see a summary with '-h')

            Common options:
                  --config <FILE>
                      Read this configuration file instead of the user's

                  --server <NAME=COMMAND|URL>
                      Use this server too, for this run only. May be given several times

                  --model <PROVIDER/MODEL>
                      Who answers, for example anthropic/claude-sonnet-5, ollama/qwen3,
                      local/qwen2.5-coder-1.5b, script:FILE

                  --output <FORM>
                      The form of the results

                      [default: text]
                      [possible values: text, json, stream-json]

                  --json
                      The same as --output json

                  --approve <HOW>
                      What happens to calls that need a person's approval; always does not touch what policy
                      denies [default: ask on a terminal, never elsewhere]

                      [possible values: ask, never, always]

                  --max-turns <N>
                      Ask the model at most this often for one question

                  --timeout <DURATION>
                      Stop after this long, for example 30s, 5m, 500ms. A bare number is seconds

              -v, --verbose...
                      Say more on stderr

              -y, --yes
                      Answer yes to questions about downloads and overwriting; approvals of calls are
                      --approve's part
        "#]],
    );
}

#[test]
fn help_of_call() {
    check(
        &["call", "--help"],
        expect![[r#"
            exit 0
            --- stdout
            Call one tool

            The result is printed as the tool gave it. A tool that reports an error makes the exit code 5.

            Usage: surehand call [OPTIONS] <TOOL> [KEY=VALUE]...

            Arguments:
              <TOOL>
                      SERVER/TOOL, or the tool's name alone where only one server has it

              [KEY=VALUE]...
                      Arguments, read by the tool's schema: numbers become numbers. A list is JSON or one item a
                      word (tag=a tag=b)

            Options:
                  --args <JSON>
                      All arguments as one JSON object, sent as it is

              -h, --help
                      Print help (see a summary with '-h')

            Common options:
                  --config <FILE>
                      Read this configuration file instead of the user's

                  --server <NAME=COMMAND|URL>
                      Use this server too, for this run only. May be given several times

                  --model <PROVIDER/MODEL>
                      Who answers, for example anthropic/claude-sonnet-5, ollama/qwen3,
                      local/qwen2.5-coder-1.5b, script:FILE

                  --output <FORM>
                      The form of the results

                      [default: text]
                      [possible values: text, json, stream-json]

                  --json
                      The same as --output json

                  --approve <HOW>
                      What happens to calls that need a person's approval; always does not touch what policy
                      denies [default: ask on a terminal, never elsewhere]

                      [possible values: ask, never, always]

                  --max-turns <N>
                      Ask the model at most this often for one question

                  --timeout <DURATION>
                      Stop after this long, for example 30s, 5m, 500ms. A bare number is seconds

              -v, --verbose...
                      Say more on stderr

              -y, --yes
                      Answer yes to questions about downloads and overwriting; approvals of calls are
                      --approve's part

            Examples:
              surehand call time/get_current_time timezone=Asia/Shanghai
              surehand call files/read_text_file path=README.md head=5
              surehand call weather/get_forecast --args '{"city":"Paris","days":3}'
        "#]],
    );
}

#[test]
fn help_of_mcp() {
    check(
        &["mcp", "--help"],
        expect![[r#"
            exit 0
            --- stdout
            Add, look at, remove and trust MCP servers, and log in to them

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

            Options:
              -h, --help  Print help

            Common options:
                  --config <FILE>              Read this configuration file instead of the user's
                  --server <NAME=COMMAND|URL>  Use this server too, for this run only. May be given several
                                               times
                  --model <PROVIDER/MODEL>     Who answers, for example anthropic/claude-sonnet-5, ollama/qwen3,
                                               local/qwen2.5-coder-1.5b, script:FILE
                  --output <FORM>              The form of the results [default: text] [possible values: text,
                                               json, stream-json]
                  --json                       The same as --output json
                  --approve <HOW>              What happens to calls that need a person's approval; always does
                                               not touch what policy denies [default: ask on a terminal, never
                                               elsewhere] [possible values: ask, never, always]
                  --max-turns <N>              Ask the model at most this often for one question
                  --timeout <DURATION>         Stop after this long, for example 30s, 5m, 500ms. A bare number
                                               is seconds
              -v, --verbose...                 Say more on stderr
              -y, --yes                        Answer yes to questions about downloads and overwriting;
                                               approvals of calls are --approve's part
        "#]],
    );
}

#[test]
fn help_of_mcp_add() {
    check(
        &["mcp", "add", "--help"],
        expect![[r#"
            exit 0
            --- stdout
            Add a server: a command line behind `--`, one command, or a URL

            Usage: surehand mcp add [OPTIONS] <NAME> [COMMAND|URL]... [-- <COMMAND LINE>...]

            Arguments:
              <NAME>             The name it gets
              [COMMAND|URL]...   A URL, or one command, which is never split at blanks
              [COMMAND LINE]...  The server's own command line, word by word

            Options:
              -t, --transport <TRANSPORT>  How it is reached [default: http for a URL, stdio for a command]
                                           [possible values: stdio, http, sse]
              -e, --env <KEY=VALUE>        A variable of its environment. May be given several times
              -H, --header <NAME: VALUE>   A header sent with each request to its URL. May be given several
                                           times
              -s, --scope <SCOPE>          Whose file: the user's, or the project's .mcp.json [possible values:
                                           user, project]
                  --force                  Replace an entry of the same name
                  --dry-run                Only show what would change
              -h, --help                   Print help

            Common options:
                  --config <FILE>              Read this configuration file instead of the user's
                  --server <NAME=COMMAND|URL>  Use this server too, for this run only. May be given several
                                               times
                  --model <PROVIDER/MODEL>     Who answers, for example anthropic/claude-sonnet-5, ollama/qwen3,
                                               local/qwen2.5-coder-1.5b, script:FILE
                  --output <FORM>              The form of the results [default: text] [possible values: text,
                                               json, stream-json]
                  --json                       The same as --output json
                  --approve <HOW>              What happens to calls that need a person's approval; always does
                                               not touch what policy denies [default: ask on a terminal, never
                                               elsewhere] [possible values: ask, never, always]
                  --max-turns <N>              Ask the model at most this often for one question
                  --timeout <DURATION>         Stop after this long, for example 30s, 5m, 500ms. A bare number
                                               is seconds
              -v, --verbose...                 Say more on stderr
              -y, --yes                        Answer yes to questions about downloads and overwriting;
                                               approvals of calls are --approve's part

            Examples:
              surehand mcp add files -- npx -y @modelcontextprotocol/server-filesystem /data
              surehand mcp add -e API_KEY='${API_KEY}' search -- uvx search-server
              surehand mcp add notion https://mcp.notion.com/mcp
              surehand mcp add -H 'Authorization: Bearer ${TOKEN}' work https://mcp.example.com/mcp
              surehand mcp add hopper '/Applications/Hopper Disassembler.app/Contents/MacOS/HopperMCPServer'

            ${NAME} stays in the file as it is and is filled from the environment when the server starts.
        "#]],
    );
}

#[test]
fn help_of_server() {
    check(
        &["server", "--help"],
        expect![[r#"
            exit 0
            --- stdout
            Be one of the bundled MCP servers, on stdio or at an address

            Any MCP application can use it: its command is `surehand server NAME`.

            Usage: surehand server [OPTIONS] <NAME>

            Arguments:
              <NAME>
                      Which one

                      [possible values: files, time, weather]

            Options:
                  --listen <ADDR>
                      Serve Streamable HTTP here instead of stdio, for example 127.0.0.1:8000

                  --root <FOLDER>
                      A folder that the files server may read [default: the current folder]. May be given
                      several times

                  --options <JSON>
                      The server's options as in the configuration, one JSON object

                  --issuer <URL>
                      Let in only who shows a token that this OAuth authorization server made for --public-url.
                      May be given several times

                  --public-url <URL>
                      The endpoint's whole address as clients know it, in front of any proxy

                  --scope <SCOPE>
                      A scope that tokens must be good for. May be given several times

                  --bound-tokens
                      Take only tokens that are bound to a key (DPoP), which are of no use to whoever steals
                      them

              -h, --help
                      Print help (see a summary with '-h')

            Common options:
                  --config <FILE>
                      Read this configuration file instead of the user's

                  --server <NAME=COMMAND|URL>
                      Use this server too, for this run only. May be given several times

                  --model <PROVIDER/MODEL>
                      Who answers, for example anthropic/claude-sonnet-5, ollama/qwen3,
                      local/qwen2.5-coder-1.5b, script:FILE

                  --output <FORM>
                      The form of the results

                      [default: text]
                      [possible values: text, json, stream-json]

                  --json
                      The same as --output json

                  --approve <HOW>
                      What happens to calls that need a person's approval; always does not touch what policy
                      denies [default: ask on a terminal, never elsewhere]

                      [possible values: ask, never, always]

                  --max-turns <N>
                      Ask the model at most this often for one question

                  --timeout <DURATION>
                      Stop after this long, for example 30s, 5m, 500ms. A bare number is seconds

              -v, --verbose...
                      Say more on stderr

              -y, --yes
                      Answer yes to questions about downloads and overwriting; approvals of calls are
                      --approve's part
        "#]],
    );
}

#[test]
fn help_of_models() {
    check(
        &["models", "--help"],
        expect![[r#"
            exit 0
            --- stdout
            See what can answer; fetch an embedded model

            Usage: surehand models [OPTIONS] <COMMAND>

            Commands:
              list  List the embedded models, and the providers that have a key or an address. Asks nobody
              pull  Fetch an embedded model, such as local/qwen2.5-coder-0.5b
              show  Show who would answer, or what is known about one model

            Options:
              -h, --help  Print help

            Common options:
                  --config <FILE>              Read this configuration file instead of the user's
                  --server <NAME=COMMAND|URL>  Use this server too, for this run only. May be given several
                                               times
                  --model <PROVIDER/MODEL>     Who answers, for example anthropic/claude-sonnet-5, ollama/qwen3,
                                               local/qwen2.5-coder-1.5b, script:FILE
                  --output <FORM>              The form of the results [default: text] [possible values: text,
                                               json, stream-json]
                  --json                       The same as --output json
                  --approve <HOW>              What happens to calls that need a person's approval; always does
                                               not touch what policy denies [default: ask on a terminal, never
                                               elsewhere] [possible values: ask, never, always]
                  --max-turns <N>              Ask the model at most this often for one question
                  --timeout <DURATION>         Stop after this long, for example 30s, 5m, 500ms. A bare number
                                               is seconds
              -v, --verbose...                 Say more on stderr
              -y, --yes                        Answer yes to questions about downloads and overwriting;
                                               approvals of calls are --approve's part
        "#]],
    );
}

#[test]
fn help_of_doctor() {
    check(
        &["doctor", "--help"],
        expect![[r#"
            exit 0
            --- stdout
            Look at everything and say what is wrong and what to do

            Reads the configuration, starts every server, asks each for its tools, and looks whether a model can
            answer. Project files that are not trusted start nothing here either.

            Usage: surehand doctor [OPTIONS]

            Options:
                  --offline
                      Only read: start no server and reach no address

              -h, --help
                      Print help (see a summary with '-h')

            Common options:
                  --config <FILE>
                      Read this configuration file instead of the user's

                  --server <NAME=COMMAND|URL>
                      Use this server too, for this run only. May be given several times

                  --model <PROVIDER/MODEL>
                      Who answers, for example anthropic/claude-sonnet-5, ollama/qwen3,
                      local/qwen2.5-coder-1.5b, script:FILE

                  --output <FORM>
                      The form of the results

                      [default: text]
                      [possible values: text, json, stream-json]

                  --json
                      The same as --output json

                  --approve <HOW>
                      What happens to calls that need a person's approval; always does not touch what policy
                      denies [default: ask on a terminal, never elsewhere]

                      [possible values: ask, never, always]

                  --max-turns <N>
                      Ask the model at most this often for one question

                  --timeout <DURATION>
                      Stop after this long, for example 30s, 5m, 500ms. A bare number is seconds

              -v, --verbose...
                      Say more on stderr

              -y, --yes
                      Answer yes to questions about downloads and overwriting; approvals of calls are
                      --approve's part
        "#]],
    );
}

#[test]
fn help_of_completions() {
    check(
        &["completions", "--help"],
        expect![[r#"
            exit 0
            --- stdout
            Print a completion script for a shell

            For example: surehand completions bash > ~/.local/share/bash-completion/completions/surehand

            Usage: surehand completions [OPTIONS] <SHELL>

            Arguments:
              <SHELL>
                      Which shell

                      [possible values: bash, elvish, fish, powershell, zsh]

            Options:
              -h, --help
                      Print help (see a summary with '-h')

            Common options:
                  --config <FILE>
                      Read this configuration file instead of the user's

                  --server <NAME=COMMAND|URL>
                      Use this server too, for this run only. May be given several times

                  --model <PROVIDER/MODEL>
                      Who answers, for example anthropic/claude-sonnet-5, ollama/qwen3,
                      local/qwen2.5-coder-1.5b, script:FILE

                  --output <FORM>
                      The form of the results

                      [default: text]
                      [possible values: text, json, stream-json]

                  --json
                      The same as --output json

                  --approve <HOW>
                      What happens to calls that need a person's approval; always does not touch what policy
                      denies [default: ask on a terminal, never elsewhere]

                      [possible values: ask, never, always]

                  --max-turns <N>
                      Ask the model at most this often for one question

                  --timeout <DURATION>
                      Stop after this long, for example 30s, 5m, 500ms. A bare number is seconds

              -v, --verbose...
                      Say more on stderr

              -y, --yes
                      Answer yes to questions about downloads and overwriting; approvals of calls are
                      --approve's part
        "#]],
    );
}

#[test]
fn each_shell_gets_a_script() {
    for (shell, start) in [
        ("bash", "_surehand()"),
        ("zsh", "#compdef surehand"),
        ("fish", "# Print an optspec"),
        ("powershell", "\nusing namespace"),
    ] {
        let ran = Home::new().run(&["completions", shell]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        assert!(ran.stdout.starts_with(start), "{shell}: {}", &ran.stdout[..60]);
    }
}

#[test]
fn help_is_there_as_a_word_too() {
    for (words, flag) in [
        (&["help"][..], &["--help"][..]),
        (&["help", "call"], &["call", "--help"]),
        (&["help", "mcp", "add"], &["mcp", "add", "--help"]),
        (&["mcp", "help"], &["mcp", "--help"]),
        (&["mcp", "help", "add"], &["mcp", "add", "--help"]),
    ] {
        let home = Home::new();
        let (said, expected) = (home.run(words), home.run(flag));
        assert_eq!(said.code, 0, "{words:?}: {said}");
        assert_eq!(said.stdout, expected.stdout, "{words:?}");
    }
    // Behind a command of its own it is an argument like any other.
    assert_eq!(Home::new().run(&["call", "help"]).code, 5);
}
