//! What sessions of the older era need at the moment. A session has an entry only while there is something in it; an idle one is
//! nothing but its id.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use surehand_mcp::{Change, Id, LogLevel};
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::events::{Budget, Events, KEPT_BY_ALL, Style};
use super::session_id::{EndedSessions, SessionKey};
use crate::server::question::{Answer, Questions};
use crate::server::subscribed::Subscribed;

/// How many sessions may need something at once. When more come, the one that has needed nothing new for longest loses what it
/// had: its streams end, its calls are cancelled.
const BUSY: usize = 10_000;
/// How long a stream that nobody reads can be taken up again.
const RESUMABLE: Duration = Duration::from_secs(5 * 60);
/// How long a session keeps its subscriptions and its log level without using them.
const IDLE: Duration = Duration::from_secs(60 * 60);
/// How many streams that nobody reads one session keeps.
const UNREAD: usize = 64;
/// How many streams one session has that belong to no request.
const GENERAL: usize = 8;
/// See the module. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct Sessions {
    all: Arc<Mutex<All>>,
    numbers: Arc<AtomicU64>,
    budget: Budget,
}

#[derive(Debug, Default)]
struct All {
    busy: HashMap<SessionKey, Session>,
    ended: EndedSessions,
    swept: Option<Instant>,
}

#[derive(Debug)]
struct Session {
    used: Instant,
    calls: HashMap<Id, CancellationToken>,
    questions: Questions,
    streams: Vec<Stream>,
    subscriptions: Subscribed,
    level: Option<LogLevel>,
}

#[derive(Debug)]
struct Stream {
    number: u64,
    events: Arc<Events>,
    /// Belongs to no request: the client opened it with `GET`.
    is_general: bool,
}

impl Sessions {
    /// Whether a session was not ended, and the least level of log messages that it wants.
    pub(super) fn look_up(&self, key: SessionKey) -> Option<Option<LogLevel>> {
        let all = self.lock();
        (!all.ended.has(key)).then(|| all.busy.get(&key).and_then(|session| session.level))
    }

    /// Ends a session, its calls and its streams. Says whether it had not been ended before.
    pub(super) fn end(&self, key: SessionKey) -> bool {
        let mut all = self.lock();
        let gone = all.busy.remove(&key);
        let is_new = all.ended.add(key);
        drop(all);
        gone.iter().for_each(Session::stop);
        is_new
    }

    /// Whether a call of this id runs.
    pub(super) fn runs(&self, key: SessionKey, id: &Id) -> bool {
        self.lock().busy.get(&key).is_some_and(|session| session.calls.contains_key(id))
    }

    /// Notes calls that run under one token, so that they can be cancelled. Says no where one of the ids is in use.
    pub(super) fn begin(&self, key: SessionKey, ids: &[Id], cancel: &CancellationToken) -> bool {
        self.with(key, |session| {
            if ids.iter().any(|id| session.calls.contains_key(id)) {
                return false;
            }
            session.calls.extend(ids.iter().map(|id| (id.clone(), cancel.clone())));
            true
        })
    }

    /// The calls have their answers.
    pub(super) fn finish(&self, key: SessionKey, ids: &[Id]) {
        self.with_present(key, |session| ids.iter().for_each(|id| drop(session.calls.remove(id))));
    }

    /// The client takes a call back.
    pub(super) fn cancel(&self, key: SessionKey, id: &Id) {
        if let Some(call) = self.lock().busy.get(&key).and_then(|session| session.calls.get(id)) {
            call.cancel();
        }
    }

    /// A stream that can be taken up again, once it is [kept](Self::keep).
    pub(super) fn resumable_stream(&self, primed: bool, is_general: bool) -> Arc<Events> {
        let number = self.next_number();
        Events::new(Style::Resumable { number, primed, is_general }, self.budget.clone())
    }

    /// Keeps a stream of a session, so that it can be taken up again. Where there are too many, an older one goes.
    pub(super) fn keep(&self, key: SessionKey, events: &Arc<Events>) {
        let Style::Resumable { number, is_general, .. } = events.style() else { return };
        let stream = Stream { number, events: events.clone(), is_general };
        self.with(key, |session| session.keep(stream));
    }

    /// A stream of this very session.
    pub(super) fn stream(&self, key: SessionKey, number: u64) -> Option<Arc<Events>> {
        let all = self.lock();
        let streams = &all.busy.get(&key)?.streams;
        streams.iter().find(|stream| stream.number == number).map(|stream| stream.events.clone())
    }

    /// The stream for what belongs to no request: the newest that is read, else the newest that may be taken up again.
    pub(super) fn general_stream(&self, key: SessionKey) -> Option<Arc<Events>> {
        self.lock().busy.get(&key)?.general().cloned()
    }

    /// A stream without ids, for a client of the stateless era.
    pub(super) fn plain_stream(&self) -> Arc<Events> {
        Events::new(Style::Plain, self.budget.clone())
    }

    /// Notes a question to the client. Gives its id and where the answer will come; nothing where too many are open.
    pub(super) fn ask(&self, key: SessionKey) -> Option<(u64, oneshot::Receiver<Answer>)> {
        let number = self.next_number();
        let receiver = self.with(key, |session| session.questions.open(number))?;
        Some((number, receiver))
    }

    /// Nobody waits for the answer any more.
    pub(super) fn take_back(&self, key: SessionKey, question: u64) {
        self.with_present(key, |session| session.questions.take_back(question));
    }

    /// The client has answered.
    pub(super) fn answered(&self, key: SessionKey, question: u64, answer: Answer) {
        self.with_present(key, |session| session.questions.answered(question, answer));
    }

    pub(super) fn set_level(&self, key: SessionKey, level: LogLevel) {
        self.with(key, |session| session.level = Some(level));
    }

    /// Says no where the session listens for too many resources already.
    pub(super) fn subscribe(&self, key: SessionKey, uri: String) -> bool {
        self.with(key, |session| session.subscriptions.add(uri))
    }

    pub(super) fn unsubscribe(&self, key: SessionKey, uri: &str) {
        self.with_present(key, |session| session.subscriptions.remove(uri));
    }

    /// Tells every session that has a stream for it.
    pub(super) fn announce(&self, change: &Change) {
        let Some(message) = change.to_notification() else { return };
        let listening: Vec<Arc<Events>> = {
            let all = self.lock();
            let wants = |session: &&Session| match change {
                Change::Resource(uri) => session.subscriptions.has(uri),
                _ => true,
            };
            all.busy.values().filter(wants).filter_map(|session| session.general().cloned()).collect()
        };
        for events in listening {
            events.push(&message);
        }
    }

    fn next_number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Works on a session's entry, which is there from now on if it was not.
    fn with<T>(&self, key: SessionKey, work: impl FnOnce(&mut Session) -> T) -> T {
        let mut all = self.lock();
        let now = Instant::now();
        all.sweep(now, self.budget.load(Ordering::Relaxed));
        let session = all.busy.entry(key).or_insert_with(|| Session::new(now));
        session.used = now;
        work(session)
    }

    /// Works on a session's entry if it has one. It goes when there is nothing left in it.
    fn with_present<T>(&self, key: SessionKey, work: impl FnOnce(&mut Session) -> T) -> Option<T> {
        let mut all = self.lock();
        let session = all.busy.get_mut(&key)?;
        session.used = Instant::now();
        let outcome = work(session);
        if session.is_empty() {
            all.busy.remove(&key);
        }
        Some(outcome)
    }

    fn lock(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl All {
    /// Lets go of what nobody came for in time; sooner where the streams keep much.
    fn sweep(&mut self, now: Instant, kept: usize) {
        let is_crowded = kept > KEPT_BY_ALL / 2;
        let is_due = self.swept.is_none_or(|swept| now - swept > RESUMABLE / 10);
        if is_due || is_crowded || self.busy.len() >= BUSY {
            self.swept = Some(now);
            self.busy.retain(|_, session| session.sweep(now, is_crowded));
        }
        if self.busy.len() >= BUSY {
            let oldest = self.busy.iter().min_by_key(|(_, session)| session.used).map(|(key, _)| *key);
            oldest.and_then(|key| self.busy.remove(&key)).iter().for_each(Session::stop);
        }
    }
}

impl Session {
    fn new(now: Instant) -> Self {
        Self {
            used: now,
            calls: HashMap::new(),
            questions: Questions::default(),
            streams: Vec::new(),
            subscriptions: Subscribed::default(),
            level: None,
        }
    }

    fn is_empty(&self) -> bool {
        self.calls.is_empty()
            && self.questions.is_empty()
            && self.streams.is_empty()
            && self.subscriptions.is_empty()
            && self.level.is_none()
    }

    /// Says whether anything is left.
    fn sweep(&mut self, now: Instant, is_crowded: bool) -> bool {
        self.streams.retain(|stream| {
            let Some(left) = stream.events.left() else { return true };
            // What still waits for its last message is kept, so that this has somewhere to go.
            let may_come = now - left <= RESUMABLE && !is_crowded;
            may_come || !stream.events.has_ended() && !stream.is_general
        });
        if self.calls.is_empty() && self.streams.is_empty() && now - self.used > IDLE {
            return false;
        }
        !self.is_empty()
    }

    fn keep(&mut self, stream: Stream) {
        let unread = |stream: &Stream| !stream.events.is_read();
        let is_general = stream.is_general;
        let general = |stream: &Stream| is_general && stream.is_general;
        if self.streams.iter().filter(|it| general(it)).count() >= GENERAL {
            self.end_first(general);
        }
        if self.streams.iter().filter(|it| unread(it)).count() >= UNREAD {
            // Sooner one whose answer is there than one whose answer has yet to come.
            let spare = |stream: &Stream| unread(stream) && (stream.is_general || stream.events.has_ended());
            if !self.end_first(spare) {
                self.end_first(unread);
            }
        }
        self.streams.push(stream);
    }

    /// Says whether there was one.
    fn end_first(&mut self, choose: impl Fn(&Stream) -> bool) -> bool {
        let Some(at) = self.streams.iter().position(choose) else { return false };
        self.streams.remove(at).events.end();
        true
    }

    fn general(&self) -> Option<&Arc<Events>> {
        let mut general = self.streams.iter().rev().filter(|stream| stream.is_general);
        let newest = general.clone().next();
        general.find(|stream| stream.events.is_read()).or(newest).map(|stream| &stream.events)
    }

    fn stop(&self) {
        self.calls.values().for_each(CancellationToken::cancel);
        self.streams.iter().for_each(|stream| stream.events.end());
    }
}

#[cfg(test)]
impl Sessions {
    pub(super) fn busy(&self) -> usize {
        self.lock().busy.len()
    }
}

#[cfg(test)]
mod tests {
    use surehand_model::RawJson;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_session_has_an_entry_only_while_there_is_something_in_it() {
        let sessions = Sessions::default();
        let (id, cancel) = ([Id::number(1)], CancellationToken::new());
        assert!(sessions.begin(1, &id, &cancel));
        assert!(!sessions.begin(1, &id, &cancel));
        sessions.finish(1, &id);
        let (question, answer) = sessions.ask(1).unwrap();
        sessions.answered(1, question, Ok(RawJson::null()));
        assert_eq!(answer.await, Ok(Ok(RawJson::null())));
        assert!(sessions.subscribe(1, "u:".to_owned()));
        sessions.unsubscribe(1, "u:");
        assert_eq!(sessions.busy(), 0);
        sessions.set_level(1, LogLevel::Error);
        assert_eq!((sessions.busy(), sessions.look_up(1)), (1, Some(Some(LogLevel::Error))));
        tokio::time::advance(IDLE + Duration::from_secs(1)).await;
        sessions.set_level(2, LogLevel::Error);
        assert_eq!((sessions.busy(), sessions.look_up(1)), (1, Some(None)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_that_nobody_reads_goes_after_a_while_but_not_before_its_last_message() {
        let sessions = Sessions::default();
        let (done, running) =
            (sessions.resumable_stream(true, false), sessions.resumable_stream(true, false));
        sessions.keep(1, &done);
        sessions.keep(1, &running);
        done.finish("{}");
        tokio::time::advance(RESUMABLE + Duration::from_secs(1)).await;
        sessions.set_level(2, LogLevel::Error);
        assert!(sessions.stream(1, 1).is_none());
        assert!(sessions.stream(1, 2).is_some_and(|stream| Arc::ptr_eq(&stream, &running)));
        assert!(sessions.stream(2, 2).is_none(), "it belongs to another session");
    }

    #[tokio::test(start_paused = true)]
    async fn what_belongs_to_no_request_goes_to_the_newest_stream_that_is_read() {
        let sessions = Sessions::default();
        let (old, new) = (sessions.resumable_stream(false, true), sessions.resumable_stream(false, true));
        sessions.keep(1, &old);
        sessions.keep(1, &new);
        let reads_old = old.read();
        assert!(Arc::ptr_eq(&sessions.general_stream(1).unwrap(), &old));
        let reads_new = new.read();
        sessions.announce(&Change::Tools);
        sessions.announce(&Change::Resource("u:".to_owned()));
        assert_eq!((old.has_news(), new.has_news()), (false, true));
        drop((reads_old, reads_new));
        assert!(Arc::ptr_eq(&sessions.general_stream(1).unwrap(), &new));
    }

    #[tokio::test]
    async fn of_streams_that_nobody_reads_some_are_kept_and_of_those_that_are_read_every_one() {
        let sessions = Sessions::default();
        let open = |is_general| {
            let stream = sessions.resumable_stream(true, is_general);
            sessions.keep(1, &stream);
            stream
        };
        let read: Vec<_> = (0..2 * UNREAD).map(|_| open(false).read()).collect();
        let (running, done) = (open(false), open(false));
        done.finish("{}");
        let unread: Vec<_> = (2..UNREAD).map(|_| open(false)).collect();
        let last = open(false);
        assert!(read.iter().all(|reader| !reader.events().has_ended()));
        let known = |events: &Arc<Events>| match events.style() {
            Style::Resumable { number, .. } => sessions.stream(1, number).is_some(),
            Style::Plain => false,
        };
        assert_eq!(
            (known(&running), known(&done), known(&unread[0]), known(&last)),
            (true, false, true, true)
        );
        let general: Vec<_> = (0..=GENERAL).map(|_| open(true).read()).collect();
        assert_eq!((general[0].events().has_ended(), general[1].events().has_ended()), (true, false));
    }

    #[tokio::test]
    async fn a_session_that_ends_takes_its_calls_and_streams_along_and_ends_once() {
        let sessions = Sessions::default();
        let cancel = CancellationToken::new();
        sessions.begin(1, &[Id::number(1)], &cancel);
        let stream = sessions.resumable_stream(false, true);
        sessions.keep(1, &stream);
        assert!(sessions.end(1));
        assert_eq!((cancel.is_cancelled(), stream.has_ended(), sessions.look_up(1)), (true, true, None));
        assert!(!sessions.end(1));
    }

    #[test]
    fn ten_thousand_busy_sessions_are_enough() {
        let sessions = Sessions::default();
        for key in 0..=BUSY as u128 {
            sessions.set_level(key, LogLevel::Debug);
        }
        assert_eq!(sessions.busy(), BUSY);
    }
}
