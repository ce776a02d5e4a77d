//! `${VAR}`, `${VAR:-default}` and `${env:VAR}` in the values of a configuration.
//!
//! A dollar sign without a brace is text. An empty variable counts as set. `$${` stands for `${` itself. What a variable
//! holds is never looked through again.

use std::fmt;

use super::environment::Environment;

/// How deep a default may hold placeholders of its own.
const DEPTH_LIMIT: usize = 8;

/// Why a placeholder cannot be filled. Names variables, never values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum VariableFault {
    /// The variable is not set and there is no default.
    Unset(String),
    /// The variable holds bytes that are no text.
    NotText(String),
    /// No placeholder of a form we know.
    Unknown(String),
}

impl VariableFault {
    pub(super) fn hint(&self) -> String {
        match self {
            Self::Unset(name) => format!("set {name}, or give a default: ${{{name}:-…}}"),
            Self::NotText(name) => format!("give {name} a value in UTF-8"),
            Self::Unknown(placeholder) if placeholder.starts_with("${input:") => {
                "nothing is asked for at the start; put the value into an environment variable and write ${NAME}".into()
            }
            Self::Unknown(_) => "write ${NAME}, ${NAME:-default} or ${env:NAME}, or `$${` for the characters themselves".into(),
        }
    }
}

impl fmt::Display for VariableFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unset(name) => write!(f, "the variable {name} is not set"),
            Self::NotText(name) => write!(f, "the variable {name} does not hold readable text"),
            Self::Unknown(placeholder) => write!(f, "`{placeholder}` is no placeholder"),
        }
    }
}

/// Fills every placeholder.
///
/// # Errors
///
/// Everything that cannot be filled, in its order.
pub(super) fn fill(template: &str, environment: &Environment) -> Result<String, Vec<VariableFault>> {
    let mut faults = Vec::new();
    let filled = fill_into(template, environment, 0, &mut faults);
    if faults.is_empty() { Ok(filled) } else { Err(faults) }
}

/// Whether there is anything to fill.
pub(super) fn has_placeholder(template: &str) -> bool {
    pieces(template).iter().any(|piece| matches!(piece, Piece::Placeholder(_)))
}

/// The template with its placeholders, defaults covered: for showing.
pub(super) fn covered(template: &str) -> String {
    pieces(template)
        .into_iter()
        .map(|piece| match piece {
            Piece::Text(text) => text.to_owned(),
            Piece::Escape => "$${".to_owned(),
            Piece::Placeholder(inner) => match inner.split_once(":-") {
                Some((name, default)) if !default.is_empty() => format!("${{{name}:-***}}"),
                _ => format!("${{{inner}}}"),
            },
        })
        .collect()
}

enum Piece<'a> {
    Text(&'a str),
    /// `$${`, which stands for `${`.
    Escape,
    /// What stands between `${` and its `}`.
    Placeholder(&'a str),
}

fn pieces(template: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some(at) = rest.find("${") {
        if rest[..at].ends_with('$') {
            pieces.push(Piece::Text(&rest[..at - 1]));
            pieces.push(Piece::Escape);
            rest = &rest[at + 2..];
            continue;
        }
        // A brace that is never closed is text.
        let Some(length) = closing(&rest[at + 2..]) else { break };
        pieces.push(Piece::Text(&rest[..at]));
        pieces.push(Piece::Placeholder(&rest[at + 2..at + 2 + length]));
        rest = &rest[at + 3 + length..];
    }
    pieces.push(Piece::Text(rest));
    pieces
}

/// Where the brace closes that was opened just before `text`; placeholders may stand inside.
fn closing(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut at = 0;
    while at < bytes.len() {
        if text[at..].starts_with("${") {
            depth += 1;
            at += 2;
            continue;
        }
        if bytes[at] == b'}' {
            if depth == 0 {
                return Some(at);
            }
            depth -= 1;
        }
        at += 1;
        while !text.is_char_boundary(at) {
            at += 1;
        }
    }
    None
}

fn fill_into(
    template: &str,
    environment: &Environment,
    depth: usize,
    faults: &mut Vec<VariableFault>,
) -> String {
    let mut out = String::with_capacity(template.len());
    for piece in pieces(template) {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Escape => out.push_str("${"),
            Piece::Placeholder(inner) => out.push_str(&fill_one(inner, environment, depth, faults)),
        }
    }
    out
}

fn fill_one(inner: &str, environment: &Environment, depth: usize, faults: &mut Vec<VariableFault>) -> String {
    let named = inner.strip_prefix("env://").or_else(|| inner.strip_prefix("env:")).unwrap_or(inner);
    let (name, default) = match named.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (named, None),
    };
    if !is_variable_name(name) || depth >= DEPTH_LIMIT {
        faults.push(VariableFault::Unknown(format!("${{{inner}}}")));
        return String::new();
    }
    match (environment.get_os(name), default) {
        (Some(value), _) => match value.to_str() {
            Some(text) => return text.to_owned(),
            None => faults.push(VariableFault::NotText(name.to_owned())),
        },
        (None, Some(default)) => return fill_into(default, environment, depth + 1, faults),
        (None, None) => faults.push(VariableFault::Unset(name.to_owned())),
    }
    String::new()
}

/// The names a shell lets one set. Source: POSIX.1-2017, XBD 3.235.
fn is_variable_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(template: &str) -> Result<String, String> {
        let environment = Environment::from_pairs([("TOK", "s3cr3t"), ("EMPTY", ""), ("LOOP", "${TOK}")]);
        fill(template, &environment)
            .map_err(|faults| faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
    }

    #[test]
    fn placeholders_are_filled_and_everything_else_is_text() {
        let pairs = [
            ("Bearer ${TOK}", "Bearer s3cr3t"),
            ("${env:TOK}", "s3cr3t"),
            ("${env://TOK}", "s3cr3t"),
            ("$TOK costs $5", "$TOK costs $5"),
            ("[${EMPTY}]", "[]"),
            ("${EMPTY:-x}", ""),
            ("${NOPE:-fallback}", "fallback"),
            ("${NOPE:-}", ""),
            ("${NOPE:-a:-b}", "a:-b"),
            ("${NOPE:-http://127.0.0.1:33221}/mcp", "http://127.0.0.1:33221/mcp"),
            ("${NOPE:-${TOK}}!", "s3cr3t!"),
            ("${env:NOPE:-d}", "d"),
            ("${LOOP}", "${TOK}"),
            ("$${TOK}", "${TOK}"),
            ("${unclosed", "${unclosed"),
            ("%TOK% {TOK} ü$", "%TOK% {TOK} ü$"),
            ("", ""),
        ];
        for (template, expected) in pairs {
            assert_eq!(filled(template), Ok(expected.to_owned()), "{template}");
        }
    }

    #[test]
    fn what_cannot_be_filled_is_named_all_of_it() {
        let pairs = [
            ("${A}-${B}", "the variable A is not set; the variable B is not set"),
            ("${A:-${B}}", "the variable B is not set"),
            ("${input:key}", "`${input:key}` is no placeholder"),
            ("${}", "`${}` is no placeholder"),
            ("${1X}", "`${1X}` is no placeholder"),
            ("${A:?no}", "`${A:?no}` is no placeholder"),
        ];
        for (template, expected) in pairs {
            assert_eq!(filled(template), Err(expected.to_owned()), "{template}");
        }
    }

    #[test]
    fn a_shown_template_keeps_its_placeholders_and_covers_defaults() {
        assert_eq!(covered("Bearer ${TOK}"), "Bearer ${TOK}");
        assert_eq!(covered("${TOK:-sk-live}/$${x}"), "${TOK:-***}/$${x}");
        assert!(has_placeholder("a${B}") && !has_placeholder("$B") && !has_placeholder("$${B}"));
    }
}
