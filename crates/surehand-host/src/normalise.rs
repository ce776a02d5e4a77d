//! A server's result on its way to the model: what the server wrote, within a size, without characters that nobody can see.

use surehand_model::{CallId, ContentBlock, Label, Note, RawJson, ResourceContents, ToolResult};

use crate::answers;

/// What a server gave back, whatever the transport.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerResult {
    pub(crate) content: Vec<ContentBlock>,
    pub(crate) structured: Option<RawJson>,
    pub(crate) is_error: bool,
}

/// Makes the model's result out of the server's. `limit` is in bytes, over all blocks together.
///
/// Text that passes the limit is cut at a character and says so; other blocks that pass it are left out and said. A result with
/// nothing in it becomes an answer that says that nothing was found, never an empty string.
pub(crate) fn normalise(
    id: CallId,
    name: &str,
    result: ServerResult,
    label: Label,
    limit: usize,
) -> (ToolResult, Vec<Note>) {
    let mut notes = Vec::new();
    let mut left = limit;
    let mut content = Vec::with_capacity(result.content.len());
    for block in result.content {
        if let Some(block) = fit(visible(block), &mut left, name, &mut notes) {
            content.push(block);
        }
    }
    let says_something =
        content.iter().any(|block| !matches!(block, ContentBlock::Text(text) if text.trim().is_empty()));
    if !says_something {
        let told = match &result.structured {
            Some(structured) => cut(strip_hidden(structured.as_str()), &mut left, name, &mut notes),
            None if result.is_error => {
                answers::tool_failed("The tool failed without saying why.", None, None, false).text
            }
            None => answers::nothing_found().text,
        };
        content = vec![ContentBlock::Text(told)];
    }
    let result = ToolResult {
        id,
        name: name.to_owned(),
        content,
        structured: result.structured,
        is_error: result.is_error,
        label,
    };
    (result, notes)
}

fn visible(block: ContentBlock) -> ContentBlock {
    match block {
        ContentBlock::Text(text) => ContentBlock::Text(strip_hidden(&text)),
        ContentBlock::Resource(contents) => ContentBlock::Resource(ResourceContents {
            text: contents.text.map(|text| strip_hidden(&text)),
            ..contents
        }),
        other => other,
    }
}

fn fit(block: ContentBlock, left: &mut usize, name: &str, notes: &mut Vec<Note>) -> Option<ContentBlock> {
    let too_large = |kind: &str, size: usize, notes: &mut Vec<Note>| {
        let why = format!(
            "its {size} bytes pass the limit for results; raise limits.maxResultBytes to let it through"
        );
        notes.push(Note::new(name, format!("{kind} left out"), why));
        Some(ContentBlock::Text(format!("[{kind} of {size} bytes left out: too large]")))
    };
    match block {
        ContentBlock::Text(text) => Some(ContentBlock::Text(cut(text, left, name, notes))),
        ContentBlock::Resource(ResourceContents { text: Some(text), uri, mime_type, blob }) => {
            let text = Some(cut(text, left, name, notes));
            Some(ContentBlock::Resource(ResourceContents { uri, mime_type, text, blob }))
        }
        ContentBlock::Image { data, .. } if data.len() > *left => too_large("image", data.len(), notes),
        ContentBlock::Audio { data, .. } if data.len() > *left => too_large("audio", data.len(), notes),
        ContentBlock::Resource(ResourceContents { blob: Some(blob), .. }) if blob.len() > *left => {
            too_large("resource", blob.len(), notes)
        }
        ContentBlock::Unknown(raw) if raw.as_str().len() > *left => {
            too_large("block", raw.as_str().len(), notes)
        }
        other => {
            *left = left.saturating_sub(size_of_block(&other));
            Some(other)
        }
    }
}

fn size_of_block(block: &ContentBlock) -> usize {
    match block {
        ContentBlock::Text(text) => text.len(),
        ContentBlock::Image { data, .. } | ContentBlock::Audio { data, .. } => data.len(),
        ContentBlock::Resource(contents) => {
            contents.text.as_ref().map_or(0, String::len) + contents.blob.as_ref().map_or(0, String::len)
        }
        ContentBlock::ResourceLink { uri, .. } => uri.len(),
        ContentBlock::Unknown(raw) => raw.as_str().len(),
    }
}

fn cut(text: String, left: &mut usize, name: &str, notes: &mut Vec<Note>) -> String {
    if text.len() <= *left {
        *left -= text.len();
        return text;
    }
    let mut end = *left;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    *left = 0;
    let why =
        format!("{} of {} bytes are shown; raise limits.maxResultBytes to let it through", end, text.len());
    notes.push(Note::new(name, "result cut", why));
    format!("{}\n[cut here: {} of {} bytes are shown]", &text[..end], end, text.len())
}

/// Takes out what a reader cannot see: terminal escape sequences, directional controls, zero-width marks that join nothing, and
/// Unicode tags. The joiners U+200C and U+200D stay, since words and emoji need them; so do tab, line feed and carriage return.
///
/// Source: ECMA-48 section 5.4 (control sequences); UAX #9 (directional controls); Unicode tags block.
fn strip_hidden(text: &str) -> String {
    let plain = |c: char| !is_hidden(c) && c != '\u{1b}';
    if text.chars().all(plain) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\u{1b}' {
            if !is_hidden(c) {
                out.push(c);
            }
            continue;
        }
        match rest.peek() {
            // A control sequence: parameters and intermediates up to its final byte.
            Some('[') => {
                rest.next();
                while let Some(next) = rest.next_if(|c| ('\u{20}'..='\u{7e}').contains(c)) {
                    if ('\u{40}'..='\u{7e}').contains(&next) {
                        break;
                    }
                }
            }
            // A command string: up to BEL or the string terminator, and not past the line.
            Some(']' | 'P' | '_' | '^') => {
                rest.next();
                while let Some(next) = rest.next_if(|c| *c != '\n') {
                    if next == '\u{7}' {
                        break;
                    }
                    if next == '\u{1b}' {
                        rest.next_if_eq(&'\\');
                        break;
                    }
                }
            }
            _ => {
                rest.next_if(|c| ('\u{30}'..='\u{7e}').contains(c));
            }
        }
    }
    out
}

fn is_hidden(c: char) -> bool {
    let control = c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{1b}');
    let invisible = matches!(
        c,
        '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}'
        | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
    );
    control || invisible
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(result: ServerResult, limit: usize) -> (Vec<ContentBlock>, usize) {
        let (result, notes) = normalise("c1".into(), "t", result, Label::default(), limit);
        (result.content, notes.len())
    }

    fn text(text: &str) -> ServerResult {
        ServerResult { content: vec![ContentBlock::Text(text.into())], ..ServerResult::default() }
    }

    #[test]
    fn what_nobody_can_see_does_not_reach_the_model() {
        let hidden = "a\u{1b}[31mred\u{1b}[0m \u{1b}]0;title\u{7}b\u{202e}c\u{e0041}d\u{200b}";
        assert_eq!(told(text(hidden), 1000), (vec![ContentBlock::Text("ared bcd".into())], 0));
        let joined = "👩\u{200d}🔬 می\u{200c}خواهم\ttab";
        assert_eq!(told(text(joined), 1000), (vec![ContentBlock::Text(joined.into())], 0));
    }

    #[test]
    fn nothing_at_all_is_said_in_words() {
        let nothing = vec![ContentBlock::Text(r#"{"result":null,"message":"No matching record."}"#.into())];
        assert_eq!(told(ServerResult::default(), 1000), (nothing.clone(), 0));
        assert_eq!(told(text("  \n"), 1000), (nothing, 0));
        let structured = ServerResult {
            structured: Some(RawJson::parse(r#"{"rows":[1.10]}"#).unwrap()),
            ..ServerResult::default()
        };
        assert_eq!(told(structured, 1000), (vec![ContentBlock::Text(r#"{"rows":[1.10]}"#.into())], 0));
    }

    #[test]
    fn a_long_text_is_cut_between_characters_and_says_so() {
        let (content, notes) = told(text("北京上海"), 7);
        assert_eq!(content, [ContentBlock::Text("北京\n[cut here: 6 of 12 bytes are shown]".into())]);
        assert_eq!(notes, 1);
    }

    #[test]
    fn an_image_stays_beside_structured_content() {
        let image = ContentBlock::Image { data: "aGk=".into(), mime_type: "image/png".into() };
        let both = ServerResult {
            content: vec![image.clone()],
            structured: Some(RawJson::empty_object()),
            is_error: false,
        };
        assert_eq!(told(both, 1000), (vec![image], 0));
    }
}
