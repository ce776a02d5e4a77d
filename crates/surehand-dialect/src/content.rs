use surehand_model::{ContentBlock, ResourceContents, ToolResult};

/// Stands where a tool gave nothing: providers refuse messages without text.
const NOTHING: &str = "(no output)";

/// A piece of content as the wires know it: words, or media that a dialect shows in its own way if it can.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    Text(String),
    Image {
        data: &'a str,
        mime_type: &'a str,
    },
    Audio {
        data: &'a str,
        mime_type: &'a str,
    },
    /// Another file in base64.
    File {
        data: &'a str,
        mime_type: &'a str,
        uri: &'a str,
    },
}

impl Piece<'_> {
    /// Words in place of media that a wire cannot carry.
    pub(crate) fn in_words(&self, what_then: &str) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Image { data, mime_type } => format!("[image, {mime_type}, {}; {what_then}]", size(data)),
            Self::Audio { data, mime_type } => format!("[audio, {mime_type}, {}; {what_then}]", size(data)),
            Self::File { data, mime_type, uri } => {
                format!("[file {uri}, {mime_type}, {}; {what_then}]", size(data))
            }
        }
    }
}

/// What a wire can carry besides words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carries {
    pub(crate) images: bool,
    pub(crate) audio: bool,
    pub(crate) files: bool,
}

/// The pieces of a result, never none and never blank: where nothing was said, the structured form stands, or words that say so.
/// Media that the wire cannot carry is announced in words.
pub(crate) fn result_pieces(result: &ToolResult, carries: Carries) -> Vec<Piece<'_>> {
    let mut pieces = pieces(&result.content, carries);
    if pieces.is_empty() {
        let text = result.structured.as_ref().map_or(NOTHING, |raw| raw.as_str());
        pieces.push(Piece::Text(text.to_owned()));
    }
    pieces
}

/// The pieces of some content, blank texts left out.
pub(crate) fn pieces(content: &[ContentBlock], carries: Carries) -> Vec<Piece<'_>> {
    content
        .iter()
        .map(|block| {
            let piece = piece(block);
            let carried = match &piece {
                Piece::Text(_) => true,
                Piece::Image { .. } => carries.images,
                Piece::Audio { .. } => carries.audio,
                Piece::File { .. } => carries.files,
            };
            if carried { piece } else { Piece::Text(piece.in_words("this model cannot be shown it")) }
        })
        .filter(|piece| !matches!(piece, Piece::Text(text) if text.trim().is_empty()))
        .collect()
}

/// Words in place of something that an assistant's message cannot carry.
pub(crate) fn in_words(block: &ContentBlock) -> String {
    piece(block).in_words("made by the model")
}

fn piece(block: &ContentBlock) -> Piece<'_> {
    match block {
        ContentBlock::Text(text) => Piece::Text(text.clone()),
        ContentBlock::Image { data, mime_type } => Piece::Image { data, mime_type },
        ContentBlock::Audio { data, mime_type } => Piece::Audio { data, mime_type },
        ContentBlock::Resource(resource) => resource_piece(resource),
        ContentBlock::ResourceLink { uri, name, mime_type, description } => {
            let kind = mime_type.as_ref().map(|kind| format!(", {kind}")).unwrap_or_default();
            let about = description.as_ref().map(|about| format!(": {about}")).unwrap_or_default();
            Piece::Text(format!("[resource link {name} <{uri}>{kind}{about}]"))
        }
        ContentBlock::Unknown(raw) => {
            let kind = raw.to_json().ok().and_then(|json| Some(json.get("type")?.as_str()?.to_owned()));
            Piece::Text(format!(
                "[content of an unsupported kind: {}]",
                kind.as_deref().unwrap_or("not named")
            ))
        }
    }
}

fn resource_piece(resource: &ResourceContents) -> Piece<'_> {
    let mime_type = resource.mime_type.as_deref().unwrap_or("application/octet-stream");
    if let Some(text) = &resource.text {
        return Piece::Text(text.clone());
    }
    let Some(data) = &resource.blob else {
        return Piece::Text(format!("[resource <{}> without contents]", resource.uri));
    };
    if is_textual(mime_type)
        && let Some(text) = decode_base64(data).and_then(|bytes| String::from_utf8(bytes).ok())
    {
        return Piece::Text(text);
    }
    match mime_type.split('/').next() {
        Some("image") => Piece::Image { data, mime_type },
        Some("audio") => Piece::Audio { data, mime_type },
        _ => Piece::File { data, mime_type, uri: &resource.uri },
    }
}

fn is_textual(mime_type: &str) -> bool {
    let kind = mime_type.split(';').next().unwrap_or(mime_type).trim();
    kind.starts_with("text/")
        || ["json", "xml", "yaml", "javascript", "toml"].iter().any(|ending| kind.ends_with(ending))
}

/// The size of what base64 stands for, in words.
fn size(base64: &str) -> String {
    let bytes = base64.trim_end_matches('=').len() * 3 / 4;
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{} KiB", bytes / 1024),
        _ => format!("{} MiB", bytes / 1_048_576),
    }
}

/// Source: RFC 4648, section 4. White space is skipped, padding is optional.
fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut count) = (0_u32, 0_u32);
    for byte in text.trim_end().trim_end_matches('=').bytes() {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'\n' | b'\r' | b' ' | b'\t' => continue,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use surehand_model::{CallId, RawJson};

    use super::*;

    const ALL: Carries = Carries { images: true, audio: true, files: true };

    fn result(content: Vec<ContentBlock>) -> ToolResult {
        ToolResult { content, ..ToolResult::text(CallId::from("1"), "t", "") }
    }

    fn text(text: &str) -> ContentBlock {
        ContentBlock::Text(text.to_owned())
    }

    #[test]
    fn a_result_of_nothing_says_so_and_blank_texts_are_left_out() {
        for content in [vec![], vec![text("")], vec![text("  \n")]] {
            assert_eq!(result_pieces(&result(content), ALL), [Piece::Text("(no output)".to_owned())]);
        }
        assert_eq!(result_pieces(&result(vec![text(""), text("ok")]), ALL), [Piece::Text("ok".to_owned())]);
    }

    #[test]
    fn a_result_that_is_only_structured_is_shown_as_its_json() {
        let mut only = result(Vec::new());
        only.structured = RawJson::parse(r#"{"total": 3}"#).ok();
        assert_eq!(result_pieces(&only, ALL), [Piece::Text(r#"{"total": 3}"#.to_owned())]);
    }

    #[test]
    fn nothing_that_a_tool_gave_vanishes() {
        let content = vec![
            ContentBlock::Resource(ResourceContents {
                uri: "file:///a/Check.cs".to_owned(),
                mime_type: Some("text/plain".to_owned()),
                text: None,
                blob: Some("Y2xhc3MgQSB7fQ==".to_owned()),
            }),
            ContentBlock::ResourceLink {
                uri: "db://t/1".to_owned(),
                name: "row 1".to_owned(),
                mime_type: Some("application/json".to_owned()),
                description: None,
            },
            ContentBlock::Audio { data: "UklGRg==".to_owned(), mime_type: "audio/wav".to_owned() },
            ContentBlock::Unknown(RawJson::parse(r#"{"type":"hologram"}"#).unwrap()),
            ContentBlock::Unknown(RawJson::parse(r#""not an object""#).unwrap()),
        ];
        let none = Carries { images: false, audio: false, files: false };
        let shown: Vec<String> =
            pieces(&content, none).iter().map(|piece| piece.in_words("cannot happen")).collect();
        assert_eq!(
            shown,
            [
                "class A {}",
                "[resource link row 1 <db://t/1>, application/json]",
                "[audio, audio/wav, 4 bytes; this model cannot be shown it]",
                "[content of an unsupported kind: hologram]",
                "[content of an unsupported kind: not named]",
            ]
        );
    }
}
