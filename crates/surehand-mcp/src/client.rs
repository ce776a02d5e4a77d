//! The client's side as state machines: opening a connection in either era, matching answers to requests, turning pages.

mod cache;
mod capabilities;
mod exchange;
mod hosted;
mod input;
mod kinds;
mod offered;
mod opening;
mod output;
mod paging;
mod speaker;
mod wanted;
mod watch;

pub use cache::{CacheHints, CacheKey, CacheLimits, CacheTicket, ResultCache};
pub use capabilities::{ClientCapabilities, ElicitationModes, SamplingModes};
pub use exchange::{Exchange, Incoming, ServerNotice};
pub use hosted::HostedTasks;
pub use input::{InputRequest, InputRequired, wanted_addresses};
pub use kinds::{InputKind, InputKinds};
pub use opening::{Ask, Era, Opened, Opening, OpeningFault, OpeningOutcome, OpeningRequest, OpeningStep};
pub use output::OutputSchemas;
pub use paging::{Listed, Listing, Paging};
pub use speaker::{ResultFault, Speaker, check_result};
pub use wanted::Wanted;
pub use watch::{TaskStep, TaskWatch};
