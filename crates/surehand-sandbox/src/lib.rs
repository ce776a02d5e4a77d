//! Starts child processes under limits; the only place that does.
//!
//! The one decision that shapes this crate: **no child outlives us.** Each child leads a session of its own, so that the whole
//! tree it starts can be ended at once; the kernel ends the child when we die, even by `kill -9`; and a small watcher process,
//! which notices our end by the closing of a pipe, ends what the child had started in turn.
//!
//! A child sees a short list of environment variables and what its [`ChildSpec`] adds, nothing else.

mod child;
mod environment;
mod lookup;
mod run;
mod spawn;
mod spec;
mod supervisor;
mod tail;
mod watcher;

pub use child::{Child, Ended};
pub use environment::is_passed_on;
pub use lookup::find_command;
pub use run::{Output, RunError, RunLimits, run};
pub use spawn::{SpawnError, spawn};
pub use spec::ChildSpec;
pub use tail::Tail;
