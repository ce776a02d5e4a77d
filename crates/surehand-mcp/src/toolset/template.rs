//! Which addresses belong to a family of resources.

use std::collections::BTreeMap;

/// The values of a template's variables in an address of its family; nothing where the address is of no such family.
///
/// `{name}` stands for characters of one path segment, at least one, percent-decoded; `{+name}` for any, as they are written.
/// Other operators match nothing.
///
/// Source: RFC 6570, levels 1 and 2, read backwards.
pub(super) fn variables_of(template: &str, address: &str) -> Option<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    matches(template, address, &mut found).then_some(found)
}

fn matches(template: &str, address: &str, found: &mut BTreeMap<String, String>) -> bool {
    let Some((literal, rest)) = template.split_once('{') else { return template == address };
    let Some(address) = address.strip_prefix(literal) else { return false };
    let Some((variable, rest)) = rest.split_once('}') else { return false };
    let (name, takes_all) = match variable.strip_prefix('+') {
        Some(name) => (name, true),
        None => (variable, false),
    };
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'%');
    if name.is_empty() || !name.bytes().all(is_name) {
        return false;
    }
    let longest =
        if takes_all { address.len() } else { address.find(['/', '?', '#']).unwrap_or(address.len()) };
    // The longest first, as far as what follows in the template allows.
    for end in (1..=longest).rev().filter(|end| address.is_char_boundary(*end)) {
        if matches(rest, &address[end..], found) {
            let value = &address[..end];
            let value = if takes_all { value.to_owned() } else { percent_decoded(value) };
            found.insert(name.to_owned(), value);
            return true;
        }
    }
    false
}

/// What is no valid escape stays as it is written.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escape = after.get(..2).filter(|_| first == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        match escape.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_gives_the_values_it_was_made_of() {
        for (template, address, expected) in [
            ("test://template/{id}/data", "test://template/123/data", Some("id=123")),
            ("test://template/{id}/data", "test://template/a%20b/data", Some("id=a b")),
            ("test://template/{id}/data", "test://template//data", None),
            ("test://template/{id}/data", "test://template/1/2/data", None),
            ("file:///{+path}", "file:///a/b%20c", Some("path=a/b%20c")),
            ("x:{a}-{b}", "x:1-2-3", Some("a=1-2 b=3")),
            ("x:{a}", "x:é", Some("a=é")),
            ("x:{a}", "x:%zz", Some("a=%zz")),
            ("x:{?q}", "x:1", None),
            ("x:{a", "x:1", None),
            ("x:1", "x:1", Some("")),
        ] {
            let found = variables_of(template, address).map(|values| {
                values.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
            });
            assert_eq!(found.as_deref(), expected, "{template} {address}");
        }
    }
}
