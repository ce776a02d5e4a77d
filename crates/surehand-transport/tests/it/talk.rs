//! A server that has something to say before its answers.

use std::sync::Arc;

use surehand_mcp::{
    BoxFuture, CallFailure, Change, Changes, Implementation, LogLevel, Offers, Question, ServerHandler,
    TaskSupport, ToolInvocation, ToolOutput,
};
use surehand_model::{RawJson, Tool};
use tokio::sync::Semaphore;

pub(crate) struct Talk {
    changes: Changes,
    /// A `hold` comes to its end for each permit.
    pub(crate) go: Arc<Semaphore>,
    /// One permit for each `hold` that was dropped before.
    pub(crate) dropped: Arc<Semaphore>,
}

/// Counts an end that came too early.
struct Witness(Option<Arc<Semaphore>>);

impl Drop for Witness {
    fn drop(&mut self) {
        if let Some(dropped) = &self.0 {
            dropped.add_permits(1);
        }
    }
}

impl Talk {
    pub(crate) fn handler() -> Arc<Self> {
        let none = || Arc::new(Semaphore::new(0));
        Arc::new(Self { changes: Changes::new(), go: none(), dropped: none() })
    }

    pub(crate) fn announce(&self, change: &Change) {
        self.changes.announce(change);
    }

    async fn hold(&self) -> ToolOutput {
        let mut witness = Witness(Some(self.dropped.clone()));
        self.go.acquire().await.unwrap().forget();
        witness.0 = None;
        ToolOutput::text("held")
    }
}

impl ServerHandler for Talk {
    fn implementation(&self) -> Implementation {
        Implementation { name: "talk".to_owned(), title: None, version: "1".to_owned() }
    }

    fn offers(&self) -> Offers {
        Offers {
            tools_change: true,
            resources: true,
            subscriptions: true,
            logging: true,
            tasks: true,
            ..Offers::tools()
        }
    }

    fn tools(&self) -> Vec<Tool> {
        let schema = RawJson::parse(r#"{"type":"object"}"#).unwrap();
        ["work", "hold", "pause", "ask", "who"].map(|name| Tool::new(name, "Does it.", schema.clone())).into()
    }

    fn task_support(&self, _: &str) -> TaskSupport {
        TaskSupport::Optional
    }

    fn call<'a>(&'a self, call: ToolInvocation<'a>) -> BoxFuture<'a, Result<ToolOutput, CallFailure>> {
        Box::pin(async move {
            let context = call.context;
            Ok(match call.name {
                // Everything at once.
                "work" => {
                    context.progress(1.0, Some(2.0), None);
                    context.log(LogLevel::Warning, None, &RawJson::parse(r#""halfway""#).unwrap());
                    ToolOutput::text("worked")
                }
                // Says something, and has its answer only when it is let go.
                "hold" => {
                    context.progress(1.0, None, None);
                    self.hold().await
                }
                "pause" => {
                    context.pause_stream();
                    self.hold().await
                }
                "ask" => {
                    let form = r#"{"message":"Who?","requestedSchema":{"type":"object","properties":{}}}"#;
                    let form = Question::Elicit(RawJson::parse(form).unwrap());
                    ToolOutput::text(context.ask("who", form).await?.as_str())
                }
                // Names whoever calls.
                "who" => ToolOutput::text(context.caller().principal.as_deref().unwrap_or("nobody")),
                name => return Err(CallFailure::UnknownTool(name.to_owned())),
            })
        })
    }

    fn changes(&self) -> Option<&Changes> {
        Some(&self.changes)
    }
}
