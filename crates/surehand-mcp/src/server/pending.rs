use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use surehand_model::RawJson;

use super::answer::{Reply, write_output_result};
use super::state::Binding;
use super::task_methods::task_result;
use super::{Core, rounds};
use crate::contain::{contained, words_of};
use crate::envelope::Id;
use crate::handler::{
    BoxFuture, CallFailure, Inputs, Outbox, PromptOutput, RequestContext, RequestFacts, ToolInvocation,
    ToolOutput,
};
use crate::members::Members;
use crate::method::{CallTool, Complete, GetPrompt, Method, ReadResource, TaskResult};
use crate::revision::{Feature, Revision};
use crate::tasks::{Stage, TaskOptions};
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
    /// The client wants it to be a task from the beginning.
    pub(super) begin: Option<TaskOptions>,
    /// What a state given out for it is bound to; only where it may be asked in rounds.
    pub(super) binding: Option<Binding>,
    pub(super) core: Arc<Core>,
}

/// What the handler is to do.
#[derive(Debug)]
pub(super) enum Work {
    Call {
        name: String,
        arguments: RawJson,
    },
    Read {
        uri: String,
    },
    Prompt(GetPromptParams),
    Complete(CompleteParams),
    Extension {
        method: String,
        params: RawJson,
    },
    /// Waits for what becomes of a task, of 2025-11-25.
    TaskResult {
        id: String,
    },
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
            Work::TaskResult { .. } => TaskResult::NAME,
        }
    }

    /// What it is about: the name of a tool or prompt, the address of a resource, the id of a task.
    pub fn subject(&self) -> Option<&str> {
        match &self.work {
            Work::Call { name, .. } => Some(name),
            Work::Read { uri } => Some(uri),
            Work::Prompt(params) => Some(&params.name),
            Work::TaskResult { id } => Some(id),
            Work::Complete(_) | Work::Extension { .. } => None,
        }
    }

    /// Runs it until there is an answer. Dropping the future cancels the request; one that has become a task goes on in the
    /// background. A panic of the handler is an answer, not an end.
    pub async fn run(self, outbox: Arc<dyn Outbox>) -> Reply {
        let Self { id, revision, work, facts, begin, binding, core } = self;
        let context = RequestContext::new(facts, outbox);
        if let Some(options) = begin
            && let Err(failure) = context.begin_task(options)
        {
            return Reply::failure(&id, &failure, revision);
        }
        let ended = end(core.clone(), work, context.clone(), revision, binding.is_some());
        let ended = match context.has_seat() {
            false => Ok(ended.await),
            true => until_begun(Box::pin(ended), &context).await,
        };
        if let Some(begun) = context.begun()
            && let Some(tasks) = &core.tasks
        {
            let reply = Reply::task(&id, &begun.members, &core.who, revision);
            match ended {
                Ok(ended) => tasks.end(&begun.id, ended.into_stage(&core.who, revision)),
                Err(rest) => {
                    let who = core.who.clone();
                    let work = Box::pin(async move { rest.await.into_stage(&who, revision) });
                    tasks.background.carry_on(Box::pin(tasks.clone().carry(begun, work)));
                }
            }
            return reply;
        }
        match (ended, &binding) {
            (Ok(Ended::Asking(inputs)), Some(binding)) => {
                rounds::ask(&id, &inputs, binding, &*core.seal, &core.who)
            }
            (Ok(Ended::Done(Ok(Done::Call(output)))), _) => Reply::output(&id, output, &core.who, revision),
            (Ok(Ended::Done(Ok(Done::Members(members)))), _) => {
                Reply::result(&id, &members, &core.who, revision)
            }
            (Ok(Ended::Done(Err(failure))), _) => Reply::failure(&id, &failure, revision),
            (Ok(Ended::Asking(_)) | Err(_), _) => {
                Reply::internal(&id, "the request neither ended nor went on")
            }
        }
    }
}

/// How a request came to its end, as far as the handler goes.
enum Ended {
    /// Questions are open.
    Asking(Inputs),
    Done(Result<Done, CallFailure>),
}

impl Ended {
    /// What it makes of a task.
    fn into_stage(self, who: &RawJson, revision: Revision) -> Stage {
        match self {
            Self::Done(Ok(Done::Call(output))) => Stage::Completed {
                is_error: output.is_error,
                result: write_output_result(output, who, revision),
            },
            Self::Done(Err(failure)) => Stage::Failed(failure.to_rpc_error(revision)),
            Self::Asking(_) => Stage::Failed(CallFailure::InputRequired.to_rpc_error(revision)),
            Self::Done(Ok(Done::Members(members))) => {
                Stage::Completed { is_error: false, result: format!("{{{members}}}") }
            }
        }
    }
}

/// Runs the handler to its end.
async fn end(
    core: Arc<Core>,
    work: Work,
    context: RequestContext,
    revision: Revision,
    takes_rounds: bool,
) -> Ended {
    let outcome = match contained(perform(&core, &work, &context, revision)).await {
        Ok(outcome) => outcome,
        Err(panic) => {
            let words = words_of(panic.as_ref()).unwrap_or("without words");
            Err(CallFailure::Internal(format!("{} panicked: {words}", work.describe())))
        }
    };
    let inputs = context.take_inputs();
    if takes_rounds && ended_by_question(&outcome, &inputs) {
        return Ended::Asking(inputs);
    }
    let outcome = match (outcome, inputs.missing) {
        // A tool that told its own words of it ended because of it all the same.
        (Ok(Done::Call(output)), Some(missing)) if output.is_error && revision.is_modern() => {
            Err(CallFailure::MissingCapability(missing))
        }
        (outcome, _) => outcome,
    };
    Ended::Done(work.settle(outcome, revision))
}

/// Works on a request until it is at its end, or has become a task; then the rest of the work is given.
async fn until_begun(
    mut work: BoxFuture<'static, Ended>,
    context: &RequestContext,
) -> Result<Ended, BoxFuture<'static, Ended>> {
    let ended = poll_fn(|waker| match work.as_mut().poll(waker) {
        Poll::Ready(ended) => Poll::Ready(Some(ended)),
        Poll::Pending if context.begun().is_some() => Poll::Ready(None),
        Poll::Pending => Poll::Pending,
    });
    ended.await.ok_or(work)
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
            Work::TaskResult { id } => Done::Members(task_result(core, id, &context).await?),
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
    /// What a state given out for it is bound to; none where it is not asked in rounds.
    pub(super) fn binding(&self, principal: Option<&str>) -> Option<Binding> {
        let (method, subject, arguments) = match self {
            Self::Call { name, arguments } => (CallTool::NAME, name, arguments.clone()),
            Self::Read { uri } => (ReadResource::NAME, uri, RawJson::null()),
            Self::Prompt(params) => {
                (GetPrompt::NAME, &params.name, RawJson::from_serialize(&params.arguments))
            }
            Self::Complete(_) | Self::Extension { .. } | Self::TaskResult { .. } => return None,
        };
        let principal = principal.map(str::to_owned);
        Some(Binding { principal, method, subject: subject.clone(), arguments })
    }

    fn describe(&self) -> String {
        match self {
            Self::Call { name, .. } => format!("the tool `{name}`"),
            Self::Read { uri } => format!("the resource `{uri}`"),
            Self::Prompt(params) => format!("the prompt `{}`", params.name),
            Self::Complete(_) => "completion".to_owned(),
            Self::Extension { method, .. } => format!("`{method}`"),
            Self::TaskResult { id } => format!("the task `{id}`"),
        }
    }

    /// The outcome as the client is told it.
    fn settle(&self, outcome: Result<Done, CallFailure>, revision: Revision) -> Result<Done, CallFailure> {
        match (self, outcome) {
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
        }
    }
}
