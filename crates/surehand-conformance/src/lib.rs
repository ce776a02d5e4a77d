//! What the conformance suite and the programs under test tell each other. The programs themselves are this crate's examples.

mod assignment;

pub use assignment::{Assignment, AssignmentFault, ScriptedCall};
