//! The function-calling loop: ask the model, run its calls side by side, hand the results back under their ids, until it has no
//! more to say.
//!
//! The loop knows models and calls. It does not know MCP, servers or policy: it runs tools through a [`ToolRunner`].

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use surehand_model::{
    CallId, FinishReason, Label, Message, ModelEvent, ModelRequest, ModelTurn, Note, PartKind, Role,
    ToolCall, ToolResult, Usage,
};
use surehand_provider::{Provider, ProviderError};
use thiserror::Error;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::answers;
use crate::clock::RunClock;
use crate::conversation::{Conversation, mend};
use crate::event::{HostEvent, Observer};
use crate::record::{Answer, CallRecord, Decided, Stop, Verdict};
use crate::runner::{CallContext, ToolRunner};

/// How long cancelled calls have to wind up before they are given up.
const WIND_UP: Duration = Duration::from_secs(2);

/// Where a run ends at the latest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunLimits {
    /// How often the model may be asked. At least 1.
    pub max_turns: u32,
    /// How long the run may last, time spent asking a person left out.
    pub timeout: Option<Duration>,
    /// How many tokens it may use, read and written together.
    pub budget_tokens: Option<u64>,
    /// After this many turns in a row in which no call could be run, the loop stops.
    pub max_stuck_turns: u32,
    /// The most tokens of one turn, or the provider's own limit.
    pub max_output_tokens: Option<u32>,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            max_turns: 50,
            timeout: Some(Duration::from_secs(600)),
            budget_tokens: None,
            max_stuck_turns: 4,
            max_output_tokens: None,
        }
    }
}

/// The model gave no answer. What was done until then is in `so_far`.
#[derive(Debug, Error)]
#[error("the model gave no answer")]
pub struct AgentError {
    /// Why.
    pub source: ProviderError,
    /// The run up to there.
    pub so_far: Box<Answer>,
}

/// Everything a run needs.
pub struct Agent<'a> {
    /// Who answers.
    pub provider: &'a dyn Provider,
    /// The model's name without its provider's prefix.
    pub model: String,
    /// Who runs the calls.
    pub tools: Arc<dyn ToolRunner>,
    /// Whoever watches.
    pub observer: Arc<dyn Observer>,
    /// Where the run ends at the latest.
    pub limits: RunLimits,
    /// The operator's instructions.
    pub system_prompt: Option<String>,
}

impl Agent<'_> {
    /// Answers what the person said last. The conversation grows by everything that was said and done, and stays valid whatever
    /// happens: every call in it is answered.
    ///
    /// # Errors
    ///
    /// [`AgentError`] when the model gives no answer. Limits and cancellation are not errors: [`Answer::stop`] tells.
    pub async fn answer(
        &self,
        conversation: &mut Conversation,
        cancel: &CancellationToken,
    ) -> Result<Answer, AgentError> {
        let (history, notes) = mend(&conversation.messages);
        let label = label_of(&history);
        let system = self.system_prompt.iter().map(|text| Message::text(Role::System, text));
        let messages = system.chain(history).collect();
        let mut request = ModelRequest::new(self.model.clone(), messages, self.tools.offered());
        request.max_output_tokens = self.limits.max_output_tokens;
        let mut run = Run {
            agent: self,
            request,
            label,
            clock: Arc::new(RunClock::start()),
            cancel,
            calls: Vec::new(),
            usage: Usage::default(),
            turns: 0,
            stuck_turns: 0,
            text: String::new(),
            skipped: Vec::new(),
        };
        for note in notes {
            run.tell(note);
        }
        let ended = run.until_done(conversation).await;
        let (stop, detail, failure) = match ended {
            Ok((stop, detail)) => (stop, detail, None),
            Err(failure) => (Stop::Complete, None, Some(failure)),
        };
        let answer = Answer {
            text: run.text,
            stop,
            detail,
            model: self.provider.id().to_owned(),
            turns: run.turns,
            calls: run.calls,
            usage: run.usage,
            servers: Vec::new(),
            skipped: run.skipped,
        };
        match failure {
            None => Ok(answer),
            Some(source) => Err(AgentError { source, so_far: Box::new(answer) }),
        }
    }
}

struct Run<'a, 'c> {
    agent: &'a Agent<'a>,
    /// What the model is asked. Grows with the conversation, so that a turn costs what is new in it and not the whole history.
    request: ModelRequest,
    /// The label of everything that the model has seen: the person's words, joined with every result so far.
    label: Label,
    clock: Arc<RunClock>,
    cancel: &'c CancellationToken,
    calls: Vec<CallRecord>,
    usage: Usage,
    turns: u32,
    stuck_turns: u32,
    text: String,
    skipped: Vec<Note>,
}

type Ended = (Stop, Option<String>);

impl Run<'_, '_> {
    async fn until_done(&mut self, conversation: &mut Conversation) -> Result<Ended, ProviderError> {
        loop {
            if let Some(ended) = self.limit_reached() {
                return Ok(ended);
            }
            self.turns += 1;
            match self.refresh().await {
                None => return Ok((Stop::Cancelled, None)),
                Some(notes) if notes.is_empty() => {}
                Some(notes) => {
                    self.request.tools = self.agent.tools.offered();
                    for note in notes {
                        self.tell(note);
                    }
                }
            }
            let turn = match self.ask_model().await {
                Asked::Turn(turn) => turn,
                Asked::Failed(failure) => return Err(failure),
                Asked::Cancelled => return Ok((Stop::Cancelled, None)),
                Asked::TimeUp => return Ok((Stop::Timeout, Some("the model was still writing".to_owned()))),
            };
            self.usage += turn.usage;
            let (turn, notes) = with_unique_ids(turn, self.turns);
            for note in notes {
                self.tell(note);
            }
            let message = turn.to_message();
            self.text = message.joined_text();
            let calls: Vec<ToolCall> = message.calls().cloned().collect();
            if !message.parts.is_empty() {
                self.add(conversation, message);
            }
            if calls.is_empty() {
                match turn.finish.reason {
                    FinishReason::Paused => continue,
                    FinishReason::Length => {
                        return Ok((
                            Stop::Complete,
                            Some("the answer was cut off at the model's output limit".to_owned()),
                        ));
                    }
                    FinishReason::Refused => {
                        return Ok((
                            Stop::Complete,
                            Some("the model or its provider refused to answer".to_owned()),
                        ));
                    }
                    FinishReason::Other => {
                        let said = turn.finish.raw.map(|raw| format!(": {raw}")).unwrap_or_default();
                        let detail = format!("the model stopped for a reason that is not known here{said}");
                        return Ok((Stop::Complete, Some(detail)));
                    }
                    FinishReason::Stop | FinishReason::ToolCalls => return Ok((Stop::Complete, None)),
                }
            }
            let records = self.run_calls(calls).await;
            let could_run = records.iter().any(|record| record.decided.verdict != Verdict::Invalid);
            self.stuck_turns = if could_run { 0 } else { self.stuck_turns + 1 };
            self.label =
                records.iter().fold(self.label.clone(), |label, record| label.join(&record.result.label));
            let results = records.iter().map(|record| record.result.clone()).collect();
            self.add(conversation, Message::results(results));
            self.calls.extend(records);
            if self.cancel.is_cancelled() {
                return Ok((Stop::Cancelled, None));
            }
        }
    }

    /// What became other about the tools; nothing once the person has cancelled.
    async fn refresh(&self) -> Option<Vec<Note>> {
        tokio::select! {
            biased;
            notes = self.agent.tools.refresh() => Some(notes),
            () = self.cancel.cancelled() => None,
        }
    }

    /// What was said or done stands in the conversation and in what the model is asked next.
    fn add(&mut self, conversation: &mut Conversation, message: Message) {
        self.request.messages.push(message.clone());
        conversation.messages.push(message);
    }

    fn limit_reached(&self) -> Option<Ended> {
        let limits = &self.agent.limits;
        if limits.timeout.is_some_and(|limit| u128::from(self.clock.running_ms()) >= limit.as_millis()) {
            return Some((Stop::Timeout, None));
        }
        if self.stuck_turns >= limits.max_stuck_turns {
            let detail = format!("{} turns in a row held only calls that cannot be run", self.stuck_turns);
            return Some((Stop::MaxTurns, Some(detail)));
        }
        if self.turns >= limits.max_turns {
            return Some((Stop::MaxTurns, Some(format!("the model was asked {} times", self.turns))));
        }
        let used = self.usage.input_tokens.saturating_add(self.usage.output_tokens);
        match limits.budget_tokens {
            Some(budget) if self.turns > 0 && used >= budget => {
                Some((Stop::Budget, Some(format!("{used} of {budget} tokens are used"))))
            }
            _ => None,
        }
    }

    async fn ask_model(&mut self) -> Asked {
        let agent = self.agent;
        agent.observer.event(HostEvent::TurnStarted(self.turns));

        let mut retried = false;
        loop {
            let mut shown = false;
            let mut sink = |event: ModelEvent| {
                let event = match event {
                    ModelEvent::Text(text) => {
                        shown = true;
                        HostEvent::Text(text)
                    }
                    ModelEvent::Reasoning(text) => HostEvent::Reasoning(text),
                    ModelEvent::CallStarted { name } => HostEvent::CallAnnounced(name),
                    ModelEvent::Call(_) => return,
                    ModelEvent::Note(note) => HostEvent::Note(note),
                };
                agent.observer.event(event);
            };
            let answered = tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Asked::Cancelled,
                answered = agent.provider.answer(&self.request, &mut sink) => answered,
                () = self.clock.reached(agent.limits.timeout) => return Asked::TimeUp,
            };
            match answered {
                Ok(turn) => {
                    for note in &turn.notes {
                        self.tell(note.clone());
                    }
                    return Asked::Turn(turn);
                }
                // Nothing of the broken answer was shown or kept, so asking once more is safe.
                Err(ProviderError::Broken { provider, message }) if !retried && !shown => {
                    retried = true;
                    self.tell(Note::new(
                        provider,
                        "the answer broke off and is asked for once more",
                        message,
                    ));
                }
                Err(failure) => return Asked::Failed(failure),
            }
        }
    }

    /// Runs all calls side by side, those of one queue one after another. The records stand in the order of the calls, one each, whatever happened.
    async fn run_calls(&self, calls: Vec<ToolCall>) -> Vec<CallRecord> {
        let stop = self.cancel.child_token();
        let context = CallContext {
            clock: Arc::clone(&self.clock),
            cancel: stop.clone(),
            observer: Arc::clone(&self.agent.observer),
            label: self.label.clone(),
            max_output_tokens: self.agent.limits.max_output_tokens,
        };
        let mut running = JoinSet::new();
        let mut places = HashMap::new();
        // For each queue, what ends when its last call so far does, whatever became of it.
        let mut queues: HashMap<String, oneshot::Receiver<()>> = HashMap::new();
        for (place, call) in calls.iter().enumerate() {
            let run = Arc::clone(&self.agent.tools).run(call.clone(), context.clone());
            let (ended, end) = oneshot::channel();
            let before = self.agent.tools.queue(&call.name).and_then(|queue| queues.insert(queue, end));
            let run = async move {
                if let Some(before) = before {
                    let _ended_by_dropping = before.await;
                }
                let record = run.await;
                drop(ended);
                record
            };
            places.insert(running.spawn(run).id(), place);
        }
        let mut records: Vec<Option<CallRecord>> = vec![None; calls.len()];
        // Once cancelled, until when.
        let mut winding_up = None;
        loop {
            let joined = tokio::select! {
                joined = running.join_next_with_id() => joined,
                () = stop.cancelled(), if winding_up.is_none() => {
                    winding_up = Some(Instant::now() + WIND_UP);
                    continue;
                }
                () = self.clock.reached(self.agent.limits.timeout), if winding_up.is_none() => {
                    stop.cancel();
                    continue;
                }
                () = sleep_until(winding_up.unwrap_or_else(Instant::now)), if winding_up.is_some() => {
                    running.abort_all();
                    winding_up = Some(Instant::now() + WIND_UP);
                    continue;
                }
            };
            match joined {
                None => break,
                Some(Ok((task, record))) => records[places[&task]] = Some(record),
                Some(Err(failure)) => {
                    let place = places[&failure.id()];
                    let why = if failure.is_panic() {
                        "the tool broke down"
                    } else {
                        "the call did not end when it was cancelled"
                    };
                    records[place] = Some(lost_record(&calls[place], why, self.clock.elapsed_ms()));
                }
            }
        }
        calls
            .iter()
            .zip(records)
            .map(|(call, record)| {
                record.unwrap_or_else(|| lost_record(call, "the call was lost", self.clock.elapsed_ms()))
            })
            .collect()
    }

    fn tell(&mut self, note: Note) {
        self.agent.observer.event(HostEvent::Note(note.clone()));
        if !self.skipped.contains(&note) {
            self.skipped.push(note);
        }
    }
}

enum Asked {
    Turn(ModelTurn),
    Failed(ProviderError),
    Cancelled,
    TimeUp,
}

/// The label of a history.
fn label_of(messages: &[Message]) -> Label {
    messages
        .iter()
        .flat_map(Message::tool_results)
        .fold(Label::user(), |label, result| label.join(&result.label))
}

/// A record for a call whose task ended without one.
fn lost_record(call: &ToolCall, why: &str, started_ms: u64) -> CallRecord {
    let told = answers::tool_failed(why, None, None, false);
    let result =
        ToolResult { is_error: told.is_error, ..ToolResult::text(call.id.clone(), &call.name, told.text) };
    CallRecord {
        id: call.id.clone(),
        server: String::new(),
        tool: call.name.clone(),
        arguments: call.arguments_or_empty(),
        decided: Decided::new(Verdict::Allowed, "policy", ""),
        result: ToolResult { label: Label::default(), ..result },
        repairs: Vec::new(),
        started_ms,
        duration_ms: 0,
    }
}

/// Gives every call of a turn an id of its own: empty ids and repeated ones are replaced by made ones, so that each call is
/// answered under exactly one id.
fn with_unique_ids(mut turn: ModelTurn, turn_number: u32) -> (ModelTurn, Vec<Note>) {
    let mut notes = Vec::new();
    let mut taken: HashSet<CallId> = turn.to_message().calls().map(|call| call.id.clone()).collect();
    let mut seen = HashSet::new();
    for (place, part) in turn.parts.iter_mut().enumerate() {
        if let PartKind::Call(call) = &mut part.kind
            && (call.id.0.is_empty() || !seen.insert(call.id.clone()))
        {
            let mut number = place;
            let mut made = CallId(format!("call_{turn_number}_{number}"));
            while !taken.insert(made.clone()) {
                number += 1;
                made = CallId(format!("call_{turn_number}_{number}"));
            }
            let given = std::mem::replace(&mut call.id, made);
            call.id_minted = true;
            if !given.0.is_empty() {
                notes.push(Note::new(
                    "model",
                    format!("call id {given}"),
                    "it stood twice in one turn; the second call got an id of its own",
                ));
            }
        }
    }
    (turn, notes)
}
