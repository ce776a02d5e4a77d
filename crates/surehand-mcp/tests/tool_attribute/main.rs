//! What the attributes make of functions and methods, used as a server's author uses them.
#![deny(missing_docs)]
#![expect(clippy::unwrap_used, reason = "tests may fail loudly")]
#![forbid(unsafe_code)]

mod functions;
mod messages;
mod methods;

use std::sync::Arc;

use surehand_mcp::{CallFailure, ServerHandler, ToolInvocation, ToolOutput};
use surehand_model::RawJson;

async fn call(
    server: &Arc<dyn ServerHandler>,
    name: &str,
    arguments: &str,
) -> Result<ToolOutput, CallFailure> {
    let arguments = RawJson::parse(arguments).unwrap();
    server.call(ToolInvocation::detached(name, arguments)).await
}
