//! What the providers promise, seen from outside.

#![expect(clippy::unwrap_used, reason = "in a test, what is missing ends it")]

mod cuts;
mod fake;
mod http;
mod resolve;
mod script;
