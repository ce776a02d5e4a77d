use std::time::Duration;

use surehand_sandbox::{Ended, Output, RunError, RunLimits, run};

use crate::shell;

const PATIENT: RunLimits = RunLimits { timeout: Duration::from_secs(60), max_output: 1 << 20 };

#[tokio::test]
async fn input_goes_in_and_both_outputs_come_out() {
    let input = "a line\n".repeat(50_000);
    let output = run(&shell("wc -c; echo oops >&2; exit 4"), input.as_bytes(), PATIENT).await.unwrap();
    let expected = Output {
        ended: Ended { code: Some(4), signal: None },
        stdout: b"350000\n".to_vec(),
        stdout_dropped: 0,
        stderr: b"oops\n".to_vec(),
        stderr_dropped: 0,
    };
    assert_eq!(output, expected);
}

#[tokio::test]
async fn output_over_the_limit_is_dropped_and_the_child_still_ends_well() {
    let script = "yes out | head -c 400000; yes err | head -c 399996 >&2; echo end >&2";
    let output = run(&shell(script), b"", RunLimits { max_output: 8, ..PATIENT }).await.unwrap();
    let expected = Output {
        ended: Ended { code: Some(0), signal: None },
        stdout: b"out\nout\n".to_vec(),
        stdout_dropped: 399_992,
        stderr: b"err\nend\n".to_vec(),
        stderr_dropped: 399_992,
    };
    assert_eq!(output, expected);
}

#[tokio::test]
async fn a_child_that_takes_too_long_is_killed_with_all_it_started() {
    let limits = RunLimits { timeout: Duration::from_millis(200), max_output: 100 };
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    let script = format!("trap '' TERM; sleep 1000 & echo $! > {}; yes", pid.display());
    let error = run(&shell(&script), b"", limits).await.unwrap_err();
    assert!(matches!(&error, RunError::Timeout { .. }));
    assert_eq!(error.to_string(), "`sh` did not end within 0.2 s");
    crate::lifetime::gone(std::fs::read_to_string(pid).unwrap().trim().parse().unwrap()).await;
}

#[tokio::test]
async fn a_helper_left_behind_does_not_hold_the_run_open() {
    let output = run(&shell("sleep 1000 & echo $!"), b"", PATIENT).await.unwrap();
    assert!(output.ended.is_success());
    crate::lifetime::gone(String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()).await;
}

#[tokio::test]
async fn a_child_that_does_not_read_its_input_is_no_error() {
    let output = run(&shell("exit 0"), &vec![b'x'; 1 << 20], PATIENT).await.unwrap();
    assert!(output.ended.is_success());
}
