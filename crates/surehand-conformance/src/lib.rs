//! What the conformance suite tells the client under test. The client itself is this crate's example.

mod assignment;

pub use assignment::{Assignment, AssignmentFault, ScriptedCall};
