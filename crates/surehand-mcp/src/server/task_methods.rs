//! The methods about tasks, of both eras, and which calls may become one.
//!
//! Source: SEP-2663; MCP 2025-11-25, "Tasks".

use std::sync::Arc;

use surehand_model::RawJson;

use super::answer::Reply;
use super::listen::Subscription;
use super::pending::Work;
use super::{Core, Negotiated, Request, ServerMachine, Verdict};
use crate::error::{ErrorCode, RpcError};
use crate::handler::{CallFailure, Caller, ClientFeature, Outbox, Question, RequestContext, TaskSeat};
use crate::members::string_of;
use crate::meta::{MetaKey, with_meta};
use crate::method::name;
use crate::revision::{Feature, Revision};
use crate::tasks::{Owner, Stage, TaskOptions, TaskTable};
use crate::types::tasks::{TASKS, TaskSupport};

/// What a request needs to become a task, and what it begins with where it is one from the beginning.
type Seat = (Option<TaskSeat>, Option<TaskOptions>);

impl ServerMachine {
    /// Whether a request may become a task, must, or already is one.
    ///
    /// # Errors
    ///
    /// Where a tool and its client do not agree about it.
    pub(super) fn seat(
        &self,
        request: &Request<'_>,
        work: &Work,
        caller: &Caller,
        session: Option<&Negotiated>,
    ) -> Result<Seat, CallFailure> {
        let (Work::Call { name, .. }, Some(table)) = (work, &self.core.tasks) else {
            return Ok((None, None));
        };
        let seat = |session: Option<&Negotiated>| {
            let owner = Owner::of(caller.principal.as_deref(), session.map(|session| session.number));
            Some(TaskSeat { table: table.clone(), owner })
        };
        let support = || self.core.handler.task_support(name);
        if caller.revision.is_modern() {
            return if caller.declares(ClientFeature::Extension(TASKS)) {
                Ok((seat(None), None))
            } else if support() == TaskSupport::Required {
                Err(undeclared())
            } else {
                Ok((None, None))
            };
        }
        if !caller.revision.has(Feature::CoreTasks) {
            return Ok((None, None));
        }
        let refuse = |words: String| CallFailure::Rpc(RpcError::new(ErrorCode::METHOD_NOT_FOUND, words));
        match (request.params.members.object("task"), support()) {
            (None, TaskSupport::Required) => {
                Err(refuse(format!("the tool `{name}` can be called as a task only")))
            }
            (None, _) => Ok((None, None)),
            (Some(_), TaskSupport::Forbidden) => {
                Err(refuse(format!("the tool `{name}` cannot be called as a task")))
            }
            (Some(task), _) => {
                let ttl_ms = task.number("ttl").filter(|ttl| *ttl >= 0.0).map(|ttl| ttl as u64);
                Ok((seat(session), Some(TaskOptions { ttl_ms, ..TaskOptions::default() })))
            }
        }
    }

    /// Answers a method of the extension; nothing where it is none of them.
    pub(super) fn modern_task(&self, request: &Request<'_>, caller: &Caller) -> Option<Verdict> {
        let table = self.core.tasks.as_ref()?;
        if !matches!(request.method, name::TASK_GET | name::TASK_UPDATE | name::TASK_CANCEL) {
            return None;
        }
        let members = self.modern_task_members(table, request, caller);
        Some(Verdict::Answer(match members {
            Ok(members) => Reply::result(&request.id, &members, &self.core.who, caller.revision),
            Err(failure) => Reply::failure(&request.id, &failure, caller.revision),
        }))
    }

    fn modern_task_members(
        &self,
        table: &TaskTable,
        request: &Request<'_>,
        caller: &Caller,
    ) -> Result<String, CallFailure> {
        if !caller.declares(ClientFeature::Extension(TASKS)) {
            return Err(undeclared());
        }
        let id = request.params.unambiguous("taskId").map_err(CallFailure::InvalidParams)?;
        let owner = Owner::of(caller.principal.as_deref(), None);
        let whole = table.look(&owner, &id, |task| task.write_whole(caller.revision));
        let whole = whole.ok_or_else(|| unknown(&id))?;
        match request.method {
            name::TASK_GET => return Ok(whole),
            name::TASK_CANCEL => table.end(&id, Stage::Cancelled),
            _ => {
                let responses = request.params.members.object("inputResponses");
                let responses = responses.ok_or_else(|| {
                    CallFailure::InvalidParams("`inputResponses` is missing or is not an object".to_owned())
                })?;
                let answers = responses.0.into_iter();
                table.answer(
                    &id,
                    answers.map(|(key, answer)| (key.into_owned(), RawJson::from(answer))).collect(),
                );
            }
        }
        Ok(String::new())
    }

    /// Listening for tasks wants the extension, and hears of those only that there are.
    pub(super) fn listen_for_tasks(
        &self,
        request: &Request<'_>,
        mut subscription: Subscription,
        caller: &Caller,
    ) -> Verdict {
        let Some(table) = self.core.tasks.as_ref().filter(|_| !subscription.tasks_mut().is_empty()) else {
            return Verdict::Listen(subscription);
        };
        if !caller.declares(ClientFeature::Extension(TASKS)) {
            return Verdict::Answer(Reply::failure(&request.id, &undeclared(), caller.revision));
        }
        let owner = Owner::of(caller.principal.as_deref(), None);
        subscription.tasks_mut().retain(|id| table.look(&owner, id, |_| ()).is_some());
        Verdict::Listen(subscription)
    }

    /// Answers a method of the core of 2025-11-25; nothing where it is none of them.
    pub(super) fn legacy_task(
        &self,
        request: &Request<'_>,
        revision: Revision,
        principal: Option<&str>,
        session: Option<&Negotiated>,
    ) -> Option<Verdict> {
        let table = self.core.tasks.as_ref().filter(|_| revision.has(Feature::CoreTasks))?;
        let owner = Owner::of(principal, session.map(|session| session.number));
        let members = match request.method {
            name::TASK_LIST => list(table, request, &owner, revision),
            name::TASK_GET | name::TASK_CANCEL => look(table, request, &owner, revision),
            _ => return None,
        };
        Some(Verdict::Answer(match members {
            Ok(members) => Reply::result(&request.id, &members, &self.core.who, revision),
            Err(failure) => Reply::failure(&request.id, &failure, revision),
        }))
    }

    /// The task whose result a request of 2025-11-25 waits for; nothing where that is not what it asks.
    pub(super) fn awaited_task(
        &self,
        request: &Request<'_>,
        caller: &Caller,
        session: Option<&Negotiated>,
    ) -> Option<Result<Work, String>> {
        let table = self.core.tasks.as_ref().filter(|_| caller.revision.has(Feature::CoreTasks))?;
        if request.method != name::TASK_RESULT {
            return None;
        }
        let owner = Owner::of(caller.principal.as_deref(), session.map(|session| session.number));
        Some(request.params.unambiguous("taskId").and_then(|id| {
            let is_there = table.look(&owner, &id, |_| ()).is_some();
            if is_there { Ok(Work::TaskResult { id }) } else { Err(unknown(&id).to_string()) }
        }))
    }
}

/// One page of the tasks of an owner.
fn list(
    table: &TaskTable,
    request: &Request<'_>,
    owner: &Owner,
    revision: Revision,
) -> Result<String, CallFailure> {
    let foreign = || CallFailure::InvalidParams("this cursor was not given out by this server".to_owned());
    let cursor = request.params.members.present("cursor");
    let cursor = cursor.map(|raw| string_of(raw).ok_or_else(foreign)).transpose()?;
    let (tasks, next) = table.list(owner, cursor.as_deref(), revision).map_err(|()| foreign())?;
    let tasks: Vec<String> = tasks.into_iter().map(|task| format!("{{{task}}}")).collect();
    let mut members = format!("\"tasks\":[{}]", tasks.join(","));
    if let Some(next) = next {
        members.push_str(&format!(",\"nextCursor\":\"{next}\""));
    }
    Ok(members)
}

/// How a task stands, after it was cancelled where that is what is asked.
fn look(
    table: &TaskTable,
    request: &Request<'_>,
    owner: &Owner,
    revision: Revision,
) -> Result<String, CallFailure> {
    let id = request.params.unambiguous("taskId").map_err(CallFailure::InvalidParams)?;
    if request.method == name::TASK_CANCEL {
        let is_over = table.look(owner, &id, |task| task.is_over()).ok_or_else(|| unknown(&id))?;
        if is_over {
            return Err(CallFailure::InvalidParams(format!("the task `{id}` is over already")));
        }
        table.end(&id, Stage::Cancelled);
    }
    table.look(owner, &id, |task| task.write(revision)).ok_or_else(|| unknown(&id))
}

/// What a waiting `tasks/result` has to do next.
enum Next {
    Ask(String, Question),
    Over(Stage),
}

/// Waits for what becomes of a task, and meanwhile puts its questions to the client. Gives the members of the result.
pub(super) async fn task_result(
    core: &Core,
    id: &str,
    context: &RequestContext,
) -> Result<String, CallFailure> {
    let (Some(table), Some(outbox)) = (&core.tasks, context.outbox()) else { return Err(unknown(id)) };
    let related = RawJson::from_serialize(&std::collections::BTreeMap::from([("taskId", id)]));
    let related = [(MetaKey::RELATED_TASK, related)];
    loop {
        let next = table.when(id, |task| match task.is_over() {
            true => Some(Next::Over(task.stage().clone())),
            false => task.next_question().map(|(key, question)| Next::Ask(key, question)),
        });
        match next.await.ok_or_else(|| unknown(id))? {
            Next::Ask(key, question) => {
                let params = with_meta(Some(&question.params()), &related);
                let params = RawJson::parse(params).unwrap_or_else(|_| question.params());
                let mut asking = Asking { table, id, key, outcome: None };
                asking.outcome = Some(ask(&outbox, &question, params).await);
            }
            Next::Over(Stage::Completed { result, .. }) => {
                let result = RawJson::parse(result).unwrap_or_else(|_| RawJson::empty_object());
                let whole = with_meta(Some(&result), &related);
                return Ok(whole
                    .strip_prefix('{')
                    .and_then(|rest| rest.strip_suffix('}'))
                    .unwrap_or("")
                    .to_owned());
            }
            Next::Over(Stage::Failed(error)) => return Err(CallFailure::Rpc(error)),
            Next::Over(Stage::Cancelled | Stage::Working) => {
                return Err(CallFailure::Internal(format!("the task `{id}` was cancelled")));
            }
        }
    }
}

async fn ask(outbox: &Arc<dyn Outbox>, question: &Question, params: RawJson) -> Result<RawJson, CallFailure> {
    outbox.request(question.method(), params).await
}

/// A question of a task on its way to the client. Given up, somebody else may put it.
struct Asking<'a> {
    table: &'a TaskTable,
    id: &'a str,
    key: String,
    outcome: Option<Result<RawJson, CallFailure>>,
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.table.put(self.id, &self.key, self.outcome.take());
    }
}

fn unknown(id: &str) -> CallFailure {
    CallFailure::InvalidParams(format!("there is no task `{id}`, or no longer"))
}

fn undeclared() -> CallFailure {
    CallFailure::MissingCapability(ClientFeature::Extension(TASKS).to_capabilities())
}
