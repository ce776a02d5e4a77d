use std::any::Any;
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use surehand_model::{RawJson, ResourceContents, Tool, ToolAnnotations};
use surehand_policy::Effect;

use crate::contain::{contained, words_of};
use crate::{
    BoxFuture, CallFailure, Changes, CompleteParams, CompleteResult, CompletionRef, GetPromptParams,
    Implementation, Offers, Prompt, PromptOutput, RequestContext, Resource, ResourceTemplate, ServerHandler,
    SkillShelf, TaskSupport, ToolInvocation, ToolOutput,
};

mod arguments;
mod entries;
mod failure;
mod output;
mod schema;
mod template;

#[cfg(test)]
mod tests;

pub use failure::ToolFailure;
pub use output::{IntoToolOutput, Structured, Text, nothing_found};

use arguments::ArgumentCheck;
use entries::Entries;

/// Runs one tool on arguments that nobody has checked yet. Never fails and never panics: what goes wrong is in the output.
pub type RunTool = Arc<dyn Fn(RawJson, RequestContext) -> BoxFuture<'static, ToolOutput> + Send + Sync>;

/// A server put together of its parts: tools first of all, and resources, prompts and completion where it has them. What it
/// offers follows from what it is given.
///
/// ```text
/// let server = Toolset::new("weather", "1.0")
///     .with(get_weather)
///     .with_resource(Resource::new("weather://stations", "stations", "Where it is measured."), |_| async { .. })
///     .with_prompt(Prompt::new("forecast", "Asks for a forecast."), |arguments, _| async move { .. })
///     .into_handler();
/// ```
pub struct Toolset {
    implementation: Implementation,
    instructions: Option<String>,
    entries: Vec<ToolEntry>,
    others: Entries,
    changes: Option<Arc<Changes>>,
    logs: bool,
    skills: Option<SkillShelf>,
}

impl Toolset {
    /// A server without tools yet.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        let implementation = Implementation { name: name.into(), title: None, version: version.into() };
        Self {
            implementation,
            instructions: None,
            entries: Vec::new(),
            others: Entries::default(),
            changes: None,
            logs: false,
            skills: None,
        }
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

    /// Adds a resource and what reads it. It takes the place of an earlier one of the same URI.
    #[must_use]
    pub fn with_resource<F, Fut>(mut self, resource: Resource, read: F) -> Self
    where
        F: Fn(RequestContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Vec<ResourceContents>, CallFailure>> + Send + 'static,
    {
        self.others.resource(resource, read);
        self
    }

    /// Adds a family of resources and what reads one of them: its URI, and the values of the template's variables in it.
    ///
    /// `{name}` in a template stands for one path segment, `{+name}` for any characters (RFC 6570).
    #[must_use]
    pub fn with_resource_template<F, Fut>(mut self, template: ResourceTemplate, read: F) -> Self
    where
        F: Fn(String, BTreeMap<String, String>, RequestContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Vec<ResourceContents>, CallFailure>> + Send + 'static,
    {
        self.others.template(template, read);
        self
    }

    /// Adds a prompt and what fills it in. Arguments that it requires are there.
    #[must_use]
    pub fn with_prompt<F, Fut>(mut self, prompt: Prompt, fill_in: F) -> Self
    where
        F: Fn(BTreeMap<String, String>, RequestContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<PromptOutput, CallFailure>> + Send + 'static,
    {
        self.others.prompt(prompt, fill_in);
        self
    }

    /// Adds what completes one argument of a prompt or a template: it gets what stands there so far and the arguments filled in
    /// already, and gives the values, best first.
    #[must_use]
    pub fn with_completion<F>(mut self, of: CompletionRef, argument: impl Into<String>, complete: F) -> Self
    where
        F: Fn(&str, &BTreeMap<String, String>) -> Vec<String> + Send + Sync + 'static,
    {
        self.others.completion(of, argument.into(), complete);
        self
    }

    /// Offers to tell of changes: clients hear of what is announced there.
    #[must_use]
    pub fn with_changes(mut self, changes: Arc<Changes>) -> Self {
        self.changes = Some(changes);
        self
    }

    /// Offers log messages: [`RequestContext::log`] reaches clients.
    #[must_use]
    pub fn with_logging(mut self) -> Self {
        self.logs = true;
        self
    }

    /// Adds skills, in the place of those that were added before.
    #[must_use]
    pub fn with_skills(mut self, skills: SkillShelf) -> Self {
        self.skills = Some(skills);
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

    fn task_support(&self, tool: &str) -> TaskSupport {
        let entry = self.entries.iter().find(|entry| entry.tool.name == tool);
        entry.map_or(TaskSupport::Forbidden, |entry| entry.task)
    }

    fn call<'a>(&'a self, call: ToolInvocation<'a>) -> BoxFuture<'a, Result<ToolOutput, CallFailure>> {
        Box::pin(async move {
            let entry = self.entries.iter().find(|entry| entry.tool.name == call.name);
            let entry = entry.ok_or_else(|| CallFailure::UnknownTool(call.name.to_owned()))?;
            Ok((entry.run)(call.arguments, call.context).await)
        })
    }

    fn offers(&self) -> Offers {
        let changes = self.changes.is_some();
        let resources =
            !self.others.resources.is_empty() || !self.others.templates.is_empty() || self.skills.is_some();
        let prompts = !self.others.prompts.is_empty();
        Offers {
            // A server without anything is a server of tools that are yet to come.
            tools: !self.entries.is_empty() || !(resources || prompts),
            tools_change: changes && !self.entries.is_empty(),
            resources,
            resources_change: changes && resources,
            subscriptions: changes && resources,
            prompts,
            prompts_change: changes && prompts,
            completions: !self.others.completions.is_empty(),
            logging: self.logs,
            tasks: self.entries.iter().any(|entry| entry.task != TaskSupport::Forbidden),
            extensions: self.skills.iter().map(SkillShelf::offer).collect(),
        }
    }

    fn resources(&self) -> Vec<Resource> {
        let own = self.others.resources.iter().map(|(resource, _)| resource.clone());
        own.chain(self.skills.iter().flat_map(SkillShelf::resources)).collect()
    }

    fn resource_templates(&self) -> Vec<ResourceTemplate> {
        self.others.templates.iter().map(|(template, _)| template.clone()).collect()
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
        context: RequestContext,
    ) -> BoxFuture<'a, Result<Vec<ResourceContents>, CallFailure>> {
        match self.skills.as_ref().and_then(|skills| skills.read(uri)) {
            Some(file) => Box::pin(async { Ok(vec![file]) }),
            None => self.others.read(uri, context),
        }
    }

    fn extension<'a>(
        &'a self,
        method: &'a str,
        params: RawJson,
        context: RequestContext,
    ) -> BoxFuture<'a, Result<RawJson, CallFailure>> {
        let skills = self.skills.as_ref();
        let answer = skills.and_then(|skills| skills.answer(method, &params, context.revision()));
        let answer = answer.unwrap_or_else(|| Err(CallFailure::UnknownMethod(method.to_owned())));
        Box::pin(async { answer })
    }

    fn prompts(&self) -> Vec<Prompt> {
        self.others.prompts.iter().map(|(prompt, _)| prompt.clone()).collect()
    }

    fn prompt(
        &self,
        params: GetPromptParams,
        context: RequestContext,
    ) -> BoxFuture<'_, Result<PromptOutput, CallFailure>> {
        self.others.fill_in(&params.name, params.arguments, context)
    }

    fn complete(
        &self,
        params: CompleteParams,
        _: RequestContext,
    ) -> BoxFuture<'_, Result<CompleteResult, CallFailure>> {
        let completed = self.others.complete(&params);
        Box::pin(async { completed })
    }

    fn changes(&self) -> Option<&Changes> {
        self.changes.as_deref()
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
    /// Whether its calls may become tasks.
    pub task: TaskSupport,
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
        Self { tool, card, task: facts.task, run }
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
    /// Whether its calls may become tasks. In 2026-07-28 they do where it says [`RequestContext::begin_task`], in 2025-11-25
    /// where the client wants it.
    pub task: TaskSupport,
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
