use std::time::Duration;

use surehand_host::{CallRecord, Verdict};
use surehand_model::{ContentBlock, RawJson, ResourceContents, ToolResult};

use super::style::{DIM, GREEN, RED, clean, one_line, paint};
use super::units::{bytes, duration};

/// How many columns of a call's arguments, and of its error, are shown in its line.
const PREVIEW: usize = 60;

/// A call that was answered: how it went, what was called, how long it took and how much came back.
pub(crate) fn call_line(record: &CallRecord, styled: bool) -> String {
    let name = call_name(&record.server, &record.tool);
    let arguments = arguments_preview(&record.arguments, PREVIEW);
    let took = duration(Duration::from_millis(record.duration_ms));
    let size = bytes(result_size(&record.result));
    let failed = record.result.is_error;
    let mark = match (record.decided.verdict, failed) {
        (Verdict::Denied, _) => paint(styled, RED, "⊘"),
        (_, true) => paint(styled, RED, "✗"),
        (_, false) => paint(styled, GREEN, "✓"),
    };
    let facts = match record.decided.verdict {
        Verdict::Denied => "denied".to_owned(),
        Verdict::Invalid => "not run".to_owned(),
        Verdict::Allowed | Verdict::Approved => format!("{took}, {size}"),
    };
    let mut line = format!("{mark} {name} {} ({facts})", paint(styled, DIM, &arguments));
    if failed {
        let words = one_line(&record.result.joined_text(), PREVIEW * 2);
        line.push_str(&format!("\n  {words}"));
    }
    line
}

/// A call that is running, for the live line.
pub(crate) fn running_line(server: &str, tool: &str, arguments: &RawJson) -> String {
    format!("{} {}", call_name(server, tool), arguments_preview(arguments, PREVIEW))
}

fn call_name(server: &str, tool: &str) -> String {
    let name = if server.is_empty() { tool.to_owned() } else { format!("{server}/{tool}") };
    one_line(&name, PREVIEW)
}

/// Arguments on one line, as they were written, cut at `width` columns. Nothing for `{}`.
pub(crate) fn arguments_preview(arguments: &RawJson, width: usize) -> String {
    match arguments.as_str() {
        "{}" => String::new(),
        text => one_line(text, width),
    }
}

fn result_size(result: &ToolResult) -> u64 {
    let blocks: usize = result.content.iter().map(block_size).sum();
    let structured = result.structured.as_ref().map_or(0, |raw| raw.as_str().len());
    // Most servers repeat the structured result as text.
    blocks.max(structured) as u64
}

fn block_size(block: &ContentBlock) -> usize {
    match block {
        ContentBlock::Text(text) => text.len(),
        ContentBlock::Image { data, .. } | ContentBlock::Audio { data, .. } => data.len() / 4 * 3,
        ContentBlock::Resource(ResourceContents { text, blob, .. }) => {
            text.as_ref().map_or(0, String::len) + blob.as_ref().map_or(0, |blob| blob.len() / 4 * 3)
        }
        ContentBlock::ResourceLink { uri, .. } => uri.len(),
        ContentBlock::Unknown(raw) => raw.as_str().len(),
    }
}

/// What a tool gave back, for a person: text as it is, everything else as one line that says what it is. On a `terminal`, what
/// could command it is taken out.
pub(crate) fn content_text(result: &ToolResult, terminal: bool) -> String {
    let mut out = String::new();
    for block in &result.content {
        let text = match block {
            ContentBlock::Text(text) => text.clone(),
            ContentBlock::Resource(ResourceContents { text: Some(text), .. }) => text.clone(),
            ContentBlock::Image { mime_type, .. } => {
                format!("[image, {mime_type}, {}]", bytes(block_size(block) as u64))
            }
            ContentBlock::Audio { mime_type, .. } => {
                format!("[audio, {mime_type}, {}]", bytes(block_size(block) as u64))
            }
            ContentBlock::Resource(contents) => {
                format!("[resource {}, {}]", contents.uri, bytes(block_size(block) as u64))
            }
            ContentBlock::ResourceLink { uri, name, .. } => format!("[resource {name}: {uri}]"),
            ContentBlock::Unknown(raw) => raw.to_string(),
        };
        out.push_str(if terminal { clean(&text) } else { text.as_str().into() }.as_ref());
        if !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
    }
    if result.content.is_empty()
        && let Some(structured) = &result.structured
    {
        out = format!("{structured}\n");
    }
    out
}
