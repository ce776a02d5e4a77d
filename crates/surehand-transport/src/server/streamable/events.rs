//! One stream of server-sent events, kept apart from whoever reads it: messages are pushed from anywhere, and a reader may come,
//! go, and come again.
//!
//! Source: MCP 2025-11-25, "Resumability and Redelivery"; WHATWG HTML, "Server-sent events".

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::task::AtomicWaker;
use tokio::time::Instant;

/// How many bytes of one stream wait for a reader, or are kept for one that comes again.
const KEPT: usize = 1 << 20;
/// How many messages do.
const MESSAGES: usize = 1_024;
/// How many bytes all streams of a server keep together.
pub(super) const KEPT_BY_ALL: usize = 64 << 20;
/// After how many milliseconds a client asks again for what a closed stream has not yet given.
const RETRY: u32 = 500;

/// How a stream is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Messages alone; what was read is forgotten.
    Plain,
    /// Each message under an id, so that the stream can be taken up again.
    Resumable {
        /// Which stream of the server.
        number: u64,
        /// Begins with an event of no data, whose id is known before any message is; only then it may be paused.
        primed: bool,
        /// Belongs to no request: the client opened it with `GET`.
        is_general: bool,
    },
}

/// How many bytes all streams keep.
pub(super) type Budget = Arc<AtomicUsize>;

/// See the module.
#[derive(Debug)]
pub(super) struct Events {
    style: Style,
    budget: Budget,
    state: Mutex<State>,
    reader: AtomicWaker,
}

#[derive(Debug)]
struct State {
    /// Those not yet read, and behind them in time, where the stream is resumable, those read before.
    kept: VecDeque<Bytes>,
    bytes: usize,
    /// The place of the first one kept. Places count from 1; 0 is the event that primes.
    first: u64,
    /// The place that is read next.
    next: u64,
    is_primed: bool,
    ended: bool,
    paused: bool,
    /// Counts readers; the last one reads.
    readers: u64,
    is_read: bool,
    touched: Instant,
}

/// What a reader gets.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// One event, as it is written.
    Event(Bytes),
    /// Nothing more for this reader.
    End,
}

/// The right to read. Dropped, the stream waits for another reader.
#[derive(Debug)]
pub(super) struct Reader {
    events: Arc<Events>,
    turn: u64,
}

impl Style {
    fn event_id(self, place: u64) -> String {
        match self {
            Self::Plain => String::new(),
            Self::Resumable { number, is_general, .. } => EventId { number, place, is_general }.to_string(),
        }
    }
}

/// The id of an event: which stream, and its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EventId {
    pub(super) number: u64,
    pub(super) place: u64,
    pub(super) is_general: bool,
}

impl EventId {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let rest = text.strip_prefix('g');
        let (number, place) = rest.unwrap_or(text).split_once('.')?;
        Some(Self { number: number.parse().ok()?, place: place.parse().ok()?, is_general: rest.is_some() })
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_general { "g" } else { "" };
        write!(f, "{kind}{}.{}", self.number, self.place)
    }
}

impl Events {
    pub(super) fn new(style: Style, budget: Budget) -> Arc<Self> {
        let first = match style {
            Style::Resumable { primed: true, .. } => 0,
            _ => 1,
        };
        let state = State {
            kept: VecDeque::new(),
            bytes: 0,
            first,
            next: first,
            is_primed: false,
            ended: false,
            paused: false,
            readers: 0,
            is_read: false,
            touched: Instant::now(),
        };
        Arc::new(Self { style, budget, state: Mutex::new(state), reader: AtomicWaker::new() })
    }

    /// Appends one message. Says no, and drops it, where too much waits already.
    pub(super) fn push(&self, message: &str) -> bool {
        let taken = {
            let mut state = self.state();
            self.trim(&mut state, KEPT.saturating_sub(message.len()));
            let unread = state.unread();
            let is_full = state.ended
                || unread >= MESSAGES
                || unread > 0 && state.bytes + message.len() > KEPT
                || self.budget.load(Ordering::Relaxed) + message.len() > KEPT_BY_ALL;
            if !is_full {
                self.append(&mut state, message);
            }
            !is_full
        };
        self.reader.wake();
        taken
    }

    /// Appends the last message and ends the stream.
    pub(super) fn finish(&self, message: &str) {
        {
            let mut state = self.state();
            // Nobody reads, perhaps never again: what is too much for all streams together is not kept.
            let fits = state.is_read || self.budget.load(Ordering::Relaxed) + message.len() <= KEPT_BY_ALL;
            if fits && !state.ended {
                self.append(&mut state, message);
            }
            state.ended = true;
        }
        self.reader.wake();
    }

    /// Ends the stream without another message.
    pub(super) fn end(&self) {
        self.state().ended = true;
        self.reader.wake();
    }

    /// Lets the reader go, who will come again; only where it has an id to come again with.
    pub(super) fn pause(&self) {
        if matches!(self.style, Style::Resumable { primed: true, .. }) {
            self.state().paused = true;
            self.reader.wake();
        }
    }

    /// Whether there is a reason to read: a message, or a pause.
    pub(super) fn has_news(&self) -> bool {
        let state = self.state();
        state.paused || !state.kept.is_empty()
    }

    pub(super) fn style(&self) -> Style {
        self.style
    }

    /// Whether somebody reads.
    pub(super) fn is_read(&self) -> bool {
        self.state().is_read
    }

    /// When it was last written or read, once nobody reads it.
    pub(super) fn left(&self) -> Option<Instant> {
        let state = self.state();
        (!state.is_read).then_some(state.touched)
    }

    /// Whether the last message is in it.
    pub(super) fn has_ended(&self) -> bool {
        self.state().ended
    }

    /// Reads from here on, in place of whoever reads now.
    pub(super) fn read(self: &Arc<Self>) -> Reader {
        self.take_turn(None)
    }

    /// Reads on behind the event at `place`. `None` where the stream has not come that far.
    pub(super) fn read_behind(self: &Arc<Self>, place: u64) -> Option<Reader> {
        let end = {
            let state = self.state();
            state.first + state.kept.len() as u64
        };
        (place < end).then(|| self.take_turn(Some(place + 1)))
    }

    /// Lets the task of this context be woken when there is news.
    pub(super) fn wake_on_news(&self, context: &Context<'_>) {
        self.reader.register(context.waker());
    }

    fn take_turn(self: &Arc<Self>, from: Option<u64>) -> Reader {
        let turn = {
            let mut state = self.state();
            self.prime(&mut state);
            state.readers += 1;
            state.is_read = true;
            state.paused = state.paused && from.is_none();
            // What was let go meanwhile cannot be read any more.
            state.next = from.unwrap_or(state.next).max(state.first);
            state.readers
        };
        self.reader.wake();
        Reader { events: self.clone(), turn }
    }

    fn prime(&self, state: &mut State) {
        if let Style::Resumable { primed: true, .. } = self.style
            && !std::mem::replace(&mut state.is_primed, true)
        {
            let id = self.style.event_id(0);
            self.keep(state, format!("id: {id}\nretry: {RETRY}\ndata: \n\n"));
        }
    }

    fn keep(&self, state: &mut State, event: String) {
        state.bytes += event.len();
        self.budget.fetch_add(event.len(), Ordering::Relaxed);
        state.kept.push_back(Bytes::from(event));
        state.touched = Instant::now();
    }

    fn append(&self, state: &mut State, message: &str) {
        self.prime(state);
        let mut event = String::with_capacity(message.len() + 32);
        if self.style != Style::Plain {
            event.push_str("id: ");
            event.push_str(&self.style.event_id(state.first + state.kept.len() as u64));
            event.push('\n');
        }
        event.push_str("data: ");
        push_line(&mut event, message);
        event.push_str("\n\n");
        self.keep(state, event);
    }

    /// Lets go of what was read, except for as many bytes as a reader may ask for again.
    fn trim(&self, state: &mut State, most: usize) {
        let most = if self.style == Style::Plain { 0 } else { most };
        while state.first < state.next && (state.bytes > most || state.kept.len() > MESSAGES) {
            let Some(event) = state.kept.pop_front() else { return };
            state.bytes -= event.len();
            self.budget.fetch_sub(event.len(), Ordering::Relaxed);
            state.first += 1;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn unread(&self) -> usize {
        self.kept.len() - usize::try_from(self.next - self.first).unwrap_or(self.kept.len())
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        let bytes = self.state().bytes;
        self.budget.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Reader {
    pub(super) fn events(&self) -> &Arc<Events> {
        &self.events
    }

    /// The next event. For another reader that has come since there is none.
    pub(super) fn poll_next(&mut self, context: &Context<'_>) -> Poll<Next> {
        let events = &self.events;
        events.reader.register(context.waker());
        let mut state = events.state();
        if state.readers != self.turn {
            return Poll::Ready(Next::End);
        }
        let at = usize::try_from(state.next - state.first).unwrap_or(usize::MAX);
        if let Some(event) = state.kept.get(at).cloned() {
            state.next += 1;
            state.touched = Instant::now();
            events.trim(&mut state, KEPT);
            return Poll::Ready(Next::Event(event));
        }
        if state.ended || std::mem::take(&mut state.paused) {
            return Poll::Ready(Next::End);
        }
        Poll::Pending
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut state = self.events.state();
        if state.readers == self.turn {
            state.is_read = false;
            state.touched = Instant::now();
        }
    }
}

/// Appends a message on one line. A line break inside it can only stand between tokens, where a space means the same.
fn push_line(out: &mut String, message: &str) {
    if !message.contains(['\n', '\r']) {
        return out.push_str(message);
    }
    out.extend(message.chars().map(|char| if matches!(char, '\n' | '\r') { ' ' } else { char }));
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    const PRIMED: Style = Style::Resumable { number: 7, primed: true, is_general: false };

    fn read(reader: &mut Reader) -> Vec<String> {
        let mut all = Vec::new();
        loop {
            match reader.poll_next(&Context::from_waker(Waker::noop())) {
                Poll::Ready(Next::Event(event)) => all.push(String::from_utf8(event.to_vec()).unwrap()),
                Poll::Ready(Next::End) => all.push("end".to_owned()),
                Poll::Pending => return all,
            }
            if all.last().is_some_and(|last| last == "end") {
                return all;
            }
        }
    }

    #[test]
    fn a_plain_stream_gives_messages_alone_and_keeps_nothing_that_was_read() {
        let budget = Budget::default();
        let events = Events::new(Style::Plain, budget.clone());
        assert!(!events.has_news());
        assert!(events.push("{\"a\":\n1}\r"));
        assert!(events.has_news());
        let mut reader = events.read();
        assert_eq!(read(&mut reader), ["data: {\"a\": 1} \n\n"]);
        assert_eq!(budget.load(Ordering::Relaxed), 0);
        events.finish("{}");
        assert!(!events.push("late"));
        assert_eq!(read(&mut reader), ["data: {}\n\n", "end"]);
    }

    #[test]
    fn a_primed_stream_begins_with_an_id_and_can_be_taken_up_behind_any_event() {
        let events = Events::new(PRIMED, Budget::default());
        assert!(!events.has_news());
        let mut first = events.read();
        assert_eq!(read(&mut first), ["id: 7.0\nretry: 500\ndata: \n\n"]);
        events.push("1");
        events.push("2");
        assert_eq!(read(&mut first).len(), 2);
        let mut again = events.read_behind(1).unwrap();
        // The first one is told that another reads.
        assert_eq!(read(&mut first), ["end"]);
        drop(first);
        assert!(events.is_read());
        assert_eq!(read(&mut again), ["id: 7.2\ndata: 2\n\n"]);
        drop(again);
        events.finish("3");
        let mut late = events.read_behind(0).unwrap();
        assert_eq!(
            read(&mut late),
            ["id: 7.1\ndata: 1\n\n", "id: 7.2\ndata: 2\n\n", "id: 7.3\ndata: 3\n\n", "end"]
        );
        assert!(events.read_behind(4).is_none());
    }

    #[test]
    fn a_pause_lets_the_reader_go_once_and_only_where_it_can_come_again() {
        let events = Events::new(PRIMED, Budget::default());
        events.pause();
        assert!(events.has_news());
        let mut reader = events.read();
        assert_eq!(read(&mut reader).last().map(String::as_str), Some("end"));
        let mut again = events.read_behind(0).unwrap();
        assert_eq!(read(&mut again), Vec::<String>::new());
        let plain = Events::new(Style::Plain, Budget::default());
        plain.pause();
        assert_eq!(read(&mut plain.read()), Vec::<String>::new());
    }

    #[test]
    fn what_nobody_reads_is_bounded_and_what_was_read_makes_room() {
        let budget = Budget::default();
        let events = Events::new(PRIMED, budget.clone());
        let mut reader = events.read();
        let mut taken = 0;
        while events.push("x") {
            taken += 1;
        }
        assert_eq!(taken, MESSAGES - 1);
        assert_eq!(read(&mut reader).len(), MESSAGES);
        let large = "x".repeat(KEPT / 2 + 1);
        assert!(events.push(&large));
        assert!(!events.push(&large));
        read(&mut reader);
        assert!(events.push(&large));
        assert!(budget.load(Ordering::Relaxed) <= 2 * KEPT);
        drop((reader, events));
        assert_eq!(budget.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn an_event_id_names_a_stream_and_a_place() {
        for (text, number, place, is_general) in [("12.3", 12, 3, false), ("g1.0", 1, 0, true)] {
            let id = EventId { number, place, is_general };
            assert_eq!((EventId::parse(text), id.to_string()), (Some(id), text.to_owned()));
        }
        for odd in ["", "12", "a.b", "1.-1", "1.2.3", "h1.2"] {
            assert_eq!(EventId::parse(odd), None);
        }
    }
}
