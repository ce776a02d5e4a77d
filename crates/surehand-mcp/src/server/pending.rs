use std::sync::Arc;

use surehand_model::RawJson;

use super::answer::Reply;
use super::state::Binding;
use super::{Core, rounds};
use crate::contain::{contained, words_of};
use crate::envelope::Id;
use crate::handler::{
    BoxFuture, CallFailure, Inputs, Outbox, PromptOutput, RequestContext, RequestFacts, ToolInvocation,
    ToolOutput,
};
use crate::members::Members;
use crate::method::{CallTool, Complete, GetPrompt, Method, ReadResource};
use crate::revision::{Feature, Revision};
use crate::types::completion::{CompleteParams, CompleteResult, write_completion};
use crate::types::prompts::{GetPromptParams, write_prompt_output};
use crate::types::resources::write_contents;

/// A request that the handler works on and a client waits for.
pub struct PendingRequest {
    /// Under which it is answered.
    pub id: Id,
    /// In which revision it is answered.
    pub revision: Revision,
    pub(super) work: Work,
    pub(super) facts: RequestFacts,
    /// What a state given out for it is bound to; only where it may be asked in rounds.
    pub(super) binding: Option<Binding>,
    pub(super) core: Arc<Core>,
}

/// What the handler is to do.
#[derive(Debug)]
pub(super) enum Work {
    Call { name: String, arguments: RawJson },
    Read { uri: String },
    Prompt(GetPromptParams),
    Complete(CompleteParams),
    Extension { method: String, params: RawJson },
}

/// How a handler's work ended.
enum Done {
    Call(ToolOutput),
    /// Members of a result, without braces.
    Members(String),
}

impl PendingRequest {
    /// Whether anything may be sent to the client before the answer: it wants to hear of progress or of log messages, or it can
    /// be asked things on the way.
    pub fn wants_stream(&self) -> bool {
        let facts = &self.facts;
        facts.progress_token.is_some()
            || facts.log_level.is_some()
            || (!self.revision.is_modern() && facts.caller.capabilities.as_str() != "{}")
    }

    /// Its method, for example `tools/call`.
    pub fn method(&self) -> &str {
        match &self.work {
            Work::Call { .. } => CallTool::NAME,
            Work::Read { .. } => ReadResource::NAME,
            Work::Prompt(_) => GetPrompt::NAME,
            Work::Complete(_) => Complete::NAME,
            Work::Extension { method, .. } => method,
        }
    }

    /// What it is about: the name of a tool or prompt, the address of a resource.
    pub fn subject(&self) -> Option<&str> {
        match &self.work {
            Work::Call { name, .. } => Some(name),
            Work::Read { uri } => Some(uri),
            Work::Prompt(params) => Some(&params.name),
            Work::Complete(_) | Work::Extension { .. } => None,
        }
    }

    /// Runs it. Dropping the future cancels the request. A panic of the handler is an answer, not an end.
    pub async fn run(self, outbox: Arc<dyn Outbox>) -> Reply {
        let Self { id, revision, work, facts, binding, core } = self;
        let context = RequestContext::new(facts, outbox);
        let outcome = match contained(perform(&core, &work, &context, revision)).await {
            Ok(outcome) => outcome,
            Err(panic) => {
                let words = words_of(panic.as_ref()).unwrap_or("without words");
                Err(CallFailure::Internal(format!("{} panicked: {words}", work.describe())))
            }
        };
        let inputs = context.take_inputs();
        if let Some(binding) = &binding
            && ended_by_question(&outcome, &inputs)
        {
            return rounds::ask(&id, &inputs, binding, &*core.seal, &core.who);
        }
        let outcome = match (outcome, inputs.missing) {
            // A tool that told its own words of it ended because of it all the same.
            (Ok(Done::Call(output)), Some(missing)) if output.is_error && revision.is_modern() => {
                Err(CallFailure::MissingCapability(missing))
            }
            (outcome, _) => outcome,
        };
        work.answer(&id, outcome, revision, &core)
    }
}

impl std::fmt::Debug for PendingRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PendingRequest")
            .field("id", &self.id)
            .field("work", &self.work)
            .finish_non_exhaustive()
    }
}

/// A handler that ends in failure while a question is open ended because of the question.
fn ended_by_question(outcome: &Result<Done, CallFailure>, inputs: &Inputs) -> bool {
    !inputs.open.is_empty()
        && match outcome {
            Err(_) => true,
            Ok(Done::Call(output)) => output.is_error,
            Ok(Done::Members(_)) => false,
        }
}

fn perform<'a>(
    core: &'a Core,
    work: &'a Work,
    context: &RequestContext,
    revision: Revision,
) -> BoxFuture<'a, Result<Done, CallFailure>> {
    let context = context.clone();
    let handler = &core.handler;
    Box::pin(async move {
        Ok(match work {
            Work::Call { name, arguments } => {
                let call = ToolInvocation { name, arguments: arguments.clone(), context };
                Done::Call(handler.call(call).await?)
            }
            Work::Read { uri } => {
                let contents = handler.read(uri, context).await?;
                if contents.is_empty() {
                    return Err(CallFailure::UnknownResource(uri.clone()));
                }
                let mut members = write_contents(&contents);
                if revision.has(Feature::CacheHints) {
                    members.push_str(",\"ttlMs\":0,\"cacheScope\":\"private\"");
                }
                Done::Members(members)
            }
            Work::Prompt(params) => {
                let output: PromptOutput = handler.prompt(params.clone(), context).await?;
                Done::Members(write_prompt_output(&output, revision))
            }
            Work::Complete(params) => {
                let result: CompleteResult = handler.complete(params.clone(), context).await?;
                Done::Members(write_completion(&result))
            }
            Work::Extension { method, params } => {
                let result = handler.extension(method, params.clone(), context).await?;
                let text = result.as_str().trim();
                let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
                let inner = inner.filter(|_| Members::parse(text).is_some());
                let inner =
                    inner.ok_or_else(|| CallFailure::Internal("the result is no object".to_owned()))?;
                Done::Members(inner.trim().to_owned())
            }
        })
    })
}

impl Work {
    fn describe(&self) -> String {
        match self {
            Self::Call { name, .. } => format!("the tool `{name}`"),
            Self::Read { uri } => format!("the resource `{uri}`"),
            Self::Prompt(params) => format!("the prompt `{}`", params.name),
            Self::Complete(_) => "completion".to_owned(),
            Self::Extension { method, .. } => format!("`{method}`"),
        }
    }

    fn answer(&self, id: &Id, outcome: Result<Done, CallFailure>, revision: Revision, core: &Core) -> Reply {
        let outcome = match (self, outcome) {
            // The model can make something of these words, and nothing of an error of the protocol.
            (Self::Call { .. }, Err(failure @ CallFailure::Unanswered(_))) => {
                Ok(Done::Call(ToolOutput::error(failure.to_string())))
            }
            (Self::Call { .. }, Err(failure @ CallFailure::MissingCapability(_)))
                if !revision.is_modern() =>
            {
                Ok(Done::Call(ToolOutput::error(failure.to_string())))
            }
            (_, outcome) => outcome,
        };
        match outcome {
            Ok(Done::Call(output)) => Reply::output(id, output, &core.who, revision),
            Ok(Done::Members(members)) => Reply::result(id, &members, &core.who, revision),
            Err(failure) => Reply::failure(id, &failure, revision),
        }
    }
}
