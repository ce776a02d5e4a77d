//! Scripted models and fake servers for integration tests.
//!
//! For `tests/it` only: a unit test that used it would meet its own crate twice.

mod model;
mod server;

pub use model::{ScriptedModel, call, say};
pub use server::{FakeServer, FakeTool};
