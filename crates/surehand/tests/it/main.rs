//! The real binary, run in a home of its own: what it prints, where, and with which exit code.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod ask;
mod call;
mod chat;
mod config;
mod elicit;
#[cfg(feature = "local")]
mod embedded;
mod errors;
mod help;
mod home;
mod layers;
mod login;
mod models;
mod peers;
mod readme;
mod server;
mod terminal;
mod tools;
