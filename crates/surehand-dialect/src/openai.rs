//! OpenAI's Chat Completions, and so every endpoint that speaks it.

mod decode;
mod encode;
mod stream;
mod wire;

use std::borrow::Cow;

use surehand_model::{ModelRequest, ModelTurn};

use crate::{DecodeError, Dialect, EncodeOptions, Encoded, KeyHeader, NameTable, StreamDecoder};

/// OpenAI's Chat Completions as one vendor speaks it.
///
/// What a vendor wants to see again is kept under the vendor's name and goes back to that vendor alone.
///
/// Source: OpenAI API reference, "Chat Completions".
#[derive(Clone, Debug)]
pub struct OpenAi {
    /// `openai`, or `openai/VENDOR`.
    tag: Cow<'static, str>,
}

impl OpenAi {
    /// As OpenAI itself speaks.
    pub const fn new() -> Self {
        Self { tag: Cow::Borrowed("openai") }
    }

    /// As another vendor speaks.
    pub fn of_vendor(vendor: &str) -> Self {
        Self { tag: Cow::Owned(format!("openai/{vendor}")) }
    }
}

impl Default for OpenAi {
    fn default() -> Self {
        Self::new()
    }
}

impl Dialect for OpenAi {
    fn name(&self) -> &'static str {
        "openai"
    }

    fn key_header(&self) -> KeyHeader {
        KeyHeader { name: "authorization", prefix: "Bearer " }
    }

    fn encode(&self, request: &ModelRequest, options: EncodeOptions<'_>) -> Encoded {
        encode::encode(&self.tag, request, options)
    }

    fn decode(&self, body: &[u8], names: &NameTable) -> Result<ModelTurn, DecodeError> {
        decode::decode(&self.tag, body, names)
    }

    fn stream(&self, names: &NameTable) -> Box<dyn StreamDecoder> {
        Box::new(stream::OpenAiStream::new(&self.tag, names))
    }
}
