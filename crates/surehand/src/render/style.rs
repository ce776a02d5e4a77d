use std::borrow::Cow;

pub(crate) const RESET: &str = "\u{1b}[0m";
pub(crate) const BOLD: &str = "\u{1b}[1m";
pub(crate) const DIM: &str = "\u{1b}[2m";
pub(crate) const ITALIC: &str = "\u{1b}[3m";
pub(crate) const UNDERLINE: &str = "\u{1b}[4m";
pub(crate) const RED: &str = "\u{1b}[31m";
pub(crate) const GREEN: &str = "\u{1b}[32m";
pub(crate) const YELLOW: &str = "\u{1b}[33m";
/// Code, inline and in blocks.
pub(crate) const CODE: &str = "\u{1b}[36m";

/// Wraps `text` in a style where styles are wanted.
pub(crate) fn paint(styled: bool, style: &str, text: &str) -> String {
    if styled { format!("{style}{text}{RESET}") } else { text.to_owned() }
}

/// Takes out what could command a terminal or reorder what is read: control characters other than tab and line feed, and
/// the characters that override the direction of writing. For words from models, tools and servers.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if text.chars().any(is_unsafe) {
        Cow::Owned(text.chars().filter(|c| !is_unsafe(*c)).collect())
    } else {
        Cow::Borrowed(text)
    }
}

fn is_unsafe(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}

/// One line of at most `width` columns: line feeds and runs of blanks become one blank, what does not fit becomes `…`.
pub(crate) fn one_line(text: &str, width: usize) -> String {
    use unicode_width::UnicodeWidthChar;
    let joined = clean(text).split_whitespace().collect::<Vec<_>>().join(" ");
    let mut used = 0;
    for (at, c) in joined.char_indices() {
        used += c.width().unwrap_or(0);
        if used > width {
            let mut cut = String::new();
            let mut room = width.saturating_sub(1);
            for c in joined[..at].chars() {
                let columns = c.width().unwrap_or(0);
                if columns > room {
                    break;
                }
                room -= columns;
                cut.push(c);
            }
            cut.push('…');
            return cut;
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_by_columns_not_by_bytes() {
        assert_eq!(one_line("上海 \n 天气", 20), "上海 天气");
        assert_eq!(one_line("上海天气", 6), "上海…");
        assert_eq!(one_line("上海天气", 8), "上海天气");
        assert_eq!(one_line("abc", 0), "…");
    }
}
