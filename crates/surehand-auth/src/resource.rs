//! The resource server: lets in to an MCP server over HTTP whoever shows a token that one of the trusted authorization servers
//! made for it.

mod challenge;
mod gate;
mod keys;
mod metadata;
mod proofs;

pub use self::gate::ResourceServer;
pub use self::metadata::{DpopPolicy, ResourceFault, ResourceOptions, ScopeNeed, TrustedIssuer};

use std::sync::Arc;

/// Tells the time in seconds since 1970.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;
