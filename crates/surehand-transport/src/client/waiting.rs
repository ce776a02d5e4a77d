//! Whoever waits for the answer to a request that may come over a stream shared by many.

use surehand_mcp::{Progress, RpcError, Wanted};
use surehand_model::RawJson;
use tokio::sync::{mpsc, oneshot};

/// How many reports of progress wait for a slow listener; more are dropped, for the next one says more.
const PROGRESS_WAITING: usize = 64;

/// The near end, kept with the request's id. Dropped unanswered when the connection ends.
#[derive(Debug)]
pub(crate) struct Waiter {
    answer: oneshot::Sender<Result<RawJson, RpcError>>,
    progress: Option<mpsc::Sender<Progress>>,
    granted: Option<mpsc::Sender<Wanted>>,
}

/// The far end, kept by whoever has asked.
#[derive(Debug)]
pub(crate) struct Waiting {
    answer: oneshot::Receiver<Result<RawJson, RpcError>>,
    progress: Option<mpsc::Receiver<Progress>>,
}

impl Waiter {
    /// Both ends. Reports of progress are kept only where they are wanted.
    pub(crate) fn pair(wants_progress: bool) -> (Self, Waiting) {
        let (answer, answered) = oneshot::channel();
        let (reports, reported) = if wants_progress {
            let (sender, receiver) = mpsc::channel(PROGRESS_WAITING);
            (Some(sender), Some(receiver))
        } else {
            (None, None)
        };
        let near = Self { answer, progress: reports, granted: None };
        (near, Waiting { answer: answered, progress: reported })
    }

    /// Both ends of a request that listens. How much the server will tell goes to `granted`.
    pub(crate) fn listening(granted: mpsc::Sender<Wanted>) -> (Self, Waiting) {
        let (near, far) = Self::pair(false);
        (Self { granted: Some(granted), ..near }, far)
    }

    /// Brings the answer. Whoever waited may have given up this very moment.
    pub(crate) fn answer(self, outcome: Result<RawJson, RpcError>) {
        let _ = self.answer.send(outcome);
    }

    /// Brings word of how much the server will tell.
    pub(crate) fn grant(&self, wanted: Wanted) {
        if let Some(sender) = &self.granted {
            let _ = sender.try_send(wanted);
        }
    }

    /// Brings a report.
    pub(crate) fn report(&self, progress: Progress) {
        if let Some(sender) = &self.progress {
            let _ = sender.try_send(progress);
        }
    }
}

impl Waiting {
    /// The answer, with reports of progress handed on while it is waited for. Nothing where the connection ended first. May be
    /// dropped while it waits; nothing is lost.
    pub(crate) async fn answer(
        &mut self,
        on_progress: Option<&(dyn Fn(Progress) + Send + Sync)>,
    ) -> Option<Result<RawJson, RpcError>> {
        loop {
            tokio::select! {
                biased;
                Some(report) = next_report(&mut self.progress) => {
                    if let Some(listen) = on_progress {
                        listen(report);
                    }
                }
                answer = &mut self.answer => return answer.ok(),
            }
        }
    }
}

async fn next_report(progress: &mut Option<mpsc::Receiver<Progress>>) -> Option<Progress> {
    match progress {
        Some(receiver) => receiver.recv().await,
        None => None,
    }
}
