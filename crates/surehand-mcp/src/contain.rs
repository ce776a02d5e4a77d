//! Panics that stay where they happened.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::Poll;

/// Waits for `work` and turns a panic in it into a value, so that whatever runs beside it goes on unharmed.
pub(crate) async fn contained<T>(
    mut work: Pin<Box<dyn Future<Output = T> + Send + '_>>,
) -> Result<T, Box<dyn Any + Send>> {
    // Unwind safety: after a panic the future is never polled again, only dropped.
    std::future::poll_fn(move |context| {
        match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
            Ok(poll) => poll.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    })
    .await
}

/// What a panic said, if it said anything.
pub(crate) fn words_of(panic: &(dyn Any + Send)) -> Option<&str> {
    let words = panic.downcast_ref::<&str>().copied();
    words.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
}
