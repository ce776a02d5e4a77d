//! What the conformance suite tells the client under test. The programs themselves are this crate's examples: `conformance-client`
//! and `conformance-server` for the suite, `interop-client` for servers that others wrote.

mod assignment;

pub use assignment::{Assignment, AssignmentFault, ScriptedCall};
