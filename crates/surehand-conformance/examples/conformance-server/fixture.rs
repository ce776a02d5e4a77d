use std::sync::Arc;

use surehand_mcp::{
    BoxFuture, CallFailure, Changes, CompleteParams, CompleteResult, GetPromptParams, Implementation, Offers,
    Prompt, PromptOutput, RequestContext, Resource, ResourceTemplate, ServerHandler, ShelfFault, TaskSupport,
    ToolInvocation, ToolOutput, Toolset,
};
use surehand_model::{RawJson, ResourceContents, Tool};

use crate::changing::{Changing, Extra};
use crate::{asking, content, long, prompts, resources, skills, stateless};

/// All of it behind one handler: a toolset for the tools, and what a toolset does not have.
pub(crate) struct Fixture {
    tools: Toolset,
    extra: Arc<Extra>,
}

impl Fixture {
    pub(crate) fn new() -> Result<Self, ShelfFault> {
        let extra = Arc::new(Extra::default());
        let tools = Toolset::new("surehand-conformance", env!("CARGO_PKG_VERSION"));
        let tools = long::add(stateless::add(asking::add(content::add(tools))));
        let tools = tools.with(Changing { extra: Arc::clone(&extra) }).with_skills(skills::shelf()?);
        Ok(Self { tools, extra })
    }
}

impl ServerHandler for Fixture {
    fn implementation(&self) -> Implementation {
        self.tools.implementation()
    }

    fn instructions(&self) -> Option<String> {
        Some("A server for the conformance suite; it does nothing useful.".to_owned())
    }

    fn offers(&self) -> Offers {
        Offers {
            tools_change: true,
            resources: true,
            subscriptions: true,
            prompts: true,
            prompts_change: true,
            completions: true,
            logging: true,
            tasks: true,
            extensions: self.tools.offers().extensions,
            ..Offers::tools()
        }
    }

    fn tools(&self) -> Vec<Tool> {
        let mut tools = self.tools.tools();
        tools.extend(self.extra.tool());
        tools
    }

    fn call<'a>(&'a self, call: ToolInvocation<'a>) -> BoxFuture<'a, Result<ToolOutput, CallFailure>> {
        match call.name {
            long::PROTOCOL_ERROR_JOB => Box::pin(long::end_in_protocol_error(call.context)),
            _ => self.tools.call(call),
        }
    }

    fn task_support(&self, tool: &str) -> TaskSupport {
        self.tools.task_support(tool)
    }

    fn resources(&self) -> Vec<Resource> {
        let mut resources = resources::list();
        resources.extend(self.tools.resources());
        resources
    }

    fn resource_templates(&self) -> Vec<ResourceTemplate> {
        resources::templates()
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
        context: RequestContext,
    ) -> BoxFuture<'a, Result<Vec<ResourceContents>, CallFailure>> {
        match resources::read(uri) {
            Ok(contents) => Box::pin(async { Ok(contents) }),
            Err(_) => self.tools.read(uri, context),
        }
    }

    fn prompts(&self) -> Vec<Prompt> {
        let mut prompts = prompts::list();
        prompts.extend(self.extra.prompt());
        prompts
    }

    fn prompt(
        &self,
        params: GetPromptParams,
        context: RequestContext,
    ) -> BoxFuture<'_, Result<PromptOutput, CallFailure>> {
        Box::pin(prompts::fill_in(params, context))
    }

    fn complete(
        &self,
        params: CompleteParams,
        _: RequestContext,
    ) -> BoxFuture<'_, Result<CompleteResult, CallFailure>> {
        Box::pin(async move { prompts::complete(&params) })
    }

    fn extension<'a>(
        &'a self,
        method: &'a str,
        params: RawJson,
        context: RequestContext,
    ) -> BoxFuture<'a, Result<RawJson, CallFailure>> {
        self.tools.extension(method, params, context)
    }

    fn changes(&self) -> Option<&Changes> {
        Some(&self.extra.changes)
    }
}
