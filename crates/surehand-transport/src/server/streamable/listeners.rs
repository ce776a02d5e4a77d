use std::sync::{Arc, Mutex, PoisonError, Weak};

use surehand_mcp::{Change, ChangeListener, ServerMachine, Subscription};

use super::events::Events;
use super::sessions::Sessions;

/// How many streams of changes there may be at once.
const STREAMS: usize = 4_096;

/// Everybody who hears of changes over HTTP: sessions on their own streams, clients of the stateless era on those that they
/// opened for it.
#[derive(Clone, Debug, Default)]
pub(super) struct Listeners {
    streams: Arc<Mutex<Vec<Stream>>>,
}

#[derive(Debug)]
struct Stream {
    subscription: Subscription,
    /// Whoever reads it keeps it.
    events: Weak<Events>,
}

impl Listeners {
    /// Tells everybody, for as long as somebody keeps what this gives.
    pub(super) fn connect(&self, machine: &ServerMachine, sessions: &Sessions) -> ChangeListener {
        let (listeners, sessions) = (self.clone(), sessions.clone());
        let listener: ChangeListener = Arc::new(move |change| {
            listeners.tell(change);
            sessions.announce(change);
        });
        machine.listen(&listener);
        listener
    }

    /// Begins a stream of changes. Says no where there are too many.
    pub(super) fn open(&self, subscription: Subscription, events: &Arc<Events>) -> bool {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        if streams.len() >= STREAMS {
            streams.retain(|stream| stream.events.strong_count() > 0);
        }
        if streams.len() >= STREAMS {
            return false;
        }
        // Before any change can be told.
        let is_told = events.push(&subscription.acknowledgement());
        streams.push(Stream { subscription, events: Arc::downgrade(events) });
        is_told
    }

    fn tell(&self, change: &Change) {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.retain(|stream| {
            let Some(events) = stream.events.upgrade() else { return false };
            if let Some(message) = stream.subscription.message_for(change) {
                // What the client does not read in time is dropped.
                events.push(&message);
            }
            true
        });
    }
}
