//! The one thread that starts children.
//!
//! The kernel ties "die with your parent" to the *thread* that started the child, and a runtime's worker threads come and go.
//! This one lives as long as the process.

use std::io;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Duration;

use tokio::process::{Child, Command};
use tokio::runtime::Handle;

struct Job {
    command: Command,
    runtime: Handle,
    answer: SyncSender<io::Result<Child>>,
}

static SUPERVISOR: Mutex<Option<Sender<Job>>> = Mutex::new(None);

/// Starts the command from the long-lived thread and waits for the outcome.
pub(crate) fn start(command: Command) -> io::Result<Child> {
    let runtime = Handle::try_current().map_err(io::Error::other)?;
    let (answer, outcome) = sync_channel(1);
    supervisor()?.send(Job { command, runtime, answer }).map_err(|_| gone())?;
    outcome.recv().map_err(|_| gone())?
}

fn supervisor() -> io::Result<Sender<Job>> {
    let mut slot = SUPERVISOR.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(sender) = slot.as_ref() {
        return Ok(sender.clone());
    }
    let (sender, jobs) = channel();
    thread::Builder::new().name("children".into()).spawn(move || supervise(&jobs))?;
    *slot = Some(sender.clone());
    Ok(sender)
}

fn supervise(jobs: &Receiver<Job>) {
    while let Ok(mut job) = jobs.recv() {
        let _inside = job.runtime.enter();
        let outcome = spawn_patiently(&mut job.command);
        // A caller that is gone drops the child with the message, which ends it.
        drop(job.answer.send(outcome));
    }
}

/// A program that was written a moment ago counts as busy while any process forked meanwhile still holds it open for writing.
fn spawn_patiently(command: &mut Command) -> io::Result<Child> {
    for wait in [1, 5, 25, 100] {
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {
                thread::sleep(Duration::from_millis(wait));
            }
            outcome => return outcome,
        }
    }
    command.spawn()
}

fn gone() -> io::Error {
    io::Error::other("the thread that starts children has ended")
}
