//! Headers and body of a request reach the server machine, which has exactly one thing to do about them, and whose answer is a
//! message under a status of HTTP. The input is header lines, an empty line, the body.
#![no_main]

use std::sync::{Arc, OnceLock};

use libfuzzer_sys::fuzz_target;
use surehand_mcp::{
    Arrival, BoxFuture, CallFailure, EnvelopeLimits, HttpFacts, HttpSession, Implementation, Message,
    Negotiated, Revision, ServerHandler, ServerMachine, StateSeal, ToolInvocation, ToolOutput, Verdict,
    decode_header_value, encode_header_value, parse_message,
};
use surehand_model::{RawJson, Tool};

struct Routed;

impl ServerHandler for Routed {
    fn implementation(&self) -> Implementation {
        Implementation { name: "routed".to_owned(), title: None, version: "1".to_owned() }
    }

    fn tools(&self) -> Vec<Tool> {
        let schema = r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},
            "page":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}}}}"#;
        vec![Tool::new("t", "", RawJson::parse(schema).unwrap())]
    }

    fn call<'a>(&'a self, _: ToolInvocation<'a>) -> BoxFuture<'a, Result<ToolOutput, CallFailure>> {
        Box::pin(async { Ok(ToolOutput::default()) })
    }
}

/// Seals nothing; the fuzzer could not open a real one anyway.
struct Open;

impl StateSeal for Open {
    fn seal(&self, plain: &[u8]) -> String {
        plain.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn open(&self, text: &str) -> Option<Vec<u8>> {
        let pairs = text.as_bytes().chunks(2);
        pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
    }

    fn now(&self) -> u64 {
        1_700_000_000
    }
}

fn machine() -> &'static ServerMachine {
    static MACHINE: OnceLock<ServerMachine> = OnceLock::new();
    MACHINE.get_or_init(|| ServerMachine::new(Arc::new(Routed), EnvelopeLimits::default(), Arc::new(Open)))
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
    let headers: Vec<(String, &str)> = head
        .lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim()))
        .collect();
    for (_, value) in &headers {
        assert_eq!(decode_header_value(&encode_header_value(value)).as_deref(), Some(*value));
    }
    let header = |wanted: &str| headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| *value);
    let params: Vec<(&str, Option<&str>)> = headers
        .iter()
        .filter(|(name, _)| name.starts_with("mcp-param-"))
        .map(|(name, value)| (name.as_str(), Some(*value)))
        .collect();
    let session = header("mcp-session-id").map(|id| Revision::parse(id).map(Negotiated::new));
    let facts = HttpFacts {
        version: header("mcp-protocol-version"),
        method: header("mcp-method"),
        name: header("mcp-name"),
        params: &params,
        session: match &session {
            None => HttpSession::Absent,
            Some(Some(session)) => HttpSession::Open(session),
            Some(None) => HttpSession::Lost,
        },
        principal: header("authorization"),
    };
    let mut verdicts = machine().receive(body, Arrival::Http(facts));
    assert!(verdicts.len() <= 1);
    if let Some(
        Verdict::Answer(reply)
        | Verdict::Open { reply, .. }
        | Verdict::Subscribe { reply, .. }
        | Verdict::Unsubscribe { reply, .. },
    ) = verdicts.pop()
    {
        assert!((200..600).contains(&reply.status));
        let limits = EnvelopeLimits { bytes: usize::MAX, depth: 1_000, values: usize::MAX };
        let Ok(Message::Answer { .. }) = parse_message(&reply.body, limits) else { panic!("{}", reply.body) };
    }
});
