//! Reads `tests/transcripts/*.md`: prose, and fenced `mcp` blocks run for each version that their heading names.

use std::path::Path;

use surehand_mcp::Revision;

/// One block, for one version.
pub(crate) struct Transcript {
    /// The heading and the version, for messages.
    pub(crate) name: String,
    pub(crate) revision: Revision,
    /// The heading's `key: value` pairs beside `versions`.
    pub(crate) settings: Vec<(String, String)>,
    pub(crate) lines: Vec<String>,
}

impl Transcript {
    pub(crate) fn setting(&self, key: &str) -> Option<&str> {
        self.settings.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }
}

/// The transcripts of one file. `VERSION` in them stands for the version, `META` for what a stateless request says about its
/// sender.
pub(crate) fn read(file: &str) -> Vec<Transcript> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts").join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    let mut transcripts = Vec::new();
    let mut heading = None;
    let mut block: Option<Vec<String>> = None;
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            heading = Some(title.to_owned());
        } else if line == "```mcp" {
            block = Some(Vec::new());
        } else if line == "```" {
            let lines = block.take().unwrap();
            transcripts.extend(versions(heading.as_deref().unwrap(), &lines));
        } else if let Some(block) = &mut block
            && !line.trim().is_empty()
        {
            block.push(line.to_owned());
        }
    }
    assert!(transcripts.len() > 2, "{file} holds next to nothing");
    transcripts
}

fn versions(heading: &str, lines: &[String]) -> Vec<Transcript> {
    let mut parts = heading.split("   ").map(str::trim).filter(|part| !part.is_empty());
    let title = parts.next().unwrap();
    let settings: Vec<(String, String)> = parts
        .map(|part| part.split_once(": ").unwrap())
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    let range = &settings.iter().find(|(key, _)| key == "versions").unwrap().1;
    let (first, last) = range.split_once(" to ").unwrap_or((range, range));
    let (first, last) = (Revision::parse(first).unwrap(), Revision::parse(last).unwrap());
    let chosen = Revision::ALL.into_iter().filter(|revision| (first..=last).contains(revision));
    chosen
        .map(|revision| Transcript {
            name: format!("{title} ({revision})"),
            revision,
            settings: settings.clone(),
            lines: lines.iter().map(|line| fill(line, revision)).collect(),
        })
        .collect()
}

fn fill(line: &str, revision: Revision) -> String {
    let meta = format!(
        r#"{{"io.modelcontextprotocol/protocolVersion":"{revision}","io.modelcontextprotocol/clientInfo":{{"name":"c","version":"1"}},"io.modelcontextprotocol/clientCapabilities":{{}}}}"#
    );
    let who = r#"{"io.modelcontextprotocol/serverInfo":{"name":"s","title":"S","version":"2"}}"#;
    line.replace("META", &meta).replace("WHO", who).replace("VERSION", revision.as_str())
}

/// A line's message as it is on the wire, `jsonrpc` put back in.
pub(crate) fn message(text: &str) -> String {
    match text.strip_prefix('{') {
        _ if text.starts_with("{\"cancel\"") => text.to_owned(),
        Some(rest) if rest.trim_start().starts_with('"') => format!("{{\"jsonrpc\":\"2.0\",{rest}"),
        _ => text.to_owned(),
    }
}

/// Two messages mean the same.
pub(crate) fn assert_same(name: &str, actual: &str, expected: &str) {
    let value = |text: &str| -> serde_json::Value {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{name}: {error} in {text}"))
    };
    assert_eq!(value(actual), value(expected), "{name}:\n  actual   {actual}\n  expected {expected}");
}
