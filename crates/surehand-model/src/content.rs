use serde::{Deserialize, Serialize};

use crate::{CallId, Label, RawJson};

/// One piece of what a tool gave back, or of what a message shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ContentBlock {
    /// Plain text.
    Text(String),
    /// A picture.
    Image {
        /// Base64, as it came.
        data: String,
        /// For example `image/png`.
        mime_type: String,
    },
    /// A sound.
    Audio {
        /// Base64, as it came.
        data: String,
        /// For example `audio/wav`.
        mime_type: String,
    },
    /// The contents of a resource, embedded.
    Resource(ResourceContents),
    /// A resource that can be read elsewhere.
    ResourceLink {
        /// Where.
        uri: String,
        /// Its name.
        name: String,
        /// What it holds, where known.
        mime_type: Option<String>,
        /// For the model.
        description: Option<String>,
    },
    /// A kind of block this version has no word for, kept as it came.
    Unknown(RawJson),
}

/// What a resource holds: `text`, or `blob` in base64.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceContents {
    /// Which resource.
    pub uri: String,
    /// What it holds, where known.
    pub mime_type: Option<String>,
    /// Text, for textual contents.
    pub text: Option<String>,
    /// Base64, for binary contents.
    pub blob: Option<String>,
}

/// The answer to one call. Every call gets exactly one, whatever happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The call that this answers.
    pub id: CallId,
    /// The tool's name as the model wrote it; some providers want it repeated.
    pub name: String,
    /// What the model is shown, in order.
    pub content: Vec<ContentBlock>,
    /// The structured form, where the tool gave one.
    pub structured: Option<RawJson>,
    /// The call went wrong, here or in the tool; the content says how.
    pub is_error: bool,
    /// Where it comes from and how far it may be trusted.
    pub label: Label,
}

impl ToolResult {
    /// A result of one text.
    pub fn text(id: CallId, name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            id,
            name: name.into(),
            content: vec![ContentBlock::Text(text.into())],
            structured: None,
            is_error: false,
            label: Label::default(),
        }
    }

    /// The text blocks, joined by line feeds. Other blocks are left out.
    pub fn joined_text(&self) -> String {
        let texts: Vec<&str> = self
            .content
            .iter()
            .filter_map(|block| match block {
                ContentBlock::Text(text) => Some(text.as_str()),
                ContentBlock::Resource(ResourceContents { text: Some(text), .. }) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        texts.join("\n")
    }
}
