//! Asking the person at the terminal before something runs.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use surehand_host::{Approval, ApprovalRequest, ApproveAll, Approver, NobodyToAsk};
use surehand_model::Json;
use surehand_provider::BoxFuture;

use crate::cli::ApproveMode;
use crate::render::{BOLD, DIM, Screen, clean, paint};

/// How soon a question that nobody waits for any more lets go of the keyboard.
const LET_GO: Duration = Duration::from_millis(50);
/// The longest answer that is read: more than a terminal gives as one line, so no answer is ever taken for two.
const LONGEST_ANSWER: usize = 4096;

/// Whoever answers for the person, by the mode that was asked for: on a terminal the person, else nobody.
pub(crate) fn approver(mode: Option<ApproveMode>, screen: &Arc<Screen>) -> Arc<dyn Approver> {
    match mode {
        Some(ApproveMode::Always) => Arc::new(ApproveAll),
        Some(ApproveMode::Never) => Arc::new(NobodyToAsk),
        Some(ApproveMode::Ask) | None if screen.terminal().has_person() => {
            Arc::new(TerminalApprover { screen: Arc::clone(screen) })
        }
        Some(ApproveMode::Ask) | None => Arc::new(NobodyToAsk),
    }
}

/// Shows the call and reads `y`, `n` or `a`.
struct TerminalApprover {
    screen: Arc<Screen>,
}

impl Approver for TerminalApprover {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        Box::pin(async move {
            let _quiet = self.screen.hold();
            let mut text = question(request, self.screen.styled_err()) + "\n";
            loop {
                text.push_str("Run it? [y]es, [n]o, [a]lways in this session: ");
                self.screen.prompt(&text);
                text.clear();
                let answer = match read_line().await {
                    Ok(answer) => answer,
                    Err(fault) => return refused(&format!("the answer could not be read: {fault}"), false),
                };
                if answer.ends_with('\n') {
                    self.screen.answered();
                }
                match answer.trim().to_ascii_lowercase().as_str() {
                    "y" | "yes" => return Approval::Once,
                    "a" | "always" => return Approval::ForSession,
                    "n" | "no" => return refused("The person at the terminal refused this call.", true),
                    // The end of the input: nobody is there any more.
                    "" if !answer.ends_with('\n') => return refused("Nobody answered.", false),
                    _ => {}
                }
            }
        })
    }
}

fn refused(reason: &str, by_person: bool) -> Approval {
    Approval::Deny { reason: reason.to_owned(), by_person }
}

/// Everything that would run, nothing shortened: what is shown is what is approved.
fn question(request: &ApprovalRequest, styled: bool) -> String {
    let name = format!("{}/{}", request.server, request.tool);
    let mut text = format!("\n{} wants to run", paint(styled, BOLD, &visible(&name)));
    match request.arguments.to_json() {
        Ok(Json::Object(members)) if members.is_empty() => text.push_str(" without arguments."),
        Ok(Json::Object(members)) => {
            text.push_str(" with");
            for (key, value) in &members {
                text.push_str(&format!("\n  {}: {}", visible(key), shown(value)));
            }
        }
        _ => text.push_str(&format!(" with {}", visible(request.arguments.as_str()))),
    }
    text + &format!(
        "\n{}",
        paint(styled, DIM, &format!("{} (rule: {})", clean(&request.reason), clean(&request.rule)))
    )
}

/// A text of several lines as lines, everything else as JSON.
fn shown(value: &Json) -> String {
    match value {
        Json::String(text) if text.contains('\n') => {
            let lines: Vec<String> = text.lines().map(|line| format!("  | {}", visible(line))).collect();
            format!("\n{}", lines.join("\n"))
        }
        other => visible(&other.to_string()),
    }
}

/// The text with everything invisible spelt out, so that nothing can hide from the person who decides.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let hidden = c.is_control()
            || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}');
        if hidden && c != '\t' {
            out.push_str(&format!("\\u{{{:x}}}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    out
}

/// Reads one line from the keyboard. Dropping the future lets go of the keyboard within [`LET_GO`].
pub(crate) async fn read_line() -> io::Result<String> {
    struct StopOnDrop(Arc<AtomicBool>);
    impl Drop for StopOnDrop {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let stop = StopOnDrop(Arc::default());
    let stopped = Arc::clone(&stop.0);
    tokio::task::spawn_blocking(move || read_line_until(&stopped)).await.map_err(io::Error::other)?
}

fn read_line_until(stopped: &AtomicBool) -> io::Result<String> {
    let stdin = io::stdin();
    let timeout = Timespec { tv_sec: 0, tv_nsec: LET_GO.subsec_nanos().into() };
    let mut line = Vec::new();
    while !stopped.load(Ordering::Relaxed) && line.len() < LONGEST_ANSWER {
        let mut waited = [PollFd::new(&stdin, PollFlags::IN)];
        match poll(&mut waited, Some(&timeout)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => continue,
            Ok(_) => {}
            Err(fault) => return Err(fault.into()),
        }
        // Past the buffer of the standard library, which would keep what was typed for the next question.
        let mut byte = [0];
        match rustix::io::read(stdin.as_fd(), &mut byte) {
            Ok(0) => break,
            Ok(_) => line.push(byte[0]),
            Err(rustix::io::Errno::INTR) => continue,
            Err(fault) => return Err(fault.into()),
        }
        if line.ends_with(b"\n") {
            break;
        }
    }
    Ok(String::from_utf8_lossy(&line).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use surehand_model::RawJson;

    #[test]
    fn a_person_sees_every_argument_and_everything_hidden_in_it() {
        let request = ApprovalRequest {
            id: "c1".into(),
            server: "mail".into(),
            tool: "send".into(),
            arguments: RawJson::parse(r#"{"to":"a\u200b@b.test","body":"one\ntwo\u001b[2J","n":1.50}"#)
                .unwrap(),
            rule: "default".into(),
            reason: "It sends something.".into(),
        };
        expect_test::expect![[r#"

            mail/send wants to run with
              to: "a\u{200b}@b.test"
              body: 
              | one
              | two\u{1b}[2J
              n: 1.50
            It sends something. (rule: default)"#]]
        .assert_eq(&question(&request, false));
    }
}
