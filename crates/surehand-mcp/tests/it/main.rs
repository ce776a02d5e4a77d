#![allow(missing_docs)]
#![allow(clippy::unwrap_used, reason = "a helper of tests may fail a test")]

mod any_json;
mod fixture;
mod opening;
mod pass_through;
mod server;
mod transcript;
