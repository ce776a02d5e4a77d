use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::time::timeout;

use crate::watcher;

/// A running child and the group of processes that it leads.
///
/// The group ends with its leader: once the child itself is known to have ended, by [`wait`](Self::wait) or otherwise, whatever
/// it had started is killed. Dropping a `Child` kills the whole group at once.
#[derive(Debug)]
pub struct Child {
    /// Where the child reads; dropping it tells a well-behaved server to end.
    pub stdin: Option<ChildStdin>,
    /// What the child writes.
    pub stdout: Option<ChildStdout>,
    /// What the child says beside; somebody must read it, or the child stops once the pipe is full.
    pub stderr: Option<ChildStderr>,
    process: tokio::process::Child,
    group: Option<Pid>,
    id: u32,
}

/// How a child ended. `Display` says it in words: "exited with code 1", "was ended by signal 9 (KILL)".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The exit code, where it exited by itself.
    pub code: Option<i32>,
    /// The signal that ended it, where one did.
    pub signal: Option<i32>,
}

impl Child {
    pub(crate) fn new(mut process: tokio::process::Child) -> Self {
        let id = process.id().unwrap_or_default();
        let group = i32::try_from(id).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            watcher::add(group);
        }
        Self {
            stdin: process.stdin.take(),
            stdout: process.stdout.take(),
            stderr: process.stderr.take(),
            process,
            group,
            id,
        }
    }

    /// The process id, which is also the id of its group and session.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Waits until the child ends by itself. Leaves the pipes alone; may be dropped and called again.
    pub async fn wait(&mut self) -> Ended {
        let ended = Ended::from(self.process.wait().await.ok());
        self.end_group();
        ended
    }

    /// How the child ended, if it has.
    pub fn try_wait(&mut self) -> Option<Ended> {
        let ended = Ended::from(Some(self.process.try_wait().ok()??));
        self.end_group();
        Some(ended)
    }

    /// Ends the child kindly: closes its input and waits for `grace`, then asks with SIGTERM and waits for `grace` again, then
    /// kills the group. Takes at most twice `grace` and what the system needs.
    ///
    /// An input that was taken out of [`stdin`](Self::stdin) must be dropped by its holder first, or the first wait is idle.
    pub async fn stop(&mut self, grace: Duration) -> Ended {
        drop(self.stdin.take());
        if let Ok(ended) = timeout(grace, self.wait()).await {
            return ended;
        }
        self.signal(Signal::TERM);
        if let Ok(ended) = timeout(grace, self.wait()).await {
            return ended;
        }
        self.kill().await
    }

    /// Kills the group at once and waits for the child's end.
    pub async fn kill(&mut self) -> Ended {
        self.signal(Signal::KILL);
        self.wait().await
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // Fails only where the group has already ended, which is what was wanted.
            let _ = kill_process_group(group, signal);
        }
    }

    /// Right after the leader's end its number is not in use again, so this cannot hit a stranger; later it could, so it is
    /// done once.
    fn end_group(&mut self) {
        self.signal(Signal::KILL);
        if let Some(group) = self.group.take() {
            watcher::remove(group);
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // The runtime reaps the leader afterwards (`kill_on_drop`).
        self.end_group();
    }
}

impl Ended {
    /// Whether it exited by itself with code 0.
    pub fn is_success(self) -> bool {
        self.code == Some(0)
    }
}

impl From<Option<ExitStatus>> for Ended {
    fn from(status: Option<ExitStatus>) -> Self {
        Self {
            code: status.and_then(|status| status.code()),
            signal: status.and_then(|status| status.signal()),
        }
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: &[(i32, &str)] = &[
            (1, "HUP"),
            (2, "INT"),
            (4, "ILL"),
            (6, "ABRT"),
            (7, "BUS"),
            (8, "FPE"),
            (9, "KILL"),
            (11, "SEGV"),
            (13, "PIPE"),
            (15, "TERM"),
        ];
        match (self.code, self.signal) {
            (Some(code), _) => write!(f, "exited with code {code}"),
            (None, Some(signal)) => match NAMES.iter().find(|(number, _)| *number == signal) {
                Some((_, name)) => write!(f, "was ended by signal {signal} ({name})"),
                None => write!(f, "was ended by signal {signal}"),
            },
            (None, None) => f.write_str("ended in an unknown way"),
        }
    }
}
