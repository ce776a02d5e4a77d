use std::process::Stdio;
use std::time::Duration;

use surehand_sandbox::{Child, spawn};
use tokio::io::{AsyncBufReadExt, BufReader};
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

/// This test starts itself a second time; the second one starts the family, tells its numbers and waits to be killed.
#[tokio::test]
async fn killing_us_without_warning_leaves_no_process_behind() {
    const ROLE: &str = "SUREHAND_TEST_ROLE";
    if std::env::var_os(ROLE).is_some() {
        let mut child = spawn(&shell(DEAF_FAMILY)).unwrap();
        let mut ended = spawn(&shell("true")).unwrap();
        ended.wait().await;
        let [outer, inner] = family(&mut child).await;
        println!("\nfamily {outer} {inner}");
        std::future::pending::<()>().await;
    }

    for how in [rustix::process::Signal::KILL, rustix::process::Signal::TERM] {
        let mut us = tokio::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "lifetime::killing_us_without_warning_leaves_no_process_behind", "--nocapture"])
            .env(ROLE, "parent")
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(us.stdout.take().unwrap()).lines();
        let [outer, inner] = loop {
            let line = lines.next_line().await.unwrap().expect("the second one tells the numbers");
            if let Some(rest) = line.strip_prefix("family ") {
                break numbers(rest);
            }
        };
        assert!(alive(outer) && alive(inner));
        let pid = i32::try_from(us.id().unwrap()).ok().and_then(rustix::process::Pid::from_raw).unwrap();
        rustix::process::kill_process(pid, how).unwrap();
        us.wait().await.unwrap();
        gone(outer).await;
        gone(inner).await;
    }
}
