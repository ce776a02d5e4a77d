//! Time as a value: the calendar is handed in, and the timer of a run stands still while a person is being asked.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// The time of day in milliseconds since 1970-01-01 UTC, asked of whoever started us.
pub type WallClock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// How long a run has lasted. Stands still while anybody is being asked.
#[derive(Debug)]
pub struct RunClock {
    started: Instant,
    state: Mutex<Asking>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Asking {
    paused: Duration,
    /// How many questions are open, and since when at least one is.
    open: u32,
    since: Option<Instant>,
}

impl RunClock {
    /// A clock that starts now.
    pub fn start() -> Self {
        Self { started: Instant::now(), state: Mutex::default(), changed: Notify::new() }
    }

    /// Milliseconds since the run began, pauses included.
    pub fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Milliseconds since the run began, time spent asking left out.
    pub fn running_ms(&self) -> u64 {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let asking = state.since.map(|since| since.elapsed()).unwrap_or_default();
        let running = self.started.elapsed().saturating_sub(state.paused + asking);
        u64::try_from(running.as_millis()).unwrap_or(u64::MAX)
    }

    /// Stops the timer until the guard is dropped.
    pub fn pause(&self) -> PauseGuard<'_> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.open += 1;
        state.since.get_or_insert_with(Instant::now);
        PauseGuard { clock: self }
    }

    /// Returns once the run has lasted `limit`, pauses left out. Never returns without a limit.
    pub async fn reached(&self, limit: Option<Duration>) {
        let Some(limit) = limit else { return std::future::pending().await };
        loop {
            let changed = self.changed.notified();
            let left = {
                let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                let lasted = self.started.elapsed().saturating_sub(state.paused);
                state.since.is_none().then(|| limit.saturating_sub(lasted))
            };
            match left {
                Some(Duration::ZERO) => return,
                // A pause that begins meanwhile is seen after the sleep, when the time left is counted anew.
                Some(left) => tokio::time::sleep(left).await,
                None => changed.await,
            }
        }
    }
}

/// While it lives, the run's timer stands still.
#[derive(Debug)]
pub struct PauseGuard<'a> {
    clock: &'a RunClock,
}

impl Drop for PauseGuard<'_> {
    fn drop(&mut self) {
        let mut state = self.clock.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.open -= 1;
        if state.open == 0
            && let Some(since) = state.since.take()
        {
            state.paused += since.elapsed();
            self.clock.changed.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn time_spent_asking_does_not_count() {
        let clock = RunClock::start();
        let ask = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let guard = clock.pause();
            tokio::time::sleep(Duration::from_secs(100)).await;
            drop(guard);
        };
        tokio::join!(clock.reached(Some(Duration::from_secs(5))), ask);
        assert_eq!(clock.elapsed_ms(), 105_000);
    }
}
