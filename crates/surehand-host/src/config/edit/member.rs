//! One member of an object: put in, taken out, given another value.

use surehand_model::Json;

use super::super::jsonc::{Member, Node, trivia_end};
use super::layout::{Layout, Splice, begins_line, indent_of, line_start};

/// Puts a member at the end of an object, laid out as its neighbours are.
pub(super) fn insertion(text: &str, layout: &Layout, object: &Node, key: &str, value: &Json) -> Vec<Splice> {
    match object.members().and_then(<[Member]>::last) {
        None => vec![into_empty(text, layout, object, key, value)],
        Some(last) => after_last(text, layout, last, key, value),
    }
}

fn into_empty(text: &str, layout: &Layout, object: &Node, key: &str, value: &Json) -> Splice {
    let close = object.span.end - 1;
    let inner = &text[object.span.start + 1..close];
    // After the last comment inside, if there is one.
    let at = object.span.start + 1 + inner.trim_end().len();
    let has_comment = !inner.trim().is_empty();
    let key = layout.key(key);
    if layout.is_one_line && !inner.contains('\n') {
        let blank = if inner.is_empty() { "" } else { " " };
        let member = layout.flat(value);
        return Splice { range: at..close, text: format!("{blank}{key}{member}{blank}") };
    }
    let base = indent_of(text, object.span.start);
    let indent = format!("{base}{}", layout.unit);
    let member = format!("{}{indent}{key}{}", layout.newline, layout.written(value, &indent));
    match text[at..close].find('\n') {
        // The closing bracket has its line already; blanks before the line break are the user's.
        Some(_) if has_comment => Splice { range: at..at, text: member },
        _ => Splice { range: at..close, text: format!("{member}{}{base}", layout.newline) },
    }
}

fn after_last(text: &str, layout: &Layout, last: &Member, key: &str, value: &Json) -> Vec<Splice> {
    let end = last.value.span.end;
    let comma = comma_after(text, end);
    let key = layout.key(key);
    let trailing = if comma.is_some() { "," } else { "" };
    let mut splices = Vec::new();
    if comma.is_none() {
        splices.push(Splice { range: end..end, text: ",".into() });
    }
    let after = comma.map_or(end, |comma| comma + 1);
    let (at, member) = if begins_line(text, last.key_span.start) {
        let indent = indent_of(text, last.key_span.start);
        let neighbour = &last.value;
        let neighbour_is_flat = neighbour.members().is_some_and(|members| !members.is_empty())
            && !text[neighbour.span.clone()].contains('\n');
        let value = if neighbour_is_flat { layout.flat(value) } else { layout.written(value, indent) };
        (comments_end(text, after), format!("{}{indent}{key}{value}{trailing}", layout.newline))
    } else {
        let blank = if layout.is_tight { "" } else { " " };
        (after, format!("{blank}{key}{}{trailing}", layout.flat(value)))
    };
    splices.push(Splice { range: at..at, text: member });
    splices
}

/// Gives a member another value in the same place.
pub(super) fn replacement(text: &str, layout: &Layout, member: &Member, value: &Json) -> Splice {
    let range = member.value.span.clone();
    let was_flat =
        !text[range.clone()].contains('\n') && member.value.members().is_some_and(|m| !m.is_empty());
    let text = if was_flat || layout.is_one_line {
        layout.flat(value)
    } else {
        layout.written(value, indent_of(text, member.key_span.start))
    };
    Splice { range, text }
}

/// Takes a member out: its lines where it has lines of its own, with a comment that follows on the last of them; else just the
/// member and its comma.
pub(super) fn removal(text: &str, object: &Node, index: usize) -> Vec<Splice> {
    let members = object.members().unwrap_or_default();
    let Some(member) = members.get(index) else { return Vec::new() };
    let start = member.key_span.start;
    let end = member.value.span.end;
    let comma = comma_after(text, end);
    let tail = comma.map_or(end, |comma| comma + 1);
    let before = index.checked_sub(1).and_then(|index| members.get(index));
    let comma_before = before.and_then(|before| comma_after(text, before.value.span.end));

    let mut splices = Vec::new();
    if let (None, Some(at)) = (comma, comma_before) {
        splices.push(Splice { range: at..at + 1, text: String::new() });
    }
    let line_end = comments_end(text, tail);
    let rest = &text[line_end..];
    let line_rest = rest.len() - rest.trim_start_matches([' ', '\t', '\r']).len();
    let has_lines = begins_line(text, start) && rest[line_rest..].starts_with('\n');
    let range = if has_lines {
        let from = line_start(text, start);
        // The comma before may stand on this very line, and must not be deleted twice.
        from..line_end + line_rest + 1
    } else {
        let after_comma = comma_before.map(|at| at + 1);
        let from = match after_comma {
            Some(at) if text[at..start].trim().is_empty() && members.len() == index + 1 => at,
            _ => start,
        };
        let blanks = text[tail..].len() - text[tail..].trim_start_matches([' ', '\t']).len();
        let takes_blanks = members.len() > index + 1 || members.len() == 1;
        from..if takes_blanks { tail + blanks } else { tail }
    };
    splices.push(Splice { range, text: String::new() });
    splices
}

/// Where the comma after a value stands, comments passed over.
fn comma_after(text: &str, end: usize) -> Option<usize> {
    let at = trivia_end(text, end)?;
    text[at..].starts_with(',').then_some(at)
}

/// The end of the comments that follow on the same line; a comment that goes on to the next line is not one of them.
fn comments_end(text: &str, from: usize) -> usize {
    let mut end = from;
    loop {
        let rest = &text[end..];
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let comment = &rest[blanks..];
        let length = if comment.starts_with("//") {
            comment
                .find('\n')
                .map_or(comment.len(), |newline| comment[..newline].trim_end_matches('\r').len())
        } else if comment.starts_with("/*") {
            match comment.find("*/") {
                Some(close) if !comment[..close].contains('\n') => close + 2,
                _ => return end,
            }
        } else {
            return end;
        };
        end += blanks + length;
    }
}
