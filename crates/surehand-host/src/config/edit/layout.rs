//! How a file is laid out, and how new text is made to fit in.

use std::ops::Range;

use surehand_model::Json;

use super::super::jsonc::{Node, Value};

/// The longest list that is written on one line, in bytes.
const LIST_WIDTH: usize = 80;

/// A deletion, an insertion, or both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Splice {
    pub(super) range: Range<usize>,
    pub(super) text: String,
}

/// The text with all splices made; they do not overlap.
pub(super) fn spliced(text: &str, mut splices: Vec<Splice>) -> String {
    // Stable: of two insertions at one place the first stays first.
    splices.sort_by_key(|splice| splice.range.start);
    let mut out = String::with_capacity(text.len() + 256);
    let mut at = 0;
    for splice in splices {
        out.push_str(&text[at..splice.range.start]);
        out.push_str(&splice.text);
        at = splice.range.end;
    }
    out.push_str(&text[at..]);
    out
}

/// How a file is laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// `\n` or `\r\n`.
    pub(super) newline: &'static str,
    /// One step of indentation.
    pub(super) unit: String,
    /// Whether the whole file is one line.
    pub(super) is_one_line: bool,
    /// Whether nothing stands between a colon and its value.
    pub(super) is_tight: bool,
}

impl Default for Layout {
    fn default() -> Self {
        Self { newline: "\n", unit: "  ".into(), is_one_line: false, is_tight: false }
    }
}

impl Layout {
    pub(super) fn of(text: &str, root: &Node) -> Self {
        let newline = match text.find('\n') {
            Some(at) if text[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        };
        let has_members = root.members().is_some_and(|members| !members.is_empty());
        Self {
            newline,
            unit: unit_of(text, root).unwrap_or_else(|| "  ".to_owned()),
            is_one_line: has_members && !text[root.span.clone()].contains('\n'),
            is_tight: is_tight(text, root).unwrap_or(false),
        }
    }

    /// `"key": `, or without the blank where the file does without.
    pub(super) fn key(&self, key: &str) -> String {
        format!("{}:{}", Json::String(key.to_owned()), if self.is_tight { "" } else { " " })
    }

    /// A value over several lines, its further lines beginning with `indent`.
    pub(super) fn written(&self, value: &Json, indent: &str) -> String {
        let inner = format!("{indent}{}", self.unit);
        let items: Vec<String> = match value {
            Json::Object(members) => {
                members.iter().map(|(key, value)| self.key(key) + &self.written(value, &inner)).collect()
            }
            Json::Array(items) => {
                let is_plain = |item: &Json| !matches!(item, Json::Array(_) | Json::Object(_));
                let flat = self.flat(value);
                if items.iter().all(is_plain) && flat.len() <= LIST_WIDTH {
                    return flat;
                }
                items.iter().map(|item| self.written(item, &inner)).collect()
            }
            other => return other.to_string(),
        };
        if items.is_empty() {
            return value.to_string();
        }
        let (open, close) = if matches!(value, Json::Object(_)) { ('{', '}') } else { ('[', ']') };
        let newline = self.newline;
        let separator = format!(",{newline}{inner}");
        format!("{open}{newline}{inner}{}{newline}{indent}{close}", items.join(&separator))
    }

    /// A value on one line.
    pub(super) fn flat(&self, value: &Json) -> String {
        let separator = if self.is_tight { "," } else { ", " };
        match value {
            Json::Object(members) => {
                let members: Vec<String> =
                    members.iter().map(|(key, value)| self.key(key) + &self.flat(value)).collect();
                format!("{{{}}}", members.join(separator))
            }
            Json::Array(items) => {
                let items: Vec<String> = items.iter().map(|item| self.flat(item)).collect();
                format!("[{}]", items.join(separator))
            }
            other => other.to_string(),
        }
    }
}

/// Where the line of a byte begins. A byte order mark belongs to no line.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    match text[..at].rfind('\n') {
        Some(newline) => newline + 1,
        None if text.starts_with('\u{feff}') => 3.min(at),
        None => 0,
    }
}

/// The blanks at the beginning of a byte's line.
pub(super) fn indent_of(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Whether only blanks stand before this byte on its line, and the line is not the file's first.
pub(super) fn begins_line(text: &str, at: usize) -> bool {
    let start = line_start(text, at);
    start > 0 && text[..start].ends_with('\n') && text[start..at].trim_matches([' ', '\t']).is_empty()
}

/// The step between an object's line and its members', from the first object that shows one.
fn unit_of(text: &str, node: &Node) -> Option<String> {
    match &node.value {
        Value::Object(members) => {
            let shown = members.first().filter(|member| begins_line(text, member.key_span.start)).and_then(
                |member| {
                    let inner = indent_of(text, member.key_span.start);
                    let step = inner.strip_prefix(indent_of(text, node.span.start))?;
                    (!step.is_empty()).then(|| step.to_owned())
                },
            );
            shown.or_else(|| members.iter().find_map(|member| unit_of(text, &member.value)))
        }
        Value::Array(items) => items.iter().find_map(|item| unit_of(text, item)),
        _ => None,
    }
}

/// Whether the first key and its value stand side by side; `None` where there is no member at all.
fn is_tight(text: &str, root: &Node) -> Option<bool> {
    let member = root.members()?.first()?;
    Some(&text[member.key_span.end..member.value.span.start] == ":")
}
