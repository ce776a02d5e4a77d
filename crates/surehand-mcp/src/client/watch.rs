use std::collections::HashSet;

use surehand_model::RawJson;

use super::input::InputRequest;
use crate::error::{ErrorCode, RpcError};
use crate::types::tasks::{TaskState, TaskStatus};

/// How long is waited between two looks at a task, where the server does not say; in milliseconds.
const INTERVAL: u64 = 1_000;
/// A server may have us look no more often than this, in milliseconds.
const INTERVAL_LEAST: u64 = 20;
/// A server may make us wait no longer than this, in milliseconds.
const INTERVAL_MOST: u64 = 60_000;

/// Looks at a task again and again until it has come to its end.
#[derive(Debug, Default)]
pub struct TaskWatch {
    /// What has been answered. A key stands for one question as long as the task lives.
    answered: HashSet<String>,
}

/// What follows from how a task stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskStep {
    /// Look again after so many milliseconds.
    Wait(u64),
    /// Give this first. Each is asked for once.
    Give(Vec<InputRequest>),
    /// It has come to its end; the outcome is to be fetched where it is not here.
    Done(Option<Result<RawJson, RpcError>>),
    /// It was given up; the server's words.
    Cancelled(Option<String>),
}

impl TaskWatch {
    /// Nothing has been answered yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in how the task stands.
    pub fn take(&mut self, state: &TaskState) -> TaskStep {
        match state.status {
            TaskStatus::Working => {}
            TaskStatus::InputRequired => {
                let requests =
                    state.requests.iter().filter(|request| self.answered.insert(request.key.clone()));
                let requests: Vec<InputRequest> = requests.cloned().collect();
                if !requests.is_empty() {
                    return TaskStep::Give(requests);
                }
            }
            TaskStatus::Completed => return TaskStep::Done(state.outcome.clone()),
            TaskStatus::Failed => {
                let words = || state.status_message.clone().unwrap_or_else(|| "the task failed".to_owned());
                let without_words = || Err(RpcError::new(ErrorCode::INTERNAL, words()));
                return TaskStep::Done(state.outcome.clone().or_else(|| Some(without_words())));
            }
            TaskStatus::Cancelled => return TaskStep::Cancelled(state.status_message.clone()),
        }
        TaskStep::Wait(state.poll_interval.unwrap_or(INTERVAL).clamp(INTERVAL_LEAST, INTERVAL_MOST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::ReadResult;

    fn step(watch: &mut TaskWatch, members: &str) -> TaskStep {
        let text = format!(r#"{{"taskId":"a",{members}}}"#);
        watch.take(&TaskState::read(&RawJson::parse(text).unwrap()).unwrap())
    }

    #[test]
    fn a_task_is_looked_at_as_often_as_its_server_likes_within_bounds() {
        let mut watch = TaskWatch::new();
        assert_eq!(step(&mut watch, r#""status":"working""#), TaskStep::Wait(1_000));
        assert_eq!(step(&mut watch, r#""status":"working","pollIntervalMs":250"#), TaskStep::Wait(250));
        assert_eq!(step(&mut watch, r#""status":"working","pollInterval":0"#), TaskStep::Wait(20));
        assert_eq!(step(&mut watch, r#""status":"working","pollInterval":1e12"#), TaskStep::Wait(60_000));
    }

    #[test]
    fn each_question_of_a_task_is_answered_once() {
        let mut watch = TaskWatch::new();
        let asks = r#""status":"input_required","inputRequests":{"k":{"method":"roots/list"}}"#;
        let request = InputRequest { key: "k".to_owned(), method: "roots/list".to_owned(), params: None };
        assert_eq!(step(&mut watch, asks), TaskStep::Give(vec![request.clone()]));
        assert_eq!(step(&mut watch, asks), TaskStep::Wait(1_000));
        let more = r#""status":"input_required","inputRequests":{"k":{"method":"roots/list"},"l":{"method":"roots/list"}}"#;
        let other = InputRequest { key: "l".to_owned(), ..request };
        assert_eq!(step(&mut watch, more), TaskStep::Give(vec![other]));
    }

    #[test]
    fn a_task_ends_with_a_result_an_error_or_by_being_given_up() {
        let mut watch = TaskWatch::new();
        assert_eq!(
            step(&mut watch, r#""status":"completed","result":{"content":[]}"#),
            TaskStep::Done(Some(Ok(RawJson::parse(r#"{"content":[]}"#).unwrap())))
        );
        assert_eq!(step(&mut watch, r#""status":"completed""#), TaskStep::Done(None));
        assert_eq!(
            step(&mut watch, r#""status":"failed","statusMessage":"no disk""#),
            TaskStep::Done(Some(Err(RpcError::new(-32603, "no disk"))))
        );
        assert_eq!(step(&mut watch, r#""status":"cancelled""#), TaskStep::Cancelled(None));
    }
}
