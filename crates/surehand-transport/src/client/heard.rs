use std::sync::Arc;
use std::time::Duration;

use surehand_mcp::ServerNotice;
use tokio::sync::watch;
use tokio::time::timeout;

use super::ClientEvent;
use super::kept::Kept;

/// How many finished questions are remembered. A server tells each once.
const REMEMBERED: usize = 64;

/// What a client itself makes of what servers tell on their own.
pub(crate) struct Heard {
    /// Questions that sent the person to an address and are done there, oldest first.
    completed: watch::Sender<Vec<String>>,
    /// Results that are still fresh.
    pub(crate) kept: Kept,
}

impl Heard {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { completed: watch::Sender::default(), kept: Kept::new() })
    }

    /// A listener that takes note of everything and then hands it on.
    pub(crate) fn before(
        self: &Arc<Self>,
        next: Option<Arc<dyn Fn(ClientEvent) + Send + Sync>>,
    ) -> Arc<dyn Fn(ClientEvent) + Send + Sync> {
        let heard = self.clone();
        Arc::new(move |event| {
            heard.take(&event);
            if let Some(next) = &next {
                next(event);
            }
        })
    }

    fn take(&self, event: &ClientEvent) {
        let ClientEvent::Notice(notice) = event else { return };
        self.kept.notice(notice);
        if let ServerNotice::ElicitationComplete { id } = notice {
            self.completed.send_modify(|completed| {
                if completed.len() >= REMEMBERED {
                    completed.remove(0);
                }
                completed.push(id.clone());
            });
        }
    }

    /// Waits until the server has told that each of these questions is done, at most as long as `limit`.
    pub(crate) async fn until_completed(&self, ids: &[String], limit: Duration) {
        let mut completed = self.completed.subscribe();
        let all = completed.wait_for(|completed| ids.iter().all(|id| completed.contains(id)));
        // A server need not tell; then the request is made again all the same.
        let _ = timeout(limit, all).await;
    }
}
