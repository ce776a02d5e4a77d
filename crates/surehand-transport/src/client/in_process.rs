use std::sync::Arc;
use std::time::Duration;

use surehand_mcp::{Revision, ServerFacts, ServerHandler, encode_output};
use surehand_model::{RawJson, Tool};
use tokio::time::timeout;

use super::CallOutcome;
use super::error::ClientError;
use crate::server::run_tool;

/// A server in this process: the same answers as over any wire, without writing and reading them.
pub(crate) struct InProcess {
    handler: Arc<dyn ServerHandler>,
}

impl InProcess {
    pub(crate) fn open(handler: Arc<dyn ServerHandler>) -> (Self, ServerFacts) {
        let facts = ServerFacts::of_tools(handler.implementation(), handler.instructions(), Revision::LATEST);
        (Self { handler }, facts)
    }

    pub(crate) fn tools(&self) -> Vec<Tool> {
        self.handler.tools()
    }

    pub(crate) async fn call(
        &self,
        name: &str,
        arguments: &RawJson,
        after: Duration,
    ) -> Result<CallOutcome, ClientError> {
        let run = run_tool(&*self.handler, name, arguments.clone());
        let outcome = timeout(after, run).await.map_err(|_| ClientError::Timeout { after })?;
        let output =
            outcome.map_err(|failure| ClientError::from(failure.to_rpc_error(Revision::LATEST)))?.with_text();
        let raw = encode_output(&output, Revision::LATEST);
        Ok(CallOutcome {
            content: output.content,
            structured: output.structured,
            is_error: output.is_error,
            notes: Vec::new(),
            raw,
        })
    }
}
