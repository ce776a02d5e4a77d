//! The one way for a call.
//!
//! ```text
//! resolve name -> repair and validate -> label arguments -> decide (policy) -> approve (person) -> record intent
//!   -> run (deadline, cancellation, progress, size cap) -> normalise and label result -> record outcome -> answer
//! ```
//!
//! [`Host::run_call`] is the only function that runs tools for models. Every way through it ends in a record under the call's id;
//! a step that breaks, denies.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use surehand_audit::RepairNote;
use surehand_mcp::Progress;
use surehand_model::{Json, JsonError, Label, Note, RawJson, Tool, ToolCall, ToolResult};
use surehand_policy::{CallFacts, Decision};
use surehand_provider::BoxFuture;
use surehand_schema::{Repair, Repaired, explain};
use surehand_transport::ClientError;

use crate::answers::{self, Told};
use crate::approval::{Approval, ApprovalRequest};
use crate::audit::{Ended, Planned};
use crate::catalog::{CatalogEntry, Unresolved};
use crate::connection::chain;
use crate::event::HostEvent;
use crate::host::Host;
use crate::normalise::{ServerResult, normalise};
use crate::record::{CallRecord, Decided, Verdict};
use crate::runner::{CallContext, ToolRunner};

impl ToolRunner for Host {
    fn offered(&self) -> Vec<Tool> {
        Host::offered(self)
    }

    fn refresh(&self) -> BoxFuture<'_, Vec<Note>> {
        Box::pin(Host::refresh(self))
    }

    fn queue(&self, name: &str) -> Option<String> {
        let entry = self.catalog().resolve(name).ok()?;
        self.connection(&entry.server)?.is_one_at_a_time().then(|| entry.server.clone())
    }

    fn run(self: Arc<Self>, call: ToolCall, context: CallContext) -> BoxFuture<'static, CallRecord> {
        Box::pin(async move { self.run_call(call, &context).await })
    }
}

/// What is known of a call on its way.
struct Underway {
    entry: Arc<CatalogEntry>,
    arguments: Json,
    sent: RawJson,
    repairs: Vec<Repair>,
    label: Label,
}

/// A call that ends before it is run.
struct Refusal {
    told: Told,
    decided: Decided,
}

impl Refusal {
    fn invalid(told: Told, decided_by: &str, rule: &str) -> Self {
        Self { told, decided: Decided::new(Verdict::Invalid, decided_by, rule) }
    }

    /// A check that breaks, denies.
    fn broken_check() -> Self {
        let decided = Decided::new(Verdict::Denied, "policy", "a check that breaks");
        Self::denied("Deciding about this call broke down, so it was not run.", decided)
    }

    fn denied(reason: &str, decided: Decided) -> Self {
        Self { told: answers::denied(reason, decided.by == "person"), decided }
    }
}

impl Host {
    /// Runs one call and says what became of it.
    pub async fn run_call(&self, call: ToolCall, context: &CallContext) -> CallRecord {
        let started_ms = context.clock.elapsed_ms();
        let found = self.resolve(&call);
        context.observer.event(HostEvent::CallStarted {
            id: call.id.clone(),
            server: found.as_ref().map(|entry| entry.server.clone()).unwrap_or_default(),
            tool: found.as_ref().map_or_else(|_| call.name.clone(), |entry| entry.tool.name.clone()),
            arguments: arguments_as_given(&call),
        });
        let record = match self.checked(&call, found, context, started_ms).await {
            Ok(record) => record,
            Err(refused) => {
                self.record_refusal(&refused, context).await;
                *refused
            }
        };
        context.observer.event(HostEvent::CallFinished(Box::new(record.clone())));
        record
    }

    /// Every step in its order; the first that says no ends it.
    async fn checked(
        &self,
        call: &ToolCall,
        found: Result<Arc<CatalogEntry>, Refusal>,
        context: &CallContext,
        started_ms: u64,
    ) -> Result<CallRecord, Box<CallRecord>> {
        let entry = found.map_err(|refusal| refused(call, None, refusal, started_ms))?;
        let underway = read_arguments(call, &entry, context, self.repairs_arguments)
            .map_err(|refusal| refused(call, Some(&entry), refusal, started_ms))?;
        let deciding = AssertUnwindSafe(self.decide(call, &underway, context)).catch_unwind().await;
        let decided = deciding.unwrap_or_else(|_panic| Err(Refusal::broken_check())).map_err(|refusal| {
            let mut record = refused(call, Some(&entry), refusal, started_ms);
            record.arguments = underway.sent.clone();
            record.repairs = underway.repairs.iter().map(shown).collect();
            record
        })?;
        if let Err(fault) = self.record_intent(call, &underway, &decided).await {
            let reason = format!("The call could not be recorded, so it was not run: {fault}");
            let refusal =
                Refusal::denied(&reason, Decided::new(Verdict::Denied, "audit", "record before running"));
            return Err(refused(call, Some(&entry), refusal, started_ms));
        }
        let running_since = tokio::time::Instant::now();
        let (result, notes) = self.run(call, &underway, context).await;
        for note in notes {
            context.observer.event(HostEvent::Note(note));
        }
        let record = CallRecord {
            id: call.id.clone(),
            server: entry.server.clone(),
            tool: entry.tool.name.clone(),
            arguments: underway.sent,
            decided,
            result,
            repairs: underway.repairs.iter().map(shown).collect(),
            started_ms,
            duration_ms: millis(running_since.elapsed()),
        };
        self.record_outcome(&record, context).await;
        Ok(record)
    }

    fn resolve(&self, call: &ToolCall) -> Result<Arc<CatalogEntry>, Refusal> {
        let visible = |entry: &CatalogEntry| !self.policy.hides(&self.facts(entry));
        let catalog = self.catalog();
        match catalog.resolve(&call.name) {
            Ok(entry) => Ok(entry),
            Err(Unresolved::Unknown(names) | Unresolved::Ambiguous(names)) => {
                let names: Vec<String> = names
                    .into_iter()
                    .filter(|name| catalog.resolve(name).is_ok_and(|entry| visible(&entry)))
                    .collect();
                Err(Refusal::invalid(
                    answers::unknown_tool(&call.name, &names),
                    "catalog",
                    "the tool must exist",
                ))
            }
        }
    }

    /// Policy first, then, where it asks, a person. Whoever says no says why.
    async fn decide(
        &self,
        call: &ToolCall,
        underway: &Underway,
        context: &CallContext,
    ) -> Result<Decided, Refusal> {
        let entry = &underway.entry;
        let facts = CallFacts {
            arguments: Some(&underway.arguments),
            label: Some(&underway.label),
            ..self.facts(entry)
        };
        let ruling = self.policy.decide(&facts);
        let by_policy = |verdict| Decided::new(verdict, "policy", &ruling.rule);
        match ruling.decision {
            Decision::Allow => return Ok(by_policy(Verdict::Allowed)),
            Decision::Deny => return Err(Refusal::denied(&ruling.reason, by_policy(Verdict::Denied))),
            Decision::Ask => {}
        }
        let request = ApprovalRequest {
            id: call.id.clone(),
            server: entry.server.clone(),
            tool: entry.tool.name.clone(),
            arguments: underway.sent.clone(),
            rule: ruling.rule.clone(),
            reason: ruling.reason.clone(),
        };
        let approval = {
            // Waiting for a person stops the run's timer; a cancelled run asks nobody.
            let _paused = context.clock.pause();
            tokio::select! {
                biased;
                () = context.cancel.cancelled() => Approval::Deny { reason: "The run was cancelled.".to_owned(), by_person: true },
                approval = self.ask_one_at_a_time(&request, context) => approval,
            }
        };
        match approval {
            Approval::Once => Ok(Decided::new(Verdict::Approved, "person", &ruling.rule)),
            Approval::ForSession => {
                self.agree(entry);
                Ok(Decided::new(Verdict::Approved, "person", &ruling.rule))
            }
            Approval::Deny { reason, by_person } => {
                let by = if by_person { "person" } else { "policy" };
                Err(Refusal::denied(&reason, Decided::new(Verdict::Denied, by, &ruling.rule)))
            }
        }
    }

    async fn ask_one_at_a_time(&self, request: &ApprovalRequest, context: &CallContext) -> Approval {
        let Ok(_turn) = self.asking.acquire().await else {
            return Approval::Deny { reason: "Nobody can be asked any more.".to_owned(), by_person: false };
        };
        // Somebody may have agreed to this tool for good while this call waited for its turn.
        if self.has_agreed(&request.server, &request.tool) {
            return Approval::ForSession;
        }
        context.observer.event(HostEvent::ApprovalAsked(request.clone()));
        self.approver.ask(request).await
    }

    /// Runs what was decided, with a deadline, and makes the model's result of whatever comes of it.
    async fn run(
        &self,
        call: &ToolCall,
        underway: &Underway,
        context: &CallContext,
    ) -> (ToolResult, Vec<Note>) {
        let entry = &underway.entry;
        let told = |told: Told| (our_result(call, told), Vec::new());
        let Some(connection) = self.connection(&entry.server) else {
            return told(answers::tool_failed("The server is not connected.", None, None, false));
        };
        // Cancelling comes first: where one call of a run gives up its turn, the next one must not begin.
        let turn = tokio::select! {
            biased;
            () = context.cancel.cancelled() => {
                let message = "The call was cancelled before it was sent. It had no effect.";
                return told(answers::tool_failed(message, None, None, false));
            }
            turn = connection.turn() => turn,
        };
        let turn = match turn {
            Ok(turn) => turn,
            Err(failure) => return told(tell_failure(&failure)),
        };
        let on_progress = |progress: Progress| {
            context
                .observer
                .event(HostEvent::CallProgress { id: call.id.clone(), message: in_words(&progress) });
        };
        let running =
            AssertUnwindSafe(connection.call(turn, &entry.tool.name, &underway.sent, context, &on_progress))
                .catch_unwind();
        let ended = tokio::select! {
            biased;
            ended = running => ended,
            () = context.cancel.cancelled() => {
                let message = "The call was cancelled. Whether it had an effect is not known.";
                return told(answers::tool_failed(message, None, None, false));
            }
        };
        for note in connection.take_notes() {
            context.observer.event(HostEvent::Note(note));
        }
        match ended {
            Ok(Ok(outcome)) => {
                let result = ServerResult {
                    content: outcome.content,
                    structured: outcome.structured,
                    is_error: outcome.is_error,
                };
                let label = Label::tool(&entry.server, &entry.tool.name);
                let (result, mut notes) =
                    normalise(call.id.clone(), &call.name, result, label, self.max_result_bytes);
                notes.extend(outcome.notes);
                (result, notes)
            }
            Ok(Err(failure)) => told(tell_failure(&failure)),
            Err(_panic) => told(answers::tool_failed("The tool broke down while it ran.", None, None, false)),
        }
    }

    async fn record_intent(
        &self,
        call: &ToolCall,
        underway: &Underway,
        decided: &Decided,
    ) -> Result<(), String> {
        let planned = Planned {
            time_ms: (self.clock)(),
            call: call.id.0.clone(),
            server: underway.entry.server.clone(),
            tool: underway.entry.tool.name.clone(),
            arguments: Some(underway.sent.clone()),
            decided: decided.clone(),
            repairs: underway.repairs.iter().map(repair_note).collect(),
        };
        self.audit.intent(planned).await
    }

    /// The call has run, so a log that cannot be written cannot take it back; it is said loudly instead.
    async fn record_outcome(&self, record: &CallRecord, context: &CallContext) {
        let ended = Ended {
            time_ms: (self.clock)(),
            call: record.id.0.clone(),
            server: record.server.clone(),
            tool: record.tool.clone(),
            result: record.result.joined_text(),
            is_error: record.result.is_error,
            duration_ms: record.duration_ms,
        };
        if let Err(why) = self.audit.outcome(ended).await {
            context.observer.event(HostEvent::Note(Note::new(
                "audit",
                "the outcome of a call is not recorded",
                why,
            )));
        }
    }

    /// A call that was not run leaves a trace too. It had no effect, so a log that cannot be written is said and changes nothing.
    async fn record_refusal(&self, record: &CallRecord, context: &CallContext) {
        let planned = Planned {
            time_ms: (self.clock)(),
            call: record.id.0.clone(),
            server: record.server.clone(),
            tool: record.tool.clone(),
            arguments: Some(record.arguments.clone()),
            decided: record.decided.clone(),
            repairs: Vec::new(),
        };
        if let Err(why) = self.audit.intent(planned).await {
            context.observer.event(HostEvent::Note(Note::new(
                "audit",
                "a refused call is not recorded",
                why,
            )));
        }
    }
}

fn repair_note(repair: &Repair) -> RepairNote {
    RepairNote { path: repair.path.clone(), from: repair.from.clone(), to: repair.to.clone() }
}

/// A repair as it is shown.
fn shown(repair: &Repair) -> Note {
    let place = if repair.path.is_empty() { "arguments" } else { &repair.path };
    Note::new(place, format!("{} became {}", repair.from, repair.to), "the tool's schema says so")
}

/// Reads, repairs and validates the arguments.
fn read_arguments(
    call: &ToolCall,
    entry: &Arc<CatalogEntry>,
    context: &CallContext,
    may_repair: bool,
) -> Result<Underway, Refusal> {
    if call.truncated {
        let told = answers::truncated_call(&call.name, context.max_output_tokens);
        return Err(Refusal::invalid(told, "schema", "the call must be whole"));
    }
    let unreadable = |fault: &str| {
        let told = answers::unreadable_arguments(&call.name, &call.raw_arguments, fault);
        Refusal::invalid(told, "schema", "the arguments must be JSON")
    };
    let Some(raw) = &call.arguments else {
        let fault = match Json::parse(&call.raw_arguments) {
            Err(fault) => fault.to_string(),
            Ok(_) => "not one JSON value".to_owned(),
        };
        return Err(unreadable(&fault));
    };
    let given = raw.to_json().map_err(|fault: JsonError| unreadable(&fault.to_string()))?;
    let repaired = if may_repair {
        entry.validator.repair(&given)
    } else {
        Repaired { arguments: given, repairs: Vec::new() }
    };
    // Nothing at all, spelled `""` or `[]`, for a tool that needs something: the model is told what is missing.
    let said_nothing = repaired.arguments == Json::from("") || repaired.arguments == Json::Array(Vec::new());
    let judged = if said_nothing { &Json::Object(Vec::new()) } else { &repaired.arguments };
    let violations = entry.validator.check(judged);
    if !violations.is_empty() {
        let told = answers::invalid_arguments(&explain(&call.name, &violations));
        return Err(Refusal::invalid(told, "schema", "the arguments must fit the tool's schema"));
    }
    // What was not repaired goes out byte for byte as the model wrote it.
    let sent = if repaired.repairs.is_empty() { raw.clone() } else { RawJson::from(&repaired.arguments) };
    Ok(Underway {
        entry: Arc::clone(entry),
        arguments: repaired.arguments,
        sent,
        repairs: repaired.repairs,
        label: context.label.clone(),
    })
}

fn tell_failure(failure: &ClientError) -> Told {
    match failure {
        ClientError::Timeout { after } => answers::timeout(*after),
        ClientError::Rpc { code, message, data } => {
            // -32603 and the server's own range may pass; the rest says that the request itself is wrong.
            let retryable = !(-32700..=-32600).contains(code) || *code == -32603;
            answers::tool_failed(message, Some(*code), data.as_ref(), retryable)
        }
        ClientError::Closed { .. } | ClientError::Unreachable { .. } => {
            answers::tool_failed(&chain(failure), None, None, true)
        }
        other => answers::tool_failed(&chain(other), None, None, false),
    }
}

fn our_result(call: &ToolCall, told: Told) -> ToolResult {
    let label = Label { integrity: surehand_model::Integrity::Trusted, sources: vec!["operator".to_owned()] };
    ToolResult { is_error: told.is_error, label, ..ToolResult::text(call.id.clone(), &call.name, told.text) }
}

fn refused(
    call: &ToolCall,
    entry: Option<&CatalogEntry>,
    refusal: Refusal,
    started_ms: u64,
) -> Box<CallRecord> {
    Box::new(CallRecord {
        id: call.id.clone(),
        server: entry.map(|entry| entry.server.clone()).unwrap_or_default(),
        tool: entry.map_or_else(|| call.name.clone(), |entry| entry.tool.name.clone()),
        arguments: arguments_as_given(call),
        decided: refusal.decided,
        result: our_result(call, refusal.told),
        repairs: Vec::new(),
        started_ms,
        duration_ms: 0,
    })
}

/// The arguments as the model wrote them: as JSON where they are, else the text as a JSON string.
fn arguments_as_given(call: &ToolCall) -> RawJson {
    call.arguments.clone().unwrap_or_else(|| RawJson::from_serialize(&call.raw_arguments))
}

/// A report of progress as a person reads it.
fn in_words(progress: &Progress) -> String {
    let far = match progress.total {
        Some(total) => format!("{} of {total}", progress.progress),
        None => progress.progress.to_string(),
    };
    match &progress.message {
        Some(message) => format!("{far}: {message}"),
        None => far,
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
