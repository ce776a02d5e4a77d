//! The server that the tests talk to, in this process or in another.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use surehand_mcp::{BoxFuture, CallFailure, Implementation, ServerHandler, ToolInvocation, ToolOutput};
use surehand_model::{RawJson, Tool, ToolAnnotations};
use tokio::sync::{Barrier, Semaphore};

/// Tools that do what a test needs.
pub(crate) struct Echo {
    meetings: Mutex<HashMap<u64, Arc<Barrier>>>,
    dropped: Arc<Semaphore>,
}

impl Echo {
    pub(crate) fn handler() -> Arc<dyn ServerHandler> {
        Arc::new(Self { meetings: Mutex::default(), dropped: Arc::new(Semaphore::new(0)) })
    }

    /// Waits until as many callers are there as are expected: none of them gets an answer unless all run side by side.
    async fn meet(&self, arguments: &RawJson) -> ToolOutput {
        let arguments = arguments.to_value();
        let expected = arguments["n"].as_u64().unwrap_or(1);
        let barrier = {
            let mut meetings = self.meetings.lock().unwrap_or_else(PoisonError::into_inner);
            meetings.entry(expected).or_insert_with(|| Arc::new(Barrier::new(expected as usize))).clone()
        };
        barrier.wait().await;
        ToolOutput::text(format!("met {}", arguments["who"]))
    }
}

/// Counts its own end.
struct Witness(Arc<Semaphore>);

impl Drop for Witness {
    fn drop(&mut self) {
        self.0.add_permits(1);
    }
}

impl ServerHandler for Echo {
    fn implementation(&self) -> Implementation {
        Implementation { name: "echo".to_owned(), title: Some("Echo".to_owned()), version: "1.2".to_owned() }
    }

    fn instructions(&self) -> Option<String> {
        Some("Say something.".to_owned())
    }

    fn tools(&self) -> Vec<Tool> {
        let schema = RawJson::from_serialize(&serde_json::json!({"type": "object", "big": 1}));
        let annotations = ToolAnnotations { read_only: Some(true), ..ToolAnnotations::default() };
        ["echo", "meet", "fail", "panic", "wait", "dropped", "large"]
            .map(|name| Tool { annotations, ..Tool::new(name, format!("Does {name}."), schema.clone()) })
            .into()
    }

    fn call<'a>(&'a self, call: ToolInvocation<'a>) -> BoxFuture<'a, Result<ToolOutput, CallFailure>> {
        Box::pin(async move {
            Ok(match call.name {
                "echo" => ToolOutput { structured: Some(call.arguments), ..ToolOutput::text("here it is") },
                "meet" => self.meet(&call.arguments).await,
                "fail" => ToolOutput::error("told to fail"),
                "panic" => panic!("told to panic"),
                "wait" => {
                    let _witness = Witness(self.dropped.clone());
                    std::future::pending().await
                }
                // Answers once a `wait` has been dropped.
                "dropped" => {
                    if let Ok(permit) = self.dropped.acquire().await {
                        permit.forget();
                    }
                    ToolOutput::text("a call was dropped")
                }
                "large" => ToolOutput::text("x".repeat(1 << 20)),
                name => return Err(CallFailure::UnknownTool(name.to_owned())),
            })
        })
    }
}
