//! Shows what happens while a question is being answered.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use surehand_host::{Answer, HostEvent, Observer};
use surehand_model::CallId;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use crate::cli::OutputForm;
use crate::error::CommandError;
use crate::render::{
    DIM, Screen, approval_line, call_line, clean, count, duration, init_line, note_line, paint,
    question_line, record_line, result_line, running_line, started_line, text_line,
};

/// How often the live line is drawn anew.
const EVERY: Duration = Duration::from_millis(100);
/// How long something must last before the live line speaks of it.
const WORTH_SHOWING: Duration = Duration::from_millis(300);

/// Prints events as they happen, in the form that was asked for.
pub(crate) struct Watch {
    screen: Arc<Screen>,
    model: String,
    /// Cancelled once nobody reads our output any more.
    cancel: CancellationToken,
    /// Whether answered calls get a line of their own.
    calls: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What is being waited for besides calls, and since when.
    waiting: Option<(&'static str, Instant)>,
    running: Vec<Running>,
    /// The words of the current turn that were printed.
    printed: String,
    /// The unfinished line of the model's thinking.
    thoughts: String,
    /// Writing the output failed; nothing more is printed.
    broken: Option<std::io::Error>,
}

struct Running {
    id: CallId,
    what: String,
    progress: Option<String>,
    since: Instant,
}

impl Watch {
    /// A watch over one run. `cancel` is that run's.
    pub(crate) fn new(screen: Arc<Screen>, model: impl Into<String>, cancel: CancellationToken) -> Self {
        let waiting = Some(("getting ready", Instant::now()));
        let state = Mutex::new(State { waiting, ..State::default() });
        Self { screen, model: model.into(), cancel, calls: true, state }
    }

    /// The same for one call whose result is printed anyway.
    pub(crate) fn of_one_call(screen: Arc<Screen>, cancel: CancellationToken) -> Self {
        Self { calls: false, ..Self::new(screen, "", cancel) }
    }

    /// Does the work and keeps the live line of the terminal up to date meanwhile.
    pub(crate) async fn while_doing<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        let mut ticks = tokio::time::interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            tokio::select! {
                biased;
                done = &mut work => {
                    self.screen.clear_live();
                    return done;
                }
                _ = ticks.tick(), if self.screen.terminal().stderr && !self.screen.form().is_json() => self.draw(),
            }
        }
    }

    /// Prints what the run came to, as far as it has not been printed.
    ///
    /// # Errors
    ///
    /// When the output cannot be written, now or earlier.
    pub(crate) fn finish(&self, answer: &Answer) -> Result<(), CommandError> {
        if let Some(fault) = self.state().broken.take() {
            return Err(fault.into());
        }
        match self.screen.form() {
            OutputForm::Text => {
                if self.state().printed.is_empty() {
                    self.screen.print_answer(&answer.text)?;
                }
                self.screen.end_answer()?;
            }
            OutputForm::Json => {
                let text = serde_json::to_string(answer)
                    .map_err(|fault| CommandError::new(crate::error::Fault::Failed, fault))?;
                self.screen.print(&format!("{text}\n"))?;
            }
            OutputForm::StreamJson => self.screen.print(&result_line(answer))?,
        }
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is being waited for, on the live line.
    fn draw(&self) {
        let now = Instant::now();
        let state = self.state();
        let since = |since: Instant| now.saturating_duration_since(since);
        let text = match (state.running.as_slice(), state.waiting) {
            ([], Some((what, start))) if since(start) >= WORTH_SHOWING => {
                format!("{} {what} {}", spinner(since(start)), ticking(since(start)))
            }
            ([first, others @ ..], _) if since(first.since) >= WORTH_SHOWING => {
                let more =
                    if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
                let progress = first.progress.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
                format!(
                    "{} {}{more} {}{progress}",
                    spinner(since(first.since)),
                    first.what,
                    ticking(since(first.since))
                )
            }
            _ => return,
        };
        drop(state);
        self.screen.show_live(&text);
    }

    fn show_text(&self, event: &HostEvent, state: &mut State) -> std::io::Result<()> {
        let screen = &self.screen;
        let styled = screen.styled_err();
        if !matches!(event, HostEvent::Reasoning(_)) && !state.thoughts.is_empty() {
            let rest = std::mem::take(&mut state.thoughts);
            screen.say(&paint(styled, DIM, &clean(&rest)));
        }
        match event {
            HostEvent::Init { servers, skipped } => {
                for server in servers.iter().filter(|_| screen.verbose() > 0) {
                    let version = server.version.as_deref().unwrap_or_default();
                    let line = format!("{} {version}: {}", server.name, count(server.tools, "tool"));
                    screen.say(&paint(styled, DIM, &clean(&line)));
                }
                for note in skipped.iter().filter(|_| self.calls || screen.verbose() > 0) {
                    screen.say(&note_line(note, styled));
                }
            }
            // Only the last turn's words are the answer: where they are not read as they come, they wait for `finish`.
            HostEvent::Text(text) if screen.terminal().stdout => {
                state.printed.push_str(text);
                screen.print_answer(text)?;
            }
            HostEvent::Reasoning(text) if screen.verbose() > 0 => {
                state.thoughts.push_str(text);
                while let Some(end) = state.thoughts.find('\n') {
                    let line: String = state.thoughts.drain(..=end).collect();
                    screen.say(&paint(styled, DIM, clean(&line).trim_end()));
                }
            }
            HostEvent::CallStarted { .. } if !state.printed.is_empty() => screen.end_answer()?,
            HostEvent::CallFinished(record) if self.calls => screen.say(&call_line(record, styled)),
            HostEvent::Note(note) => screen.say(&note_line(note, styled)),
            _ => {}
        }
        Ok(())
    }

    fn show_line(&self, event: &HostEvent) -> std::io::Result<()> {
        let line = match event {
            HostEvent::Init { servers, skipped } => init_line(servers, skipped, &self.model),
            HostEvent::Text(text) => text_line(text),
            HostEvent::CallStarted { id, server, tool, arguments } => {
                started_line(id, server, tool, arguments)
            }
            HostEvent::ApprovalAsked(request) => approval_line(request),
            HostEvent::ServerAsked(question) => question_line(question),
            HostEvent::CallFinished(record) => record_line(record),
            _ => return Ok(()),
        };
        self.screen.print(&line)
    }
}

impl Observer for Watch {
    fn event(&self, event: HostEvent) {
        let mut state = self.state();
        match &event {
            HostEvent::TurnStarted(_) => {
                state.printed.clear();
                state.waiting = Some(("thinking", Instant::now()));
            }
            HostEvent::Init { .. } | HostEvent::Text(_) | HostEvent::Finished(_) => state.waiting = None,
            HostEvent::CallAnnounced(_) => state.waiting = Some(("writing a call", Instant::now())),
            HostEvent::CallStarted { id, server, tool, arguments } => {
                state.waiting = None;
                let what = running_line(server, tool, arguments);
                state.running.push(Running { id: id.clone(), what, progress: None, since: Instant::now() });
            }
            HostEvent::CallProgress { id, message } => {
                if let Some(running) = state.running.iter_mut().find(|running| &running.id == id) {
                    running.progress = Some(message.clone());
                }
            }
            HostEvent::CallFinished(record) => state.running.retain(|running| running.id != record.id),
            _ => {}
        }
        if state.broken.is_some() {
            return;
        }
        let shown = match self.screen.form() {
            OutputForm::Text => self.show_text(&event, &mut state),
            OutputForm::Json => Ok(()),
            OutputForm::StreamJson => self.show_line(&event),
        };
        if let Err(fault) = shown {
            state.broken = Some(fault);
            self.cancel.cancel();
        }
    }
}

/// A figure that turns, so that a person sees that something is alive.
fn spinner(since: Duration) -> char {
    const FRAMES: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
    FRAMES[(since.as_millis() / EVERY.as_millis()) as usize % FRAMES.len()]
}

/// A time that goes on, in steps a person can follow.
fn ticking(since: Duration) -> String {
    if since.as_secs() < 60 { format!("{:.1} s", since.as_secs_f64()) } else { duration(since) }
}
