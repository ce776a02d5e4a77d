use std::any::Any;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use surehand_mcp::{CallFailure, ServerHandler, ToolInvocation, ToolOutput};
use surehand_model::RawJson;

/// Runs one tool. A panic in it is an answer, not an end.
pub(crate) async fn run_tool(
    handler: &dyn ServerHandler,
    name: &str,
    arguments: RawJson,
) -> Result<ToolOutput, CallFailure> {
    // The handler may panic before it gives a future, too.
    let run = AssertUnwindSafe(async { handler.call(ToolInvocation::detached(name, arguments)).await });
    run.catch_unwind().await.unwrap_or_else(|panic| {
        let what = words_of(&*panic);
        Err(CallFailure::Internal(format!("the tool `{name}` panicked: {what}")))
    })
}

fn words_of(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|words| (*words).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "without words".to_owned())
}
