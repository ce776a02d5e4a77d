//! The words that every part of Surehand shares, as plain data.
//!
//! The one decision that shapes this crate: **JSON that belongs to somebody else stays text.** Arguments, schemas and
//! structured results are held as [`RawJson`], byte for byte as they came, and are parsed into a [`Json`] tree (which keeps
//! key order and every digit) only where something must be looked at or changed.
//!
//! This crate knows no provider's spelling and no protocol revision's. It opens nothing, waits for nothing and reads no clock.

mod call;
mod content;
mod json;
mod label;
mod message;
mod note;
mod raw;
mod request;
mod secret;
mod tool;
mod turn;

pub use call::{CallId, ToolCall};
pub use content::{ContentBlock, ResourceContents, ToolResult};
pub use json::{Json, JsonError};
pub use label::{Integrity, Label};
pub use message::{Message, Part, PartKind, ProviderState, Role};
pub use note::Note;
pub use raw::RawJson;
pub use request::{ModelRequest, Sampling, ToolChoice};
pub use secret::Secret;
pub use tool::{Tool, ToolAnnotations};
pub use turn::{Finish, FinishReason, ModelEvent, ModelTurn, Usage};
