//! A request while its handler works: polled by whoever waits for the answer, and where that one goes away, ended or carried on,
//! as the era has it.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use surehand_mcp::{BoxFuture, Id, Reply};
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tokio_util::task::TaskTracker;

use super::events::Events;
use super::session_id::SessionKey;
use super::sessions::Sessions;

/// How long a request goes on for which nobody waits any more.
const ALONE: Duration = Duration::from_secs(15 * 60);

/// See the module.
pub(super) struct Running {
    work: Option<Work>,
    /// Where what it sends before the answer is gathered.
    events: Arc<Events>,
}

struct Work {
    run: BoxFuture<'static, Reply>,
    /// Of the older era: it goes on when the client hangs up.
    lasting: Option<Lasting>,
    _place: OwnedSemaphorePermit,
}

/// What a request needs to go on without the connection it came by.
struct Lasting {
    sessions: Sessions,
    session: SessionKey,
    ids: Vec<Id>,
    cancelled: Pin<Box<WaitForCancellationFutureOwned>>,
    tasks: TaskTracker,
    runtime: Handle,
}

/// What comes of a request first.
pub(super) enum First {
    /// The answer, and nothing before it.
    Answer(Reply),
    /// Something is to be sent before the answer.
    Stream(Running),
}

impl Running {
    /// A request that ends with the connection it came by.
    pub(super) fn new(
        run: BoxFuture<'static, Reply>,
        events: Arc<Events>,
        place: OwnedSemaphorePermit,
    ) -> Self {
        Self { work: Some(Work { run, lasting: None, _place: place }), events }
    }

    /// A request that goes on without it, until `cancel`. `None` where one of its ids is in use in the session.
    pub(super) fn lasting(
        mut self,
        sessions: &Sessions,
        session: SessionKey,
        ids: &[Id],
        cancel: CancellationToken,
        tasks: &TaskTracker,
    ) -> Option<Self> {
        if !sessions.begin(session, ids, &cancel) {
            return None;
        }
        if let Some(work) = &mut self.work {
            work.lasting = Some(Lasting {
                sessions: sessions.clone(),
                session,
                ids: ids.to_vec(),
                cancelled: Box::pin(cancel.cancelled_owned()),
                tasks: tasks.clone(),
                runtime: Handle::current(),
            });
        }
        Some(self)
    }

    pub(super) fn events(&self) -> &Arc<Events> {
        &self.events
    }

    /// Works once on what may well have its answer at once.
    pub(super) async fn at_once(&mut self) -> Option<Reply> {
        poll_fn(|context| {
            Poll::Ready(match self.poll(context) {
                Poll::Ready(reply) => Some(reply),
                Poll::Pending => None,
            })
        })
        .await
    }

    /// Works on until there is an answer or something to send before it. Without `streams`, until there is an answer.
    pub(super) async fn first(mut self, streams: bool) -> First {
        let answer = poll_fn(|context| {
            self.events.wake_on_news(context);
            match self.poll(context) {
                Poll::Ready(reply) => Poll::Ready(Some(reply)),
                Poll::Pending if streams && self.events.has_news() => Poll::Ready(None),
                Poll::Pending => Poll::Pending,
            }
        })
        .await;
        match answer {
            Some(reply) => self.answered(reply, streams),
            None => First::Stream(self),
        }
    }

    /// The answer alone, or behind what was sent before it.
    pub(super) fn answered(self, reply: Reply, streams: bool) -> First {
        if streams && self.events.has_news() {
            self.events.finish(&reply.body);
            First::Stream(self)
        } else {
            First::Answer(reply)
        }
    }

    /// Works on. What is to be sent meanwhile goes to the events; so does the answer, which ends them.
    pub(super) fn work(&mut self, context: &mut Context<'_>) {
        if let Poll::Ready(reply) = self.poll(context) {
            self.events.finish(&reply.body);
        }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Reply> {
        let Some(work) = &mut self.work else { return Poll::Pending };
        let outcome = work.poll(context);
        if outcome.is_ready() {
            self.work = None;
        }
        outcome
    }
}

impl Work {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Reply> {
        if let Poll::Ready(reply) = self.run.as_mut().poll(context) {
            self.done();
            return Poll::Ready(reply);
        }
        let Some(lasting) = &mut self.lasting else { return Poll::Pending };
        if lasting.cancelled.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        // The client expects no answer, but HTTP does.
        let reply = lasting.ids.first().map(Reply::cancelled);
        self.done();
        Poll::Ready(reply.unwrap_or_else(|| Reply::unreadable("cancelled by the client")))
    }

    fn done(&self) {
        if let Some(lasting) = &self.lasting {
            lasting.sessions.finish(lasting.session, &lasting.ids);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(mut work) = self.work.take() else { return };
        let Some(lasting) = &work.lasting else { return };
        let (tasks, runtime) = (lasting.tasks.clone(), lasting.runtime.clone());
        let events = self.events.clone();
        let alone = async move {
            match tokio::time::timeout(ALONE, poll_fn(|context| work.poll(context))).await {
                Ok(reply) => events.finish(&reply.body),
                Err(_) => {
                    work.done();
                    events.end();
                }
            }
        };
        tasks.spawn_on(alone, &runtime);
    }
}
