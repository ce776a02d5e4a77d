//! `surehand mcp` and `surehand doctor`.

use expect_test::{Expect, expect};

use crate::home::{Home, Ran};

const FILE: &str = "config/surehand/surehand.json";

fn check(ran: Ran, expected: Expect) {
    expected.assert_eq(&ran.to_string());
}

/// Runs `mcp add` and gives what the file holds then.
fn added(arguments: &[&str]) -> String {
    let home = Home::new();
    let ran = home.run(&[&["mcp", "add"], arguments].concat());
    assert_eq!(ran.code, 0, "{ran}");
    home.read(FILE)
}

#[test]
fn a_path_with_blanks_is_one_command() {
    let file = added(&["hopper", "/Applications/Hopper Disassembler.app/Contents/MacOS/HopperMCPServer"]);
    expect![[r#"
        {
          "mcpServers": {
            "hopper": {
              "command": "/Applications/Hopper Disassembler.app/Contents/MacOS/HopperMCPServer"
            }
          }
        }
    "#]]
    .assert_eq(&file);
}

#[test]
fn everything_behind_the_dashes_is_the_command_line_of_the_server() {
    let file = added(&[
        "-e",
        "KEY=${KEY}",
        "-e",
        "A=b=c",
        "files",
        "--",
        "npx",
        "-y",
        "srv",
        "-e",
        "X",
        "--force",
        "a b",
    ]);
    expect![[r#"
        {
          "mcpServers": {
            "files": {
              "command": "npx",
              "args": ["-y", "srv", "-e", "X", "--force", "a b"],
              "env": {
                "KEY": "${KEY}",
                "A": "b=c"
              }
            }
          }
        }
    "#]]
    .assert_eq(&file);
}

#[test]
fn a_url_is_reached_over_http_with_its_headers() {
    let file = added(&[
        "web",
        "https://mcp.example.test/mcp",
        "-H",
        "Authorization: Bearer ${TOKEN}",
        "-H",
        "X: a: b",
    ]);
    expect![[r#"
        {
          "mcpServers": {
            "web": {
              "type": "http",
              "url": "https://mcp.example.test/mcp",
              "headers": {
                "Authorization": "Bearer ${TOKEN}",
                "X": "a: b"
              }
            }
          }
        }
    "#]]
    .assert_eq(&file);
}

#[test]
fn adding_says_what_does_not_fit() {
    let home = Home::new();
    for arguments in [
        &["x"][..],
        &["x", "npx", "-y", "srv"],
        &["x", "npx", "srv"],
        &["x", "https://a.test/mcp", "-e", "A=b"],
        &["x", "srv", "-H", "A: b"],
        &["x", "srv", "-e", "A"],
        &["x", "-t", "http", "srv"],
        &["x", "-t", "stdio", "https://a.test"],
        &["x", "ftp://a.test/mcp"],
        &["x", "ws://a.test/mcp"],
    ] {
        let ran = home.run(&[&["mcp", "add"], arguments].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments:?}: {ran}");
    }
    check(
        home.run(&["mcp", "add", "x", "npx", "srv"]),
        expect![[r#"
        exit 2
        --- stderr
        error: a server's own arguments stand behind `--`
        hint: surehand mcp add x -- npx and the rest of its command line
    "#]],
    );
}

#[test]
fn a_server_of_the_oldest_transport_is_added_without_a_word() {
    let home = Home::new();
    check(
        home.run(&["mcp", "add", "-t", "sse", "old", "http://127.0.0.1:9/sse"]),
        expect![[r#"
        exit 0
        --- stdout
        Added `old` to ~/config/surehand/surehand.json.
    "#]],
    );
}

#[test]
fn an_entry_that_cannot_be_used_is_listed_as_what_it_is() {
    let home = Home::new();
    home.write(FILE, r#"{"mcpServers":{"five":5,"slip":{"comand":"x"}}}"#);
    check(
        home.run(&["mcp", "list"]),
        expect![[r#"
        exit 0
        --- stdout
        five     user     cannot start
        slip     user     cannot start
        files    bundled  on            files
        time     bundled  on            time
        weather  bundled  on            weather
        --- stderr
        warning: ~/config/surehand/surehand.json:1:23, server `five`: not started: the entry is a number and no object (write { "command": … } or { "url": … })
        warning: ~/config/surehand/surehand.json:1:42, server `slip`, `comand`: an unknown key, passed over (did you mean `command`?)
        warning: ~/config/surehand/surehand.json:1:32, server `slip`: not started: the entry has neither a `command` nor a `url` (give it one of them, or remove it)
    "#]],
    );
}

#[test]
fn entries_come_go_and_are_switched_and_the_rest_of_the_file_stays() {
    let home = Home::new();
    let before = "{\n  // the team's servers\n  \"mcpServers\": {\n    \"docs\": {\"command\": \"docs\", \"future\": 1}, // pinned\n  },\n}\n";
    home.write(FILE, before);
    check(
        home.run(&["mcp", "add", "x", "--", "srv", "--flag"]),
        expect![[r#"
            exit 0
            --- stdout
            Added `x` to ~/config/surehand/surehand.json.
            --- stderr
            warning: ~/config/surehand/surehand.json, server `x`: the command `srv` is not found; looked in /usr/bin, /bin (install it, or set `command` to the absolute path of the program)
        "#]],
    );
    check(
        home.run(&["mcp", "add", "x", "--", "other"]),
        expect![[r#"
        exit 2
        --- stderr
        error: ~/config/surehand/surehand.json was left as it is
          because: there is a server `x` already
        hint: --force replaces it.
    "#]],
    );
    check(
        home.run(&["mcp", "disable", "docs", "--dry-run"]),
        expect![[r#"
        exit 0
        --- stdout
        --- ~/config/surehand/surehand.json
        +++ ~/config/surehand/surehand.json
        @@ -1,7 +1,7 @@
         {
           // the team's servers
           "mcpServers": {
        -    "docs": {"command": "docs", "future": 1}, // pinned
        +    "docs": {"command": "docs", "future": 1, "disabled": true}, // pinned
             "x": {"command": "srv", "args": ["--flag"]},
           },
         }
    "#]],
    );
    check(
        home.run(&["mcp", "disable", "docs"]),
        expect![[r#"
        exit 0
        --- stdout
        Switched off `docs` in ~/config/surehand/surehand.json.
    "#]],
    );
    check(
        home.run(&["mcp", "disable", "time"]),
        expect![[r#"
        exit 0
        --- stdout
        Switched off `time` in ~/config/surehand/surehand.json.
    "#]],
    );
    expect![[r#"
        {
          // the team's servers
          "mcpServers": {
            "docs": {"command": "docs", "future": 1, "disabled": true}, // pinned
            "x": {"command": "srv", "args": ["--flag"]},
            "time": {"disabled": true},
          },
        }
    "#]]
    .assert_eq(&home.read(FILE));
    check(
        home.run(&["mcp", "list"]),
        expect![[r#"
        exit 0
        --- stdout
        docs     user     off  docs
        x        user     on   srv --flag
        files    bundled  on   files
        time     bundled  off  time
        weather  bundled  on   weather
    "#]],
    );
    check(
        home.run(&["mcp", "get", "docs"]),
        expect![[r#"
            exit 0
            --- stdout
            docs
            Scope   user
            File    ~/config/surehand/surehand.json
            Kind    stdio
            Target  docs
            State   off
            --- stderr
            warning: ~/config/surehand/surehand.json:4:43, server `docs`, `future`: an unknown key, passed over
        "#]],
    );
    check(
        home.run(&["mcp", "list", "--output", "json"]),
        expect![[r#"
        exit 0
        --- stdout
        [{"name":"docs","scope":"user","file":"~/config/surehand/surehand.json","kind":"stdio","target":"docs","env":{},"headers":{},"enabled":false},
         {"name":"x","scope":"user","file":"~/config/surehand/surehand.json","kind":"stdio","target":"srv --flag","env":{},"headers":{},"enabled":true},
         {"name":"files","scope":"bundled","kind":"bundled","target":"files","env":{},"headers":{},"enabled":true},
         {"name":"time","scope":"bundled","kind":"bundled","target":"time","env":{},"headers":{},"enabled":false},
         {"name":"weather","scope":"bundled","kind":"bundled","target":"weather","env":{},"headers":{},"enabled":true}]
    "#]],
    );
    for change in [&["enable", "docs"][..], &["enable", "time"], &["remove", "x"]] {
        let ran = home.run(&[&["mcp"], change].concat());
        assert_eq!(ran.code, 0, "{ran}");
    }
    let after = home.read(FILE);
    assert!(after.starts_with("{\n  // the team's servers\n") && after.contains("// pinned"), "{after}");
    assert!(!after.contains("\"x\""), "{after}");
    check(
        home.run(&["mcp", "remove", "dcs"]),
        expect![[r#"
        exit 2
        --- stderr
        error: there is no server `dcs`
        hint: Did you mean docs?
    "#]],
    );
    check(
        home.run(&["mcp", "remove", "time"]),
        expect![[r#"
        exit 2
        --- stderr
        error: `time` comes with the program and cannot be removed
        hint: surehand mcp disable time
    "#]],
    );
}

#[test]
fn a_block_from_a_readme_can_be_pasted() {
    let home = Home::new();
    let block =
        r#"{"mcpServers":{"time":{"command":"uvx","args":["mcp-server-time"]},"other":{"command":"x"}}}"#;
    let ran = home.run(&["mcp", "add-json", "time", block]);
    assert_eq!(ran.code, 0, "{ran}");
    expect![[r#"
        {
          "mcpServers": {
            "time": {
              "command": "uvx",
              "args": ["mcp-server-time"]
            }
          }
        }
    "#]]
    .assert_eq(&home.read(FILE));
    check(
        home.run(&["mcp", "add-json", "nothing", block]),
        expect![[r#"
        exit 2
        --- stderr
        error: the block holds no server `nothing`
        hint: It holds: time, other.
    "#]],
    );
    check(
        home.run(&["mcp", "add-json", "x", "{"]),
        expect![[r#"
        exit 2
        --- stderr
        error: the entry cannot be read: not JSON at byte 1: a key in double quotes must stand here
        hint: Put it in single quotes.
    "#]],
    );
}

#[test]
fn a_file_that_cannot_be_read_is_never_written() {
    let home = Home::new();
    home.write(FILE, "{\"mcpServers\": {\"a\": ");
    check(
        home.run(&["mcp", "add", "x", "srv"]),
        expect![[r#"
        exit 2
        --- stderr
        error: ~/config/surehand/surehand.json was left as it is
          because: it cannot be read at line 1, column 22: the text ends where a value must stand; a bracket may not be closed
        hint: Mend the file by hand first.
    "#]],
    );
    assert_eq!(home.read(FILE), "{\"mcpServers\": {\"a\": ");
}

#[test]
fn a_project_is_trusted_by_a_person_only() {
    let home = Home::new();
    home.write("work/.mcp.json", r#"{"mcpServers":{"theirs":{"command":"/bin/cat"}}}"#);
    check(
        home.run(&["mcp", "trust"]),
        expect![[r#"
        exit 6
        --- stderr
        ~/work/.mcp.json wants to start:
          theirs: /bin/cat
        error: nobody is there to agree
        hint: --yes agrees without a question.
    "#]],
    );
    check(
        home.run(&["mcp", "trust", "--yes"]),
        expect![[r#"
        exit 0
        --- stdout
        ~/work/.mcp.json is trusted. A change to it asks again.
        --- stderr
        ~/work/.mcp.json wants to start:
          theirs: /bin/cat
    "#]],
    );
    let ran = home.run(&["mcp", "get", "theirs"]);
    assert!(ran.stdout.contains("State   on"), "{ran}");
    home.write("work/.mcp.json", r#"{"mcpServers":{"theirs":{"command":"/bin/rm"}}}"#);
    let ran = home.run(&["mcp", "get", "theirs"]);
    assert!(ran.stdout.contains("State    cannot start"), "{ran}");
    check(
        home.run(&["mcp", "trust", "--forget"]),
        expect![[r#"
        exit 0
        --- stdout
        ~/work/.mcp.json is not trusted any more.
    "#]],
    );
}

/// A configuration with one problem of each kind.
fn ill() -> Home {
    let home = Home::new();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    home.write(
        FILE,
        &format!(
            r#"{{"mcpServers":{{
  "missing": {{"command": "no-such-command"}},
  "unset": {{"command": "srv", "env": {{"K": "${{NOPE}}"}}}},
  "bad": {{"command": 5}},
  "away": {{"url": "http://{closed}/mcp"}}
}}, "modle": "x"}}"#
        ),
    );
    home.write("work/.mcp.json", r#"{"mcpServers":{"theirs":{"command":"srv"}}}"#);
    home
}

#[test]
fn doctor_names_every_problem() {
    let home = ill();
    let ran = home.run(&["doctor"]);
    assert_eq!(ran.code, 2, "{ran}");
    for fact in [
        "no-such-command",
        "variable NOPE",
        "server `bad`",
        "away (user): not available",
        "not trusted",
        "`modle`",
        "surehand mcp trust",
        "away (user): not available",
        "theirs (project): not started",
        "time (bundled): ",
    ] {
        assert!(ran.stdout.contains(fact), "{fact} is not named in {ran}");
    }
    let ran = home.run(&["doctor", "--output", "json"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stdout.starts_with("{\"ok\":false,\"files\":["), "{ran}");
    assert!(ran.stderr.starts_with("{\"error\":{\"code\":\"config\""), "{ran}");
}

#[test]
fn doctor_does_not_call_a_file_read_that_is_not() {
    for text in ["{", "[]", r#"{"mcpServers":[]}"#, r#"{"mcpServers":{"a":5}}"#] {
        let home = Home::new();
        home.write(FILE, text);
        let ran = home.run(&["doctor", "--offline"]);
        assert_eq!(ran.code, 2, "{text}: {ran}");
        assert!(ran.stdout.contains("✗ ~/config/surehand/surehand.json (has errors)"), "{text}: {ran}");
    }
}

#[test]
fn doctor_is_content_with_a_sound_home() {
    let home = Home::with_script(&[r#"{"text":"x"}"#]);
    home.write(FILE, r#"{"model": "script:model.jsonl"}"#);
    check(
        home.run(&["doctor"]),
        expect![[r#"
            exit 0
            --- stdout
            Configuration
              ✓ ~/config/surehand/surehand.json (read)
            Servers
              ✓ files (bundled): 5 tools
              ✓ time (bundled): 2 tools
              ✓ weather (bundled): 1 tool
            Model
              ✓ script:model.jsonl: not asked
        "#]],
    );
}

#[test]
fn what_is_wrong_with_an_entry_shows_in_the_list_and_in_the_first_event_of_a_run() {
    let home = ill();
    let listed = home.run(&["mcp", "list", "--json"]);
    home.write("work/hi.jsonl", "{\"text\": \"hi\"}\n");
    let asked = home.run(&["ask", "--model", "script:hi.jsonl", "--output", "stream-json", "hello"]);
    let first = asked.stdout.lines().next().unwrap_or_default();
    for said in ["the variable NOPE is not set", "it is a number, not a text"] {
        assert!(listed.stdout.contains(said), "{listed}");
        assert!(first.contains(said), "{asked}");
    }
}
