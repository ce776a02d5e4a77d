//! What servers ask the person while their tools run.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;

use surehand_mcp::{ElicitAnswer, ElicitRequest, ElicitationModes};
use surehand_provider::BoxFuture;
use surehand_transport::Elicitor;
use tokio::sync::{Semaphore, watch};

use crate::event::{HostEvent, Observer};
use crate::question::ServerQuestion;
use crate::runner::CallContext;

/// Whoever answers for the person what servers ask. One question at a time, approvals included.
pub trait Respondent: Send + Sync {
    /// Answers, by the form or not at all. Time spent here does not count against any time limit of the call or the run. The
    /// future is dropped when the server withdraws its question and when the last call that it could belong to has ended.
    fn respond<'a>(&'a self, question: &'a ServerQuestion) -> BoxFuture<'a, ElicitAnswer>;
}

/// Where the questions of one server arrive. With nobody to answer, nothing is offered, and whoever asks anyway is told no at once.
///
/// A server may ask only while one of its tools runs: what comes at another time is put away unseen, and what is still open when
/// the last call ends is put away too.
pub(crate) struct Desk {
    server: String,
    respondent: Option<Arc<dyn Respondent>>,
    asking: Arc<Semaphore>,
    state: watch::Sender<State>,
}

#[derive(Default)]
struct State {
    /// Who watches each call that runs, by a number of its own.
    calls: Vec<(u64, Arc<dyn Observer>)>,
    next: u64,
    /// How many questions are open.
    questions: usize,
}

impl Desk {
    pub(crate) fn new(
        server: &str,
        respondent: Option<Arc<dyn Respondent>>,
        asking: Arc<Semaphore>,
    ) -> Arc<Self> {
        Arc::new(Self { server: server.to_owned(), respondent, asking, state: watch::Sender::default() })
    }

    /// Does the work of a call. The run's timer stands still while a question of this server is open.
    pub(crate) async fn during<T>(&self, context: &CallContext, work: impl Future<Output = T>) -> T {
        let mut number = 0;
        self.state.send_modify(|state| {
            number = state.next;
            state.next += 1;
            state.calls.push((number, Arc::clone(&context.observer)));
        });
        let _underway = OnDrop(|| {
            self.state.send_modify(|state| state.calls.retain(|(other, _)| *other != number));
        });
        let mut work = pin!(work);
        let mut state = self.state.subscribe();
        loop {
            // The sender lives as long as this, so a wait never fails.
            tokio::select! {
                biased;
                done = &mut work => return done,
                _ = state.wait_for(|state| state.questions > 0) => {}
            }
            let _paused = context.clock.pause();
            tokio::select! {
                biased;
                done = &mut work => return done,
                _ = state.wait_for(|state| state.questions == 0) => {}
            }
        }
    }

    async fn answer(&self, respondent: &dyn Respondent, question: &ServerQuestion) -> ElicitAnswer {
        let Ok(_turn) = self.asking.acquire().await else { return ElicitAnswer::Cancel };
        let mut told: Vec<Arc<dyn Observer>> = Vec::new();
        for (_, observer) in &self.state.borrow().calls {
            if !told.iter().any(|other| Arc::ptr_eq(other, observer)) {
                told.push(Arc::clone(observer));
            }
        }
        for observer in told {
            observer.event(HostEvent::ServerAsked(question.clone()));
        }
        respondent.respond(question).await
    }
}

impl Elicitor for Desk {
    fn modes(&self) -> ElicitationModes {
        let is_attended = self.respondent.is_some();
        ElicitationModes { forms: is_attended, addresses: is_attended }
    }

    fn elicit<'a>(&'a self, request: &'a ElicitRequest) -> BoxFuture<'a, ElicitAnswer> {
        Box::pin(async move {
            let Some(respondent) = &self.respondent else { return ElicitAnswer::Decline };
            let Some(question) = ServerQuestion::shown(&self.server, request) else {
                return ElicitAnswer::Decline;
            };
            self.state.send_modify(|state| state.questions += 1);
            let _open = OnDrop(|| self.state.send_modify(|state| state.questions -= 1));
            let mut state = self.state.subscribe();
            tokio::select! {
                biased;
                _ = state.wait_for(|state| state.calls.is_empty()) => ElicitAnswer::Cancel,
                answer = self.answer(&**respondent, &question) => answer,
            }
        })
    }
}

/// Does something when it goes, however that comes about.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::Duration;

    use super::*;
    use crate::clock::RunClock;
    use surehand_model::{Label, RawJson};
    use tokio_util::sync::CancellationToken;

    /// Says yes after a while.
    struct Person(Duration);

    impl Respondent for Person {
        fn respond<'a>(&'a self, _: &'a ServerQuestion) -> BoxFuture<'a, ElicitAnswer> {
            Box::pin(async move {
                tokio::time::sleep(self.0).await;
                ElicitAnswer::Accept(Vec::new())
            })
        }
    }

    #[derive(Default)]
    struct Seen(Mutex<Vec<HostEvent>>);

    impl Observer for Seen {
        fn event(&self, event: HostEvent) {
            self.0.lock().unwrap().push(event);
        }
    }

    fn desk(thinks: Option<u64>) -> Arc<Desk> {
        let person =
            thinks.map(|seconds| Arc::new(Person(Duration::from_secs(seconds))) as Arc<dyn Respondent>);
        Desk::new("s", person, Arc::new(Semaphore::new(1)))
    }

    fn context(seen: &Arc<Seen>) -> CallContext {
        CallContext {
            clock: Arc::new(RunClock::start()),
            cancel: CancellationToken::new(),
            observer: seen.clone(),
            label: Label::default(),
            max_output_tokens: None,
        }
    }

    fn asked(params: &str) -> ElicitRequest {
        ElicitRequest::read(RawJson::parse(params).ok().as_ref()).unwrap()
    }

    fn form() -> ElicitRequest {
        asked(r#"{"message":"?","requestedSchema":{"type":"object","properties":{}}}"#)
    }

    const YES: ElicitAnswer = ElicitAnswer::Accept(Vec::new());

    #[tokio::test(start_paused = true)]
    async fn the_timer_of_a_run_stands_still_while_its_server_asks() {
        let (desk, seen, form) = (desk(Some(1_000)), Arc::new(Seen::default()), form());
        let context = context(&seen);
        let call = desk.during(&context, async {
            tokio::time::sleep(Duration::from_secs(2)).await;
            let both = tokio::join!(desk.elicit(&form), desk.elicit(&form));
            tokio::time::sleep(Duration::from_secs(3)).await;
            both
        });
        assert_eq!(call.await, (YES, YES));
        // One question after the other, and neither counts.
        assert_eq!((context.clock.elapsed_ms(), context.clock.running_ms()), (2_005_000, 5_000));
        assert!(matches!(
            &seen.0.lock().unwrap()[..],
            [HostEvent::ServerAsked(_), HostEvent::ServerAsked(_)]
        ));
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_is_put_away_with_the_last_call_and_none_is_asked_without_a_call() {
        let (desk, form) = (desk(Some(1_000)), form());
        assert_eq!(desk.elicit(&form).await, ElicitAnswer::Cancel);
        let context = context(&Arc::default());
        let since = tokio::time::Instant::now();
        let call = async {
            let work = desk.during(&context, std::future::pending::<()>());
            tokio::time::timeout(Duration::from_secs(5), work).await.is_err()
        };
        assert_eq!(tokio::join!(call, desk.elicit(&form)), (true, ElicitAnswer::Cancel));
        assert_eq!(since.elapsed(), Duration::from_secs(5));
        assert!(context.clock.running_ms() < 1_000, "the timer goes on");
    }

    #[tokio::test]
    async fn with_nobody_to_answer_nothing_is_offered() {
        assert_eq!(desk(None).modes(), ElicitationModes::default());
        assert_eq!(desk(None).elicit(&form()).await, ElicitAnswer::Decline);
    }
}
