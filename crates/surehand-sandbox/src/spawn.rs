use std::io;
use std::path::PathBuf;
use std::process::Stdio;

use rustix::process::Pid;
use thiserror::Error;
use tokio::process::Command;

use crate::environment::environment_of;
use crate::lookup::{find_command, missing_interpreter};
use crate::{Child, ChildSpec, supervisor};

/// Why a child did not start.
#[derive(Debug, Error)]
pub enum SpawnError {
    /// The command is the empty text.
    #[error("no command is given")]
    EmptyCommand,
    /// No file of that name is in the search path, or there is nothing at that path.
    #[error("command `{command}` was not found ({hint})")]
    CommandNotFound {
        /// As it was written.
        command: String,
        /// The folders that were looked into, in order; empty where `command` is a path.
        searched: Vec<PathBuf>,
        /// What to do about it.
        hint: String,
    },
    /// The file is there and may not be run.
    #[error("`{}` cannot be run ({hint})", path.display())]
    NotExecutable {
        /// The file found.
        path: PathBuf,
        /// What to do about it.
        hint: String,
    },
    /// The script is there, the program named in its first line is not.
    #[error("`{}` needs `{}`, which is missing", script.display(), interpreter.display())]
    InterpreterMissing {
        /// The file found.
        script: PathBuf,
        /// What its first line names, as the system reads it.
        interpreter: PathBuf,
    },
    /// The working directory does not exist or is no folder.
    #[error("the working directory `{}` does not exist", path.display())]
    WorkingDirectoryMissing {
        /// The directory asked for.
        path: PathBuf,
    },
    /// The system refused.
    #[error("`{command}` could not be started")]
    Start {
        /// As it was written.
        command: String,
        /// The system's words.
        source: io::Error,
    },
}

/// Starts a child with its three streams piped to us, as leader of a session of its own.
///
/// Waits until the program has been loaded or refused, about a millisecond. Must be called inside a tokio runtime.
///
/// # Errors
///
/// A [`SpawnError`] that says what to change; no child is left behind.
pub fn spawn(spec: &ChildSpec) -> Result<Child, SpawnError> {
    if let Some(folder) = &spec.cwd
        && !folder.is_dir()
    {
        return Err(SpawnError::WorkingDirectoryMissing { path: folder.clone() });
    }
    let path = find_command(spec)?;

    #[expect(clippy::disallowed_methods, reason = "this is the place that starts children")]
    let mut command = Command::new(&path);
    command.args(&spec.args).env_clear().envs(environment_of(spec));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    if let Some(folder) = &spec.cwd {
        command.current_dir(folder);
    }
    let us = rustix::process::getpid();
    // SAFETY: between fork and exec only async-signal-safe calls are allowed. The closure makes three system calls, takes no
    // lock and allocates nothing.
    #[expect(unsafe_code, reason = "only the forked child itself can ask to die with its parent")]
    unsafe {
        command.pre_exec(move || tie_to_parent(us));
    }

    match supervisor::start(command) {
        Ok(child) => Ok(Child::new(child)),
        Err(source) => Err(match (source.kind(), missing_interpreter(&path)) {
            (io::ErrorKind::NotFound, Some(interpreter)) => {
                SpawnError::InterpreterMissing { script: path, interpreter }
            }
            _ => SpawnError::Start { command: spec.command.clone(), source },
        }),
    }
}

/// Runs in the forked child, just before the program is loaded.
fn tie_to_parent(parent: Pid) -> io::Result<()> {
    rustix::process::setsid()?;
    #[cfg(not(target_os = "linux"))]
    let _ = parent;
    #[cfg(target_os = "linux")]
    {
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
        // The parent may have died before the line above; then nobody would send the signal.
        if rustix::process::getppid() != Some(parent) {
            return Err(io::ErrorKind::NotConnected.into());
        }
    }
    Ok(())
}
