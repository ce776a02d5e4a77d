#![allow(missing_docs)]
#![allow(clippy::unwrap_used, reason = "a helper of tests may fail a test")]

mod opening;
mod server;
mod transcript;
