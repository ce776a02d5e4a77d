//! The record of what ran and who allowed it.
//!
//! The one decision that shapes this crate: **each record seals the one before it.** A record is one line of JSON and carries
//! the hash of its predecessor and its own, so that a changed, removed, swapped or inserted line is found by anyone, offline,
//! with nothing but the file. What the chain alone cannot show is that lines were cut off its end; whoever keeps a [`Head`]
//! elsewhere can see that too ([`verify_beyond`]).
//!
//! Intents are on the disk before [`AuditLog::record_intent`] returns. Calls block: keep them off threads that must not wait.

mod chain;
mod log;
mod mask;
mod record;
mod time;
mod verify;

pub use chain::Head;
pub use log::{AuditError, AuditLog};
pub use mask::masked;
pub use record::{Intent, Kind, Outcome, Record, RepairNote, ResultDigest, Verdict};
pub use verify::{AuditFault, Records, Torn, Verified, records, verify, verify_beyond};
