//! JSON with comments and trailing commas, read into a tree that knows where each thing stands.

use std::fmt;
use std::ops::Range;

use surehand_model::Json;
use thiserror::Error;

/// How deep arrays and objects may nest, in levels.
const DEPTH_LIMIT: usize = 128;

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    /// From its first byte to after its last.
    pub(super) span: Range<usize>,
    pub(super) value: Value,
}

/// What a [`Node`] holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Null,
    Bool(bool),
    /// As written.
    Number(String),
    /// Unescaped; a lone surrogate escape is U+FFFD.
    String(String),
    Array(Vec<Node>),
    /// In their order, duplicates included.
    Object(Vec<Member>),
}

/// One member of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) key: String,
    /// The key with its quotes.
    pub(super) key_span: Range<usize>,
    pub(super) value: Node,
}

impl Node {
    /// The members, if it is an object.
    pub(super) fn members(&self) -> Option<&[Member]> {
        match &self.value {
            Value::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The string inside, if it is one.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The same without its places.
    pub(super) fn to_json(&self) -> Json {
        match &self.value {
            Value::Null => Json::Null,
            Value::Bool(truth) => Json::Bool(*truth),
            Value::Number(text) => Json::Number(text.clone()),
            Value::String(text) => Json::String(text.clone()),
            Value::Array(items) => Json::Array(items.iter().map(Node::to_json).collect()),
            Value::Object(members) => Json::Object(
                members.iter().map(|member| (member.key.clone(), member.value.to_json())).collect(),
            ),
        }
    }

    /// What kind of value it is, with its article.
    pub(super) fn kind(&self) -> &'static str {
        match &self.value {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        }
    }
}

/// A line and a column, both from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
}

impl Position {
    /// Of a byte of `text`.
    pub(super) fn of(text: &str, at: usize) -> Self {
        let before = text.get(..at.min(text.len())).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        // A byte order mark is no character a person sees.
        let line = before[line_start..].trim_start_matches('\u{feff}');
        Self { line: before.matches('\n').count() + 1, column: line.chars().count() + 1 }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Why a text is no JSON, even with comments and trailing commas allowed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("line {}, column {}: {what}", at.line, at.column)]
pub struct Fault {
    /// Where.
    pub at: Position,
    /// What stands there or is missing.
    pub what: String,
    /// What to do about it; may be empty.
    pub hint: String,
}

/// Reads a configuration file's bytes as text: UTF-8, a byte order mark allowed (and kept, so that places stay right).
///
/// # Errors
///
/// At the first byte that is not UTF-8; UTF-16 is recognised and named.
pub(super) fn decode(bytes: &[u8]) -> Result<&str, Fault> {
    let begin = Position { line: 1, column: 1 };
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(Fault {
            at: begin,
            what: "the file is written in UTF-16".into(),
            hint: "save it as UTF-8".into(),
        });
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let readable = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
        Fault {
            at: Position::of(readable, readable.len()),
            what: "a byte that is not UTF-8".into(),
            hint: "save the file as UTF-8".into(),
        }
    })
}

/// Parses one value with comments (`//`, `/* */`) and trailing commas allowed, nested at most 128 levels deep.
///
/// `Ok(None)` where there is nothing but blanks and comments.
///
/// # Errors
///
/// [`Fault`] at the first thing that cannot be read, with a hint for the usual slips.
pub(super) fn parse(text: &str) -> Result<Option<Node>, Fault> {
    let mut parser = Parser { text, at: if text.starts_with('\u{feff}') { 3 } else { 0 }, depth: 0 };
    parser.skip_trivia()?;
    if parser.at == text.len() {
        return Ok(None);
    }
    let node = parser.value()?;
    parser.skip_trivia()?;
    match parser.peek() {
        None => Ok(Some(node)),
        Some(b'}' | b']') => Err(parser.fault("one closing bracket too many", "")),
        Some(_) => Err(parser.fault("more text after the end of the value", "a file holds one JSON value")),
    }
}

/// The end of the blanks and comments that begin at `at`; `None` where a block comment is not closed.
pub(super) fn trivia_end(text: &str, mut at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    loop {
        match bytes.get(at) {
            Some(b' ' | b'\t' | b'\n' | b'\r') => at += 1,
            Some(b'/') if bytes.get(at + 1) == Some(&b'/') => {
                at = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
            }
            Some(b'/') if bytes.get(at + 1) == Some(&b'*') => at = at + 4 + text[at + 2..].find("*/")?,
            _ => return Some(at),
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn fault(&self, what: impl Into<String>, hint: impl Into<String>) -> Fault {
        self.fault_at(self.at, what, hint)
    }

    fn fault_at(&self, at: usize, what: impl Into<String>, hint: impl Into<String>) -> Fault {
        Fault { at: Position::of(self.text, at), what: what.into(), hint: hint.into() }
    }

    fn skip_trivia(&mut self) -> Result<(), Fault> {
        let end = trivia_end(self.text, self.at);
        self.at = end.ok_or_else(|| {
            let open = self.text[self.at..].rfind("/*").map_or(self.at, |open| self.at + open);
            self.fault_at(open, "a comment that never ends", "close it with `*/`")
        })?;
        Ok(())
    }

    fn value(&mut self) -> Result<Node, Fault> {
        let start = self.at;
        let value = match self.peek() {
            Some(b'{') => self.nested(Self::object)?,
            Some(b'[') => self.nested(Self::array)?,
            Some(b'"') => Value::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b'\'') => {
                return Err(self.fault("a text in single quotes", "JSON takes double quotes only"));
            }
            None => {
                return Err(
                    self.fault("the text ends where a value must stand", "a bracket may not be closed")
                );
            }
            Some(_) => self.word()?,
        };
        Ok(Node { span: start..self.at, value })
    }

    fn nested(&mut self, inner: fn(&mut Self) -> Result<Value, Fault>) -> Result<Value, Fault> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err(self.fault(format!("nested deeper than {DEPTH_LIMIT} levels"), ""));
        }
        self.at += 1;
        let value = inner(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn word(&mut self) -> Result<Value, Fault> {
        let rest = &self.text[self.at..];
        let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let value = match &rest[..length] {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" => Value::Null,
            "" => {
                let found = rest.chars().next().unwrap_or_default();
                let hint = match found {
                    '#' => "comments begin with `//`",
                    '\u{201c}' | '\u{201d}' | '\u{2018}' | '\u{2019}' => {
                        "these are typographic quotes; JSON takes `\"` only"
                    }
                    ',' => "there is one comma too many",
                    _ => "",
                };
                return Err(self.fault(format!("`{found}` where a value must stand"), hint));
            }
            word @ ("True" | "False" | "None") => {
                let json = if word == "None" { "null".to_owned() } else { word.to_ascii_lowercase() };
                return Err(self.fault(format!("the word `{word}`"), format!("write `{json}`")));
            }
            word => {
                return Err(self.fault(format!("the word `{word}`"), "a text needs double quotes around it"));
            }
        };
        self.at += length;
        Ok(value)
    }

    fn object(&mut self) -> Result<Value, Fault> {
        let open = self.at - 1;
        let mut members = Vec::new();
        loop {
            self.skip_trivia()?;
            match self.peek() {
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Value::Object(members));
                }
                Some(b'"') => {}
                None => return Err(self.unclosed(open, '}')),
                Some(b'\'') => {
                    return Err(self.fault("a key in single quotes", "JSON takes double quotes only"));
                }
                Some(b'#') => {
                    return Err(self.fault("`#` where a key must stand", "comments begin with `//`"));
                }
                Some(b',') => {
                    return Err(self.fault("a comma where a key must stand", "there is one comma too many"));
                }
                Some(_) => {
                    return Err(self.fault(
                        "something other than a key in double quotes",
                        "put the key into double quotes",
                    ));
                }
            }
            let key_start = self.at;
            let key = self.string()?;
            let key_span = key_start..self.at;
            self.skip_trivia()?;
            if self.peek() != Some(b':') {
                return Err(self.fault("no `:` after a key", format!("write \"{key}\": and its value")));
            }
            self.at += 1;
            self.skip_trivia()?;
            let value = self.value()?;
            members.push(Member { key, key_span, value });
            self.separator(open, '}')?;
        }
    }

    fn array(&mut self) -> Result<Value, Fault> {
        let open = self.at - 1;
        let mut items = Vec::new();
        loop {
            self.skip_trivia()?;
            match self.peek() {
                Some(b']') => {
                    self.at += 1;
                    return Ok(Value::Array(items));
                }
                None => return Err(self.unclosed(open, ']')),
                Some(_) => items.push(self.value()?),
            }
            self.separator(open, ']')?;
        }
    }

    /// Takes the comma, or stops before the closing bracket.
    fn separator(&mut self, open: usize, close: char) -> Result<(), Fault> {
        let after_value = self.at;
        self.skip_trivia()?;
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(())
            }
            Some(byte) if char::from(byte) == close => Ok(()),
            None => Err(self.unclosed(open, close)),
            Some(b'"' | b'{' | b'[') => {
                Err(self.fault_at(after_value, "no comma between two values", "put a comma here"))
            }
            Some(_) => Err(self.fault(format!("neither `,` nor `{close}` after a value"), "")),
        }
    }

    fn unclosed(&self, open: usize, close: char) -> Fault {
        let place = Position::of(self.text, open);
        self.fault(
            format!("the text ends before the `{close}` of line {}", place.line),
            format!("add `{close}`"),
        )
    }

    fn number(&mut self) -> Result<Value, Fault> {
        let rest = &self.text[self.at..];
        let length =
            rest.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c)).unwrap_or(rest.len());
        match Json::parse(&rest[..length]) {
            Ok(Json::Number(text)) => {
                self.at += length;
                Ok(Value::Number(text))
            }
            _ => Err(self.fault(
                format!("`{}` is not a number", &rest[..length]),
                "a text needs double quotes around it",
            )),
        }
    }

    fn string(&mut self) -> Result<String, Fault> {
        let open = self.at;
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(stop) = rest.bytes().position(|byte| byte == b'"' || byte == b'\\' || byte < 0x20)
            else {
                return Err(self.fault_at(open, "a text without its closing quote", "add `\"`"));
            };
            out.push_str(&rest[..stop]);
            self.at += stop;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.push(self.escape(open)?),
                Some(b'\n' | b'\r') => {
                    return Err(self.fault_at(
                        open,
                        "a text without its closing quote on the same line",
                        "add `\"`, or write a line break as `\\n`",
                    ));
                }
                _ => return Err(self.fault("a control character inside a text", "write a tab as `\\t`")),
            }
        }
    }

    fn escape(&mut self, open: usize) -> Result<char, Fault> {
        let plain = match self.text.as_bytes().get(self.at + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(open),
            _ => return Err(self.bad_escape(open)),
        };
        self.at += 2;
        Ok(plain)
    }

    /// A backslash that escapes nothing: nearly always a Windows path, so the whole text is shown as it should be.
    fn bad_escape(&self, open: usize) -> Fault {
        let shown: String = self.text[self.at..].chars().take(2).filter(|c| !c.is_control()).collect();
        let line = self.text[open + 1..].lines().next().unwrap_or_default();
        let written = line.split('"').next().unwrap_or_default();
        // What is doubled already stays so.
        let doubled = written.replace("\\\\", "\\").replace('\\', "\\\\");
        self.fault(
            format!("`{shown}` is no escape that JSON knows"),
            format!("in JSON each backslash of a path is doubled: \"{doubled}\""),
        )
    }

    fn unicode_escape(&mut self, open: usize) -> Result<char, Fault> {
        let first = self.hex4(self.at + 2).ok_or_else(|| self.bad_escape(open))?;
        self.at += 6;
        if let Some(character) = char::from_u32(first) {
            return Ok(character);
        }
        if (0xd800..0xdc00).contains(&first)
            && self.text[self.at..].starts_with("\\u")
            && let Some(second) = self.hex4(self.at + 2)
            && (0xdc00..0xe000).contains(&second)
        {
            self.at += 6;
            let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        Ok(char::REPLACEMENT_CHARACTER)
    }

    fn hex4(&self, at: usize) -> Option<u32> {
        let digits = self.text.as_bytes().get(at..at + 4)?;
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    }
}

#[cfg(test)]
mod tests;
