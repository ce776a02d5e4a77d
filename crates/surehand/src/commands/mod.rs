//! One file a command: what it takes (the doc comments are the help text), then what it does.

pub(crate) mod ask;
pub(crate) mod call;
pub(crate) mod chat;
pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod mcp;
pub(crate) mod models;
pub(crate) mod server;
pub(crate) mod tools;
