//! Tests through real sockets.
#![allow(clippy::unwrap_used, reason = "a helper of tests may fail a test")]

mod issuer;
mod resource_server;
