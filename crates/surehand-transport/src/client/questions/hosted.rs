//! Questions that go on as tasks of this client.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use surehand_mcp::{ErrorCode, HostedTasks, InputKind, RpcError};
use surehand_model::RawJson;
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};

use super::Questions;
use crate::server::unix_now;

/// The tasks of this client on one connection. They end with it.
#[derive(Default)]
pub(crate) struct Hosted {
    state: Mutex<State>,
    /// Counts what has changed.
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    tasks: HostedTasks,
    work: JoinSet<()>,
    running: HashMap<String, AbortHandle>,
}

impl Hosted {
    /// Ends everything that goes on.
    pub(crate) fn end(&self) {
        self.lock().work.abort_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn finish(&self, id: &str, outcome: Result<RawJson, RpcError>) {
        {
            let mut state = self.lock();
            state.tasks.finish(id, outcome, now());
            state.running.remove(id);
        }
        self.changes.send_modify(|changes| *changes += 1);
    }
}

impl Questions {
    /// The result of a request of the server, or the task that it becomes.
    pub(super) async fn answer_request(
        self: &Arc<Self>,
        kind: InputKind,
        params: Option<&RawJson>,
    ) -> Result<RawJson, RpcError> {
        let wanted = HostedTasks::wanted(kind, params).filter(|_| self.hosts_tasks);
        match (kind, wanted) {
            (_, Some(ttl)) => self.begin_task(kind, params, ttl),
            (InputKind::GetTask, _) => self.hosted.lock().tasks.get(params, now()),
            (InputKind::ListTasks, _) => Ok(self.hosted.lock().tasks.list(now())),
            (InputKind::TaskResult, _) => self.task_result(params).await,
            (InputKind::CancelTask, _) => {
                let result = {
                    let mut state = self.hosted.lock();
                    let (id, result) = state.tasks.cancel(params, now())?;
                    if let Some(work) = state.running.remove(&id) {
                        work.abort();
                    }
                    result
                };
                self.hosted.changes.send_modify(|changes| *changes += 1);
                Ok(result)
            }
            _ => self.answer(kind, params).await,
        }
    }

    fn begin_task(
        self: &Arc<Self>,
        kind: InputKind,
        params: Option<&RawJson>,
        ttl: Option<u64>,
    ) -> Result<RawJson, RpcError> {
        let id = random_id()?;
        let mut state = self.hosted.lock();
        while state.work.try_join_next().is_some() {}
        let begun = state.tasks.begin(id.clone(), ttl, now())?;
        let (questions, params, of) = (self.clone(), params.cloned(), id.clone());
        let work = state.work.spawn(async move {
            let outcome = questions.answer(kind, params.as_ref()).await;
            questions.hosted.finish(&of, outcome);
        });
        state.running.insert(id, work);
        Ok(begun)
    }

    /// Waits for what comes of a task.
    async fn task_result(&self, params: Option<&RawJson>) -> Result<RawJson, RpcError> {
        let mut changes = self.hosted.changes.subscribe();
        loop {
            let result = self.hosted.lock().tasks.result(params, now())?;
            if let Some(result) = result {
                return Ok(result);
            }
            // The sender lives as long as this.
            let _ = changes.changed().await;
        }
    }
}

/// Ends the tasks of a connection with it.
pub(crate) struct EndTasks(pub(crate) Arc<Questions>);

impl Drop for EndTasks {
    fn drop(&mut self) {
        self.0.hosted.end();
    }
}

fn now() -> u64 {
    unix_now().saturating_mul(1_000)
}

fn random_id() -> Result<String, RpcError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|_| RpcError::new(ErrorCode::INTERNAL, "the system has no randomness to give"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
