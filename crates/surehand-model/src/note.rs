use std::fmt;

use serde::{Deserialize, Serialize};

/// Something that was left out, repaired or met on the way, said instead of kept silent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Where: a file, a server, a JSON Pointer, a chunk.
    pub r#where: String,
    /// What it is about.
    pub what: String,
    /// Why it happened, and what to do where something can be done.
    pub why: String,
}

impl Note {
    /// A note from its three parts.
    pub fn new(place: impl Into<String>, what: impl Into<String>, why: impl Into<String>) -> Self {
        Self { r#where: place.into(), what: what.into(), why: why.into() }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.r#where, self.what, self.why)
    }
}
