//! The configuration: which servers and providers there are, what limits hold, where things live, and who said so.
//!
//! The one decision that shapes this module: **a lenient reader and a strict reporter.** Each file, each entry and each member is
//! judged alone. What cannot be used is left out, the rest is kept, and everything left out or coerced is a [`Problem`] that
//! names file, line, server and key. Files are edited in place: an edit changes one entry and not one byte besides.
//!
//! It is the only reader of the process environment and of the home directory.

mod ad_hoc;
mod check;
mod diff;
mod edit;
mod environment;
mod error;
mod file;
mod jsonc;
mod load;
mod provider;
mod reporter;
mod server;
mod settings;
mod shown;
mod store;
mod trust;
mod variables;

pub use check::check;
pub use edit::{Change, ChangeError, EditError, EditOptions, Edited, apply, edit};
pub use environment::Environment;
pub use error::LoadError;
pub use jsonc::{Fault, Position};
pub use load::{BUNDLED_SERVERS, LoadOptions, Overrides, load};
pub use settings::{
    AuditSettings, ChildEnvironment, Launch, LimitSettings, LoginGrant, LoginSettings, Paths, Problem,
    ProviderSettings, ProxySettings, Scope, ServerSettings, Settings, Severity, ShownLaunch, ToolFilter,
};
pub use store::StoreError;
pub use trust::{Digest, ProjectFile, TrustError, TrustStatus, forget, trust};
