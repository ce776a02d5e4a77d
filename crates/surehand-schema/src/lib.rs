//! JSON Schema: validate, explain a violation, repair what the schema proves.
//!
//! The one decision that shapes this crate: **validation is for whoever must write better arguments.** [`Validator::check`]
//! names every fault at once, in words a model can act on, and [`Validator::repair`] changes the spelling of a value only
//! where the schema leaves no other reading.
//!
//! Schemas come from strangers. Nothing is ever fetched for a `$ref`, and schemas that would cost too much are refused.

mod cost;
mod describe;
mod fault;
mod nearest;
mod older;
mod repair;
mod tree;
mod validator;
mod value;
mod violation;

pub use fault::SchemaFault;
pub use nearest::nearest;
pub use older::{allow_null, read_exclusive_flags};
pub use repair::{Repair, Repaired};
pub use validator::Validator;
pub use violation::{Violation, explain};
