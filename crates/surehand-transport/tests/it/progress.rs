//! A call that says how far it is has more time than one that says nothing.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use surehand_mcp::{BoxFuture, CallFailure, Implementation, ServerHandler, ToolInvocation, ToolOutput};
use surehand_model::{RawJson, Tool};
use surehand_transport::{CallOptions, Client, ClientError, ClientOptions, Target};
use tokio::time::{Instant, sleep};

use crate::fixture::{http, text};

/// Reports so many times, 800 ms apart, then answers; `silent` only answers, as late.
struct Slow;

impl ServerHandler for Slow {
    fn implementation(&self) -> Implementation {
        Implementation { name: "slow".to_owned(), title: None, version: "1".to_owned() }
    }

    fn tools(&self) -> Vec<Tool> {
        Vec::new()
    }

    fn call<'a>(&'a self, call: ToolInvocation<'a>) -> BoxFuture<'a, Result<ToolOutput, CallFailure>> {
        Box::pin(async move {
            let steps = call.arguments.to_value()["steps"].as_u64().unwrap_or(0);
            for step in 1..=steps {
                sleep(Duration::from_millis(800)).await;
                if call.name == "reporting" {
                    call.context.progress(step as f64, None, None);
                }
            }
            Ok(ToolOutput::text("done"))
        })
    }
}

async fn called(tool: &str, steps: u32, options: CallOptions<'_>) -> (Result<String, ClientError>, Duration) {
    let client = Client::open(Target::InProcess(Arc::new(Slow)), ClientOptions::default(), &http()).await;
    let client = client.unwrap();
    let begun = Instant::now();
    let arguments = RawJson::parse(format!(r#"{{"steps":{steps}}}"#)).unwrap();
    let outcome = client.call_tool(tool, &arguments, options).await;
    (outcome.map(|outcome| text(&outcome).to_owned()), begun.elapsed())
}

#[tokio::test(start_paused = true)]
async fn each_report_starts_the_time_anew_up_to_the_longest() {
    let (timeout, longest) = (Duration::from_secs(1), Duration::from_secs(10));
    let extended = CallOptions { timeout, longest: Some(longest), ..CallOptions::default() };
    let done = Ok("done".to_owned());
    assert_eq!(called("reporting", 4, extended).await, (done.clone(), Duration::from_millis(3_200)));
    assert_eq!(called("silent", 4, extended).await, (Err(ClientError::Timeout { after: timeout }), timeout));
    assert_eq!(
        called("reporting", 400, extended).await,
        (Err(ClientError::Timeout { after: longest }), longest)
    );
    // Whoever listens hears the reports all the same.
    let heard = Mutex::new(Vec::new());
    let listen = |progress: surehand_transport::Progress| heard.lock().unwrap().push(progress.progress);
    let listening = CallOptions { on_progress: Some(&listen), ..extended };
    assert_eq!(called("reporting", 3, listening).await.0, done);
    assert_eq!(*heard.lock().unwrap(), [1.0, 2.0, 3.0]);
}

#[tokio::test(start_paused = true)]
async fn without_a_longest_time_reports_change_nothing() {
    let after = Duration::from_secs(1);
    let options = CallOptions { timeout: after, ..CallOptions::default() };
    assert_eq!(called("reporting", 4, options).await, (Err(ClientError::Timeout { after }), after));
}
