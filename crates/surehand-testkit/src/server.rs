use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use surehand_mcp::{BoxFuture, CallFailure, Implementation, ServerHandler, ToolInvocation, ToolOutput};
use surehand_model::{RawJson, Tool};

type Behaviour = dyn Fn(RawJson) -> BoxFuture<'static, Result<ToolOutput, CallFailure>> + Send + Sync;

/// One tool of a fake server: what it says it is, and what it does.
pub struct FakeTool {
    tool: Tool,
    behaviour: Arc<Behaviour>,
}

impl FakeTool {
    /// A tool that takes anything its schema takes and does what `behave` does.
    ///
    /// # Panics
    ///
    /// When `schema` is not JSON.
    pub fn new<F>(name: &str, schema: &str, behave: impl Fn(RawJson) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<ToolOutput, CallFailure>> + Send + 'static,
    {
        #[expect(clippy::expect_used, reason = "a test that writes a broken schema must fail at once")]
        let schema = RawJson::parse(schema).expect("the schema of a fake tool is JSON");
        Self {
            tool: Tool::new(name, format!("The fake tool {name}."), schema),
            behaviour: Arc::new(move |arguments| Box::pin(behave(arguments))),
        }
    }

    /// A tool that answers at once with its own arguments as text.
    pub fn echo(name: &str) -> Self {
        Self::new(name, r#"{"type":"object"}"#, |arguments| async move {
            Ok(ToolOutput::text(arguments.as_str()))
        })
    }
}

/// A server made for a test. Remembers what reached it.
pub struct FakeServer {
    name: String,
    tools: Vec<FakeTool>,
    received: Mutex<Vec<(String, RawJson)>>,
}

impl FakeServer {
    /// A server of this name with these tools.
    pub fn new(name: &str, tools: Vec<FakeTool>) -> Arc<Self> {
        Arc::new(Self { name: name.to_owned(), tools, received: Mutex::default() })
    }

    /// Every call that reached it, in the order of arrival: tool and arguments.
    pub fn received(&self) -> Vec<(String, RawJson)> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ServerHandler for FakeServer {
    fn implementation(&self) -> Implementation {
        Implementation { name: self.name.clone(), title: None, version: "1.0.0".to_owned() }
    }

    fn tools(&self) -> Vec<Tool> {
        self.tools.iter().map(|fake| fake.tool.clone()).collect()
    }

    fn call<'a>(&'a self, call: ToolInvocation<'a>) -> BoxFuture<'a, Result<ToolOutput, CallFailure>> {
        let received = (call.name.to_owned(), call.arguments.clone());
        self.received.lock().unwrap_or_else(PoisonError::into_inner).push(received);
        match self.tools.iter().find(|fake| fake.tool.name == call.name) {
            Some(fake) => (fake.behaviour)(call.arguments),
            None => Box::pin(async move { Err(CallFailure::UnknownTool(call.name.to_owned())) }),
        }
    }
}
