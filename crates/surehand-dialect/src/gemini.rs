//! Gemini's `generateContent`.

mod decode;
mod encode;
mod stream;
mod wire;

use surehand_model::{ModelRequest, ModelTurn};

use crate::{DecodeError, Dialect, EncodeOptions, Encoded, KeyHeader, NameTable, StreamDecoder};

/// The name under which opaque state is kept.
const TAG: &str = "gemini";

/// Gemini's `generateContent` and `streamGenerateContent`.
///
/// A thought signature goes back on the very part it came on.
///
/// Source: Gemini API reference, "Generating content", and its guide to thought signatures.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gemini;

impl Dialect for Gemini {
    fn name(&self) -> &'static str {
        TAG
    }

    fn key_header(&self) -> KeyHeader {
        KeyHeader { name: "x-goog-api-key", prefix: "" }
    }

    fn encode(&self, request: &ModelRequest, options: EncodeOptions<'_>) -> Encoded {
        encode::encode(request, options)
    }

    fn decode(&self, body: &[u8], names: &NameTable) -> Result<ModelTurn, DecodeError> {
        decode::decode(body, names)
    }

    fn stream(&self, names: &NameTable) -> Box<dyn StreamDecoder> {
        Box::new(stream::GeminiStream::new(names))
    }
}
