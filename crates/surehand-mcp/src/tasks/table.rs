use std::collections::{BTreeMap, HashMap, HashSet};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use surehand_model::RawJson;

use super::task::{Asked, Stage, Task};
use super::{Background, TaskOptions};
use crate::error::{ErrorCode, RpcError};
use crate::handler::{BoxFuture, CallFailure, Change, ChangeListener, Changes, Question};
use crate::revision::Revision;
use crate::server::StateSeal;

/// How many tasks are worked on at once.
const RUNNING: usize = 1_024;
/// How many tasks are kept. Of those that are over, the oldest goes first.
const KEPT: usize = 4_096;
/// How many bytes of results are kept together.
const KEPT_BYTES: usize = 64 * 1024 * 1024;
const USUAL_TTL_MS: u64 = 60 * 60 * 1_000;
const LONGEST_TTL_MS: u64 = 24 * 60 * 60 * 1_000;
const USUAL_POLL_INTERVAL_MS: u64 = 1_000;
/// How long a task that is over stays after its time, in seconds.
const GRACE: u64 = 60;
/// How many tasks stand on one page of a list.
const PAGE: usize = 100;

/// Whose a task is. Others are told that there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Owner {
    /// Who made it, where their credentials were checked.
    principal: Option<String>,
    /// Else the session in which it was made, where there is one. What is left is whoever knows the id.
    session: Option<u128>,
}

impl Owner {
    pub(crate) fn of(principal: Option<&str>, session: Option<u128>) -> Self {
        let principal = principal.map(str::to_owned);
        Self { session: session.filter(|_| principal.is_none()), principal }
    }
}

/// A task as it began.
#[derive(Clone, Debug)]
pub(crate) struct Begun {
    pub(crate) id: String,
    /// Its members, without braces.
    pub(crate) members: String,
    pub(crate) ttl: Duration,
}

/// All tasks of a server.
pub(crate) struct TaskTable {
    state: Mutex<State>,
    changes: Changes,
    seal: Arc<dyn StateSeal>,
    pub(crate) background: Arc<dyn Background>,
}

#[derive(Default)]
struct State {
    /// How many tasks there ever were.
    count: u64,
    /// How many are worked on.
    running: usize,
    /// How many ever waited for a task.
    waiters: u64,
    /// Of all results.
    bytes: usize,
    /// When what is past its time was last looked for.
    swept: u64,
    tasks: HashMap<String, Task>,
}

impl TaskTable {
    pub(crate) fn new(seal: Arc<dyn StateSeal>, background: Arc<dyn Background>) -> Self {
        Self { state: Mutex::default(), changes: Changes::new(), seal, background }
    }

    /// Tells of every change of a task, for as long as the caller keeps `listener`.
    pub(crate) fn listen(&self, listener: &ChangeListener) {
        self.changes.listen(listener);
    }

    /// # Errors
    ///
    /// [`CallFailure::Internal`] where too many are running already.
    pub(crate) fn begin(
        &self,
        owner: &Owner,
        options: TaskOptions,
        revision: Revision,
    ) -> Result<Begun, CallFailure> {
        let TaskOptions { ttl_ms, poll_interval_ms, status_message } = options;
        let now = self.seal.now();
        let mut state = self.state();
        let mut wakers = state.sweep(now);
        let is_full = state.running >= RUNNING;
        if is_full || (state.tasks.len() >= KEPT && !state.forget_oldest(None, &mut wakers)) {
            return Err(CallFailure::Internal("too many tasks are running already".to_owned()));
        }
        state.count += 1;
        state.running += 1;
        let number = state.count;
        // What only this key can have sealed, nobody can guess.
        let id = self.seal.seal(format!("task {number}").as_bytes());
        let task = Task {
            id: id.clone(),
            number,
            owner: owner.clone(),
            created: now,
            updated: now,
            ttl_ms: ttl_ms.unwrap_or(USUAL_TTL_MS).clamp(1, LONGEST_TTL_MS),
            poll_interval_ms: poll_interval_ms.unwrap_or(USUAL_POLL_INTERVAL_MS).max(1),
            message: status_message,
            stage: Stage::Working,
            asked: Vec::new(),
            keys: HashSet::new(),
            waiting: BTreeMap::new(),
        };
        let begun =
            Begun { id: id.clone(), members: task.write(revision), ttl: Duration::from_millis(task.ttl_ms) };
        state.tasks.insert(id, task);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        Ok(begun)
    }

    /// Says how a task stands.
    pub(crate) fn tell(&self, id: &str, options: TaskOptions) {
        self.change(id, |task| {
            if options.status_message.is_some() {
                task.message = options.status_message;
            }
            task.poll_interval_ms = options.poll_interval_ms.unwrap_or(task.poll_interval_ms).max(1);
        });
    }

    /// Looks at a task; nothing where this owner has none of this id.
    pub(crate) fn look<T>(&self, owner: &Owner, id: &str, look: impl FnOnce(&Task) -> T) -> Option<T> {
        let mut state = self.state();
        let wakers = state.sweep(self.seal.now());
        let seen = state.tasks.get(id).filter(|task| task.owner == *owner).map(look);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        seen
    }

    /// One page of the tasks of an owner, each written for a revision, oldest first, and where the next page starts.
    ///
    /// # Errors
    ///
    /// Where the cursor is none of ours.
    pub(crate) fn list(
        &self,
        owner: &Owner,
        cursor: Option<&str>,
        revision: Revision,
    ) -> Result<(Vec<String>, Option<String>), ()> {
        let after = cursor.map_or(Ok(0), |cursor| cursor.parse::<u64>().map_err(|_| ()))?;
        let mut state = self.state();
        let wakers = state.sweep(self.seal.now());
        let mut all: Vec<&Task> =
            state.tasks.values().filter(|task| task.owner == *owner && task.number > after).collect();
        all.sort_unstable_by_key(|task| task.number);
        let next = (all.len() > PAGE).then(|| all[PAGE - 1].number.to_string());
        let page = all.iter().take(PAGE).map(|task| task.write(revision)).collect();
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        Ok((page, next))
    }

    /// Ends a task, where it has not ended yet. Whoever works on it stops.
    pub(crate) fn end(&self, id: &str, stage: Stage) {
        self.change(id, |task| task.stage = stage);
    }

    /// Takes answers of a client to questions that are open; others are passed over.
    pub(crate) fn answer(&self, id: &str, answers: Vec<(String, RawJson)>) {
        let is_wanted =
            |asked: &Asked, answer: &RawJson| asked.answer.is_none() && asked.question.is_answered_by(answer);
        self.change(id, |task| {
            for (key, answer) in answers {
                if let Some(asked) = task.asked.iter_mut().find(|asked| asked.key == key)
                    && is_wanted(asked, &answer)
                {
                    asked.answer = Some(Ok(answer));
                }
            }
        });
    }

    /// What came of putting a question to the client; nothing where whoever did it gave up.
    pub(crate) fn put(&self, id: &str, key: &str, outcome: Option<Result<RawJson, CallFailure>>) {
        self.change(id, |task| {
            if let Some(asked) = task.asked.iter_mut().find(|asked| asked.key == key) {
                asked.is_on_its_way = false;
                asked.answer = outcome;
            }
        });
    }

    /// Asks the client of a task, and waits for all answers.
    pub(crate) async fn ask(
        &self,
        id: &str,
        questions: Vec<(String, Question)>,
    ) -> Result<Vec<RawJson>, CallFailure> {
        let mut keys = Vec::with_capacity(questions.len());
        self.change(id, |task| {
            for (key, question) in questions {
                let key = task.fresh_key(&key);
                keys.push(key.clone());
                task.asked.push(Asked { key, question, answer: None, is_on_its_way: false });
            }
        });
        let answers = self.when(id, |task| {
            let all = task.asked.iter().filter(|asked| keys.contains(&asked.key));
            if task.is_over() || !all.clone().all(|asked| asked.answer.is_some()) {
                return None;
            }
            let answers: Vec<_> = all.filter_map(|asked| asked.answer.clone()).collect();
            task.asked.retain(|asked| !keys.contains(&asked.key));
            Some(answers)
        });
        let answers = answers.await.ok_or_else(|| CallFailure::Unanswered("the task is gone".to_owned()))?;
        answers.into_iter().collect()
    }

    /// Waits until `ready` gives something; nothing where there is no such task, or no more.
    pub(crate) async fn when<T>(&self, id: &str, mut ready: impl FnMut(&mut Task) -> Option<T>) -> Option<T> {
        let slot = {
            let mut state = self.state();
            state.waiters += 1;
            state.waiters
        };
        let _waiter = Waiter { table: self, id, slot };
        poll_fn(|context| {
            let mut state = self.state();
            let Some(task) = state.tasks.get_mut(id) else { return Poll::Ready(None) };
            if let Some(value) = ready(task) {
                return Poll::Ready(Some(value));
            }
            let before = task.waiting.insert(slot, context.waker().clone());
            drop(state);
            drop(before);
            Poll::Pending
        })
        .await
    }

    /// Works on a task until it is done, is ended from elsewhere or takes longer than it may.
    pub(crate) fn carry(
        self: Arc<Self>,
        begun: Begun,
        mut work: BoxFuture<'static, Stage>,
    ) -> impl Future<Output = ()> + Send + 'static {
        // Whoever drops the future stops the work, be it before its first step.
        let task = Carried { table: self, id: begun.id };
        async move {
            let Carried { table, id } = &task;
            let mut ended = pin!(table.when(id, |task| task.is_over().then_some(())));
            let mut late = table.background.sleep(begun.ttl);
            let stage = poll_fn(|context| {
                if ended.as_mut().poll(context).is_ready() {
                    return Poll::Ready(None);
                }
                if late.as_mut().poll(context).is_ready() {
                    return Poll::Ready(Some(failed("the task took longer than it may")));
                }
                work.as_mut().poll(context).map(Some)
            });
            if let Some(stage) = stage.await {
                table.end(id, stage);
            }
        }
    }

    /// Changes a task that is not over, wakes whoever waits for it, and tells whoever listens.
    fn change(&self, id: &str, change: impl FnOnce(&mut Task)) {
        let now = self.seal.now();
        let mut state = self.state();
        let Some(task) = state.tasks.get_mut(id).filter(|task| !task.is_over()) else { return };
        change(task);
        if task.size() > KEPT_BYTES {
            task.stage = failed("the result is too long to be kept");
        }
        task.updated = now;
        let mut wakers: Vec<Waker> = std::mem::take(&mut task.waiting).into_values().collect();
        let told = self
            .changes
            .has_listeners()
            .then(|| RawJson::parse(format!("{{{}}}", task.write_whole(Revision::LATEST))));
        let (size, is_over) = (task.size(), task.is_over());
        state.bytes += size;
        state.running -= usize::from(is_over);
        while state.bytes > KEPT_BYTES && state.forget_oldest(Some(id), &mut wakers) {}
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        if let Some(Ok(text)) = told {
            self.changes.announce(&Change::Task(id.to_owned(), text));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Forgets what is over and past its time. Gives who waits for it.
    fn sweep(&mut self, now: u64) -> Vec<Waker> {
        if self.swept == now {
            return Vec::new();
        }
        self.swept = now;
        let is_past = |task: &Task| {
            task.is_over() && task.created.saturating_add(task.ttl_ms.div_ceil(1_000) + GRACE) < now
        };
        let past: Vec<String> =
            self.tasks.values().filter(|task| is_past(task)).map(|task| task.id.clone()).collect();
        let mut wakers = Vec::new();
        past.iter().for_each(|id| self.forget(id, &mut wakers));
        wakers
    }

    /// Forgets the oldest task that is over, but not this one. False where there is none.
    fn forget_oldest(&mut self, but: Option<&str>, wakers: &mut Vec<Waker>) -> bool {
        let over = self.tasks.values().filter(|task| task.is_over() && Some(task.id.as_str()) != but);
        let Some(id) = over.min_by_key(|task| task.number).map(|task| task.id.clone()) else { return false };
        self.forget(&id, wakers);
        true
    }

    /// Forgets a task that is over.
    fn forget(&mut self, id: &str, wakers: &mut Vec<Waker>) {
        if let Some(task) = self.tasks.remove(id) {
            self.bytes = self.bytes.saturating_sub(task.size());
            wakers.extend(task.waiting.into_values());
        }
    }
}

fn failed(words: &str) -> Stage {
    Stage::Failed(RpcError::new(ErrorCode::INTERNAL, words))
}

/// Somebody who waits for a task.
struct Waiter<'a> {
    table: &'a TaskTable,
    id: &'a str,
    slot: u64,
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        let waker =
            self.table.state().tasks.get_mut(self.id).and_then(|task| task.waiting.remove(&self.slot));
        drop(waker);
    }
}

/// A task that is worked on. Dropped, it ends.
struct Carried {
    table: Arc<TaskTable>,
    id: String,
}

impl Drop for Carried {
    fn drop(&mut self) {
        self.table.end(&self.id, failed("the server stopped working on it"));
    }
}
