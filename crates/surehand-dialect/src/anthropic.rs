//! Anthropic's Messages.

mod decode;
mod encode;
mod stream;
mod wire;

use surehand_model::{ModelRequest, ModelTurn};

use crate::{DecodeError, Dialect, EncodeOptions, Encoded, KeyHeader, NameTable, StreamDecoder};

/// The name under which opaque state is kept.
const TAG: &str = "anthropic";

/// Anthropic's Messages, version `2023-06-01`.
///
/// Blocks of thinking go back byte for byte and in their place, or not at all.
///
/// Source: Anthropic API reference, "Messages".
#[derive(Clone, Copy, Debug, Default)]
pub struct Anthropic;

impl Dialect for Anthropic {
    fn name(&self) -> &'static str {
        TAG
    }

    fn key_header(&self) -> KeyHeader {
        KeyHeader { name: "x-api-key", prefix: "" }
    }

    fn encode(&self, request: &ModelRequest, options: EncodeOptions<'_>) -> Encoded {
        encode::encode(request, options)
    }

    fn decode(&self, body: &[u8], names: &NameTable) -> Result<ModelTurn, DecodeError> {
        decode::decode(body, names)
    }

    fn stream(&self, names: &NameTable) -> Box<dyn StreamDecoder> {
        Box::new(stream::AnthropicStream::new(names))
    }
}
