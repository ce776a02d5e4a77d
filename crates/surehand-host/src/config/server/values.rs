//! The values of an entry: texts, lists, maps, folders, addresses and times, each coerced and filled with a word about it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use surehand_model::{Json, Secret};

use super::super::jsonc::{Member, Node, Value};
use super::super::settings::Severity;
use super::super::{shown, variables};
use super::EntryReader;

impl EntryReader<'_, '_, '_> {
    /// Options with every text filled in; `None` where one cannot be, which is reported.
    pub(super) fn options(&mut self, key: &str, node: &Node) -> Option<Json> {
        Some(match &node.value {
            Value::String(text) => {
                let filled = self.filled(key, node, text)?;
                Json::String(self.at_home(&filled))
            }
            Value::Array(items) => {
                let items: Vec<Option<Json>> = items.iter().map(|item| self.options(key, item)).collect();
                Json::Array(items.into_iter().collect::<Option<_>>()?)
            }
            Value::Object(members) => {
                let members: Vec<Option<(String, Json)>> =
                    members.iter().map(|m| Some((m.key.clone(), self.options(key, &m.value)?))).collect();
                Json::Object(members.into_iter().collect::<Option<_>>()?)
            }
            _ => node.to_json(),
        })
    }

    /// The texts of a list; numbers and truths become texts.
    pub(super) fn list<'n>(&mut self, member: &'n Member) -> Option<Vec<(String, &'n Node, String)>> {
        let Value::Array(items) = &member.value.value else { return Some(Vec::new()) };
        let mut words = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let place = format!("{}[{index}]", member.key);
            let text = self.as_text(&place, item)?;
            words.push((place, item, text));
        }
        Some(words)
    }

    pub(super) fn as_text(&mut self, key: &str, node: &Node) -> Option<String> {
        match &node.value {
            Value::String(text) => Some(text.clone()),
            Value::Number(_) | Value::Bool(_) => {
                let text = node.to_json().to_string();
                let what = format!("{} and no text; read as \"{text}\"", node.kind());
                self.say(Severity::Warning, node, Some(key), what, "put it into double quotes");
                Some(text)
            }
            _ => {
                self.fault(node, Some(key), format!("{} where a text must stand", node.kind()), "");
                None
            }
        }
    }

    pub(super) fn map(&mut self, member: &Member, kind: MapKind) -> Option<Vec<Pair>> {
        let members = match &member.value.value {
            Value::Object(members) => members,
            Value::Null => return Some(Vec::new()),
            _ => {
                let what = format!("it is {} and no object", member.value.kind());
                self.fault(&member.value, Some(&member.key), what, "write { \"NAME\": \"value\" }");
                return None;
            }
        };
        let mut pairs: Vec<Pair> = Vec::new();
        let mut is_whole = true;
        // Of a name that stands twice the later counts; the file's reader has said so.
        let last: HashMap<&str, usize> =
            members.iter().enumerate().map(|(at, m)| (m.key.as_str(), at)).collect();
        let counting = members.iter().enumerate().filter(|(at, m)| last.get(m.key.as_str()) == Some(at));
        for (_, inner) in counting {
            let place = format!("{}.{}", member.key, inner.key);
            if let Some(fault) = kind.name_fault(&inner.key) {
                self.fault(&inner.value, Some(&place), fault, "");
                is_whole = false;
                continue;
            }
            if inner.value.value == Value::Null {
                self.say(
                    Severity::Warning,
                    &inner.value,
                    Some(&place),
                    "null, left out",
                    "write \"\" for an empty value",
                );
                continue;
            }
            let Some(text) = self.as_text(&place, &inner.value) else {
                is_whole = false;
                continue;
            };
            self.warn_of_hidden_blanks(&place, &inner.value, &text);
            if kind == MapKind::Env && looks_like_windows_path(&text) {
                self.warn_of_control_characters(&place, &inner.value, &text);
            }
            match self.filled(&place, &inner.value, &text) {
                None => is_whole = false,
                Some(value) => match kind.value_fault(&value) {
                    Some(fault) => {
                        self.fault(&inner.value, Some(&place), fault, "");
                        is_whole = false;
                    }
                    None => {
                        let value = if kind == MapKind::Headers { value.trim().to_owned() } else { value };
                        pairs.push(Pair {
                            name: inner.key.clone(),
                            value: Secret::new(value),
                            shown: shown::value(&text),
                        });
                    }
                },
            }
        }
        is_whole.then_some(pairs)
    }

    pub(super) fn filled(&mut self, key: &str, node: &Node, template: &str) -> Option<String> {
        match variables::fill(template, self.context.environment) {
            Ok(text) => Some(text),
            Err(faults) => {
                for fault in faults {
                    self.fault(node, Some(key), fault.to_string(), fault.hint());
                }
                None
            }
        }
    }

    pub(super) fn folder(&mut self, member: &Member) -> Option<PathBuf> {
        let Some(text) = member.value.text() else {
            let what = format!("it is {}, not a text", member.value.kind());
            self.fault(&member.value, Some(&member.key), what, "");
            return None;
        };
        self.warn_of_control_characters(&member.key, &member.value, text);
        let filled = self.filled(&member.key, &member.value, text)?;
        Some(self.context.base.join(self.at_home(&filled)))
    }

    /// A text that begins with `~/`, with the home directory in its place.
    pub(super) fn at_home(&self, text: &str) -> String {
        match text.strip_prefix('~') {
            Some("") => self.context.home.to_string_lossy().into_owned(),
            Some(rest) if rest.starts_with('/') => format!("{}{rest}", self.context.home.display()),
            _ => text.to_owned(),
        }
    }

    pub(super) fn trimmed(&mut self, key: &str, node: &Node, text: &str) -> String {
        let blank = |c: char| c.is_whitespace() || c == '\u{200b}' || c == '\u{feff}';
        let trimmed = text.trim_matches(blank);
        if trimmed.len() != text.len() {
            self.say(Severity::Warning, node, Some(key), "blanks at its ends, left out", "");
        }
        trimmed.to_owned()
    }

    pub(super) fn warn_of_hidden_blanks(&mut self, key: &str, node: &Node, text: &str) {
        let hidden = |c: char| matches!(c, '\u{a0}' | '\u{200b}' | '\u{feff}' | '\u{2060}');
        if text.contains(hidden) || text.trim() != text {
            let what = "it holds blanks at its ends or blanks that cannot be seen";
            self.say(Severity::Warning, node, Some(key), what, "remove them unless they are meant");
        }
    }

    /// A tab or a line break in a command line is nearly always a Windows path whose backslashes were not doubled.
    pub(super) fn warn_of_control_characters(&mut self, key: &str, node: &Node, text: &str) {
        if !text.contains(|c: char| c.is_control()) {
            return;
        }
        let doubled: String = text
            .chars()
            .map(|c| match c {
                '\t' => "\\\\t".to_owned(),
                '\n' => "\\\\n".to_owned(),
                '\r' => "\\\\r".to_owned(),
                '\u{8}' => "\\\\b".to_owned(),
                '\u{c}' => "\\\\f".to_owned(),
                '\\' => "\\\\".to_owned(),
                c => c.to_string(),
            })
            .collect();
        let what = "it holds control characters, such as a tab from `\\t` or a line break from `\\n`";
        let hint =
            format!("if a path is meant, double its backslashes: \"{}\"", shown::covered_text(&doubled));
        self.say(Severity::Warning, node, Some(key), what, hint);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MapKind {
    Env,
    Headers,
}

impl MapKind {
    fn name_fault(self, name: &str) -> Option<&'static str> {
        match self {
            Self::Env if name.is_empty() || name.contains(['=', '\0']) => {
                Some("no name that a variable can have")
            }
            Self::Headers if !is_header_name(name) => Some("no name that a header can have"),
            _ => None,
        }
    }

    fn value_fault(self, value: &str) -> Option<&'static str> {
        match self {
            Self::Env if value.contains('\0') => Some("its value holds a NUL character"),
            // Blanks at the ends, such as the line break of a key that was read from a file, are left out below.
            Self::Headers if value.trim().contains(|c: char| c.is_control() && c != '\t') => {
                Some("its value holds a line break or another control character")
            }
            _ => None,
        }
    }
}

/// A variable or a header.
pub(super) struct Pair {
    pub(super) name: String,
    pub(super) value: Secret<String>,
    pub(super) shown: String,
}

/// Whether a text can be a header's name. Source: RFC 9110, section 5.6.2.
pub(in super::super) fn is_header_name(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// An `http` or `https` address with a host.
pub(in super::super) fn parse_address(text: &str) -> Result<url::Url, String> {
    let url = url::Url::parse(text).map_err(|error| format!("it is no address: {error}"))?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(url),
        "http" | "https" => Err("it is an address without a host".into()),
        // The scheme is not named: it may be the beginning of what a variable holds.
        _ => Err("it begins with neither http:// nor https://".into()),
    }
}

/// A number of units (`unit` milliseconds each) or a text such as `30s`, `500ms`, `2m`, `1h`. More than zero, at most a year.
pub(in super::super) fn read_duration(node: &Node, unit: u64) -> Result<Duration, String> {
    const YEAR: f64 = 365.0 * 24.0 * 3600.0 * 1000.0;
    let (number, unit) = match &node.value {
        Value::Number(text) => (text.as_str(), unit as f64),
        Value::String(text) => {
            let text = text.trim();
            let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
            let unit = match text[split..].trim() {
                "" => unit as f64,
                "ms" => 1.0,
                "s" | "sec" => 1000.0,
                "m" | "min" => 60_000.0,
                "h" => 3_600_000.0,
                other => return Err(format!("`{other}` is no unit of time")),
            };
            (&text[..split], unit)
        }
        _ => return Err(format!("it is {} and no length of time", node.kind())),
    };
    let milliseconds = number.parse::<f64>().map_err(|_| "it is no length of time".to_owned())? * unit;
    if milliseconds > 0.0 && milliseconds <= YEAR {
        Ok(Duration::from_micros((milliseconds * 1000.0) as u64))
    } else {
        Err("it is not between zero and a year".to_owned())
    }
}

fn looks_like_windows_path(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}
