//! Rules and decisions over calls. Pure.
//!
//! The one decision that shapes this crate: **decisions are ordered, and the strictest of all rules that match wins.** So no
//! rule can be weakened by another one, rules need no order, and whatever cannot be understood denies.

mod decision;
mod effect;
mod explain;
mod facts;
mod glob;
mod policy;
mod read;
mod rule;

pub use decision::{Decision, Ruling};
pub use effect::Effect;
pub use explain::{Considered, Explanation};
pub use facts::CallFacts;
pub use glob::Glob;
pub use policy::Policy;
pub use rule::{Condition, Rule};
