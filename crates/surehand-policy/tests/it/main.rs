//! What a policy decides, table by table.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod deciding;
mod reading;
