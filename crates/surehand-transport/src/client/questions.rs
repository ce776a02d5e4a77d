//! What a server asks the person behind the client, and the timers that stand still meanwhile.

use std::collections::HashMap;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{AbortHandle, Abortable, Aborted, BoxFuture as Boxed};
use futures_util::stream::{FuturesUnordered, StreamExt};
use surehand_mcp::{
    BoxFuture, ClientCapabilities, ELICIT, ElicitAnswer, ElicitAsk, ElicitRequest, ElicitationModes,
    ErrorCode, Id, InputRequired, RpcError, write_error, write_result,
};
use surehand_model::{Note, RawJson};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::{ClientEvent, ClientOptions};

/// How many questions of one server may be open at once.
const OPEN_AT_ONCE: usize = 16;

/// Whoever answers what a server asks the person behind this client.
pub trait Elicitor: Send + Sync {
    /// In which ways questions may come. Only these are offered to the server; what comes in another way is declined unseen.
    fn modes(&self) -> ElicitationModes;

    /// Answers one question. Several may be open at once. The future is dropped when the server withdraws its question and when
    /// the connection ends. No time-out of the connection runs meanwhile.
    fn elicit<'a>(&'a self, request: &'a ElicitRequest) -> BoxFuture<'a, ElicitAnswer>;
}

/// The questions on one connection.
pub(crate) struct Questions {
    elicitor: Option<Arc<dyn Elicitor>>,
    on_event: Option<Arc<dyn Fn(ClientEvent) + Send + Sync>>,
    /// How many are open.
    open: watch::Sender<usize>,
}

impl Questions {
    pub(crate) fn new(options: &ClientOptions) -> Arc<Self> {
        Arc::new(Self {
            elicitor: options.on_elicitation.clone(),
            on_event: options.on_event.clone(),
            open: watch::Sender::new(0),
        })
    }

    /// What is offered to the server.
    pub(crate) fn capabilities(&self) -> ClientCapabilities {
        let elicitation = self.elicitor.as_ref().map(|elicitor| elicitor.modes()).unwrap_or_default();
        ClientCapabilities { elicitation }
    }

    /// Whether questions have an answer at all.
    pub(crate) fn are_taken(&self) -> bool {
        self.elicitor.is_some()
    }

    /// Waits for `work` as long as `limit`, not counting the time in which somebody is being asked on this connection.
    pub(crate) async fn within<T>(&self, limit: Duration, work: impl Future<Output = T>) -> Option<T> {
        let mut work = pin!(work);
        let mut open = self.open.subscribe();
        let mut left = limit;
        loop {
            let since = Instant::now();
            let is_asking = *open.borrow_and_update() > 0;
            tokio::select! {
                biased;
                outcome = &mut work => return Some(outcome),
                // The sender lives as long as this.
                _ = open.changed() => {}
                () = sleep(left), if !is_asking => return None,
            }
            if !is_asking {
                left = left.saturating_sub(since.elapsed());
            }
        }
    }

    /// Stops the timers while somebody is at something that is no question of the server, such as a login.
    pub(crate) async fn aside_from_timers<T>(&self, work: impl Future<Output = T>) -> T {
        let _open = Open::one_more(&self.open);
        work.await
    }

    /// The result of `elicitation/create`.
    async fn answer(&self, params: Option<&RawJson>) -> Result<RawJson, RpcError> {
        let request = ElicitRequest::read(params)?;
        for note in &request.notes {
            self.note(note.clone());
        }
        let answer = self.ask(&request).await;
        request
            .result(answer)
            .or_else(|faults| {
                let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
                self.note(Note::new(
                    ELICIT,
                    "cancelled: the answer does not fit the form",
                    faults.join("; "),
                ));
                request.result(ElicitAnswer::Cancel)
            })
            .map_err(|_| RpcError::new(ErrorCode::INTERNAL, "the answer does not fit the form"))
    }

    /// Asks. What nobody here can be asked is declined, and an elicitor that breaks has cancelled.
    async fn ask(&self, request: &ElicitRequest) -> ElicitAnswer {
        let Some(elicitor) = &self.elicitor else { return ElicitAnswer::Decline };
        let modes = elicitor.modes();
        let is_offered = match request.ask {
            ElicitAsk::Form(_) => modes.forms,
            ElicitAsk::Address { .. } => modes.addresses,
        };
        if !is_offered {
            return ElicitAnswer::Decline;
        }
        let _open = Open::one_more(&self.open);
        AssertUnwindSafe(elicitor.elicit(request)).catch_unwind().await.unwrap_or_else(|_| {
            self.note(Note::new(ELICIT, "cancelled", "whoever was to ask the person failed"));
            ElicitAnswer::Cancel
        })
    }

    /// Answers what a stateless server needs before it can go on, in its order; once a person has put a question away, the rest
    /// is not asked. Nothing where it needs something else, or where nobody can be asked.
    pub(crate) async fn answer_all(&self, input: &InputRequired) -> Option<Vec<(String, RawJson)>> {
        let is_ours = input.requests.iter().all(|request| request.method == ELICIT);
        if !is_ours
            || input.requests.len() > OPEN_AT_ONCE
            || (!input.requests.is_empty() && !self.are_taken())
        {
            return None;
        }
        let mut responses = Vec::with_capacity(input.requests.len());
        let mut is_put_away = false;
        for asked in &input.requests {
            let request = match ElicitRequest::read(asked.params.as_ref()) {
                Ok(request) => request,
                Err(error) => {
                    self.note(Note::new(ELICIT, "question not understood", error.to_string()));
                    return None;
                }
            };
            let response = if is_put_away {
                request.result(ElicitAnswer::Cancel).ok()?
            } else {
                self.answer(asked.params.as_ref()).await.ok()?
            };
            is_put_away |= response.as_str() == CANCELLED;
            responses.push((asked.key.clone(), response));
        }
        Some(responses)
    }

    fn note(&self, note: Note) {
        if let Some(listen) = &self.on_event {
            listen(ClientEvent::Note(note));
        }
    }
}

/// What a cancelled question is answered with.
const CANCELLED: &str = r#"{"action":"cancel"}"#;

/// While it lives, one question more is open.
struct Open<'a>(&'a watch::Sender<usize>);

impl<'a> Open<'a> {
    fn one_more(open: &'a watch::Sender<usize>) -> Self {
        open.send_modify(|open| *open += 1);
        Self(open)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|open| *open -= 1);
    }
}

/// The questions that came as requests over one stream and are not answered yet. Dropping it drops them.
pub(crate) struct Pending {
    questions: Arc<Questions>,
    running: FuturesUnordered<Boxed<'static, (Id, Result<String, Aborted>)>>,
    by_id: HashMap<Id, AbortHandle>,
}

impl Pending {
    pub(crate) fn new(questions: Arc<Questions>) -> Self {
        Self { questions, running: FuturesUnordered::new(), by_id: HashMap::new() }
    }

    /// Begins to ask. Gives a message to send at once where there is too much to ask already.
    pub(crate) fn ask(&mut self, id: Id, params: Option<RawJson>) -> Option<String> {
        if self.by_id.len() >= OPEN_AT_ONCE {
            let words = format!("{OPEN_AT_ONCE} questions are open already");
            return Some(write_error(Some(&id), &RpcError::new(ErrorCode::INTERNAL, words)));
        }
        let (handle, registration) = AbortHandle::new_pair();
        let questions = self.questions.clone();
        let answering = {
            let id = id.clone();
            async move {
                match questions.answer(params.as_ref()).await {
                    Ok(result) => write_result(&id, result.as_str()),
                    Err(error) => write_error(Some(&id), &error),
                }
            }
        };
        let answering = Abortable::new(answering, registration);
        self.by_id.insert(id.clone(), handle);
        self.running.push(Box::pin(async move { (id, answering.await) }));
        None
    }

    /// The server no longer wants an answer.
    pub(crate) fn withdraw(&mut self, id: &Id) {
        if let Some(handle) = self.by_id.remove(id) {
            handle.abort();
        }
    }

    /// The next answer to send. Waits for ever while nothing is asked; safe to drop and call again.
    pub(crate) async fn next(&mut self) -> String {
        loop {
            match self.running.next().await {
                Some((id, Ok(message))) => {
                    self.by_id.remove(&id);
                    return message;
                }
                Some((_, Err(Aborted))) => {}
                None => std::future::pending().await,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says yes, with nothing filled in, after a while.
    struct Slow(Duration);

    impl Elicitor for Slow {
        fn modes(&self) -> ElicitationModes {
            ElicitationModes { forms: true, addresses: false }
        }

        fn elicit<'a>(&'a self, _: &'a ElicitRequest) -> BoxFuture<'a, ElicitAnswer> {
            Box::pin(async move {
                sleep(self.0).await;
                ElicitAnswer::Accept(Vec::new())
            })
        }
    }

    fn slow(seconds: u64) -> Arc<Questions> {
        let elicitor: Arc<dyn Elicitor> = Arc::new(Slow(Duration::from_secs(seconds)));
        Questions::new(&ClientOptions { on_elicitation: Some(elicitor), ..ClientOptions::default() })
    }

    fn form() -> Option<RawJson> {
        RawJson::parse(
            r#"{"message":"?","requestedSchema":{"type":"object","properties":{"n":{"type":"number","default":1.10}}}}"#,
        )
        .ok()
    }

    fn id(text: &str) -> Id {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{text},"method":"m"}}"#);
        match surehand_mcp::parse_message(&text, surehand_mcp::EnvelopeLimits::default()) {
            Ok(surehand_mcp::Message::Request { id, .. }) => id,
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_timer_stands_still_while_somebody_is_asked_and_goes_on_afterwards() {
        let questions = slow(1_000);
        let since = Instant::now();
        let work = async {
            sleep(Duration::from_secs(1)).await;
            let _ = questions.answer(form().as_ref()).await;
            sleep(Duration::from_secs(60)).await;
        };
        assert_eq!(questions.within(Duration::from_secs(5), work).await, None);
        assert_eq!(since.elapsed(), Duration::from_secs(1_005));
    }

    #[tokio::test(start_paused = true)]
    async fn defaults_are_filled_in_and_a_withdrawn_question_is_never_answered() {
        let mut pending = Pending::new(slow(10));
        assert_eq!(pending.ask(id("1"), form()), None);
        assert_eq!(pending.ask(id("\"two\""), form()), None);
        pending.withdraw(&id("1"));
        assert_eq!(
            pending.next().await,
            r#"{"jsonrpc":"2.0","id":"two","result":{"action":"accept","content":{"n":1.10}}}"#
        );
        let rest = tokio::time::timeout(Duration::from_secs(100), pending.next()).await;
        assert!(rest.is_err(), "{rest:?}");
        assert_eq!(*pending.questions.open.borrow(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_asks_without_end_is_refused_and_a_bad_question_is_told_so() {
        let mut pending = Pending::new(slow(10));
        for n in 0..OPEN_AT_ONCE {
            assert_eq!(pending.ask(Id::number(n as u64), form()), None);
        }
        assert_eq!(
            pending.ask(id("99"), form()).as_deref(),
            Some(
                r#"{"jsonrpc":"2.0","id":99,"error":{"code":-32603,"message":"16 questions are open already"}}"#
            )
        );
        let mut pending = Pending::new(slow(0));
        pending.ask(id("5"), RawJson::parse(r#"{"message":"?"}"#).ok());
        assert_eq!(
            pending.next().await,
            r#"{"jsonrpc":"2.0","id":5,"error":{"code":-32602,"message":"`requestedSchema` is missing"}}"#
        );
    }

    #[tokio::test]
    async fn what_is_not_offered_is_declined_without_asking() {
        let url = RawJson::parse(r#"{"mode":"url","message":"?","url":"https://a.test"}"#).ok();
        assert_eq!(slow(3_600).answer(url.as_ref()).await.unwrap().as_str(), r#"{"action":"decline"}"#);
    }
}
