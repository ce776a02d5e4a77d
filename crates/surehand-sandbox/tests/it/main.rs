//! What children do, judged by the process list and by what they write.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests may fail loudly, and look at processes from outside"
)]

mod lifetime;
mod run;
mod spawn;

use surehand_sandbox::ChildSpec;

/// A shell script as a child.
fn shell(script: &str) -> ChildSpec {
    ChildSpec {
        command: "sh".into(),
        args: vec!["-c".into(), script.into()],
        search_path: "/usr/bin:/bin".into(),
        ..ChildSpec::default()
    }
}
