//! How values of the configuration are shown: placeholders as they stand, anything that may be a secret covered.

use super::variables::{covered, has_placeholder};

/// What stands for a covered value.
const COVER: &str = "***";

/// Parts of names whose values are secrets.
const SECRET_NAMES: &[&str] = &[
    "key",
    "token",
    "secret",
    "password",
    "passwd",
    "auth",
    "credential",
    "cookie",
    "bearer",
    "signature",
    "dsn",
];

/// Beginnings of values that are keys whatever they are called.
const SECRET_BEGINNINGS: &[&str] = &[
    "sk-",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "AIza",
    "Bearer ",
    "eyJ",
];

/// The text with every character escaped that a terminal would act on or a person could not see.
pub(super) fn visible(text: &str) -> String {
    text.chars().map(|c| if is_hidden(c) { c.escape_unicode().to_string() } else { c.to_string() }).collect()
}

/// Whether a character is a control character, has no width, or turns the direction of writing.
pub(super) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// A value of a variable or a header: a placeholder as it stands, anything written out covered.
pub(super) fn value(template: &str) -> String {
    match template {
        "" => String::new(),
        _ if has_placeholder(template) => visible(&covered(template)),
        _ => COVER.to_owned(),
    }
}

/// A command line, each word quoted where it must be.
pub(super) fn command_line(words: &[String]) -> String {
    let mut shown = Vec::with_capacity(words.len());
    let mut follows_secret_flag = false;
    for text in words {
        let word = if follows_secret_flag { value(text) } else { word(text) };
        follows_secret_flag = text.starts_with('-') && !text.contains('=') && is_secret_name(text);
        shown.push(quoted(&word));
    }
    visible(&shown.join(" "))
}

/// An address: a password and the values of telling parameters covered.
pub(super) fn address(template: &str) -> String {
    let (before, query) = match template.split_once('?') {
        Some((before, query)) => (before, Some(query)),
        None => (template, None),
    };
    let mut shown = without_password(before);
    if let Some(query) = query {
        let parameters: Vec<String> = query.split('&').map(word).collect();
        shown.push('?');
        shown.push_str(&parameters.join("&"));
    }
    visible(&shown)
}

/// Part of a command line in running text.
pub(super) fn covered_text(text: &str) -> String {
    word(text)
}

fn word(text: &str) -> String {
    if let Some(at) = text.find(['=', ':'])
        && is_secret_name(&text[..at])
    {
        let (name, rest) = text.split_at(at + 1);
        let blanks = rest.len() - rest.trim_start().len();
        return format!("{name}{}{}", &rest[..blanks], value(&rest[blanks..]));
    }
    if text.contains("://") {
        return without_password(text);
    }
    let bare = text.split_once('=').map_or(text, |(_, value)| value);
    if SECRET_BEGINNINGS.iter().any(|beginning| bare.starts_with(beginning)) {
        return text.replacen(bare, &value(bare), 1);
    }
    covered(text)
}

fn without_password(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return covered(text) };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let Some((user, host)) = rest[..end].rsplit_once('@') else { return covered(text) };
    let user = match user.split_once(':') {
        Some((name, password)) => format!("{name}:{}", value(password)),
        None => value(user),
    };
    format!("{scheme}://{user}@{host}{}", covered(&rest[end..]))
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_NAMES.iter().any(|part| name.contains(part))
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=@%+,${}*".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_out_secrets_are_covered_and_placeholders_stay() {
        let words =
            |words: &[&str]| command_line(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(words(&["npx", "-y", "a server", "--root", "."]), "npx -y 'a server' --root .");
        assert_eq!(
            words(&["srv", "--api-key", "abc", "--token=xyz", "--k=${NOPE}"]),
            "srv --api-key *** --token=*** --k=${NOPE}"
        );
        assert_eq!(words(&["srv", "--api-key", "${KEY}"]), "srv --api-key ${KEY}");
        assert_eq!(words(&["docker", "-e", "GH_TOKEN=t", "ghp_123"]), "docker -e GH_TOKEN=*** ***");
        assert_eq!(words(&["r", "--header", "Authorization: Bearer x"]), "r --header 'Authorization: ***'");
        assert_eq!(words(&["pg", "postgres://me:pw@h/db"]), "pg postgres://me:***@h/db");
        assert_eq!(address("https://h/mcp?api_key=1&x=2"), "https://h/mcp?api_key=***&x=2");
        assert_eq!(address("${BASE:-http://h}/mcp"), "${BASE:-***}/mcp");
        assert_eq!(
            [value("Bearer ${T}"), value("abc"), value("")],
            ["Bearer ${T}", "***", ""].map(str::to_owned)
        );
    }
}
