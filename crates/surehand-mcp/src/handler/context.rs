use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use surehand_model::RawJson;

use super::question::{ClientFeature, Question};
use super::{BoxFuture, CallFailure};
use crate::envelope::{Id, write_notification};
use crate::meta::push_member;
use crate::method::name;
use crate::revision::{Feature, Revision};
use crate::tasks::{Begun, Owner, TaskOptions, TaskTable};
use crate::types::tasks::TASKS;
use crate::types::utilities::LogLevel;

/// The way back to a client while one of its requests runs. Transports implement it.
pub trait Outbox: Send + Sync {
    /// Sends one notification, a whole JSON-RPC message, before the answer to the request. Where nobody reads any more it is
    /// dropped.
    fn notify(&self, message: String);

    /// Asks the client, in the era in which servers send requests. Gives the result object.
    ///
    /// Fails with [`CallFailure::Unanswered`] where the client answers with an error, cannot be reached or takes too long.
    fn request(
        &self,
        method: &'static str,
        params: RawJson,
    ) -> BoxFuture<'static, Result<RawJson, CallFailure>>;

    /// The answer will take a while: a stream that can be taken up again later may be closed until then.
    fn pause_stream(&self) {}
}

/// Who asks, as far as they said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// In which revision they speak.
    pub revision: Revision,
    /// Their capabilities object, as they declared it.
    pub capabilities: RawJson,
    /// Their name and version, where they gave them.
    pub info: Option<RawJson>,
    /// Who they were found to be by their credentials, where those were checked.
    pub principal: Option<String>,
}

impl Caller {
    /// Somebody who said nothing of themselves.
    pub fn unknown(revision: Revision) -> Self {
        Self { revision, capabilities: RawJson::empty_object(), info: None, principal: None }
    }

    /// Whether they declared this.
    pub fn declares(&self, feature: ClientFeature<'_>) -> bool {
        feature.is_declared(&self.capabilities, self.revision)
    }
}

/// A request while it runs: who asks, and the way back to them. Cheap to clone.
#[derive(Clone)]
pub struct RequestContext {
    inner: Arc<Inner>,
}

struct Inner {
    caller: Caller,
    /// Under which progress is reported, as the client wrote it.
    progress_token: Option<Id>,
    /// The least level that the client wants to hear; `None` where it wants none.
    log_level: Option<LogLevel>,
    /// Questions may be answered by asking the request again.
    takes_rounds: bool,
    /// Where it may become a task.
    seat: Option<TaskSeat>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Gone where there is none, or none any more.
    outbox: Option<Arc<dyn Outbox>>,
    progress: Option<f64>,
    inputs: Inputs,
    /// The task that it has become.
    begun: Option<Begun>,
}

/// What a request needs that may become a task.
pub(crate) struct TaskSeat {
    pub(crate) table: Arc<TaskTable>,
    pub(crate) owner: Owner,
}

/// The questions of one request of the stateless era.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inputs {
    /// What has been answered: key and result object.
    pub(crate) answers: Vec<(String, RawJson)>,
    /// What has been asked and not answered.
    pub(crate) open: Vec<(String, Question)>,
    /// What the client would have had to declare.
    pub(crate) missing: Option<RawJson>,
}

/// What a request says beside its method and parameters.
pub(crate) struct RequestFacts {
    pub(crate) caller: Caller,
    pub(crate) progress_token: Option<Id>,
    pub(crate) log_level: Option<LogLevel>,
    pub(crate) takes_rounds: bool,
    pub(crate) answers: Vec<(String, RawJson)>,
    pub(crate) seat: Option<TaskSeat>,
}

impl RequestContext {
    pub(crate) fn new(facts: RequestFacts, outbox: Arc<dyn Outbox>) -> Self {
        let RequestFacts { caller, progress_token, log_level, takes_rounds, answers, seat } = facts;
        let inputs = Inputs { answers, ..Inputs::default() };
        let state = Mutex::new(State { outbox: Some(outbox), inputs, ..State::default() });
        Self { inner: Arc::new(Inner { caller, progress_token, log_level, takes_rounds, seat, state }) }
    }

    /// Of a request that nobody on a wire waits for: nothing is declared, and whatever is sent goes nowhere.
    pub fn detached() -> Self {
        Self {
            inner: Arc::new(Inner {
                caller: Caller::unknown(Revision::LATEST),
                progress_token: None,
                log_level: None,
                takes_rounds: false,
                seat: None,
                state: Mutex::default(),
            }),
        }
    }

    /// Who asks.
    pub fn caller(&self) -> &Caller {
        &self.inner.caller
    }

    /// In which revision the client speaks.
    pub fn revision(&self) -> Revision {
        self.inner.caller.revision
    }

    /// Whether the client declared this.
    pub fn declares(&self, feature: ClientFeature<'_>) -> bool {
        self.inner.caller.declares(feature)
    }

    /// Goes on only where the client declared this.
    ///
    /// # Errors
    ///
    /// [`CallFailure::MissingCapability`].
    pub fn require(&self, feature: ClientFeature<'_>) -> Result<(), CallFailure> {
        if self.declares(feature) {
            return Ok(());
        }
        let missing = feature.to_capabilities();
        self.state().inputs.missing = Some(missing.clone());
        Err(CallFailure::MissingCapability(missing))
    }

    /// Reports how far the request has come, where the client wants to know. What does not grow is not sent.
    pub fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        let Some(token) = &self.inner.progress_token else { return };
        let outbox = {
            let mut state = self.state();
            let Some(outbox) = state.outbox.clone() else { return };
            if !progress.is_finite() || state.progress.is_some_and(|before| progress <= before) {
                return;
            }
            state.progress = Some(progress);
            outbox
        };
        let mut params = format!("{{\"progressToken\":{token},\"progress\":{}", number(progress));
        if let Some(total) = total.filter(|total| total.is_finite()) {
            push_member(&mut params, "total", &number(total));
        }
        if let Some(message) = message.filter(|_| self.revision().has(Feature::ProgressMessages)) {
            push_member(&mut params, "message", RawJson::from_serialize(message).as_str());
        }
        params.push('}');
        outbox.notify(write_notification(name::PROGRESS, Some(&params)));
    }

    /// Tells the client something for its log, where it wants to hear that level. `data` is any JSON value.
    pub fn log(&self, level: LogLevel, logger: Option<&str>, data: &RawJson) {
        if self.inner.log_level.is_none_or(|least| level < least) {
            return;
        }
        let Some(outbox) = self.outbox() else { return };
        let mut params = format!("{{\"level\":\"{level}\"");
        if let Some(logger) = logger {
            push_member(&mut params, "logger", RawJson::from_serialize(logger).as_str());
        }
        push_member(&mut params, "data", data.as_str());
        params.push('}');
        outbox.notify(write_notification(name::MESSAGE, Some(&params)));
    }

    /// The answer will take a while: a stream that can be taken up again later may be closed until then.
    pub fn pause_stream(&self) {
        if let Some(outbox) = self.outbox() {
            outbox.pause_stream();
        }
    }

    /// Asks the client one thing and gives its answer, a result object of the question's method.
    ///
    /// In the era of handshakes this is a request to the client, and waits. In the stateless one the request in hand ends with
    /// the question, and the client asks again with the answer: the handler then runs from its start, and gets here what was
    /// answered under the same `key`. So the error is to be handed on (`?`), and what must happen once comes after the last
    /// question.
    ///
    /// # Errors
    ///
    /// [`CallFailure::InputRequired`] as above; [`CallFailure::MissingCapability`] where the client does not declare that it
    /// can be asked this; [`CallFailure::Unanswered`].
    pub async fn ask(&self, key: &str, question: Question) -> Result<RawJson, CallFailure> {
        let mut answers = self.ask_all(vec![(key.to_owned(), question)]).await?;
        answers.pop().ok_or(CallFailure::InputRequired)
    }

    /// Asks several things at once, as [`ask`](Self::ask) does one. The answers come in the order of the questions.
    ///
    /// # Errors
    ///
    /// As [`ask`](Self::ask); with one answer missing, none is given.
    pub async fn ask_all(&self, questions: Vec<(String, Question)>) -> Result<Vec<RawJson>, CallFailure> {
        for (_, question) in &questions {
            self.require(question.needs())?;
        }
        if let (Some(seat), Some(begun)) = (&self.inner.seat, self.begun()) {
            return seat.table.ask(&begun.id, questions).await;
        }
        if self.inner.takes_rounds {
            return self.take_answers(questions);
        }
        if self.revision().is_modern() {
            return Err(CallFailure::Internal("this request cannot ask its client anything".to_owned()));
        }
        let outbox = self.outbox();
        let outbox = outbox.ok_or_else(|| CallFailure::Unanswered("there is nobody to ask".to_owned()))?;
        // All are sent before the first answer is waited for.
        let waiting: Vec<_> = questions
            .iter()
            .map(|(_, question)| outbox.request(question.method(), question.params()))
            .collect();
        let mut answers = Vec::with_capacity(waiting.len());
        for answer in waiting {
            answers.push(answer.await?);
        }
        Ok(answers)
    }

    fn take_answers(&self, questions: Vec<(String, Question)>) -> Result<Vec<RawJson>, CallFailure> {
        let inputs = &mut self.state().inputs;
        let mut answers = Vec::with_capacity(questions.len());
        let mut open = Vec::new();
        for (key, question) in questions {
            let answer = inputs.answers.iter().find(|(known, _)| *known == key).map(|(_, answer)| answer);
            match answer.filter(|answer| question.is_answered_by(answer)) {
                Some(answer) => answers.push(answer.clone()),
                None => open.push((key, question)),
            }
        }
        if open.is_empty() {
            return Ok(answers);
        }
        open.retain(|(key, _)| inputs.open.iter().all(|(known, _)| known != key));
        inputs.open.extend(open);
        Err(CallFailure::InputRequired)
    }

    /// Makes the call a task, where the client can take one: it is answered at once, and goes on. Where it cannot, nothing
    /// happens and the client waits for the call. In 2025-11-25 the client alone decides, before the handler runs.
    ///
    /// From here on [`ask`](Self::ask) waits until the client comes back with the answers; progress and log messages go
    /// nowhere. Said once more, it only tells how the task stands.
    ///
    /// # Errors
    ///
    /// [`CallFailure::InputRequired`] where a question of before is open; [`CallFailure::Internal`] where too many tasks are
    /// running.
    pub fn begin_task(&self, options: TaskOptions) -> Result<(), CallFailure> {
        let Some(seat) = &self.inner.seat else { return Ok(()) };
        let mut state = self.state();
        if !state.inputs.open.is_empty() {
            return Err(CallFailure::InputRequired);
        }
        if let Some(id) = state.begun.as_ref().map(|begun| begun.id.clone()) {
            drop(state);
            seat.table.tell(&id, options);
            return Ok(());
        }
        state.begun = Some(seat.table.begin(&seat.owner, options, self.revision())?);
        // Nothing goes out behind an answer.
        let outbox = state.outbox.take();
        drop(state);
        drop(outbox);
        Ok(())
    }

    /// As [`begin_task`](Self::begin_task), for what cannot be waited for.
    ///
    /// # Errors
    ///
    /// [`CallFailure::MissingCapability`] where the client cannot take a task.
    pub fn require_task(&self, options: TaskOptions) -> Result<(), CallFailure> {
        if self.inner.seat.is_none() {
            let missing = ClientFeature::Extension(TASKS).to_capabilities();
            self.state().inputs.missing = Some(missing.clone());
            return Err(CallFailure::MissingCapability(missing));
        }
        self.begin_task(options)
    }

    /// The task that the request has become.
    pub(crate) fn begun(&self) -> Option<Begun> {
        self.inner.seat.as_ref()?;
        self.state().begun.clone()
    }

    /// Whether the request may become a task.
    pub(crate) fn has_seat(&self) -> bool {
        self.inner.seat.is_some()
    }

    pub(crate) fn outbox(&self) -> Option<Arc<dyn Outbox>> {
        self.state().outbox.clone()
    }

    /// What is open once the handler has come back.
    pub(crate) fn take_inputs(&self) -> Inputs {
        std::mem::take(&mut self.state().inputs)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for RequestContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestContext").field("caller", &self.inner.caller).finish_non_exhaustive()
    }
}

/// Whole numbers are written as such: some clients take nothing else.
fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 9e15 { format!("{value:.0}") } else { value.to_string() }
}
