use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use surehand_mcp::{Change, ChangeListener, Id, Subscription, write_notification};

use crate::outgoing::Outgoing;
use crate::server::subscribed::Subscribed;

/// How many streams of changes one client may have.
const STREAMS: usize = 64;

/// What the one client at the other end wants to hear of.
#[derive(Debug)]
pub(super) struct Listening {
    outgoing: Arc<Outgoing>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// There was a handshake: changes of lists are told without being asked for.
    has_session: bool,
    resources: Subscribed,
    streams: Vec<Subscription>,
}

impl Listening {
    pub(super) fn new(outgoing: Arc<Outgoing>) -> Arc<Self> {
        Arc::new(Self { outgoing, state: Mutex::default() })
    }

    /// Tells the client, for as long as somebody keeps this.
    pub(super) fn listener(self: &Arc<Self>) -> ChangeListener {
        let listening = self.clone();
        Arc::new(move |change| listening.tell(change))
    }

    pub(super) fn begin_session(&self) {
        self.state().has_session = true;
    }

    /// Says no where the client listens for too many already.
    pub(super) fn subscribe(&self, uri: String) -> bool {
        self.state().resources.add(uri)
    }

    pub(super) fn unsubscribe(&self, uri: &str) {
        self.state().resources.remove(uri);
    }

    /// Begins a stream of changes. Says no where there are too many.
    pub(super) fn open(&self, subscription: Subscription) -> bool {
        let mut state = self.state();
        if state.streams.len() >= STREAMS {
            return false;
        }
        // Before any change can be told.
        self.outgoing.push_anyway(&subscription.acknowledgement());
        state.streams.push(subscription);
        true
    }

    pub(super) fn has(&self, id: &Id) -> bool {
        self.state().streams.iter().any(|stream| stream.id == *id)
    }

    /// Ends a stream that the client takes back. Says whether there was one.
    pub(super) fn close(&self, id: &Id) -> bool {
        let streams = &mut self.state().streams;
        let before = streams.len();
        streams.retain(|stream| stream.id != *id);
        streams.len() < before
    }

    /// Ends all streams from this side.
    pub(super) fn finish(&self) {
        for stream in std::mem::take(&mut self.state().streams) {
            self.outgoing.push_anyway(&stream.finished());
            // Some look for the one, some for the other.
            let params = format!("{{\"requestId\":{}}}", stream.id);
            self.outgoing.push_anyway(&write_notification("notifications/cancelled", Some(&params)));
        }
    }

    /// What the client does not read in time is dropped.
    fn tell(&self, change: &Change) {
        let state = self.state();
        for message in state.streams.iter().filter_map(|stream| stream.message_for(change)) {
            let _ = self.outgoing.push(&message);
        }
        let wants = match change {
            Change::Resource(uri) => state.resources.has(uri),
            _ => state.has_session,
        };
        if let Some(message) = change.to_notification().filter(|_| wants) {
            let _ = self.outgoing.push(&message);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
