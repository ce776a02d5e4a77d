//! The model in memory: loading, reading a prompt, writing text or a call, keeping prefixes.

mod engine;
mod grammar;
mod prefix;
mod session;
mod stop;

pub(crate) use engine::Engine;
pub use engine::{EngineError, EngineOptions};
pub(crate) use grammar::call_grammar;
pub(crate) use session::{Ending, Session};
pub(crate) use stop::Stop;
