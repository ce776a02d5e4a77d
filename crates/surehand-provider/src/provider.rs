use std::future::Future;
use std::pin::Pin;

use surehand_model::{ModelEvent, ModelRequest, ModelTurn};

use crate::ProviderError;

/// A boxed future that may move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Where a provider tells what happens while the model speaks. Must not block.
pub type EventSink<'a> = &'a mut (dyn FnMut(ModelEvent) + Send);

/// Answers as a model.
pub trait Provider: Send + Sync {
    /// The full name, `provider/model`, for example `anthropic/claude-sonnet-5`.
    fn id(&self) -> &str;

    /// Asks the model once. Events go to `sink` as they happen; the whole turn comes back.
    ///
    /// Dropping the future cancels the request.
    ///
    /// # Errors
    ///
    /// [`ProviderError`], once retries that the provider's own answer allows are used up. A stream that ends early is an error,
    /// never a short answer.
    fn answer<'a>(
        &'a self,
        request: &'a ModelRequest,
        sink: EventSink<'a>,
    ) -> BoxFuture<'a, Result<ModelTurn, ProviderError>>;
}
