//! What holds for every schema and every value.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod explanations;
mod hostile;
mod invariants;
mod older;
