//! A child that is waited for until a deadline, and ended with everything it started.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How often a running child is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// By itself.
    With(ExitStatus),
    /// By us, as it took longer than it may.
    Late,
}

/// Runs it in a process group of its own; where the time is over, the group is ended.
pub(crate) fn run_within(command: &mut Command, limit: Duration) -> std::io::Result<Ended> {
    let started = Instant::now();
    let mut child = command.process_group(0).spawn()?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ended::With(status));
        }
        if started.elapsed() > limit {
            end_group(&mut child)?;
            return Ok(Ended::Late);
        }
        thread::sleep(LOOK);
    }
}

/// Ends a child that leads a process group, and everything in that group.
pub(crate) fn end_group(child: &mut Child) -> std::io::Result<()> {
    // The standard library ends single processes only, and whatever the child had started would go on.
    Command::new("sh")
        .args(["-c", &format!("kill -s KILL -- -{}", child.id())])
        .stderr(Stdio::null())
        .status()?;
    child.wait().map(drop)
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};

    use super::*;

    #[test]
    fn a_child_is_ended_with_all_that_it_started() {
        let (reader, writer) = std::io::pipe().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 600 & echo started; wait"]).process_group(0).stdout(writer);
        let mut child = command.spawn().unwrap();
        drop(command);
        let mut reader = BufReader::new(reader);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert_eq!(line, "started\n");
        end_group(&mut child).unwrap();
        // The grandchild holds the pipe too: its end shows that nobody is left.
        assert_eq!(reader.read_line(&mut line).unwrap(), 0);
    }
}
