//! Markdown for a terminal, while it is being written.
//!
//! Text goes out as soon as it is certain what it is: plain words at once, a span such as `**bold**` when its end has come, and
//! nothing later than the end of its line. A marker that turns out to mark nothing is printed as it was written, so that no
//! character of an answer is ever lost to the rendering.

use super::style::{BOLD, CODE, DIM, ITALIC, RESET, UNDERLINE, clean};

/// How much of an unfinished span is held back, in bytes. What is longer is printed as it was written.
const LONGEST_SPAN: usize = 2048;

/// Renders an answer that comes in pieces. Plain (every character as written) where the terminal takes no styles.
#[derive(Debug)]
pub(crate) struct Markdown {
    styled: bool,
    /// What of the current line has not been printed.
    held: String,
    /// The current line, once enough of it is there to tell.
    line: Option<Line>,
    /// The marker that closes the open code block.
    fence: Option<String>,
    /// The last character printed on this line, for the rules on word borders.
    before: Option<char>,
    /// Nothing has been printed since the last line feed.
    at_line_start: bool,
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// Words, styled inside.
    Words,
    /// A heading: styled as a whole.
    Heading,
    /// Inside a code block.
    Code,
    /// A table's row, as written.
    Verbatim,
}

impl Markdown {
    /// A renderer at the start of an answer.
    pub(crate) fn new(styled: bool) -> Self {
        Self { styled, held: String::new(), line: None, fence: None, before: None, at_line_start: true }
    }

    /// Takes the next piece and gives what can be printed now.
    pub(crate) fn push(&mut self, text: &str) -> String {
        if text.is_empty() {
            return String::new();
        }
        if !self.styled {
            self.at_line_start = text.ends_with('\n');
            return text.to_owned();
        }
        let mut out = String::new();
        for piece in text.split_inclusive('\n') {
            match piece.strip_suffix('\n') {
                Some(end) => {
                    self.held.push_str(&clean(end));
                    self.end_line(&mut out);
                }
                None => {
                    self.held.push_str(&clean(piece));
                    self.advance(&mut out, false);
                }
            }
        }
        if !out.is_empty() {
            self.at_line_start = out.ends_with('\n');
        }
        out
    }

    /// Prints what is still held back, and ends the line if one is open. The next piece starts a new answer.
    pub(crate) fn finish(&mut self) -> String {
        let mut out = String::new();
        if self.styled && !self.held.is_empty() {
            self.end_line(&mut out);
            self.at_line_start = true;
        } else if !self.at_line_start {
            if self.line == Some(Line::Heading) {
                out.push_str(RESET);
            }
            out.push('\n');
            self.at_line_start = true;
        }
        *self = Self { at_line_start: true, ..Self::new(self.styled) };
        out
    }

    fn end_line(&mut self, out: &mut String) {
        self.advance(out, true);
        if self.line == Some(Line::Heading) {
            out.push_str(RESET);
        }
        out.push('\n');
        self.held.clear();
        self.line = None;
        self.before = None;
    }

    /// Prints as much of the held text as is certain; all of it when the line is `whole`.
    fn advance(&mut self, out: &mut String, whole: bool) {
        if self.line.is_none() && !self.classify(out, whole) {
            return;
        }
        match self.line {
            Some(Line::Words) => {
                let done = self.spans(out, whole || self.held.len() > LONGEST_SPAN);
                self.held.drain(..done);
            }
            // A code line may still turn out to be the closing fence until something else stands on it.
            Some(Line::Code) if self.held.is_empty() => {}
            Some(Line::Code) => {
                out.push_str(&format!("{CODE}{}{RESET}", self.held));
                self.held.clear();
            }
            Some(Line::Heading | Line::Verbatim) => {
                out.push_str(&self.held);
                self.held.clear();
            }
            None => {}
        }
    }

    /// Finds out what the line is and prints its marker. False while that cannot be told.
    fn classify(&mut self, out: &mut String, whole: bool) -> bool {
        let indent = self.held.len() - self.held.trim_start_matches([' ', '\t']).len();
        let rest = &self.held[indent..];
        if let Some(fence) = &self.fence {
            let marker = fence.as_bytes()[0] as char;
            let may_close = rest.trim_end().chars().all(|c| c == marker);
            if may_close && !whole {
                return false;
            }
            if may_close && rest.trim_end().len() >= fence.len() {
                out.push_str(&format!("{DIM}{}{RESET}", self.held));
                self.held.clear();
                self.fence = None;
                self.line = Some(Line::Verbatim);
            } else {
                self.line = Some(Line::Code);
            }
            return true;
        }
        if rest.is_empty() {
            if whole {
                self.line = Some(Line::Verbatim);
            }
            return whole;
        }
        let first = rest.chars().next().unwrap_or(' ');
        let run = rest.chars().take_while(|c| *c == first).count();
        let after = rest[run * first.len_utf8()..].chars().next();
        match first {
            '`' | '~' => {
                if run >= 3 {
                    // The language stands behind the marker: told only by the whole line.
                    if !whole {
                        return false;
                    }
                    if first == '~' || !rest[run..].contains('`') {
                        self.fence = Some(rest[..run].to_owned());
                        out.push_str(&format!("{DIM}{}{RESET}", self.held));
                        self.held.clear();
                        self.line = Some(Line::Verbatim);
                        return true;
                    }
                } else if after.is_none() && !whole {
                    return false;
                }
                self.line = Some(Line::Words);
            }
            '#' => {
                if after.is_none() && !whole {
                    return false;
                }
                if run <= 6 && after == Some(' ') {
                    out.push_str(BOLD);
                    if run <= 2 {
                        out.push_str(UNDERLINE);
                    }
                    self.held.drain(..indent + run + 1);
                    self.line = Some(Line::Heading);
                } else {
                    self.line = Some(Line::Words);
                }
            }
            '-' | '+' | '*' => {
                if after.is_none() && !whole {
                    return false;
                }
                let is_rule = first != '+' && run >= 3 && rest.trim_end().chars().all(|c| c == first);
                if is_rule && !whole {
                    return false;
                }
                if is_rule {
                    out.push_str(&format!("{DIM}{}{RESET}", "─".repeat(24)));
                    self.held.clear();
                    self.line = Some(Line::Verbatim);
                } else {
                    if run == 1 && after == Some(' ') {
                        out.push_str(&self.held[..indent]);
                        out.push('•');
                        self.held.drain(..=indent);
                    }
                    self.line = Some(Line::Words);
                }
            }
            '>' => {
                out.push_str(&self.held[..indent]);
                out.push_str(&format!("{DIM}▏{RESET}"));
                self.held.drain(..=indent);
                self.line = Some(Line::Words);
            }
            '|' => self.line = Some(Line::Verbatim),
            _ => self.line = Some(Line::Words),
        }
        true
    }

    /// Prints the certain part of a line of words; gives how many bytes of it are done.
    fn spans(&mut self, out: &mut String, whole: bool) -> usize {
        let text = self.held.as_str();
        let mut at = 0;
        let mut before = self.before;
        while let Some(first) = text[at..].chars().next() {
            let rest = &text[at..];
            let found = match first {
                '`' => code_span(rest, whole),
                '*' | '_' => emphasis(rest, before, whole),
                '[' => link(rest, whole),
                '\\' => escape(rest, whole),
                _ => Span::Literal(first.len_utf8()),
            };
            match found {
                Span::Literal(length) => {
                    out.push_str(&rest[..length]);
                    at += length;
                }
                Span::Styled { length, printed } => {
                    out.push_str(&printed);
                    at += length;
                }
                Span::Open => break,
            }
            before = text[..at].chars().next_back();
        }
        self.before = before;
        at
    }
}

/// What begins at a place.
enum Span {
    /// This many bytes as written.
    Literal(usize),
    /// This many bytes, printed so.
    Styled { length: usize, printed: String },
    /// It cannot be told before more has come.
    Open,
}

fn code_span(rest: &str, whole: bool) -> Span {
    let run = rest.chars().take_while(|c| *c == '`').count();
    let marker = &rest[..run];
    let mut from = run;
    while let Some(found) = rest[from..].find('`') {
        let start = from + found;
        let length = rest[start..].chars().take_while(|c| *c == '`').count();
        if start + length == rest.len() && !whole {
            return Span::Open;
        }
        if length == marker.len() {
            let inside = rest[run..start].trim_matches(' ');
            return Span::Styled { length: start + length, printed: format!("{CODE}{inside}{RESET}") };
        }
        from = start + length;
    }
    if whole { Span::Literal(run) } else { Span::Open }
}

fn emphasis(rest: &str, before: Option<char>, whole: bool) -> Span {
    let marker = if rest.starts_with('_') { '_' } else { '*' };
    let run = rest.chars().take_while(|c| *c == marker).count();
    let Some(next) = rest[run..].chars().next() else {
        return if whole { Span::Literal(run) } else { Span::Open };
    };
    let inside_word = marker == '_' && before.is_some_and(char::is_alphanumeric);
    if run > 3 || next.is_whitespace() || inside_word {
        return Span::Literal(run);
    }
    let mut from = run;
    while let Some(found) = rest[from..].find(marker) {
        let start = from + found;
        let length = rest[start..].chars().take_while(|c| *c == marker).count();
        if start + length == rest.len() && !whole {
            return Span::Open;
        }
        let after = rest[start + length..].chars().next();
        let closes = length == run
            && !rest[..start].ends_with(char::is_whitespace)
            && !(marker == '_' && after.is_some_and(char::is_alphanumeric));
        if closes {
            let style = match run {
                1 => ITALIC.to_owned(),
                2 => BOLD.to_owned(),
                _ => format!("{BOLD}{ITALIC}"),
            };
            let printed = format!("{style}{}{RESET}", nested(&rest[run..start], &style));
            return Span::Styled { length: start + length, printed };
        }
        from = start + length;
    }
    if whole { Span::Literal(run) } else { Span::Open }
}

/// The inside of an emphasis, itself rendered; the outer style is taken up again after each inner one.
fn nested(inside: &str, style: &str) -> String {
    let mut inner = Markdown { line: Some(Line::Words), held: inside.to_owned(), ..Markdown::new(true) };
    let mut out = String::new();
    inner.advance(&mut out, true);
    out.replace(RESET, &format!("{RESET}{style}"))
}

fn link(rest: &str, whole: bool) -> Span {
    let not_a_link = if whole { Span::Literal(1) } else { Span::Open };
    let Some(close) = rest.find(']') else { return not_a_link };
    match rest[close + 1..].chars().next() {
        None if !whole => return Span::Open,
        Some('(') => {}
        _ => return Span::Literal(1),
    }
    let Some(end) = rest[close..].find(')') else { return not_a_link };
    let (label, target) = (&rest[1..close], &rest[close + 2..close + end]);
    if target.contains(char::is_whitespace) || target.is_empty() {
        return Span::Literal(1);
    }
    let printed = if label == target || label.is_empty() {
        format!("{UNDERLINE}{target}{RESET}")
    } else {
        format!("{label} ({UNDERLINE}{target}{RESET})")
    };
    Span::Styled { length: close + end + 1, printed }
}

fn escape(rest: &str, whole: bool) -> Span {
    match rest[1..].chars().next() {
        None if !whole => Span::Open,
        Some(next) if next.is_ascii_punctuation() => Span::Styled { length: 2, printed: next.to_string() },
        _ => Span::Literal(1),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    /// Styles as readable words.
    fn readable(text: &str) -> String {
        [(BOLD, "<b>"), (DIM, "<dim>"), (ITALIC, "<i>"), (UNDERLINE, "<u>"), (CODE, "<code>"), (RESET, "</>")]
            .iter()
            .fold(text.to_owned(), |text, (code, word)| text.replace(code, word))
    }

    fn render_in_pieces(text: &str, size: usize) -> String {
        let mut markdown = Markdown::new(true);
        let mut out = String::new();
        let characters: Vec<char> = text.chars().collect();
        for piece in characters.chunks(size) {
            out.push_str(&markdown.push(&piece.iter().collect::<String>()));
        }
        out + &markdown.finish()
    }

    fn check(text: &str, expected: Expect) {
        let whole = render_in_pieces(text, usize::MAX);
        expected.assert_eq(&readable(&whole));
        for size in [1, 2, 3, 7] {
            // Code lines may be styled in several pieces; what is seen is the same.
            let pieces = render_in_pieces(text, size).replace(&format!("{RESET}{CODE}"), "");
            assert_eq!(readable(&pieces), readable(&whole), "in pieces of {size}");
        }
    }

    #[test]
    fn headings_lists_quotes_and_emphasis_are_styled() {
        check(
            "# Weather\n\n- **上海**: 21 °C\n* _rain_ and ***wind***\n1. `code` here\n> quoted\n### Small\n---\n",
            expect![[r#"
                <b><u>Weather</>

                • <b>上海</>: 21 °C
                • <i>rain</> and <b><i>wind</>
                1. <code>code</> here
                <dim>▏</> quoted
                <b>Small</>
                <dim>────────────────────────</>
            "#]],
        );
    }

    #[test]
    fn markers_that_mark_nothing_stay() {
        check(
            "2 * 3 * 4, a_b_c, **open\n#hashtag\nx `y\n[not a link] [a](b c)\n\\*plain\\*\n-5 degrees",
            expect![[r#"
                2 * 3 * 4, a_b_c, **open
                #hashtag
                x `y
                [not a link] [a](b c)
                *plain*
                -5 degrees
            "#]],
        );
    }

    #[test]
    fn code_blocks_are_not_read_as_markdown() {
        check(
            "```rust\nlet a = 2 * 3;\n# **x**\n\n``\n```\nafter **all**",
            expect![[r#"
                <dim>```rust</>
                <code>let a = 2 * 3;</>
                <code># **x**</>

                <code>``</>
                <dim>```</>
                after <b>all</>
            "#]],
        );
    }

    #[test]
    fn tables_pass_as_they_are_and_links_show_where_they_lead() {
        check(
            "| a | **b** |\n|---|---|\nsee [docs](https://example.test/x_y) and **[a](b)**",
            expect![[r#"
                | a | **b** |
                |---|---|
                see docs (<u>https://example.test/x_y</>) and <b>a (<u>b</><b>)</>
            "#]],
        );
    }

    #[test]
    fn plain_words_are_printed_at_once() {
        let mut markdown = Markdown::new(true);
        assert_eq!(markdown.push("It is "), "It is ");
        assert_eq!(markdown.push("**21"), "");
        assert_eq!(markdown.push("** now"), format!("{BOLD}21{RESET} now"));
        assert_eq!(markdown.finish(), "\n");
    }

    #[test]
    fn an_answer_cannot_command_the_terminal() {
        let mut markdown = Markdown::new(true);
        assert_eq!(markdown.push("a\u{1b}[2Jb\u{9b}c\u{202e}d\r\n"), "a[2Jbcd\n");
    }

    #[test]
    fn without_styles_every_character_is_kept_and_the_last_line_is_ended() {
        let mut markdown = Markdown::new(false);
        assert_eq!(markdown.push("# a **b**") + &markdown.finish(), "# a **b**\n");
        assert_eq!(markdown.push("a\n") + &markdown.finish(), "a\n");
        assert_eq!(markdown.finish(), "");
    }
}
