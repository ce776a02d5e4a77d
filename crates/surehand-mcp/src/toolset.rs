use std::any::Any;
use std::future::Future;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use surehand_model::{RawJson, Tool, ToolAnnotations};
use surehand_policy::Effect;

use crate::contain::{contained, words_of};
use crate::{
    BoxFuture, CallFailure, Implementation, RequestContext, ServerHandler, ToolInvocation, ToolOutput,
};

mod arguments;
mod failure;
mod output;
mod schema;

#[cfg(test)]
mod tests;

pub use failure::ToolFailure;
pub use output::{IntoToolOutput, Structured, Text, nothing_found};

use arguments::ArgumentCheck;

/// Runs one tool on arguments that nobody has checked yet. Never fails and never panics: what goes wrong is in the output.
pub type RunTool = Arc<dyn Fn(RawJson, RequestContext) -> BoxFuture<'static, ToolOutput> + Send + Sync>;

/// A server made of tools: the [`ServerHandler`] of whoever has nothing but tools to offer.
///
/// ```text
/// let server = Toolset::new("weather", "1.0").with(get_weather).into_handler();
/// ```
pub struct Toolset {
    implementation: Implementation,
    instructions: Option<String>,
    entries: Vec<ToolEntry>,
}

impl Toolset {
    /// A server without tools yet.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        let implementation = Implementation { name: name.into(), title: None, version: version.into() };
        Self { implementation, instructions: None, entries: Vec::new() }
    }

    /// Its name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.implementation.title = Some(title.into());
        self
    }

    /// How to use it, for the model.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Adds a function marked `#[tool]`, or every `#[tool]` method of a value whose `impl` block is marked `#[tools]`.
    #[must_use]
    pub fn with(self, tools: impl Tools) -> Self {
        self.with_shared(Arc::new(tools))
    }

    /// As [`Toolset::with`], for a value that somebody else holds too.
    #[must_use]
    pub fn with_shared<T: Tools>(self, tools: Arc<T>) -> Self {
        tools.into_entries().into_iter().fold(self, Self::with_entry)
    }

    /// Adds one tool that was put together by hand. It takes the place of an earlier one of the same name.
    #[must_use]
    pub fn with_entry(mut self, entry: ToolEntry) -> Self {
        match self.entries.iter_mut().find(|known| known.tool.name == entry.tool.name) {
            Some(known) => *known = entry,
            None => self.entries.push(entry),
        }
        self
    }

    /// What the operator may know about each tool, in the order of the tools.
    pub fn cards(&self) -> Vec<ToolCard> {
        self.entries.iter().map(|entry| entry.card.clone()).collect()
    }

    /// The handler that every transport serves.
    pub fn into_handler(self) -> Arc<dyn ServerHandler> {
        Arc::new(self)
    }
}

impl ServerHandler for Toolset {
    fn implementation(&self) -> Implementation {
        self.implementation.clone()
    }

    fn instructions(&self) -> Option<String> {
        self.instructions.clone()
    }

    fn tools(&self) -> Vec<Tool> {
        self.entries.iter().map(|entry| entry.tool.clone()).collect()
    }

    fn tool(&self, name: &str) -> Option<Tool> {
        self.entries.iter().find(|entry| entry.tool.name == name).map(|entry| entry.tool.clone())
    }

    fn call<'a>(&'a self, call: ToolInvocation<'a>) -> BoxFuture<'a, Result<ToolOutput, CallFailure>> {
        Box::pin(async move {
            let entry = self.entries.iter().find(|entry| entry.tool.name == call.name);
            let entry = entry.ok_or_else(|| CallFailure::UnknownTool(call.name.to_owned()))?;
            Ok((entry.run)(call.arguments, call.context).await)
        })
    }
}

/// Something that has tools. Written by `#[tool]` and `#[tools]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "neither a `#[tool]` function nor a value with `#[tools]`",
    note = "put `#[tool]` on the function, or `#[tools]` on the `impl` block of `{Self}`"
)]
pub trait Tools: Send + Sync + Sized + 'static {
    /// Its tools, always in the same order.
    fn into_entries(self: Arc<Self>) -> Vec<ToolEntry>;
}

/// One tool of a [`Toolset`].
#[derive(Clone)]
pub struct ToolEntry {
    /// What callers are shown.
    pub tool: Tool,
    /// What the operator is told.
    pub card: ToolCard,
    /// What it does.
    pub run: RunTool,
}

impl ToolEntry {
    /// A tool around a function of one argument: the schema is that of the argument's type, the output schema that of the
    /// result's. Arguments are checked before `run` sees them, and a panic of `run` becomes an error output.
    pub fn new<A, F, Fut, R>(facts: ToolFacts, run: F) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(A) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = R> + Send + 'static,
        R: IntoToolOutput,
    {
        Self::with_context(facts, move |arguments, _| run(arguments))
    }

    /// As [`new`](Self::new), around a function that also takes the way back to its client.
    pub fn with_context<A, F, Fut, R>(facts: ToolFacts, run: F) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(A, RequestContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = R> + Send + 'static,
        R: IntoToolOutput,
    {
        let tool = facts.to_tool(schema::of_arguments::<A>(), R::output_schema());
        let card = ToolCard { tool: tool.name.clone(), effect: facts.effect.unwrap_or(Effect::Irreversible) };
        let check = Arc::new(ArgumentCheck::new(&tool));
        let run = Arc::new(run);
        let run: RunTool = Arc::new(move |arguments, context| {
            let (check, run) = (Arc::clone(&check), Arc::clone(&run));
            Box::pin(async move {
                let work = async {
                    match check.read::<A>(&arguments) {
                        Ok(arguments) => run(arguments, context).await.into_tool_output(),
                        Err(fault) => fault,
                    }
                };
                match contained(Box::pin(work)).await {
                    Ok(output) => output,
                    Err(panic) => broke_down(check.tool(), panic.as_ref()),
                }
            })
        });
        Self { tool, card, run }
    }
}

/// What the author of a tool says about it; the schemas come from types.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolFacts {
    /// The name callers use.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// For the model. Lines that were wrapped are joined; paragraphs, lists and code stay as they are.
    pub description: String,
    /// What running it can do. `None` when the author did not say: nothing is claimed to callers then, and the operator is
    /// told the worst.
    pub effect: Option<Effect>,
    /// Whether it reaches out to an open world, such as the web.
    pub open_world: Option<bool>,
    /// Whether running it twice is the same as once.
    pub idempotent: Option<bool>,
}

impl ToolFacts {
    fn to_tool(&self, input_schema: RawJson, output_schema: Option<RawJson>) -> Tool {
        Tool {
            name: self.name.clone(),
            title: self.title.clone(),
            description: schema::reflow(&self.description),
            input_schema,
            output_schema,
            annotations: self.annotations(),
            definition: None,
        }
    }

    fn annotations(&self) -> ToolAnnotations {
        let Some(effect) = self.effect else {
            return ToolAnnotations {
                open_world: self.open_world,
                idempotent: self.idempotent,
                ..ToolAnnotations::default()
            };
        };
        let read_only = matches!(effect, Effect::Pure | Effect::Read);
        ToolAnnotations {
            read_only: Some(read_only),
            destructive: (!read_only).then_some(effect == Effect::Irreversible),
            idempotent: self.idempotent,
            open_world: Some(self.open_world.unwrap_or(effect == Effect::Egress)),
        }
    }
}

/// What the operator may know about a tool. It stays on this side of the wire: unlike annotations, which any server may claim,
/// it is read from the program that was linked in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCard {
    /// The tool's own name.
    pub tool: String,
    /// What running it can do.
    pub effect: Effect,
}

/// The arguments of a tool that takes none. Whatever members a caller sends are ignored.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub struct NoArguments {}

fn broke_down(tool: &str, panic: &(dyn Any + Send)) -> ToolOutput {
    let message = match words_of(panic) {
        Some(words) => format!("The tool `{tool}` broke down: {words}"),
        None => format!("The tool `{tool}` broke down."),
    };
    ToolFailure::new(message).into()
}
