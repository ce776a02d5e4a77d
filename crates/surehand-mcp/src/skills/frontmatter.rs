use saphyr_parser::{Event, Parser, ScalarStyle};
use surehand_model::Json;
use thiserror::Error;

/// How long the lines at the start of a file may be in all, in bytes.
const LIMIT: usize = 64 * 1024;
/// How deep they may nest.
const DEPTH: usize = 32;

/// Why a file does not begin with values by name.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum FrontmatterFault {
    /// It does not begin with lines between `---` and `---`.
    #[error("it does not begin with lines between `---` and `---`")]
    Missing,
    /// They are no YAML.
    #[error("what it begins with is not YAML: {0}")]
    NotYaml(String),
    /// They are YAML that has no like in JSON, or costs too much.
    #[error("what it begins with is no plain data: {0}")]
    NotPlain(&'static str),
}

/// Reads what a Markdown file begins with: values by name, in YAML 1.2 with its core schema, between lines of `---`.
///
/// Anchors, aliases and tags are refused: plain data needs none, and a few of them can stand for gigabytes.
///
/// # Errors
///
/// [`FrontmatterFault`].
pub fn read_frontmatter(text: &str) -> Result<Json, FrontmatterFault> {
    let yaml = between_lines(text).ok_or(FrontmatterFault::Missing)?;
    if yaml.len() > LIMIT {
        return Err(FrontmatterFault::NotPlain("it is too long"));
    }
    let mut open: Vec<Open> = Vec::new();
    let mut done: Option<Json> = None;
    for event in Parser::new_from_str(yaml) {
        let (event, _) = event.map_err(|error| FrontmatterFault::NotYaml(error.to_string()))?;
        let whole = match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) => continue,
            Event::DocumentEnd => continue,
            Event::Alias(_) => return Err(FrontmatterFault::NotPlain("it has an alias")),
            Event::Scalar(text, style, anchor, tag) => {
                refuse_marks(anchor, tag.is_some())?;
                scalar(&text, style)?
            }
            Event::SequenceStart(anchor, tag) => {
                refuse_marks(anchor, tag.is_some())?;
                push(&mut open, Open::List(Vec::new()))?;
                continue;
            }
            Event::MappingStart(anchor, tag) => {
                refuse_marks(anchor, tag.is_some())?;
                push(&mut open, Open::Names(Vec::new(), None))?;
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::List(items)) => Json::Array(items),
                Some(Open::Names(members, _)) => Json::Object(members),
                None => return Err(FrontmatterFault::NotPlain("it ends before it begins")),
            },
        };
        match open.last_mut() {
            Some(Open::List(items)) => items.push(whole),
            Some(Open::Names(members, name)) => match name.take() {
                Some(name) => members.push((name, whole)),
                None => *name = Some(key(whole, members)?),
            },
            None if done.is_some() => return Err(FrontmatterFault::NotPlain("it is more than one")),
            None => done = Some(whole),
        }
    }
    match done {
        Some(value @ Json::Object(_)) => Ok(value),
        _ => Err(FrontmatterFault::NotPlain("it is not values by name")),
    }
}

/// A list or values by name that are being read; the name whose value comes next.
enum Open {
    List(Vec<Json>),
    Names(Vec<(String, Json)>, Option<String>),
}

fn push(open: &mut Vec<Open>, next: Open) -> Result<(), FrontmatterFault> {
    if open.len() >= DEPTH {
        return Err(FrontmatterFault::NotPlain("it is nested too deep"));
    }
    open.push(next);
    Ok(())
}

fn refuse_marks(anchor: usize, has_tag: bool) -> Result<(), FrontmatterFault> {
    match (anchor, has_tag) {
        (0, false) => Ok(()),
        (0, true) => Err(FrontmatterFault::NotPlain("it has a tag")),
        _ => Err(FrontmatterFault::NotPlain("it has an anchor")),
    }
}

fn key(whole: Json, members: &[(String, Json)]) -> Result<String, FrontmatterFault> {
    let name = match whole {
        Json::String(name) | Json::Number(name) => name,
        Json::Bool(truth) => truth.to_string(),
        Json::Null => "null".to_owned(),
        Json::Array(_) | Json::Object(_) => return Err(FrontmatterFault::NotPlain("a name is no word")),
    };
    if members.iter().any(|(before, _)| *before == name) {
        return Err(FrontmatterFault::NotPlain("a name stands twice"));
    }
    Ok(name)
}

/// What stands between the first line `---` and the next one.
fn between_lines(text: &str) -> Option<&str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let rest = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"))?;
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        let bare = line.trim_end_matches(['\n', '\r']);
        if bare.strip_prefix("---").is_some_and(|tail| tail.trim_matches([' ', '\t']).is_empty()) {
            return Some(&rest[..at]);
        }
        at += line.len();
    }
    None
}

/// A plain word may mean a number, a truth value or nothing; a quoted one is always text.
fn scalar(text: &str, style: ScalarStyle) -> Result<Json, FrontmatterFault> {
    if style != ScalarStyle::Plain {
        return Ok(Json::String(text.to_owned()));
    }
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Json::Null,
        "true" | "True" | "TRUE" => Json::Bool(true),
        "false" | "False" | "FALSE" => Json::Bool(false),
        _ => match number(text)? {
            Some(number) => Json::Number(number),
            None => Json::String(text.to_owned()),
        },
    })
}

/// The number that a plain word is, as JSON writes it. Source: YAML 1.2.2, section 10.3.2.
fn number(text: &str) -> Result<Option<String>, FrontmatterFault> {
    for (prefix, radix) in [("0o", 8), ("0x", 16)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            let is_number = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
            return match u128::from_str_radix(digits, radix) {
                Ok(value) if is_number => Ok(Some(value.to_string())),
                _ if is_number => Err(FrontmatterFault::NotPlain("a number is too long")),
                _ => Ok(None),
            };
        }
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Err(FrontmatterFault::NotPlain("a number is none in JSON"));
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = digits(whole)
        && fraction.is_none_or(digits)
        && !(whole.is_empty() && fraction.is_none_or(str::is_empty))
        && exponent.is_none_or(|text| {
            let text = text.strip_prefix(['-', '+']).unwrap_or(text);
            !text.is_empty() && digits(text)
        });
    if !is_number {
        return Ok(None);
    }
    let sign = if text.starts_with('-') { "-" } else { "" };
    let whole = Some(whole.trim_start_matches('0')).filter(|whole| !whole.is_empty()).unwrap_or("0");
    let mut out = format!("{sign}{whole}");
    if let Some(fraction) = fraction.filter(|fraction| !fraction.is_empty()) {
        out.push('.');
        out.push_str(fraction);
    }
    if let Some(exponent) = exponent {
        out.push('e');
        out.push_str(exponent);
    }
    Ok(Some(out))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<String, FrontmatterFault> {
        read_frontmatter(text).map(|value| value.to_string())
    }

    #[test]
    fn words_numbers_lists_and_folded_text_become_json() {
        let text = "---\r\nname: pdf-tools\r\ndescription: >-\n  Two\n  lines\nlist: [1, -0.50, 0x1F, '1', yes, ~]\nmeta:\n  a.b/c: true\n  n: 007\n  v: 1.10\n  when: 2026-07-28\n---\nBody\n---\n";
        assert_eq!(
            read(text).unwrap(),
            r#"{"name":"pdf-tools","description":"Two lines","list":[1,-0.50,31,"1","yes",null],"meta":{"a.b/c":true,"n":7,"v":1.10,"when":"2026-07-28"}}"#
        );
        assert_eq!(read("\u{feff}---\na: \"\\u00e9\"\n---").unwrap(), r#"{"a":"é"}"#);
    }

    #[test]
    fn what_is_no_plain_data_is_refused() {
        for text in ["", "name: a\n", "---\nname: a\n", " ---\na: 1\n---\n", "----\na: 1\n---\n"] {
            assert_eq!(read(text), Err(FrontmatterFault::Missing), "{text:?}");
        }
        for (yaml, why) in [
            ("a: &x [1]", "it has an anchor"),
            ("a: !!binary aGk=", "it has a tag"),
            ("a: 1\na: 2", "a name stands twice"),
            ("- 1", "it is not values by name"),
            ("", "it is not values by name"),
            ("? [1]\n: 2", "a name is no word"),
            ("a: .nan", "a number is none in JSON"),
        ] {
            assert_eq!(read(&format!("---\n{yaml}\n---\n")), Err(FrontmatterFault::NotPlain(why)), "{yaml}");
        }
        let deep = format!("---\na: {}\n---\n", "[".repeat(40) + &"]".repeat(40));
        assert_eq!(read(&deep), Err(FrontmatterFault::NotPlain("it is nested too deep")));
        let long = format!("---\na: {}\n---\n", "x".repeat(LIMIT));
        assert_eq!(read(&long), Err(FrontmatterFault::NotPlain("it is too long")));
        assert!(matches!(read("---\na: [1\n---\n"), Err(FrontmatterFault::NotYaml(_))));
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_reader(text in "(---\r?\n)?([-:?\\[\\]{}&*!|>'\"%@`#, a1\n\t~.é]|: |- |\n  ){0,200}\n---\n") {
            let _ = read_frontmatter(&text);
        }

        #[test]
        fn what_is_written_as_json_is_read_as_it_is(words in proptest::collection::btree_map("[a-z]{1,8}", "[ -~é上]{0,20}", 1..8)) {
            let json = surehand_model::RawJson::from_serialize(&words);
            let text = format!("---\n{json}\n---\n");
            prop_assert_eq!(read_frontmatter(&text), Ok(json.to_json().unwrap()));
        }
    }
}
