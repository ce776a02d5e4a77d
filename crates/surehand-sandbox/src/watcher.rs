//! Ends process groups that we can no longer end ourselves.
//!
//! The kernel kills our children when we die, but not what they had started. A small shell, in a group of its own, holds the
//! reading end of a pipe: we write down which groups live, and when the pipe closes, because we ended in whatever way, it kills
//! those that are left.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::Mutex;

use rustix::process::Pid;

const SCRIPT: &str = r#"
groups=' '
while read -r verb group; do
    case $verb in
    +) groups="$groups$group " ;;
    -) case $groups in *" $group "*) groups="${groups%% "$group" *} ${groups#* "$group" }" ;; esac ;;
    esac
done
for group in $groups; do kill -s KILL -- "-$group"; done
"#;

struct Watcher {
    pipe: Option<ChildStdin>,
    groups: BTreeSet<i32>,
}

static WATCHER: Mutex<Watcher> = Mutex::new(Watcher { pipe: None, groups: BTreeSet::new() });

/// From now on this group is ended when we end.
pub(crate) fn add(group: Pid) {
    with_watcher(|watcher| {
        let group = group.as_raw_pid();
        watcher.groups.insert(group);
        watcher.tell(&format!("+ {group}\n"));
    });
}

/// This group has ended; its number may soon belong to somebody else.
pub(crate) fn remove(group: Pid) {
    with_watcher(|watcher| {
        let group = group.as_raw_pid();
        watcher.groups.remove(&group);
        watcher.tell(&format!("- {group}\n"));
    });
}

fn with_watcher(act: impl FnOnce(&mut Watcher)) {
    act(&mut WATCHER.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
}

impl Watcher {
    fn tell(&mut self, line: &str) {
        if let Some(pipe) = &mut self.pipe
            && pipe.write_all(line.as_bytes()).is_ok()
        {
            return;
        }
        // Not started yet, or somebody ended it: a new one learns all the groups at once. Where there is no shell, the kernel's
        // own signal to the direct children has to do.
        self.pipe = start().ok();
        let all: String = self.groups.iter().map(|group| format!("+ {group}\n")).collect();
        if let Some(pipe) = &mut self.pipe {
            drop(pipe.write_all(all.as_bytes()));
        }
    }
}

fn start() -> io::Result<ChildStdin> {
    #[expect(clippy::disallowed_methods, reason = "this crate is the place that starts children")]
    let mut child = Command::new("/bin/sh")
        .args(["-c", SCRIPT])
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()?;
    child.stdin.take().ok_or_else(|| io::Error::other("the watcher has no pipe"))
}
