use std::fmt::{self, Write as _};

use thiserror::Error;

/// How deep arrays and objects may nest, in levels.
const DEPTH_LIMIT: usize = 128;

/// A JSON tree that loses nothing: numbers keep their text, objects keep the order of their keys and every duplicate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number as it was written, for example `1.10` or `123456789012345678901234567890`.
    Number(String),
    /// A string, unescaped. A lone surrogate escape is kept as U+FFFD.
    String(String),
    /// An array.
    Array(Vec<Json>),
    /// An object, in the order written. Where a key stands twice, [`Json::get`] gives the last.
    Object(Vec<(String, Json)>),
}

/// Why a text is not JSON.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum JsonError {
    /// The text breaks the grammar of RFC 8259 at this byte.
    #[error("not JSON at byte {at}: {what}")]
    Syntax {
        /// Byte offset, from 0.
        at: usize,
        /// What stands there or is missing.
        what: String,
    },
    /// Nested deeper than 128 levels.
    #[error("JSON nested deeper than {DEPTH_LIMIT} levels")]
    TooDeep,
}

impl Json {
    /// Parses one JSON value, white space around it allowed, nested at most 128 levels deep.
    ///
    /// # Errors
    ///
    /// [`JsonError::Syntax`] at the first fault, [`JsonError::TooDeep`] past the limit.
    ///
    /// Source: RFC 8259.
    pub fn parse(text: &str) -> Result<Self, JsonError> {
        let mut parser = Parser { text, at: 0, depth: 0 };
        parser.skip_blanks();
        let value = parser.value()?;
        parser.skip_blanks();
        if parser.at < text.len() {
            return Err(parser.fault("more text after the value"));
        }
        Ok(value)
    }

    /// The member `key` of an object; the last where it stands twice.
    pub fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Self::Object(members) => {
                members.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// The member `key` of an object, to change it.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Json> {
        match self {
            Self::Object(members) => {
                members.iter_mut().rev().find(|(name, _)| name == key).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// Sets the member `key` of an object: replaced in place where it stands, added at the end otherwise.
    /// Does nothing to anything but an object.
    pub fn set(&mut self, key: &str, value: Json) {
        if let Some(slot) = self.get_mut(key) {
            *slot = value;
        } else if let Self::Object(members) = self {
            members.push((key.to_owned(), value));
        }
    }

    /// Takes the member `key` out of an object (every one where it stands twice) and gives the last.
    pub fn remove(&mut self, key: &str) -> Option<Json> {
        let Self::Object(members) = self else { return None };
        let mut taken = None;
        let mut at = 0;
        while at < members.len() {
            if members[at].0 == key {
                taken = Some(members.remove(at).1);
            } else {
                at += 1;
            }
        }
        taken
    }

    /// The value at a JSON Pointer such as `/a/0/b`; the empty pointer is the whole value. Source: RFC 6901.
    pub fn pointer(&self, pointer: &str) -> Option<&Json> {
        if pointer.is_empty() {
            return Some(self);
        }
        pointer.strip_prefix('/')?.split('/').try_fold(self, |value, token| match value {
            Self::Object(_) => value.get(&unescape_token(token)),
            Self::Array(items) => items.get(token.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// The value at a JSON Pointer, to change it.
    pub fn pointer_mut(&mut self, pointer: &str) -> Option<&mut Json> {
        if pointer.is_empty() {
            return Some(self);
        }
        pointer.strip_prefix('/')?.split('/').try_fold(self, |value, token| match value {
            Self::Object(_) => value.get_mut(&unescape_token(token)),
            Self::Array(items) => items.get_mut(token.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// The string inside, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The members, if it is an object.
    pub fn as_object(&self) -> Option<&[(String, Json)]> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The items, if it is an array.
    pub fn as_array(&self) -> Option<&[Json]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The name JSON Schema has for this type of value: `integer` for a number that is whole (`5.0` is), else `number`.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(text) if number_is_whole(text) => "integer",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }

    /// As serde's value. Numbers beyond 64 bits lose digits, duplicate keys but the last are gone.
    pub fn to_value(&self) -> serde_json::Value {
        serde_json::from_str(&self.to_string()).unwrap_or(serde_json::Value::Null)
    }
}

impl From<&serde_json::Value> for Json {
    fn from(value: &serde_json::Value) -> Self {
        use serde_json::Value;
        match value {
            Value::Null => Self::Null,
            Value::Bool(truth) => Self::Bool(*truth),
            Value::Number(number) => Self::Number(number.to_string()),
            Value::String(text) => Self::String(text.clone()),
            Value::Array(items) => Self::Array(items.iter().map(Self::from).collect()),
            Value::Object(members) => {
                Self::Object(members.iter().map(|(key, value)| (key.clone(), Self::from(value))).collect())
            }
        }
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

/// Compact JSON, members in their order, numbers as they were written.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(truth) => write!(f, "{truth}"),
            Self::Number(text) => f.write_str(text),
            Self::String(text) => write_string(f, text),
            Self::Array(items) => {
                f.write_char('[')?;
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        f.write_char(',')?;
                    }
                    write!(f, "{item}")?;
                }
                f.write_char(']')
            }
            Self::Object(members) => {
                f.write_char('{')?;
                for (index, (key, value)) in members.iter().enumerate() {
                    if index > 0 {
                        f.write_char(',')?;
                    }
                    write_string(f, key)?;
                    write!(f, ":{value}")?;
                }
                f.write_char('}')
            }
        }
    }
}

fn write_string(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for character in text.chars() {
        match character {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            c if (c as u32) < 0x20 => write!(f, "\\u{:04x}", c as u32)?,
            c => f.write_char(c)?,
        }
    }
    f.write_char('"')
}

fn unescape_token(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}

/// Whether a JSON number stands for a whole number: no fraction, or one of zeros only, and no negative exponent that leaves one.
fn number_is_whole(text: &str) -> bool {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], text[at + 1..].parse::<i64>().unwrap_or(i64::MAX)),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{}{fraction}", whole.trim_start_matches('-'));
    let significant = digits.trim_end_matches('0');
    if significant.trim_start_matches('0').is_empty() {
        return true;
    }
    let lowest_place = (digits.len() - significant.len()) as i64 - fraction.len() as i64;
    lowest_place.saturating_add(exponent) >= 0
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn fault(&self, what: &str) -> JsonError {
        JsonError::Syntax { at: self.at, what: what.to_owned() }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self) -> Result<Json, JsonError> {
        match self.peek() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => self.string().map(Json::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            Some(_) => Err(self.fault("a value must stand here")),
            None => Err(self.fault("the text ends where a value must stand")),
        }
    }

    fn nested(&mut self, inner: fn(&mut Self) -> Result<Json, JsonError>) -> Result<Json, JsonError> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err(JsonError::TooDeep);
        }
        self.at += 1;
        let value = inner(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, JsonError> {
        if self.text[self.at..].starts_with(word) {
            self.at += word.len();
            Ok(value)
        } else {
            Err(self.fault("an unknown word"))
        }
    }

    fn object(&mut self) -> Result<Json, JsonError> {
        let mut members = Vec::new();
        self.skip_blanks();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Json::Object(members));
        }
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'"') {
                return Err(self.fault("a key in double quotes must stand here"));
            }
            let key = self.string()?;
            self.skip_blanks();
            if self.peek() != Some(b':') {
                return Err(self.fault("`:` must follow a key"));
            }
            self.at += 1;
            self.skip_blanks();
            members.push((key, self.value()?));
            self.skip_blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Json::Object(members));
                }
                _ => return Err(self.fault("`,` or `}` must stand here")),
            }
        }
    }

    fn array(&mut self) -> Result<Json, JsonError> {
        let mut items = Vec::new();
        self.skip_blanks();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Json::Array(items));
        }
        loop {
            self.skip_blanks();
            items.push(self.value()?);
            self.skip_blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Json::Array(items));
                }
                _ => return Err(self.fault("`,` or `]` must stand here")),
            }
        }
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(self.fault("a digit must stand here")) } else { Ok(()) }
    }

    fn number(&mut self) -> Result<Json, JsonError> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(Json::Number(self.text[start..self.at].to_owned()))
    }

    fn string(&mut self) -> Result<String, JsonError> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(stop) = rest.bytes().position(|byte| byte == b'"' || byte == b'\\' || byte < 0x20)
            else {
                self.at = self.text.len();
                return Err(self.fault("a string without its closing quote"));
            };
            out.push_str(&rest[..stop]);
            self.at += stop;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.push(self.escape()?),
                _ => return Err(self.fault("a control character inside a string")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let letter = self.text.as_bytes().get(self.at + 1).copied();
        let plain = match letter {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            _ => return Err(self.fault("an unknown escape")),
        };
        self.at += 2;
        Ok(plain)
    }

    fn unicode_escape(&mut self) -> Result<char, JsonError> {
        let first = self.hex4(self.at + 2)?;
        self.at += 6;
        if let Some(character) = char::from_u32(first) {
            return Ok(character);
        }
        let is_high = (0xd800..0xdc00).contains(&first);
        if is_high && self.text[self.at..].starts_with("\\u") {
            let second = self.hex4(self.at + 2)?;
            if (0xdc00..0xe000).contains(&second) {
                self.at += 6;
                let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
        }
        Ok(char::REPLACEMENT_CHARACTER)
    }

    fn hex4(&self, at: usize) -> Result<u32, JsonError> {
        self.text
            .as_bytes()
            .get(at..at + 4)
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .ok_or_else(|| self.fault("`\\u` needs four hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn digits_key_order_and_duplicates_survive() {
        let text = r#"{"z":1.10,"a":123456789012345678901234567890,"z":1e2,"s":"é\"\\"}"#;
        assert_eq!(Json::parse(text).unwrap().to_string(), text);
    }

    #[test]
    fn a_fault_names_its_byte() {
        let fault = Json::parse("{\"a\":tru}").unwrap_err();
        assert_eq!(fault, JsonError::Syntax { at: 5, what: "an unknown word".into() });
        assert!(Json::parse("[1,]").is_err());
        assert!(Json::parse("01").is_err());
        assert!(Json::parse("1 2").is_err());
        assert_eq!(Json::parse(&"[".repeat(129)).unwrap_err(), JsonError::TooDeep);
    }

    #[test]
    fn whole_numbers_are_integers_however_they_are_written() {
        let name = |text: &str| Json::parse(text).unwrap().type_name();
        assert_eq!(["5", "5.0", "5e3", "1.5e1", "0.0", "-0"].map(name), ["integer"; 6]);
        assert_eq!(["5.5", "5e-1", "1.55e1"].map(name), ["number"; 3]);
    }

    #[test]
    fn pointers_reach_into_the_tree() {
        let mut tree = Json::parse(r#"{"a":[{"b/c":1}]}"#).unwrap();
        assert_eq!(tree.pointer("/a/0/b~1c"), Some(&Json::Number("1".into())));
        tree.pointer_mut("/a/0").unwrap().set("d", Json::Null);
        assert_eq!(tree.to_string(), r#"{"a":[{"b/c":1,"d":null}]}"#);
    }

    fn any_json() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::Bool),
            any::<i64>().prop_map(|n| Json::Number(n.to_string())),
            any::<String>().prop_map(Json::String),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Json::Array),
                prop::collection::vec((any::<String>(), inner), 0..4).prop_map(Json::Object),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back_the_same(tree in any_json()) {
            prop_assert_eq!(Json::parse(&tree.to_string()).unwrap(), tree);
        }

        #[test]
        fn the_grammar_is_that_of_serde_json(text in r#"[\[\]{}:,"a\\0-9.eE+\- tfn]{0,24}"#) {
            let theirs = serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok();
            prop_assert_eq!(Json::parse(&text).is_ok(), theirs, "{}", text);
        }
    }
}
