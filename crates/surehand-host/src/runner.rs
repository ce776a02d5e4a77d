//! Where the loop and the pipeline meet: what runs calls, and what a call knows of its run.

use std::sync::Arc;

use surehand_model::{Label, Note, Tool, ToolCall};
use surehand_provider::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::clock::RunClock;
use crate::event::Observer;
use crate::record::CallRecord;

/// Whatever can run calls for the loop.
pub trait ToolRunner: Send + Sync {
    /// The tools a model may call, under the names it must use, always in the same order. Asked once a run, and again after
    /// [`refresh`](Self::refresh) told of a difference.
    fn offered(&self) -> Vec<Tool>;

    /// Looks whether the tools are others than before, and says how. Asked before each turn of the model.
    fn refresh(&self) -> BoxFuture<'_, Vec<Note>> {
        Box::pin(std::future::ready(Vec::new()))
    }

    /// In which queue a call of the tool `name` stands. Calls of one turn in the same queue are run one after another, in the order
    /// in which the model made them; all others side by side.
    fn queue(&self, _name: &str) -> Option<String> {
        None
    }

    /// Runs one call and says what became of it. Never fails: whatever goes wrong is in the record. Ends soon after
    /// `context.cancel` is cancelled.
    fn run(self: Arc<Self>, call: ToolCall, context: CallContext) -> BoxFuture<'static, CallRecord>;
}

/// What a call needs to know of the run it belongs to.
#[derive(Clone)]
pub struct CallContext {
    /// The run's time.
    pub clock: Arc<RunClock>,
    /// Cancelled when the person cancels, or the run's time is up.
    pub cancel: CancellationToken,
    /// Whoever watches.
    pub observer: Arc<dyn Observer>,
    /// Where the call's arguments may come from: everything the model has seen.
    pub label: Label,
    /// The model's output limit, where one was set; named to a model that was cut off.
    pub max_output_tokens: Option<u32>,
}
