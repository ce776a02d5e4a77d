//! Tests through real sockets.
#![allow(clippy::unwrap_used, reason = "a helper of tests may fail a test")]

mod discovery;
mod fake;
mod issuer;
mod login;
mod loopback;
mod renewal;
mod resource_server;
mod world;
