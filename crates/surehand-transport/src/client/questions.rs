//! What a server asks of the client, and the timers that stand still meanwhile.

mod askers;
mod hosted;

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
    ClientCapabilities, ELICIT, ElicitAnswer, ElicitAsk, ElicitRequest, ElicitationModes, ErrorCode, Id,
    InputKind, InputKinds, InputRequired, RpcError, read_sampling, with_related_task, write_error,
    write_result, write_roots,
};
use surehand_model::{Note, RawJson};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

pub use self::askers::{Elicitor, Roots, Sampler};
pub(crate) use self::hosted::EndTasks;
use self::hosted::Hosted;
use super::{ClientEvent, ClientOptions};

/// How many questions of one server may be open at once.
const OPEN_AT_ONCE: usize = 16;

/// The questions on one connection.
pub(crate) struct Questions {
    elicitor: Option<Arc<dyn Elicitor>>,
    sampler: Option<Arc<dyn Sampler>>,
    roots: Option<Arc<dyn Roots>>,
    extensions: Vec<(String, RawJson)>,
    hosts_tasks: bool,
    hosted: Hosted,
    on_event: Option<Arc<dyn Fn(ClientEvent) + Send + Sync>>,
    /// How many are open.
    open: watch::Sender<usize>,
}

impl Questions {
    pub(crate) fn new(options: &ClientOptions) -> Arc<Self> {
        Arc::new(Self {
            elicitor: options.on_elicitation.clone(),
            sampler: options.on_sampling.clone(),
            roots: options.roots.clone(),
            extensions: options.extensions.clone(),
            hosts_tasks: options.hosts_tasks,
            hosted: Hosted::default(),
            on_event: options.on_event.clone(),
            open: watch::Sender::new(0),
        })
    }

    /// What is offered to the server.
    pub(crate) fn capabilities(&self) -> ClientCapabilities {
        ClientCapabilities {
            elicitation: self.elicitor.as_ref().map(|elicitor| elicitor.modes()).unwrap_or_default(),
            sampling: self.sampler.as_ref().map(|sampler| sampler.modes()),
            roots: self.roots.is_some(),
            tasks: self.hosts_tasks,
            extensions: self.extensions.clone(),
        }
    }

    /// Whether the server has been told that it may ask something.
    pub(crate) fn are_offered(&self) -> bool {
        let ClientCapabilities { elicitation, sampling, roots, tasks: _, extensions: _ } =
            self.capabilities();
        elicitation != ElicitationModes::default() || sampling.is_some() || roots
    }

    /// Whether the server is told that this client takes part in an extension.
    pub(crate) fn declares(&self, identifier: &str) -> bool {
        self.extensions.iter().any(|(known, _)| known == identifier)
    }

    /// Which questions have an answer at all.
    pub(crate) fn taken(&self) -> InputKinds {
        InputKinds {
            elicitation: self.elicitor.is_some(),
            sampling: self.sampler.is_some(),
            roots: self.roots.is_some(),
            tasks: self.hosts_tasks,
        }
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

    /// The result of a question.
    async fn answer(&self, kind: InputKind, params: Option<&RawJson>) -> Result<RawJson, RpcError> {
        match kind {
            InputKind::Elicitation => self.elicit(params).await,
            InputKind::Sampling => self.sample(params).await,
            InputKind::Roots => {
                let roots = self.roots.as_ref().ok_or_else(|| not_offered(kind))?;
                Ok(write_roots(&roots.roots()))
            }
            // These are about questions and ask nothing themselves.
            InputKind::GetTask | InputKind::TaskResult | InputKind::ListTasks | InputKind::CancelTask => {
                Err(not_offered(kind))
            }
        }
    }

    /// The result of `sampling/createMessage`.
    async fn sample(&self, params: Option<&RawJson>) -> Result<RawJson, RpcError> {
        let sampler = self.sampler.as_ref().ok_or_else(|| not_offered(InputKind::Sampling))?;
        let params = read_sampling(params, sampler.modes())?;
        let _open = Open::one_more(&self.open);
        let answer = AssertUnwindSafe(sampler.sample(&params)).catch_unwind().await;
        let broken = |what: &str| {
            self.note(Note::new(InputKind::Sampling.method(), "not answered", what));
            RpcError::new(ErrorCode::INTERNAL, "the client could not have its model answer")
        };
        match answer {
            Ok(Ok(result)) if !result.is_object() => Err(broken("whoever was to sample gave no object")),
            Ok(answer) => answer,
            Err(_) => Err(broken("whoever was to sample failed")),
        }
    }

    /// The result of `elicitation/create`.
    async fn elicit(&self, params: Option<&RawJson>) -> Result<RawJson, RpcError> {
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

    /// Answers what a stateless server needs before it can go on, in its order. Once a person has put a question away the others
    /// to the person are answered in the same way, unasked, and nothing is sampled.
    ///
    /// # Errors
    ///
    /// Why the server gets no answer, in words that follow "the server asks for input before it answers, and".
    pub(crate) async fn answer_all(&self, input: &InputRequired) -> Result<Vec<(String, RawJson)>, String> {
        let count = input.requests.len();
        if count > OPEN_AT_ONCE {
            return Err(format!("{count} things at once are more than {OPEN_AT_ONCE}"));
        }
        let mut kinds = Vec::with_capacity(count);
        for asked in &input.requests {
            let kind = InputKind::of(&asked.method).filter(|kind| kind.is_input()).ok_or_else(|| {
                format!("`{}` under `{}` is nothing that a client can give", asked.method, asked.key)
            })?;
            if !self.taken().has(kind) {
                return Err("this client has not offered to give any".to_owned());
            }
            kinds.push(kind);
        }
        let mut responses = Vec::with_capacity(count);
        let mut is_put_away = false;
        for (asked, kind) in input.requests.iter().zip(kinds) {
            let params = asked.params.as_ref();
            let response = match kind {
                InputKind::Elicitation if is_put_away => {
                    ElicitRequest::read(params).map(|_| RawJson::parse(CANCELLED).ok())
                }
                InputKind::Sampling if is_put_away => {
                    return Err("the person put its question away".to_owned());
                }
                kind => self.answer(kind, params).await.map(Some),
            };
            let response = response.map_err(|error| {
                let what = format!("`{}` is not answered", asked.key);
                self.note(Note::new(kind.method(), what, error.to_string()));
                format!("`{}` has no answer: {error}", asked.key)
            })?;
            is_put_away |= response.as_ref().is_some_and(|response| response.as_str() == CANCELLED);
            responses.extend(response.map(|response| (asked.key.clone(), response)));
        }
        Ok(responses)
    }

    /// Has the person open addresses that a server wants opened before it takes a request. Gives the questions' own ids once the
    /// person has agreed to all of them; nothing where somebody else is to be asked, or the person did not agree.
    pub(crate) async fn open_addresses(&self, wanted: &[RawJson]) -> Option<Vec<String>> {
        if wanted.len() > OPEN_AT_ONCE {
            return None;
        }
        let mut ids = Vec::with_capacity(wanted.len());
        for params in wanted {
            let request = ElicitRequest::read(Some(params)).ok()?;
            if !matches!(self.ask(&request).await, ElicitAnswer::Accept(_)) {
                return None;
            }
            if let ElicitAsk::Address { id, .. } = request.ask {
                ids.extend(id);
            }
        }
        Some(ids)
    }

    fn note(&self, note: Note) {
        if let Some(listen) = &self.on_event {
            listen(ClientEvent::Note(note));
        }
    }
}

/// What a cancelled question is answered with.
const CANCELLED: &str = r#"{"action":"cancel"}"#;

fn not_offered(kind: InputKind) -> RpcError {
    RpcError::new(ErrorCode::METHOD_NOT_FOUND, format!("this client does not offer {}", kind.method()))
}

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
    pub(crate) fn ask(&mut self, id: Id, kind: InputKind, params: Option<RawJson>) -> Option<String> {
        if self.by_id.len() >= OPEN_AT_ONCE {
            let words = format!("{OPEN_AT_ONCE} questions are open already");
            return Some(write_error(Some(&id), &RpcError::new(ErrorCode::INTERNAL, words)));
        }
        let (handle, registration) = AbortHandle::new_pair();
        let questions = self.questions.clone();
        let answering = {
            let id = id.clone();
            async move {
                match questions.answer_request(kind, params.as_ref()).await {
                    Ok(result) => write_result(&id, with_related_task(params.as_ref(), result).as_str()),
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
mod tests;
