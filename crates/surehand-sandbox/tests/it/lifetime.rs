use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal};
use surehand_sandbox::{Child, spawn};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::time::Instant;

use crate::shell;

/// A child and what it started, both deaf to kind requests, tell their numbers on one line.
const DEAF_FAMILY: &str = "trap '' TERM HUP INT; sh -c \"trap '' TERM HUP INT; echo \\$\\$; sleep 1000\" | { read -r inner; \
                           echo $$ $inner; sleep 1000; }";

/// Waits until no process of that number is left, or only a dead one that nobody has collected.
pub(crate) async fn gone(pid: u32) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        let state = stat.rsplit_once(") ").map(|(_, rest)| rest.chars().next());
        if state == Some(Some('Z')) {
            return;
        }
        assert!(Instant::now() < deadline, "process {pid} is still there: {stat}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn alive(pid: u32) -> bool {
    std::path::Path::new(&format!("/proc/{pid}")).exists()
}

async fn family(child: &mut Child) -> [u32; 2] {
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).await.unwrap();
    numbers(&line)
}

fn numbers(line: &str) -> [u32; 2] {
    let numbers: Vec<u32> = line.split_whitespace().map(|word| word.parse().unwrap()).collect();
    numbers.try_into().unwrap()
}

#[tokio::test]
async fn dropping_a_child_ends_it_and_what_it_started() {
    let mut child = spawn(&shell(DEAF_FAMILY)).unwrap();
    let [outer, inner] = family(&mut child).await;
    assert_eq!(child.id(), outer);
    assert!(alive(outer) && alive(inner));
    drop(child);
    gone(outer).await;
    gone(inner).await;
}

#[tokio::test]
async fn stopping_a_child_ends_what_it_started_too() {
    let mut child = spawn(&shell(DEAF_FAMILY)).unwrap();
    let [outer, inner] = family(&mut child).await;
    child.stop(Duration::from_millis(20)).await;
    gone(outer).await;
    gone(inner).await;
}

#[tokio::test]
async fn what_a_child_leaves_behind_ends_with_it() {
    let mut child = spawn(&shell("trap '' HUP; sleep 1000 > /dev/null & echo $$ $!")).unwrap();
    let [_, inner] = family(&mut child).await;
    assert!(child.wait().await.is_success());
    gone(inner).await;
}

#[tokio::test]
async fn a_child_outlives_the_thread_that_asked_for_it() {
    let runtime = tokio::runtime::Handle::current();
    let asked = std::thread::spawn(move || {
        let _inside = runtime.enter();
        spawn(&shell("read -r line; echo \"still here\"")).unwrap()
    });
    let mut child = asked.join().unwrap();
    drop(child.stdin.take());
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).await.unwrap();
    assert_eq!(line, "still here\n");
}

/// Each of these tests starts itself a second time, to look from outside at a process that does only this.
const ROLE: &str = "SUREHAND_TEST_ROLE";

fn is_second() -> bool {
    std::env::var_os(ROLE).is_some()
}

/// The test of this name in a process of its own; `tell` in there hands lines out.
fn second(test: &str) -> (tokio::process::Child, Lines<BufReader<tokio::process::ChildStdout>>) {
    let mut process = tokio::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("lifetime::{test}"), "--nocapture"])
        .env(ROLE, "second")
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let lines = BufReader::new(process.stdout.take().unwrap()).lines();
    (process, lines)
}

#[expect(clippy::print_stdout, reason = "its output is how the second process talks to the first")]
fn tell(line: &str) {
    println!("\ntell {line}");
}

async fn told(lines: &mut Lines<BufReader<tokio::process::ChildStdout>>) -> String {
    loop {
        let line = lines.next_line().await.unwrap().expect("the second process tells a line");
        if let Some(rest) = line.strip_prefix("tell ") {
            return rest.to_owned();
        }
    }
}

/// Kills the second process and sees that the family it told of is gone.
async fn kill_and_look(test: &str, how: Signal) {
    let (mut process, mut lines) = second(test);
    let [outer, inner] = numbers(&told(&mut lines).await);
    assert!(alive(outer) && alive(inner));
    let pid = i32::try_from(process.id().unwrap()).ok().and_then(Pid::from_raw).unwrap();
    rustix::process::kill_process(pid, how).unwrap();
    process.wait().await.unwrap();
    gone(outer).await;
    gone(inner).await;
}

#[tokio::test]
async fn killing_us_without_warning_leaves_no_process_behind() {
    if is_second() {
        let mut child = spawn(&shell(DEAF_FAMILY)).unwrap();
        let mut ended = spawn(&shell("true")).unwrap();
        ended.wait().await;
        let [outer, inner] = family(&mut child).await;
        tell(&format!("{outer} {inner}"));
        std::future::pending::<()>().await;
    }
    for how in [Signal::KILL, Signal::TERM] {
        kill_and_look("killing_us_without_warning_leaves_no_process_behind", how).await;
    }
}

#[tokio::test]
async fn a_watcher_that_was_ended_is_replaced_and_knows_all_families() {
    if is_second() {
        let mut child = spawn(&shell(DEAF_FAMILY)).unwrap();
        let [outer, inner] = family(&mut child).await;
        let watcher =
            children().into_iter().find(|pid| *pid != outer).expect("a watcher runs beside the child");
        rustix::process::kill_process(Pid::from_raw(watcher.try_into().unwrap()).unwrap(), Signal::KILL)
            .unwrap();
        gone(watcher).await;
        spawn(&shell("true")).unwrap().wait().await;
        tell(&format!("{outer} {inner}"));
        std::future::pending::<()>().await;
    }
    kill_and_look("a_watcher_that_was_ended_is_replaced_and_knows_all_families", Signal::KILL).await;
}

#[tokio::test]
async fn many_children_and_failed_starts_leave_no_process_and_no_open_file() {
    if is_second() {
        spawn(&shell("true")).unwrap().wait().await;
        let before = (children().len(), open_files());
        for _ in 0..50 {
            let mut stopped = spawn(&shell("cat")).unwrap();
            let dropped = spawn(&shell("cat")).unwrap();
            assert!(spawn(&shell("cat\0")).is_err());
            stopped.stop(Duration::from_secs(20)).await;
            let pid = dropped.id();
            drop(dropped);
            gone(pid).await;
        }
        // The runtime collects what was dropped when it next hears of a child's end.
        spawn(&shell("true")).unwrap().wait().await;
        tell(&format!("{before:?} {:?}", (children().len(), open_files())));
        return;
    }
    let (mut process, mut lines) =
        second("many_children_and_failed_starts_leave_no_process_and_no_open_file");
    let counts = told(&mut lines).await;
    let (before, after) =
        counts.split_once(") (").map(|(before, after)| (format!("{before})"), format!("({after}"))).unwrap();
    assert_eq!(after, before);
    assert!(process.wait().await.unwrap().success());
}

/// The processes whose parent we are, dead ones that nobody has collected among them.
fn children() -> Vec<u32> {
    let us = std::process::id().to_string();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse() else { continue };
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let parent = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1));
        if parent == Some(us.as_str()) {
            found.push(pid);
        }
    }
    found
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}
