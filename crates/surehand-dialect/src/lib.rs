//! Every provider's wire, each to and from [`surehand_model`]. Pure: bytes and texts in, values out.
//!
//! The one decision that shapes this crate: **a dialect loses nothing that somebody will miss, and never lets one part spoil
//! the whole.** A tool that a provider would refuse is left out alone, with a note; a call whose arguments cannot be read stays in
//! the turn with its text; opaque state goes back byte for byte to where it came from and nowhere else.
//!
//! Each dialect is a folder of the same four files: `wire.rs` (their JSON as types), `encode.rs`, `decode.rs`, `stream.rs`.
//! What they share stands beside the folders.

mod accumulator;
mod anthropic;
mod arguments;
mod compatible;
mod content;
mod dialect;
mod fault;
mod gemini;
mod history;
mod loose;
mod lower;
mod members;
mod names;
mod openai;
mod prepare;
mod quirks;
mod turn_builder;

pub use accumulator::{CallAccumulator, CallDelta};
pub use anthropic::Anthropic;
pub use compatible::{VENDORS, Vendor, vendor, vendor_of_url};
pub use dialect::{DecodeError, Dialect, EncodeOptions, Encoded, KeyHeader, StreamDecoder};
pub use fault::{ProviderFault, read_fault};
pub use gemini::Gemini;
pub use lower::{Lowered, SchemaTarget, lower};
pub use names::{NameRule, NameTable};
pub use openai::OpenAi;
pub use quirks::{Echo, EchoWhen, IdRule, ParallelFlag, Quirks};
