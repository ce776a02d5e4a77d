use surehand_mcp::{
    Arrival, BoxFuture, CallFailure, HttpFacts, HttpSession, Implementation, Negotiated, Reply,
    ServerHandler, ServerMachine, ToolInvocation, ToolOutput, Verdict,
};
use surehand_model::{RawJson, Tool, ToolAnnotations};

use crate::fixture::{Outgoing, machine_of, run};
use crate::transcript::{assert_same, message, read};

/// One tool that gives its arguments back, and fails when told to.
pub(crate) struct Echo;

impl ServerHandler for Echo {
    fn implementation(&self) -> Implementation {
        Implementation { name: "s".to_owned(), title: Some("S".to_owned()), version: "2".to_owned() }
    }

    fn instructions(&self) -> Option<String> {
        Some("Say something.".to_owned())
    }

    fn tools(&self) -> Vec<Tool> {
        let schema = RawJson::parse(r#"{"type":"object"}"#).unwrap();
        let annotations = ToolAnnotations { read_only: Some(true), ..ToolAnnotations::default() };
        vec![Tool { annotations, ..Tool::new("echo", "Says it again.", schema) }]
    }

    fn call<'a>(&'a self, call: ToolInvocation<'a>) -> BoxFuture<'a, Result<ToolOutput, CallFailure>> {
        Box::pin(async move {
            match (call.name, call.arguments.as_str()) {
                ("echo", r#"{"fail":true}"#) => Ok(ToolOutput::error("told to fail")),
                ("echo", arguments) => Ok(ToolOutput::text(arguments)),
                (name, _) => Err(CallFailure::UnknownTool(name.to_owned())),
            }
        })
    }
}

fn machine() -> ServerMachine {
    machine_of(Echo)
}

/// What the server sends for one message, in words where it sends nothing.
fn answer(machine: &ServerMachine, text: &str, arrival: Arrival<'_>) -> Vec<(String, u16)> {
    let verdicts = machine.receive(text, arrival);
    let reply = |reply: Reply| (reply.body, reply.status);
    verdicts
        .into_iter()
        .filter_map(|verdict| match verdict {
            Verdict::Answer(answer) => Some(reply(answer)),
            Verdict::Open { reply: answer, .. } | Verdict::SetLevel { reply: answer, .. } => {
                Some(reply(answer))
            }
            Verdict::Run(request) => Some(reply(run(request, Outgoing::default()))),
            Verdict::Cancel(id) => Some((format!("{{\"cancel\":{id}}}"), 202)),
            // Nothing was asked here.
            Verdict::Answered { .. } | Verdict::Nothing => None,
            other => panic!("nothing here asks for {other:?}"),
        })
        .collect()
}

#[test]
fn a_server_over_streams_does_as_the_transcripts_say() {
    for file in ["server-legacy.md", "server-modern.md", "server-both.md"] {
        for transcript in read(file) {
            let machine = machine();
            let session = Some(transcript.revision).filter(|revision| !revision.is_modern());
            let session = session.map(Negotiated::new);
            let session = session.as_ref();
            let mut answers: Vec<(String, u16)> = Vec::new();
            for line in &transcript.lines {
                if let Some(sent) = line.strip_prefix("-> ") {
                    assert_eq!(
                        answers,
                        [],
                        "{}: more is answered than is written, before {line}",
                        transcript.name
                    );
                    answers = answer(&machine, &message(sent), Arrival::Stream { session, principal: None });
                } else if let Some(expected) = line.strip_prefix("<- ") {
                    assert!(!answers.is_empty(), "{}: nothing is answered where {line} is", transcript.name);
                    assert_same(&transcript.name, &answers.remove(0).0, &message(expected));
                } else {
                    panic!("{}: what is {line}?", transcript.name);
                }
            }
            assert_eq!(answers, [], "{}: more is answered than is written", transcript.name);
        }
    }
}

/// One HTTP request: its headers in the form `version=.. method=.. name=.. session=..`, the body; then status and error code.
fn http(headers: &str, body: &str) -> (u16, i64) {
    let value = |key: &str| headers.split(' ').find_map(|pair| pair.strip_prefix(&format!("{key}=")));
    let open = value("session").and_then(surehand_mcp::Revision::parse).map(Negotiated::new);
    let session = match (value("session"), &open) {
        (None, _) => HttpSession::Absent,
        (Some(_), None) => HttpSession::Lost,
        (Some(_), Some(open)) => HttpSession::Open(open),
    };
    let facts = HttpFacts {
        version: value("version"),
        method: value("method"),
        name: value("name"),
        params: &[],
        session,
        principal: None,
    };
    let meta = |version: &str| {
        format!(
            r#"{{"io.modelcontextprotocol/protocolVersion":"{version}","io.modelcontextprotocol/clientCapabilities":{{}}}}"#
        )
    };
    let body = body.replace("META", &meta("2026-07-28")).replace("FUTURE", &meta("2031-01-01"));
    let (answer, status) = answer(&machine(), &message(&body), Arrival::Http(facts)).pop().unwrap();
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    (status, answer["error"]["code"].as_i64().unwrap_or(0))
}

#[test]
fn a_server_over_http_sorts_out_every_mixture_of_eras() {
    const MODERN: &str = "version=2026-07-28";
    let list = r#"{"id":1,"method":"tools/list","params":{"_meta":META}}"#;
    let call = r#"{"id":1,"method":"tools/call","params":{"name":"echo","_meta":META}}"#;
    let legacy_list = r#"{"id":1,"method":"tools/list"}"#;
    let initialize = r#"{"id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
    let with = |more: &str| format!("{MODERN} {more}");
    for (headers, body, expected) in [
        // The stateless era.
        (with("method=tools/list"), list, (200, 0)),
        (with("method=tools/call name=echo"), call, (200, 0)),
        (with("method=tools/call name==?base64?ZWNobw==?="), call, (200, 0)),
        (with("method=tools/list session=lost"), list, (200, 0)),
        (String::new(), list, (400, -32020)),
        ("version=2025-11-25 method=tools/list".to_owned(), list, (400, -32020)),
        (with(""), list, (400, -32020)),
        (with("method=tools/call"), list, (400, -32020)),
        (with("method=TOOLS/LIST"), list, (400, -32020)),
        (with("method=tools/call"), call, (400, -32020)),
        (with("method=tools/call name=other"), call, (400, -32020)),
        (with("method=tools/call name==?base64?%?="), call, (400, -32020)),
        (with("method=tools/list"), legacy_list, (400, -32602)),
        (with("method=tools/list"), r#"{"id":1,"method":"tools/list","params":{"_meta":{}}}"#, (400, -32602)),
        (
            with("method=tools/list"),
            r#"{"id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
            (400, -32602),
        ),
        (
            "version=2031-01-01 method=tools/list".to_owned(),
            r#"{"id":1,"method":"tools/list","params":{"_meta":FUTURE}}"#,
            (400, -32022),
        ),
        (
            with("method=tools/list"),
            r#"{"id":1,"method":"tools/list","params":{"_meta":FUTURE}}"#,
            (400, -32020),
        ),
        (with("method=nothing"), r#"{"id":1,"method":"nothing","params":{"_meta":META}}"#, (404, -32601)),
        (
            with("method=initialize"),
            r#"{"id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","_meta":META}}"#,
            (404, -32601),
        ),
        (with("method=ping"), r#"{"id":1,"method":"ping","params":{"_meta":META}}"#, (404, -32601)),
        (
            with("method=tools/call name=other"),
            r#"{"id":1,"method":"tools/call","params":{"name":"other","_meta":META}}"#,
            (200, -32602),
        ),
        // The era of sessions.
        (String::new(), initialize, (200, 0)),
        ("session=2025-11-25 version=2025-11-25".to_owned(), legacy_list, (200, 0)),
        ("session=2025-03-26".to_owned(), legacy_list, (200, 0)),
        (String::new(), legacy_list, (400, -32600)),
        ("session=lost".to_owned(), legacy_list, (404, -32600)),
        ("session=2025-11-25 version=1.0".to_owned(), legacy_list, (400, -32600)),
        ("session=2025-11-25".to_owned(), r#"{"id":1,"method":"nothing"}"#, (200, -32601)),
        // Neither.
        (String::new(), "{", (400, -32700)),
        (String::new(), r#"[{"id":1,"method":"ping"}]"#, (400, -32600)),
        (String::new(), r#"{"id":null,"method":"ping"}"#, (400, -32600)),
        ("session=2025-03-26".to_owned(), "[]", (400, -32600)),
        (String::new(), "", (400, -32700)),
    ] {
        assert_eq!(http(&headers, body), expected, "{headers} {body}");
    }
}

/// One tool that wants three of its arguments repeated.
struct Repeating;

impl ServerHandler for Repeating {
    fn implementation(&self) -> Implementation {
        Echo.implementation()
    }

    fn tools(&self) -> Vec<Tool> {
        let schema = r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},
            "page":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}},
            "dry":{"type":"boolean","x-mcp-header":"Dry"}}}"#;
        vec![Tool::new("echo", "Says it again.", RawJson::parse(schema).unwrap())]
    }

    fn call<'a>(&'a self, call: ToolInvocation<'a>) -> BoxFuture<'a, Result<ToolOutput, CallFailure>> {
        Echo.call(call)
    }
}

#[test]
fn a_call_whose_headers_say_something_else_than_its_arguments_reaches_no_tool() {
    let machine = machine_of(Repeating);
    let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    type Params<'a> = &'a [(&'a str, Option<&'a str>)];
    let cases: [(&str, Params<'_>, Option<&str>); 18] = [
        (r#"{"region":"eu"}"#, &[("mcp-param-region", Some("eu"))], None),
        (r#"{"region":"eu"}"#, &[("MCP-PARAM-REGION", Some(" eu\t"))], None),
        (r#"{"region":"eu"}"#, &[("mcp-param-region", Some("=?base64?ZXU=?="))], None),
        (r#"{"region":""}"#, &[("mcp-param-region", Some(""))], None),
        (
            r#"{"page":{"n":7},"dry":true}"#,
            &[("mcp-param-n", Some("7.0")), ("mcp-param-dry", Some("true"))],
            None,
        ),
        (r#"{"region":null,"other":1}"#, &[], None),
        ("{}", &[("mcp-param-region", Some("eu")), ("mcp-param-unknown", Some("x"))], None),
        (r#"{"region":"eu"}"#, &[], Some("`Mcp-Param-Region` is absent and the body says \"eu\"")),
        (r#"{"region":""}"#, &[], Some("`Mcp-Param-Region` is absent and the body says \"\"")),
        (
            r#"{"region":"eu"}"#,
            &[("mcp-param-region", Some("EU"))],
            Some("`Mcp-Param-Region` is EU and the body says \"eu\""),
        ),
        (
            r#"{"region":"eu"}"#,
            &[("mcp-param-region", Some("eu")), ("mcp-param-region", Some("us"))],
            Some("`Mcp-Param-Region` is us and the body says \"eu\""),
        ),
        (
            r#"{"region":"eu"}"#,
            &[("mcp-param-region", Some("=?base64?%?="))],
            Some("`Mcp-Param-Region` is not readable"),
        ),
        (r#"{"region":"eu"}"#, &[("mcp-param-region", None)], Some("`Mcp-Param-Region` is not readable")),
        (
            r#"{"page":{"n":9007199254740993}}"#,
            &[("mcp-param-n", Some("9007199254740992"))],
            Some("`Mcp-Param-N` is 9007199254740992 and the body says 9007199254740993"),
        ),
        (
            r#"{"page":{"n":1234567890123456789012345678901234567890}}"#,
            &[("mcp-param-n", Some("1234567890123456789012345678901234567891"))],
            Some(
                "`Mcp-Param-N` is 1234567890123456789012345678901234567891 and the body says \
                 1234567890123456789012345678901234567890",
            ),
        ),
        (
            r#"{"page":{"n":7}}"#,
            &[("mcp-param-n", Some("x"))],
            Some("`Mcp-Param-N` is x and the body says 7"),
        ),
        (
            r#"{"page":{"n":1e999}}"#,
            &[("mcp-param-n", Some("inf"))],
            Some("`Mcp-Param-N` is inf and the body says 1e999"),
        ),
        (
            r#"{"dry":true}"#,
            &[("mcp-param-dry", Some("1"))],
            Some("`Mcp-Param-Dry` is 1 and the body says true"),
        ),
    ];
    for (arguments, params, refused) in cases {
        let facts = HttpFacts {
            version: Some("2026-07-28"),
            method: Some("tools/call"),
            name: Some("echo"),
            params,
            session: HttpSession::Absent,
            principal: None,
        };
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","arguments":{arguments},"_meta":{meta}}}}}"#
        );
        let (body, status) = answer(&machine, &body, Arrival::Http(facts)).pop().unwrap();
        let told: serde_json::Value = serde_json::from_str(&body).unwrap();
        let expected = match refused {
            Some(words) => (400, serde_json::json!({"code": -32020, "message": words})),
            None => (200, serde_json::Value::Null),
        };
        assert_eq!((status, told["error"].clone()), expected, "{arguments} {params:?}");
    }
    // Over streams there are no headers.
    let body = format!(
        r#"{{"id":1,"method":"tools/call","params":{{"name":"echo","arguments":{{"region":"eu"}},"_meta":{meta}}}}}"#
    );
    let (body, _) =
        answer(&machine, &message(&body), Arrival::Stream { session: None, principal: None }).pop().unwrap();
    assert!(body.contains(r#""resultType":"complete""#), "{body}");
}
