//! Every message that our client and our server send, in every revision, against the official JSON Schema of that revision.
//! Started by `cargo xtask vectors --data DIR`.
//!
//! The server is this program once more, over standard streams with a tap on them: the tap writes every line down, and tells
//! `initialize` to ask for the revision wanted. Exits 1 where a message breaks its schema, or a method never came by.
#![allow(clippy::unwrap_used, reason = "a check that cannot run must say so at once")]
#![expect(clippy::print_stdout, reason = "the findings are what this program is for")]

mod client;
mod handler;
mod schema;
mod tap;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use surehand_mcp::Revision;

use schema::{Checked, Schema};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["serve", log, revision] => {
            tap::serve(Path::new(log), revision).await;
            ExitCode::SUCCESS
        }
        [folder] => check(Path::new(folder)).await,
        _ => ExitCode::from(2),
    }
}

async fn check(folder: &Path) -> ExitCode {
    let mut is_sound = true;
    println!("| revision | messages | methods and notifications | breaking their schema | never seen |");
    println!("| --- | ---: | ---: | ---: | --- |");
    let mut findings = Vec::new();
    for revision in Revision::ALL {
        let schema = Schema::read(&folder.join(format!("mcp-schema/{revision}.json")));
        let log = std::env::temp_dir().join(format!("surehand-vectors-{}-{revision}", std::process::id()));
        let _ = std::fs::remove_file(&log);
        client::converse(&log, revision).await;
        let text = std::fs::read_to_string(&log).unwrap();
        let Checked { seen, faults, messages } = schema.check(&text);
        let missing: Vec<&str> =
            expected(revision).into_iter().filter(|method| !seen.contains_key(*method)).collect();
        println!("| {revision} | {messages} | {} | {} | {} |", seen.len(), faults.len(), missing.join(", "));
        is_sound &= faults.is_empty() && missing.is_empty();
        findings.extend(faults.into_iter().map(|fault| format!("{revision}: {fault}")));
        let _ = std::fs::remove_file(&log);
    }
    let mut counted: BTreeMap<String, usize> = BTreeMap::new();
    for finding in findings {
        *counted.entry(finding).or_default() += 1;
    }
    for (finding, count) in counted {
        println!("{count} x {finding}");
    }
    if is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What must come by in a revision: all that it has and one of our sides sends.
fn expected(revision: Revision) -> Vec<&'static str> {
    let mut methods = vec![
        "tools/list",
        "tools/call",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "prompts/list",
        "prompts/get",
        "completion/complete",
        "notifications/progress",
        "notifications/message",
        "notifications/cancelled",
        "notifications/tools/list_changed",
        "notifications/prompts/list_changed",
        "notifications/resources/list_changed",
        "notifications/resources/updated",
        "sampling/createMessage",
        "roots/list",
    ];
    if revision.is_modern() {
        methods.extend([
            "server/discover",
            "subscriptions/listen",
            "notifications/subscriptions/acknowledged",
        ]);
    } else {
        methods.extend([
            "initialize",
            "notifications/initialized",
            "ping",
            "resources/subscribe",
            "resources/unsubscribe",
            "logging/setLevel",
            "notifications/roots/list_changed",
        ]);
    }
    if revision >= Revision::V2025_06_18 {
        methods.push("elicitation/create");
    }
    methods
}
