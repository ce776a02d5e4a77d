use std::time::Duration;

use surehand_mcp::{Background, BoxFuture};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Works on what goes on after its request was answered, as long as its server does.
#[derive(Debug, Default)]
pub(crate) struct Carrier {
    tasks: TaskTracker,
    ended: CancellationToken,
}

impl Carrier {
    /// Ends everything with `ended`.
    pub(crate) fn until(ended: CancellationToken) -> Self {
        Self { tasks: TaskTracker::new(), ended }
    }

    /// Ends everything, and waits until it has.
    pub(crate) async fn end(&self) {
        self.ended.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl Background for Carrier {
    fn carry_on(&self, work: BoxFuture<'static, ()>) {
        let ended = self.ended.clone();
        self.tasks.spawn(async move {
            tokio::select! {
                biased;
                () = ended.cancelled() => {}
                () = work => {}
            }
        });
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(time))
    }
}
