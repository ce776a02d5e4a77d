//! Tests through real sockets.
#![allow(clippy::unwrap_used, reason = "a helper of tests may fail a test")]

mod discovery;
mod end_to_end;
mod fake;
mod issuer;
mod login;
mod loopback;
mod mirror;
mod renewal;
mod resource_server;
mod world;
