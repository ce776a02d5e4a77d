use surehand_model::Secret;

use super::super::jsonc;
use super::super::settings::{LoginGrant, LoginSettings, Problem};
use super::*;

/// Reads `{"NAME": entry}` and gives the servers and what was said.
fn read_text(text: &str, pairs: &[(&str, &str)]) -> (Vec<ServerSettings>, Vec<Problem>) {
    let environment = Environment::from_pairs(pairs.iter().copied());
    let limits = LimitSettings::default();
    let root = jsonc::parse(text).unwrap().unwrap();
    let context = Context {
        environment: &environment,
        limits: &limits,
        scope: Scope::User,
        file: Path::new("f.json"),
        base: Path::new("/base"),
        default_cwd: None,
        home: Path::new("/home/me"),
    };
    let mut problems = Vec::new();
    let mut reporter = Reporter::new(Path::new("f.json"), text, &mut problems);
    let servers =
        root.members().unwrap().iter().map(|m| read(&m.key, &m.value, &context, &mut reporter)).collect();
    (servers, problems)
}

/// What a launch comes to, values shown: for comparing only.
fn told(launch: &Launch) -> String {
    let pairs = |pairs: &[(String, Secret<String>)]| {
        pairs.iter().map(|(name, value)| format!(" {name}={:?}", value.expose())).collect::<String>()
    };
    match launch {
        Launch::Child { command, args, env, cwd } => {
            let cwd = cwd.as_ref().map(|cwd| format!(" in {}", cwd.display())).unwrap_or_default();
            format!("{command:?} {args:?}{}{cwd}", pairs(env))
        }
        Launch::Http { url, headers, sse } => {
            format!("{url}{}{}", pairs(headers), if *sse { " (sse)" } else { "" })
        }
        Launch::Bundled { name, options } => format!("bundled {name} {options}"),
        Launch::Unusable => "unusable".to_owned(),
    }
}

fn summary(text: &str, pairs: &[(&str, &str)]) -> String {
    let (servers, problems) = read_text(text, pairs);
    let mut lines: Vec<String> = Vec::new();
    for server in &servers {
        let problem = server.problem.as_ref().map(|problem| format!(" ! {problem}")).unwrap_or_default();
        let off = if server.enabled { "" } else { " (off)" };
        lines.push(format!("{}{off}: {}{problem}", server.name, told(&server.launch)));
    }
    lines.extend(problems.iter().map(ToString::to_string));
    lines.join("\n")
}

#[test]
fn each_spelling_of_a_readme_is_read() {
    let text = r#"{
        "plain": {"command": "npx", "args": ["-y", "x"], "env": {"A": "1"}, "cwd": "sub"},
        "spaces": {"command": "/Applications/Hopper Disassembler.app/Contents/MacOS/HopperMCPServer"},
        "list": {"type": "local", "command": ["uvx", "x", "--y"], "environment": {"A": "1"}},
        "goose": {"cmd": "uvx", "args": ["x"], "envs": {"A": "1"}, "type": "stdio"},
        "home": {"command": "~/bin/srv", "args": ["~/data"], "cwd": "~"},
        "http": {"type": "http", "url": "https://a.example/mcp", "headers": {"Authorization": "Bearer x\n"}},
        "stream": {"type": "streamable-http", "url": "https://a.example/mcp"},
        "remote": {"type": "remote", "url": "https://a.example/mcp"},
        "gemini": {"httpUrl": "https://a.example/mcp"},
        "windsurf": {"serverUrl": "https://a.example/mcp"},
        "base": {"baseUrl": "https://a.example/mcp"},
        "sse": {"type": "sse", "url": "https://a.example/events"},
        "path": {"url": "https://a.example/sse"},
        "slashes": {"url": "https://mcp.example.test//v1/mcp"},
        "bundle": {"bundled": "files", "args": {"roots": ["~/x", "${D:-/y}"], "n": 1}},
        "time": {"args": {"zone": "UTC"}}
    }"#;
    expect_test::expect![[r#"
        plain: "npx" ["-y", "x"] A="1" in /base/sub
        spaces: "/Applications/Hopper Disassembler.app/Contents/MacOS/HopperMCPServer" []
        list: "uvx" ["x", "--y"] A="1"
        goose: "uvx" ["x"] A="1"
        home: "/home/me/bin/srv" ["~/data"] in /home/me
        http: https://a.example/mcp Authorization="Bearer x"
        stream: https://a.example/mcp
        remote: https://a.example/mcp
        gemini: https://a.example/mcp
        windsurf: https://a.example/mcp
        base: https://a.example/mcp
        sse: https://a.example/events (sse)
        path: https://a.example/sse (sse)
        slashes: https://mcp.example.test//v1/mcp
        bundle: bundled files {"roots":["/home/me/x","/y"],"n":1}
        time: bundled time {"zone":"UTC"}
        info: f.json:4:82, server `list`, `environment`: read as `env`; write `env`
        info: f.json:5:26, server `goose`, `cmd`: read as `command`; write `command`
        info: f.json:5:56, server `goose`, `envs`: read as `env`; write `env`
        warning: f.json:7:95, server `http`, `headers.Authorization`: it holds blanks at its ends or blanks that cannot be seen; remove them unless they are meant
        warning: f.json:10:31, server `gemini`, `httpUrl`: read as `url`; write `url`
        warning: f.json:11:35, server `windsurf`, `serverUrl`: read as `url`; write `url`
        warning: f.json:12:29, server `base`, `baseUrl`: read as `url`; write `url`"#]].assert_eq(&summary(text, &[]));
}

#[test]
fn a_bad_entry_is_told_and_the_others_stand() {
    let text = r#"{
 "good":{"command":"good-server"},
 "oldkey":{"type":"http","serverUrl":"https://a.example.test/mcp"},
 "badenv":{"command":"srv","env":[]},
 "numenv":{"command":"srv","env":{"PORT":8080,"DEBUG":true,"NONE":null}},
 "empty":{},
 "text": "npx x",
 "null": null,
 "both": {"command":"x","url":"http://h/"},
 "mixed": {"type":"http","command":"x"},
 "mixed2": {"type":"stdio","url":"http://h/"},
 "kind": {"type":"carrier-pigeon","command":"x"},
 "ws": {"type":"ws","url":"wss://h/"},
 "scheme": {"url":"file:///etc/passwd"},
 "nourl": {"url":"h/mcp"},
 "num": {"command":5},
 "emptycmd": {"command":"  "},
 "emptylist": {"command":[]},
 "args": {"command":"x","args":["a",1,null]},
 "argtext": {"command":"x","args":"--flag y"},
 "argobject": {"command":"x","args":{"a":1}},
 "envname": {"command":"x","env":{"A=B":"1"}},
 "header": {"url":"http://h/","headers":{"X Y":"1"}},
 "inject": {"url":"http://h/","headers":{"X":"a\r\nEvil: b"}},
 "nobundle": {"bundled":"nope"},
 "alsogood":{"command":"good-server","args":[]}
}"#;
    expect_test::expect![[r#"
        good: "good-server" []
        oldkey: https://a.example.test/mcp
        badenv: unusable ! `env`: it is a list and no object (write { "NAME": "value" })
        numenv: "srv" [] PORT="8080" DEBUG="true"
        empty: unusable ! the entry has neither a `command` nor a `url` (give it one of them, or remove it)
        text: unusable ! the entry is a string and no object (write { "command": … } or { "url": … })
        null: unusable ! the entry is null and no object (write { "command": … } or { "url": … })
        both: unusable ! the entry says in more than one way what to start (keep one of `command`, `url` and `bundled`)
        mixed: unusable ! `type`: it says http, but there is a `command` and no `url` (make it "stdio")
        mixed2: unusable ! `type`: it says stdio, but there is a `url` and no `command` (make it "http")
        kind: "x" []
        ws: unusable ! `type`: servers over WebSocket are not supported (use its http address)
        scheme: unusable ! `url`: it begins with neither http:// nor https:// (write an address such as "https://host/mcp")
        nourl: unusable ! `url`: it is no address: relative URL without a base (write an address such as "https://host/mcp")
        num: unusable ! `command`: it is a number, not a text
        emptycmd: unusable ! `command`: it is empty
        emptylist: unusable ! `command`: it is empty
        args: unusable ! `args[2]`: null where a text must stand
        argtext: "x" ["--flag y"]
        argobject: unusable ! `args`: it is an object, not a list of texts
        envname: unusable ! `env.A=B`: no name that a variable can have
        header: unusable ! `headers.X Y`: no name that a header can have
        inject: unusable ! `headers.X`: its value holds a line break or another control character
        nobundle: unusable ! `bundled`: there is no bundled server `nope` (there are `files`, `time`, `weather`)
        alsogood: "good-server" []
        warning: f.json:3:38, server `oldkey`, `serverUrl`: read as `url`; write `url`
        error: f.json:4:34, server `badenv`, `env`: not started: it is a list and no object; write { "NAME": "value" }
        warning: f.json:5:42, server `numenv`, `env.PORT`: a number and no text; read as "8080"; put it into double quotes
        warning: f.json:5:55, server `numenv`, `env.DEBUG`: a boolean and no text; read as "true"; put it into double quotes
        warning: f.json:5:67, server `numenv`, `env.NONE`: null, left out; write "" for an empty value
        error: f.json:6:10, server `empty`: not started: the entry has neither a `command` nor a `url`; give it one of them, or remove it
        error: f.json:7:10, server `text`: not started: the entry is a string and no object; write { "command": … } or { "url": … }
        error: f.json:8:10, server `null`: not started: the entry is null and no object; write { "command": … } or { "url": … }
        error: f.json:9:10, server `both`: not started: the entry says in more than one way what to start; keep one of `command`, `url` and `bundled`
        error: f.json:10:11, server `mixed`, `type`: not started: it says http, but there is a `command` and no `url`; make it "stdio"
        error: f.json:11:12, server `mixed2`, `type`: not started: it says stdio, but there is a `url` and no `command`; make it "http"
        warning: f.json:12:18, server `kind`, `type`: passed over: `carrier-pigeon` is no kind of server; it is one of "stdio", "http", "sse"
        error: f.json:13:16, server `ws`, `type`: not started: servers over WebSocket are not supported; use its http address
        error: f.json:14:19, server `scheme`, `url`: not started: it begins with neither http:// nor https://; write an address such as "https://host/mcp"
        error: f.json:15:18, server `nourl`, `url`: not started: it is no address: relative URL without a base; write an address such as "https://host/mcp"
        error: f.json:16:20, server `num`, `command`: not started: it is a number, not a text
        warning: f.json:17:25, server `emptycmd`, `command`: blanks at its ends, left out
        error: f.json:17:14, server `emptycmd`, `command`: not started: it is empty
        error: f.json:18:15, server `emptylist`, `command`: not started: it is empty
        warning: f.json:19:37, server `args`, `args[1]`: a number and no text; read as "1"; put it into double quotes
        error: f.json:19:39, server `args`, `args[2]`: not started: null where a text must stand
        warning: f.json:20:35, server `argtext`, `args`: a text and no list; taken as one argument; write a list of texts, one for each argument
        error: f.json:21:37, server `argobject`, `args`: not started: it is an object, not a list of texts
        error: f.json:22:41, server `envname`, `env.A=B`: not started: no name that a variable can have
        error: f.json:23:48, server `header`, `headers.X Y`: not started: no name that a header can have
        error: f.json:24:46, server `inject`, `headers.X`: not started: its value holds a line break or another control character
        error: f.json:25:14, server `nobundle`, `bundled`: not started: there is no bundled server `nope`; there are `files`, `time`, `weather`"#]].assert_eq(&summary(text, &[]));
}

#[test]
fn placeholders_are_filled_and_never_shown_or_sent_as_they_stand() {
    let text = r#"{
 "w":{"type":"http","url":"${BASE:-http://127.0.0.1:33221}/mcp",
  "headers":{"Authorization":"Bearer ${TOK}","X-Env":"${env:TOK}","X-Lit":"$TOK costs $5","X-Empty":"[${EMPTY}]","X-Def":"${NOPE:-fallback}"}},
 "u":{"command":"srv","args":["--k=${NOPE}"],"env":{"K":"${TOK}"}},
 "two":{"command":"${A}","env":{"X":"${B}-${input:c}"}},
 "off":{"disabled":true,"command":"${A}"}
}"#;
    let pairs = [("TOK", "s3cr3t"), ("EMPTY", "")];
    expect_test::expect![[r#"
        w: http://127.0.0.1:33221/mcp Authorization="Bearer s3cr3t" X-Env="s3cr3t" X-Lit="$TOK costs $5" X-Empty="[]" X-Def="fallback"
        u: unusable ! `args[0]`: the variable NOPE is not set (set NOPE, or give a default: ${NOPE:-…})
        two: unusable ! `env.X`: the variable B is not set (set B, or give a default: ${B:-…}); `env.X`: `${input:c}` is no placeholder (nothing is asked for at the start; put the value into an environment variable and write ${NAME}); `command`: the variable A is not set (set A, or give a default: ${A:-…})
        off (off): unusable ! `command`: the variable A is not set (set A, or give a default: ${A:-…})
        error: f.json:4:31, server `u`, `args[0]`: not started: the variable NOPE is not set; set NOPE, or give a default: ${NOPE:-…}
        error: f.json:5:37, server `two`, `env.X`: not started: the variable B is not set; set B, or give a default: ${B:-…}
        error: f.json:5:37, server `two`, `env.X`: not started: `${input:c}` is no placeholder; nothing is asked for at the start; put the value into an environment variable and write ${NAME}
        error: f.json:5:19, server `two`, `command`: not started: the variable A is not set; set A, or give a default: ${A:-…}
        info: f.json:6:35, server `off`, `command`: not started: the variable A is not set; set A, or give a default: ${A:-…}"#]].assert_eq(&summary(text, &pairs));
    let (servers, problems) = read_text(text, &pairs);
    assert!(!format!("{servers:?} {problems:?}").contains("s3cr3t"));
    let shown: Vec<_> = servers.iter().map(|server| &server.shown).collect();
    expect_test::expect![[r#"
        [
            ShownLaunch {
                kind: "http",
                target: "${BASE:-***}/mcp",
                command: "",
                env: [],
                headers: [
                    (
                        "Authorization",
                        "Bearer ${TOK}",
                    ),
                    (
                        "X-Env",
                        "${env:TOK}",
                    ),
                    (
                        "X-Lit",
                        "***",
                    ),
                    (
                        "X-Empty",
                        "[${EMPTY}]",
                    ),
                    (
                        "X-Def",
                        "${NOPE:-***}",
                    ),
                ],
            },
            ShownLaunch {
                kind: "stdio",
                target: "srv --k=${NOPE}",
                command: "srv",
                env: [
                    (
                        "K",
                        "${TOK}",
                    ),
                ],
                headers: [],
            },
            ShownLaunch {
                kind: "stdio",
                target: "${A}",
                command: "${A}",
                env: [],
                headers: [],
            },
            ShownLaunch {
                kind: "stdio",
                target: "${A}",
                command: "${A}",
                env: [],
                headers: [],
            },
        ]
    "#]]
    .assert_debug_eq(&shown);
}

#[test]
fn a_windows_path_with_single_backslashes_is_warned_of() {
    let text = r#"{"g":{"command":"uvx","args":["--repository","c:\temp\new"],"env":{"D":"c:\temp","KEY":"-----BEGIN-----\nabc"}}}"#;
    expect_test::expect![[r#"
        g: "uvx" ["--repository", "c:\temp\new"] D="c:\temp" KEY="-----BEGIN-----\nabc"
        warning: f.json:1:72, server `g`, `env.D`: it holds control characters, such as a tab from `\t` or a line break from `\n`; if a path is meant, double its backslashes: "c:\\temp"
        warning: f.json:1:46, server `g`, `args[1]`: it holds control characters, such as a tab from `\t` or a line break from `\n`; if a path is meant, double its backslashes: "c:\\temp\\new""#]].assert_eq(&summary(text, &[]));
}

#[test]
fn switches_times_filters_and_unknown_keys_are_read_one_by_one() {
    let text = r#"{
 "off":{"command":"x","disabled":true},
 "off2":{"command":"x","enabled":false},
 "off3":{"command":"x","disabled":"true"},
 "fight":{"command":"x","disabled":true,"enabled":true},
 "odd":{"command":"x","disabled":"perhaps"},
 "time":{"command":"x","timeout":300,"startupTimeout":"90s"},
 "time2":{"command":"x","tool_timeout_sec":300,"startup_timeout_ms":5000},
 "time3":{"command":"x","timeout":-1,"startupTimeout":"soon"},
 "serial":{"command":"x","parallel":false},
 "tools":{"command":"x","includeTools":["a"],"disabled_tools":["b"]},
 "tools2":{"command":"x","excludeTools":"b"},
 "slip":{"command":"x","agrs":["y"]},
 "other":{"command":"x","alwaysAllow":["a"],"description":"d","zzz":1,"envFile":".env"},
 "twice":{"url":"http://a/","httpUrl":"http://b/"},
 "blank":{"command":" x ","env":{"K":"v\u00a0"}}
}"#;
    let (servers, _) = read_text(text, &[]);
    let facts: Vec<String> = servers
        .iter()
        .map(|s| {
            let (start, call) = (s.startup_timeout.as_millis(), s.call_timeout.as_millis());
            format!(
                "{} on={} {start}/{call} parallel={} {:?}/{:?}",
                s.name, s.enabled, s.parallel, s.tools.only, s.tools.except
            )
        })
        .collect();
    expect_test::expect![[r#"
        off on=false 30000/60000 parallel=true None/[]
        off2 on=false 30000/60000 parallel=true None/[]
        off3 on=false 30000/60000 parallel=true None/[]
        fight on=false 30000/60000 parallel=true None/[]
        odd on=true 30000/60000 parallel=true None/[]
        time on=true 90000/300 parallel=true None/[]
        time2 on=true 5000/300000 parallel=true None/[]
        time3 on=true 30000/60000 parallel=true None/[]
        serial on=true 30000/60000 parallel=false None/[]
        tools on=true 30000/60000 parallel=true Some(["a"])/["b"]
        tools2 on=true 30000/60000 parallel=true None/[]
        slip on=true 30000/60000 parallel=true None/[]
        other on=true 30000/60000 parallel=true None/[]
        twice on=true 30000/60000 parallel=true None/[]
        blank on=true 30000/60000 parallel=true None/[]"#]]
    .assert_eq(&facts.join("\n"));
    expect_test::expect![[r#"
        off (off): "x" []
        off2 (off): "x" []
        off3 (off): "x" []
        fight (off): "x" []
        odd: "x" []
        time: "x" []
        time2: "x" []
        time3: "x" []
        serial: "x" []
        tools: "x" []
        tools2: unusable ! `excludeTools`: not a list of tool names
        slip: "x" []
        other: "x" []
        twice: http://a/
        blank: "x" [] K="v\u{a0}"
        warning: f.json:4:35, server `off3`, `disabled`: read as true; write it without quotes
        warning: f.json:5:51, server `fight`, `enabled`: contradicts `disabled`; the server stays off; remove one of them
        warning: f.json:6:34, server `odd`, `disabled`: passed over: it is a string, not true or false
        warning: f.json:7:34, server `time`, `timeout`: a number is milliseconds, so this is 0.3 s; if seconds were meant, write it as a text with its unit, such as "30s"
        info: f.json:8:44, server `time2`, `tool_timeout_sec`: read as `toolTimeoutSec`; write `toolTimeoutSec`
        info: f.json:8:69, server `time2`, `startup_timeout_ms`: read as `startupTimeout`; write `startupTimeout`
        warning: f.json:9:35, server `time3`, `timeout`: passed over: it is not between zero and a year; 60 s hold; write milliseconds, or a text such as "30s"
        warning: f.json:9:55, server `time3`, `startupTimeout`: passed over: `soon` is no unit of time; 30 s hold; write milliseconds, or a text such as "30s"
        info: f.json:11:63, server `tools`, `disabled_tools`: read as `excludeTools`; write `excludeTools`
        error: f.json:12:41, server `tools2`, `excludeTools`: not started: not a list of tool names
        warning: f.json:13:31, server `slip`, `agrs`: an unknown key, passed over; did you mean `args`?
        info: f.json:14:39, server `other`, `alwaysAllow`: grants nothing here: the `policy` part decides which calls run without asking
        info: f.json:14:69, server `other`, `zzz`: an unknown key, passed over
        warning: f.json:14:81, server `other`, `envFile`: files of variables are not read; name the variables in `env`, as "NAME": "${NAME}"
        warning: f.json:15:39, server `twice`, `httpUrl`: read as `url`; write `url`
        warning: f.json:15:39, server `twice`, `httpUrl`: passed over: `url` says the same thing; remove one of them
        warning: f.json:16:38, server `blank`, `env.K`: it holds blanks at its ends or blanks that cannot be seen; remove them unless they are meant
        warning: f.json:16:21, server `blank`, `command`: blanks at its ends, left out"#]].assert_eq(&summary(text, &[]));
}

#[test]
fn what_a_login_needs_is_read_and_what_cannot_hold_is_a_fault() {
    let text = r#"{
 "whole":{"url":"https://h.example/mcp","oauth":{"clientId":"c","clientSecret":"${KEY}","issuer":"https://a.example",
  "clientMetadataUrl":"https://us.example/client.json","callbackHost":"localhost","callbackPort":3118,
  "scopes":"a b","trustedHosts":["login.corp.example"]}},
 "off":{"url":"https://h.example/mcp","oauth":false},
 "odd":{"url":"https://h.example/mcp","oauth":{"client":"c"}},
 "bad":{"url":"https://h.example/mcp","oauth":{"callbackHost":"0.0.0.0","callbackPort":0,"clientMetadataUrl":"http://x/"}}
}"#;
    let (servers, problems) = read_text(text, &[("KEY", "s3cr3t")]);
    let whole = LoginSettings {
        enabled: true,
        grant: LoginGrant::Person,
        client_id: Some("c".to_owned()),
        client_secret: Some(Secret::new("s3cr3t".to_owned())),
        issuer: Some("https://a.example".to_owned()),
        client_metadata_url: Some(url::Url::parse("https://us.example/client.json").unwrap()),
        callback_host: "localhost".to_owned(),
        callback_port: Some(3118),
        scopes: vec!["a".to_owned(), "b".to_owned()],
        trusted_hosts: vec!["login.corp.example".to_owned()],
    };
    let logins: Vec<&LoginSettings> = servers.iter().map(|server| &server.login).collect();
    let plain = LoginSettings::default();
    assert_eq!(logins, [&whole, &LoginSettings { enabled: false, ..plain.clone() }, &plain, &plain]);
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    expect_test::expect![[r#"
        info: f.json:6:57, server `odd`, `oauth.client`: an unknown key, passed over; there are `grant`, `clientId`, `clientSecret`, `privateKeyFile`, `tokenFile`, `identityProvider`, `issuer`, `clientMetadataUrl`, `callbackHost`, `callbackPort`, `scopes`, `trustedHosts`
        error: f.json:7:63, server `bad`, `oauth.callbackHost`: not started: logins come back to this machine only; write "127.0.0.1" or "localhost"
        error: f.json:7:88, server `bad`, `oauth.callbackPort`: not started: it is no port; write a number from 1 to 65535
        error: f.json:7:110, server `bad`, `oauth.clientMetadataUrl`: not started: it is no https address with a path"#]].assert_eq(&told.join("\n"));
}

#[test]
fn grants_without_a_person_are_read_and_what_they_lack_is_a_fault() {
    let text = r#"{
 "secret":{"url":"https://h.example/mcp","oauth":{"grant":"client_credentials","clientId":"c","clientSecret":"s"}},
 "key":{"url":"https://h.example/mcp","oauth":{"grant":"client_credentials","clientId":"c","privateKeyFile":"~/key.pem"}},
 "pod":{"url":"https://h.example/mcp","oauth":{"grant":"workload","clientId":"c","tokenFile":"/var/run/token"}},
 "firm":{"url":"https://h.example/mcp","oauth":{"grant":"enterprise","clientId":"c","identityProvider":
  {"tokenEndpoint":"https://idp.example/token","clientId":"i","clientSecret":"${KEY}","idTokenFile":"id.jwt"}}},
 "nobody":{"url":"https://h.example/mcp","oauth":{"grant":"workload","tokenFile":"t"}},
 "unproven":{"url":"https://h.example/mcp","oauth":{"grant":"client_credentials","clientId":"c"}},
 "tokenless":{"url":"https://h.example/mcp","oauth":{"grant":"workload","clientId":"c"}},
 "alone":{"url":"https://h.example/mcp","oauth":{"grant":"enterprise","clientId":"c","identityProvider":{"clientId":"i","id":1}}},
 "unsaid":{"url":"https://h.example/mcp","oauth":{"clientId":"c","tokenFile":"t"}},
 "odd":{"url":"https://h.example/mcp","oauth":{"grant":"password","identityProvider":{"tokenEndpoint":"ftp://x"}}}
}"#;
    let (servers, problems) = read_text(text, &[("KEY", "s3cr3t")]);
    let grants: Vec<&LoginGrant> = servers.iter().map(|server| &server.login.grant).take(4).collect();
    let firm = LoginGrant::Enterprise {
        token_endpoint: url::Url::parse("https://idp.example/token").unwrap(),
        client_id: "i".to_owned(),
        client_secret: Some(Secret::new("s3cr3t".to_owned())),
        id_token_file: "/base/id.jwt".into(),
    };
    let client = |private_key_file| LoginGrant::Client { private_key_file };
    let pod = LoginGrant::Workload { token_file: "/var/run/token".into() };
    assert_eq!(grants, [&client(None), &client(Some("/home/me/key.pem".into())), &pod, &firm]);
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    expect_test::expect![[r#"
        error: f.json:7:59, server `nobody`, `oauth.grant`: not started: it needs `clientId`
        error: f.json:8:61, server `unproven`, `oauth.grant`: not started: it needs `clientSecret` or `privateKeyFile`
        error: f.json:9:62, server `tokenless`, `oauth.grant`: not started: it needs `tokenFile`
        info: f.json:10:126, server `alone`, `oauth.identityProvider.id`: an unknown key, passed over; there are `tokenEndpoint`, `clientId`, `clientSecret`, `idTokenFile`
        error: f.json:10:58, server `alone`, `oauth.grant`: not started: it needs `identityProvider` with `tokenEndpoint`, `clientId` and `idTokenFile`
        error: f.json:11:50, server `unsaid`, `oauth.grant`: not started: it is missing, and no person is to log in; write "client_credentials", "workload" or "enterprise"
        error: f.json:12:103, server `odd`, `oauth.identityProvider.tokenEndpoint`: not started: it is no http or https address
        error: f.json:12:56, server `odd`, `oauth.grant`: not started: there is no such grant; write "person", "client_credentials", "workload" or "enterprise""#]].assert_eq(&told.join("\n"));
}
