//! The host: configuration, connections, the catalog of tools, the one call pipeline and the function-calling loop.
//!
//! The one decision that shapes this crate: **one function runs tools for models**, [`Host::run_call`], whoever asks. The loop
//! ([`Agent`]) knows models and calls but no protocol; the pipeline knows servers and policy but no model; they meet in
//! [`ToolRunner`].

mod agent;
mod answers;
mod approval;
mod audit;
mod catalog;
mod clock;
pub mod config;
mod connection;
mod conversation;
mod difference;
mod elicitation;
mod event;
mod host;
mod login;
mod normalise;
mod pipeline;
mod prompt;
mod question;
mod record;
mod runner;
mod session;
mod status;

pub use agent::{Agent, AgentError, RunLimits};
pub use approval::{Approval, ApprovalRequest, ApproveAll, Approver, NobodyToAsk};
pub use catalog::{Catalog, CatalogEntry, Unresolved, reference_of};
pub use clock::{PauseGuard, RunClock, WallClock};
pub use connection::{BundledOptions, BundledServer, MakeServer};
pub use conversation::{Conversation, mend};
pub use elicitation::Respondent;
pub use event::{HostEvent, NobodyWatches, Observer};
pub use host::{Host, HostParts};
pub use login::{LoggedIn, LoginError, LoginParts, is_logged_in, log_in, log_out};
pub use prompt::SYSTEM_PROMPT;
pub use question::ServerQuestion;
pub use record::{Answer, CallRecord, Decided, Stop, Verdict};
pub use runner::{CallContext, ToolRunner};
pub use session::{SessionError, SessionLog, load_session};
pub use status::{ServerState, ServerStatus};
