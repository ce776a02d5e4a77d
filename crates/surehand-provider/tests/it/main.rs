//! What the providers promise, seen from outside.

#![expect(clippy::unwrap_used, reason = "in a test, what is missing ends it")]

mod script;
