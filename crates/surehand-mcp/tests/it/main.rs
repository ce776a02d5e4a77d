#![allow(missing_docs)]
#![allow(clippy::unwrap_used, reason = "a helper of tests may fail a test")]

mod any_json;
mod fixture;
mod offers;
mod opening;
mod pass_through;
mod questions;
mod server;
mod skills;
mod tasks;
mod transcript;
