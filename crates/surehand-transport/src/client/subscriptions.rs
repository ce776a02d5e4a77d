//! What a connection wants to be told of, in either era, and listening for it in the stateless one.
//!
//! Source: MCP 2026-07-28, "Subscriptions".

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use surehand_mcp::{ServerNotice, Wanted};
use surehand_model::Note;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep};

use super::ClientEvent;

/// How long is waited before a server is listened to anew; doubled each time in vain.
const RETRY: Duration = Duration::from_secs(1);
/// No longer is waited than this.
const RETRY_LIMIT: Duration = Duration::from_secs(60);
/// A stream that lasted so long was no vain attempt.
const LASTED: Duration = Duration::from_secs(10);

/// How one listening ended.
#[derive(Debug)]
pub(crate) enum SubscriptionEnd {
    /// The server will not have it, in its words.
    Refused(String),
    /// It ended, or broke. The server may be listened to anew.
    Over,
    /// The connection is gone.
    Gone,
}

/// Begins to listen for what is wanted, and tells when and how much the server has granted. Dropping it ends the listening.
pub(crate) type Listen =
    dyn Fn(Wanted, mpsc::Sender<Wanted>) -> BoxFuture<'static, SubscriptionEnd> + Send + Sync;

/// What a connection wants to be told of, and what came of it.
pub(crate) struct Subscriptions {
    wanted: watch::Sender<Wanted>,
    settled: watch::Sender<Option<Settled>>,
    on_event: Option<Arc<dyn Fn(ClientEvent) + Send + Sync>>,
}

struct Settled {
    wanted: Wanted,
    granted: Result<Wanted, String>,
    /// Nothing more will come of anything.
    is_last: bool,
}

impl Subscriptions {
    pub(crate) fn new(wanted: Wanted, on_event: Option<Arc<dyn Fn(ClientEvent) + Send + Sync>>) -> Arc<Self> {
        Arc::new(Self { wanted: watch::Sender::new(wanted), settled: watch::Sender::new(None), on_event })
    }

    /// Wants to be told of one resource too. Waits until the server has said whether it will.
    ///
    /// # Errors
    ///
    /// In words, why it will not. It is no longer wanted then.
    pub(crate) async fn add(&self, uri: &str) -> Result<(), String> {
        let mut settled = self.settled.subscribe();
        let is_this = |wanted: &Wanted| wanted.updates.iter().any(|other| other == uri);
        self.wanted.send_if_modified(|wanted| {
            let is_new = !is_this(wanted);
            if is_new {
                wanted.updates.push(uri.to_owned());
            }
            is_new
        });
        let outcome = {
            // The sender lives as long as this.
            let is_answered =
                |all: &Option<Settled>| all.as_ref().is_some_and(|all| all.is_last || is_this(&all.wanted));
            let answer = settled.wait_for(is_answered).await;
            match answer.ok().as_deref().and_then(Option::as_ref).map(|settled| &settled.granted) {
                Some(Ok(granted)) if is_this(granted) => Ok(()),
                Some(Err(why)) => Err(why.clone()),
                _ => Err("the server does not tell of this resource".to_owned()),
            }
        };
        if outcome.is_err() {
            self.remove(uri);
        }
        outcome
    }

    /// A server of the older era has been asked for it.
    pub(crate) fn note(&self, uri: &str) {
        self.wanted.send_modify(|wanted| {
            if !wanted.updates.iter().any(|other| other == uri) {
                wanted.updates.push(uri.to_owned());
            }
        });
    }

    /// The resources that are wanted.
    pub(crate) fn resources(&self) -> Vec<String> {
        self.wanted.borrow().updates.clone()
    }

    /// What changed went unheard for a while, so everything that is wanted counts as changed.
    pub(crate) fn missed(&self) {
        let wanted = self.wanted.borrow().clone();
        self.tell_as_changed(&wanted);
    }

    /// No longer wants to be told of a resource.
    pub(crate) fn remove(&self, uri: &str) {
        self.wanted.send_if_modified(|wanted| {
            let before = wanted.updates.len();
            wanted.updates.retain(|other| other != uri);
            wanted.updates.len() < before
        });
    }

    /// Listens for whatever is wanted, for as long as the connection lives. Where the wishes change, the old stream is kept until
    /// the new one is granted; where a stream broke, everything that was wanted may have changed meanwhile, and is told as changed.
    pub(crate) async fn keep(self: Arc<Self>, listen: Box<Listen>) {
        let mut wishes = self.wanted.subscribe();
        let mut former: Option<BoxFuture<'static, SubscriptionEnd>> = None;
        let mut wait = Duration::ZERO;
        let mut has_missed = false;
        loop {
            let wanted = wishes.borrow_and_update().clone();
            if wanted.is_empty() {
                former = None;
                // The sender lives as long as this.
                let _ = wishes.changed().await;
                continue;
            }
            let since = Instant::now();
            let (grants, mut granted) = mpsc::channel(1);
            let mut stream = listen(wanted.clone(), grants);
            let end = loop {
                tokio::select! {
                    biased;
                    Some(granted) = granted.recv() => {
                        former = None;
                        self.is_granted(&wanted, granted, std::mem::take(&mut has_missed));
                    }
                    end = &mut stream => break Some(end),
                    _ = wishes.changed() => break None,
                    _ = ended(&mut former) => former = None,
                }
            };
            let pause = match end {
                None => {
                    former = Some(stream);
                    continue;
                }
                Some(SubscriptionEnd::Gone) => {
                    let granted = Err("the connection is gone".to_owned());
                    self.settled.send_replace(Some(Settled { wanted, granted, is_last: true }));
                    return;
                }
                Some(SubscriptionEnd::Refused(why)) => {
                    self.is_refused(&wanted, why);
                    None
                }
                Some(SubscriptionEnd::Over) => {
                    has_missed = true;
                    if since.elapsed() >= LASTED {
                        wait = Duration::ZERO;
                    }
                    wait = (wait * 2).clamp(RETRY, RETRY_LIMIT);
                    Some(wait)
                }
            };
            tokio::select! {
                () = pass(pause) => {}
                _ = wishes.changed() => wishes.mark_changed(),
                () = for_ever(&mut former) => {}
            }
        }
    }

    fn is_granted(&self, wanted: &Wanted, granted: Wanted, has_missed: bool) {
        let missing = wanted.missing(&granted);
        if !missing.is_empty() {
            let what = format!("changes of {} are not told", missing.join(", "));
            self.tell(ClientEvent::Note(Note::new("server", what, "the server did not grant it")));
        }
        if has_missed {
            self.tell_as_changed(wanted);
        }
        self.settled.send_replace(Some(Settled {
            wanted: wanted.clone(),
            granted: Ok(granted),
            is_last: false,
        }));
    }

    fn tell_as_changed(&self, wanted: &Wanted) {
        let lists = [
            (wanted.tools, ServerNotice::ToolsChanged),
            (wanted.prompts, ServerNotice::PromptsChanged),
            (wanted.resources, ServerNotice::ResourcesChanged),
        ];
        for (_, notice) in lists.into_iter().filter(|(is_wanted, _)| *is_wanted) {
            self.tell(ClientEvent::Notice(notice));
        }
        for uri in &wanted.updates {
            self.tell(ClientEvent::Notice(ServerNotice::ResourceUpdated { uri: uri.clone() }));
        }
    }

    fn is_refused(&self, wanted: &Wanted, why: String) {
        self.tell(ClientEvent::Note(Note::new("server", "changes are not told", &why)));
        self.settled.send_replace(Some(Settled {
            wanted: wanted.clone(),
            granted: Err(why),
            is_last: false,
        }));
    }

    fn tell(&self, event: ClientEvent) {
        if let Some(listen) = &self.on_event {
            listen(event);
        }
    }
}

/// Waits so long; without an end where there is nothing to wait for.
async fn pass(pause: Option<Duration>) {
    match pause {
        Some(pause) => sleep(pause).await,
        None => pending().await,
    }
}

async fn ended(stream: &mut Option<BoxFuture<'static, SubscriptionEnd>>) -> SubscriptionEnd {
    match stream {
        Some(stream) => stream.await,
        None => pending().await,
    }
}

/// Reads a stream on, also beyond its end.
async fn for_ever(stream: &mut Option<BoxFuture<'static, SubscriptionEnd>>) {
    ended(stream).await;
    *stream = None;
    pending().await
}
