//! Calls that go on after they have been answered: as an extension of stateless servers, where the server decides, and in the last
//! revision with a handshake, where the client asks for it.

use std::collections::BTreeMap;
use std::time::Duration;

use surehand_mcp::{
    CallTool, CancelTask, Done, Feature, GetTask, InputRequired, ListTasks, Listing, Method, TASKS,
    TaskParams, TaskResult, TaskState, TaskStatus, TaskStep, TaskSupport, TaskUpdateParams, TaskWatch,
    UpdateTask, as_task,
};
use surehand_model::RawJson;
use tokio::time::{sleep, timeout};

use super::{CallOptions, CallOutcome, Client, ClientError, WireRequest};

/// How long a server may take to be told that a task is given up.
const FAREWELL: Duration = Duration::from_secs(5);
/// How many looks in a row may fail because the server is not reachable. A task outlives a broken connection.
const LOOKS_IN_VAIN: usize = 3;

/// What a call was answered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Started {
    /// Its result.
    Done(Box<CallOutcome>),
    /// It goes on: see [`Client::finish_task`].
    Task(Box<TaskState>),
}

impl Client {
    /// Runs one tool as [`Client::call_tool`] does, and gives the task that it became where it did. `ttl` says how long the server
    /// shall keep it, where the client has a say.
    ///
    /// # Errors
    ///
    /// As [`Client::call_tool`].
    pub async fn start_tool(
        &self,
        name: &str,
        arguments: &RawJson,
        ttl: Option<Duration>,
        options: CallOptions<'_>,
    ) -> Result<Started, ClientError> {
        let ttl = ttl.map(|ttl| u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX));
        let wants_task = self.task_support(name) != TaskSupport::Forbidden;
        let raw = self.call(name, arguments, wants_task.then_some(ttl), options).await?;
        Ok(match TaskState::created(&raw) {
            Some(task) => Started::Task(Box::new(task)),
            None => Started::Done(Box::new(self.outcome(name, raw)?)),
        })
    }

    /// Waits for what comes of a task that a call of `tool` became: looks at it as often as the server likes, and gives it what it
    /// waits for. When the time is over the server is told to give the task up; where the future is dropped the task goes on, and
    /// can be waited for again.
    ///
    /// # Errors
    ///
    /// [`ClientError::TaskCancelled`]; [`ClientError::Rpc`] where the task failed; [`ClientError`].
    pub async fn finish_task(
        &self,
        tool: &str,
        task: &TaskState,
        options: CallOptions<'_>,
    ) -> Result<CallOutcome, ClientError> {
        let after = options.longest.unwrap_or(options.timeout);
        match self.questions.within(after, self.watch(task.clone(), after)).await {
            Some(Ok(raw)) => self.outcome(tool, raw),
            Some(Err(error)) => {
                if matches!(error, ClientError::InputRequired { .. }) {
                    self.give_up(&task.id).await;
                }
                Err(error)
            }
            None => {
                self.give_up(&task.id).await;
                Err(ClientError::Timeout { after })
            }
        }
    }

    /// How a task stands.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn get_task(&self, id: &str) -> Result<TaskState, ClientError> {
        self.ask::<GetTask>(&TaskParams { task_id: id.to_owned() }, Some(id)).await
    }

    /// All tasks of whoever asks.
    ///
    /// # Errors
    ///
    /// [`ClientError::NotOffered`] where the server does not list them, as stateless ones never do; [`ClientError`].
    pub async fn list_tasks(&self) -> Result<Listing<TaskState>, ClientError> {
        if !self.server.revision.has(Feature::CoreTasks) || !self.server.offers(&["tasks", "list"]) {
            return Err(ClientError::NotOffered { what: "a list of tasks" });
        }
        self.list::<ListTasks>(true).await
    }

    /// Gives a task what it waits for: results by the keys that its server asked for them under.
    ///
    /// # Errors
    ///
    /// [`ClientError::NotOffered`] where the server asks by requests of its own; [`ClientError`].
    pub async fn update_task(&self, id: &str, responses: &[(String, RawJson)]) -> Result<(), ClientError> {
        if !self.server.revision.has(Feature::Stateless) {
            return Err(ClientError::NotOffered { what: "to take what a task waits for" });
        }
        let all: BTreeMap<&str, &RawJson> =
            responses.iter().map(|(key, response)| (key.as_str(), response)).collect();
        let input_responses = RawJson::from_serialize(&all);
        let params = TaskUpdateParams { task_id: id.to_owned(), input_responses };
        self.ask::<UpdateTask>(&params, Some(id)).await.map(|Done| ())
    }

    /// Asks the server to give a task up. It may come to its end all the same.
    ///
    /// # Errors
    ///
    /// [`ClientError`]; in the last revision with a handshake for a task that has come to its end, too.
    pub async fn cancel_task(&self, id: &str) -> Result<(), ClientError> {
        self.ask::<CancelTask>(&TaskParams { task_id: id.to_owned() }, Some(id)).await.map(|Done| ())
    }

    /// Whether a result of this request may be a task, because this client says that it takes tasks.
    pub(super) fn takes_task(&self, request: &WireRequest<'_>) -> bool {
        request.method == CallTool::NAME
            && self.server.revision.has(Feature::Stateless)
            && self.questions.declares(TASKS)
    }

    /// Whether calls of a tool can be asked to become tasks. A stateless server decides by itself.
    pub(super) fn task_support(&self, tool: &str) -> TaskSupport {
        if !self.server.revision.has(Feature::CoreTasks)
            || !self.server.offers(&["tasks", "requests", "tools", "call"])
        {
            return TaskSupport::Forbidden;
        }
        self.known_task_support(tool)
    }

    /// The parameters of a call, as a task where that is wanted.
    pub(super) fn call_params(params: RawJson, task: Option<Option<u64>>) -> RawJson {
        match task {
            Some(ttl) => as_task(&params, ttl),
            None => params,
        }
    }

    async fn watch(&self, mut state: TaskState, limit: Duration) -> Result<RawJson, ClientError> {
        let mut watch = TaskWatch::new();
        let mut in_vain = 0;
        let is_core = self.server.revision.has(Feature::CoreTasks);
        loop {
            // In the core protocol the outcome has a method of its own, which waits, and while it does the server asks.
            if is_core && !matches!(state.status, TaskStatus::Working | TaskStatus::Cancelled) {
                return self.task_result(&state.id, limit).await;
            }
            match watch.take(&state) {
                TaskStep::Wait(milliseconds) => sleep(Duration::from_millis(milliseconds)).await,
                TaskStep::Give(requests) => self.give(&state, requests).await?,
                TaskStep::Done(Some(outcome)) => return Ok(outcome?),
                TaskStep::Done(None) => {
                    let what = "the task is completed and has no result".to_owned();
                    return Err(ClientError::Protocol { what });
                }
                TaskStep::Cancelled(why) => return Err(ClientError::TaskCancelled { why }),
            }
            state = match self.get_task(&state.id).await {
                Ok(state) => {
                    in_vain = 0;
                    state
                }
                Err(ClientError::Unreachable { .. }) if in_vain < LOOKS_IN_VAIN => {
                    in_vain += 1;
                    state
                }
                Err(error) => return Err(error),
            };
        }
    }

    async fn give(
        &self,
        state: &TaskState,
        requests: Vec<surehand_mcp::InputRequest>,
    ) -> Result<(), ClientError> {
        let mut methods: Vec<String> = requests.iter().map(|request| request.method.clone()).collect();
        methods.dedup();
        let input = InputRequired { requests, state: None };
        let responses = self.questions.answer_all(&input).await.map_err(|why| {
            ClientError::InputRequired { what: methods.join(", "), why, raw: state.raw.clone() }
        })?;
        self.update_task(&state.id, &responses).await
    }

    async fn task_result(&self, id: &str, limit: Duration) -> Result<RawJson, ClientError> {
        let request = WireRequest {
            method: TaskResult::NAME,
            params: Some(RawJson::from_serialize(&TaskParams { task_id: id.to_owned() })),
            subject: Some(id),
            arguments: None,
            timeout: limit,
            on_progress: None,
            is_read: true,
        };
        self.send(request).await
    }

    /// A server that does not hear of it keeps the task no longer than it would have anyway.
    async fn give_up(&self, id: &str) {
        let _ = timeout(FAREWELL, self.cancel_task(id)).await;
    }
}
