use surehand_model::RawJson;

use super::kinds::InputKind;
use crate::error::{ErrorCode, RpcError};
use crate::members::Members;
use crate::meta::push_member;
use crate::tasks::stamp;
use crate::types::tasks::TaskStatus;

/// How many tasks a server may have with one client at once.
const KEPT: usize = 64;
/// How long a task is kept where the server does not say, in milliseconds.
const USUAL_TTL: u64 = 60 * 60 * 1_000;
/// How long a task is kept at most, in milliseconds.
const LONGEST_TTL: u64 = 24 * 60 * 60 * 1_000;
/// How often a server is to look, in milliseconds.
const POLL_INTERVAL: u64 = 500;

/// The questions of a server that go on as tasks of the client: the server comes back for the answers.
///
/// Time is handed in, in milliseconds since 1970; so are ids, which nobody may be able to guess.
///
/// Source: MCP 2025-11-25, "Tasks".
#[derive(Debug, Default)]
pub struct HostedTasks {
    /// Oldest first.
    tasks: Vec<Hosted>,
}

#[derive(Debug)]
struct Hosted {
    id: String,
    status: TaskStatus,
    created: u64,
    updated: u64,
    ttl: u64,
    outcome: Option<Result<RawJson, RpcError>>,
}

impl HostedTasks {
    /// For how long a server wants a question kept as a task, in milliseconds; nothing where it wants its answer at once.
    pub fn wanted(kind: InputKind, params: Option<&RawJson>) -> Option<Option<u64>> {
        if !matches!(kind, InputKind::Elicitation | InputKind::Sampling) {
            return None;
        }
        let members = Members::parse(params?.as_str())?;
        let ttl = members.object("task")?.number("ttl");
        Some(ttl.filter(|ttl| *ttl >= 0.0).map(|ttl| ttl as u64))
    }

    /// Begins a task. Gives the result that the question is answered with.
    ///
    /// # Errors
    ///
    /// Where the server has too many that go on.
    pub fn begin(&mut self, id: String, ttl: Option<u64>, now: u64) -> Result<RawJson, RpcError> {
        self.sweep(now);
        if self.tasks.len() >= KEPT {
            let over = self.tasks.iter().position(|task| task.status.is_final());
            let over = over.ok_or_else(|| {
                RpcError::new(ErrorCode::INTERNAL, format!("{KEPT} tasks are going on already"))
            })?;
            self.tasks.remove(over);
        }
        let ttl = ttl.unwrap_or(USUAL_TTL).min(LONGEST_TTL);
        let task = Hosted { id, status: TaskStatus::Working, created: now, updated: now, ttl, outcome: None };
        let mut out = String::from("{");
        push_member(&mut out, "task", &task.write());
        out.push('}');
        self.tasks.push(task);
        Ok(parsed(out))
    }

    /// Ends a task with its answer, unless it has been given up.
    pub fn finish(&mut self, id: &str, outcome: Result<RawJson, RpcError>, now: u64) {
        if let Some(task) = self.tasks.iter_mut().find(|task| task.id == id && !task.status.is_final()) {
            task.status = if outcome.is_ok() { TaskStatus::Completed } else { TaskStatus::Failed };
            task.outcome = Some(outcome);
            task.updated = now;
        }
    }

    /// The result of `tasks/get`.
    ///
    /// # Errors
    ///
    /// Where there is no such task, or no longer.
    pub fn get(&mut self, params: Option<&RawJson>, now: u64) -> Result<RawJson, RpcError> {
        Ok(parsed(self.find(params, now)?.write()))
    }

    /// The result of `tasks/list`, on one page.
    pub fn list(&mut self, now: u64) -> RawJson {
        self.sweep(now);
        let all: Vec<String> = self.tasks.iter().map(Hosted::write).collect();
        parsed(format!("{{\"tasks\":[{}]}}", all.join(",")))
    }

    /// The result of `tasks/result`, which says whose it is; nothing as long as there is none.
    ///
    /// # Errors
    ///
    /// The question's own, or that there is no such task, or that it was given up.
    pub fn result(&mut self, params: Option<&RawJson>, now: u64) -> Result<Option<RawJson>, RpcError> {
        let task = self.find(params, now)?;
        match (&task.outcome, task.status) {
            (Some(Ok(result)), _) => {
                let related = format!("{{\"taskId\":{}}}", RawJson::from_serialize(&task.id));
                let entry = [(crate::meta::MetaKey::RELATED_TASK, parsed(related))];
                Ok(Some(parsed(crate::meta::with_meta(Some(result), &entry))))
            }
            (Some(Err(error)), _) => Err(error.clone()),
            (None, TaskStatus::Cancelled) => Err(refuse("the task was given up")),
            (None, _) => Ok(None),
        }
    }

    /// Gives a task up. Gives its id, whose work is to be stopped, and the result of `tasks/cancel`.
    ///
    /// # Errors
    ///
    /// Where there is no such task, or it has come to its end.
    pub fn cancel(&mut self, params: Option<&RawJson>, now: u64) -> Result<(String, RawJson), RpcError> {
        let task = self.find(params, now)?;
        if task.status.is_final() {
            return Err(refuse(&format!("the task is {} already", task.status.as_str())));
        }
        task.status = TaskStatus::Cancelled;
        task.updated = now;
        Ok((task.id.clone(), parsed(task.write())))
    }

    fn find(&mut self, params: Option<&RawJson>, now: u64) -> Result<&mut Hosted, RpcError> {
        self.sweep(now);
        let id = params.and_then(|params| Members::parse(params.as_str())?.string("taskId"));
        let task = self.tasks.iter_mut().find(|task| Some(&task.id) == id.as_ref());
        task.ok_or_else(|| refuse("there is no such task"))
    }

    /// What is past its time is forgotten, except what still goes on: somebody is at it.
    fn sweep(&mut self, now: u64) {
        self.tasks.retain(|task| !task.status.is_final() || now < task.created.saturating_add(task.ttl));
    }
}

impl Hosted {
    fn write(&self) -> String {
        let mut out = String::from("{");
        push_member(&mut out, "taskId", RawJson::from_serialize(&self.id).as_str());
        push_member(&mut out, "status", &format!("\"{}\"", self.status.as_str()));
        if let Some(Err(error)) = &self.outcome {
            push_member(&mut out, "statusMessage", RawJson::from_serialize(&error.message).as_str());
        }
        for (key, milliseconds) in [("createdAt", self.created), ("lastUpdatedAt", self.updated)] {
            push_member(&mut out, key, &format!("\"{}\"", stamp(milliseconds / 1_000)));
        }
        push_member(&mut out, "ttl", &self.ttl.to_string());
        push_member(&mut out, "pollInterval", &POLL_INTERVAL.to_string());
        out.push('}');
        out
    }
}

fn refuse(what: &str) -> RpcError {
    RpcError::new(ErrorCode::INVALID_PARAMS, what)
}

fn parsed(text: String) -> RawJson {
    RawJson::parse(text).unwrap_or_else(|_| RawJson::empty_object())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> RawJson {
        RawJson::parse(text).unwrap()
    }

    fn of(id: &str) -> Option<RawJson> {
        Some(raw(&format!(r#"{{"taskId":"{id}"}}"#)))
    }

    #[test]
    fn only_what_may_take_long_becomes_a_task_and_only_where_it_is_wanted() {
        let wanted = |kind, params: &str| HostedTasks::wanted(kind, Some(&raw(params)));
        assert_eq!(wanted(InputKind::Sampling, r#"{"task":{"ttl":5e3}}"#), Some(Some(5_000)));
        assert_eq!(wanted(InputKind::Elicitation, r#"{"task":{}}"#), Some(None));
        assert_eq!(wanted(InputKind::Sampling, "{}"), None);
        assert_eq!(wanted(InputKind::Roots, r#"{"task":{}}"#), None);
    }

    #[test]
    fn a_task_goes_on_and_ends_with_an_answer_that_says_whose_it_is() {
        let mut tasks = HostedTasks::default();
        let task = |status: &str, updated: &str| {
            format!(
                r#"{{"taskId":"a","status":"{status}","createdAt":"1970-01-01T00:00:01Z","lastUpdatedAt":"1970-01-01T00:00:0{updated}Z","ttl":5000,"pollInterval":500}}"#
            )
        };
        let begun = tasks.begin("a".to_owned(), Some(5_000), 1_000).unwrap();
        assert_eq!(begun.as_str(), format!(r#"{{"task":{}}}"#, task("working", "1")));
        assert_eq!(tasks.result(of("a").as_ref(), 1_500), Ok(None));
        tasks.finish("a", Ok(raw(r#"{"n":1.10}"#)), 2_000);
        assert_eq!(tasks.get(of("a").as_ref(), 2_500).unwrap().as_str(), task("completed", "2"));
        assert_eq!(tasks.list(2_500).as_str(), format!(r#"{{"tasks":[{}]}}"#, task("completed", "2")));
        assert_eq!(
            tasks.result(of("a").as_ref(), 2_500).unwrap().unwrap().as_str(),
            r#"{"n":1.10,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"a"}}}"#
        );
        assert_eq!(
            tasks.cancel(of("a").as_ref(), 2_500),
            Err(RpcError::new(-32602, "the task is completed already"))
        );
        assert_eq!(tasks.get(of("a").as_ref(), 6_000), Err(RpcError::new(-32602, "there is no such task")));
    }

    #[test]
    fn a_task_that_is_given_up_or_fails_has_no_answer_and_what_goes_on_is_never_forgotten() {
        let mut tasks = HostedTasks::default();
        tasks.begin("a".to_owned(), Some(1), 0).unwrap();
        tasks.begin("b".to_owned(), Some(10), 0).unwrap();
        let (stopped, told) = tasks.cancel(of("a").as_ref(), 0).unwrap();
        assert!(stopped == "a" && told.as_str().contains(r#""status":"cancelled""#));
        tasks.finish("a", Ok(raw("{}")), 0);
        assert_eq!(tasks.result(of("a").as_ref(), 0), Err(RpcError::new(-32602, "the task was given up")));
        assert_eq!(tasks.result(of("b").as_ref(), 1_000), Ok(None));
        tasks.finish("b", Err(RpcError::new(-1, "no")), 5);
        assert_eq!(tasks.result(of("b").as_ref(), 5), Err(RpcError::new(-1, "no")));
        for n in 0..KEPT {
            tasks.begin(n.to_string(), None, 6).unwrap();
        }
        assert_eq!(tasks.begin("more".to_owned(), None, 6).unwrap_err().code, -32603);
    }
}
