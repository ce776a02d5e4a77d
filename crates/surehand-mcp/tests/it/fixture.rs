//! A server machine without a transport around it.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use surehand_mcp::{
    Background, BoxFuture, CallFailure, EnvelopeLimits, Outbox, PendingRequest, Reply, ServerHandler,
    ServerMachine, StateSeal,
};
use surehand_model::RawJson;

pub(crate) fn machine_of(handler: impl ServerHandler) -> ServerMachine {
    machine_with(handler, Arc::new(OpenSeal::default()))
}

pub(crate) fn machine_with(handler: impl ServerHandler, seal: Arc<OpenSeal>) -> ServerMachine {
    ServerMachine::new(Arc::new(handler), EnvelopeLimits::default(), seal)
}

/// Nothing here waits for long: whoever is asked answers at once.
pub(crate) fn run(request: PendingRequest, outgoing: Outgoing) -> Reply {
    let mut future = pin!(request.run(Arc::new(outgoing)));
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(reply) => reply,
        Poll::Pending => panic!("the handler waits"),
    }
}

/// Writes what it seals in hexadecimal behind a mark, and a number that is different each time.
#[derive(Default)]
pub(crate) struct OpenSeal {
    pub(crate) now: AtomicU64,
    count: AtomicU64,
}

impl StateSeal for OpenSeal {
    fn seal(&self, plain: &[u8]) -> String {
        let hex: String = plain.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("sealed-{}-{hex}", self.count.fetch_add(1, Ordering::Relaxed))
    }

    fn open(&self, text: &str) -> Option<Vec<u8>> {
        let (_, hex) = text.strip_prefix("sealed-")?.split_once('-')?;
        (0..hex.len() / 2).map(|at| u8::from_str_radix(hex.get(2 * at..2 * at + 2)?, 16).ok()).collect()
    }

    fn now(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }
}

/// What a server sends beside its answers, and what a client says to its questions.
#[derive(Clone, Default)]
pub(crate) struct Outgoing {
    pub(crate) sent: Arc<Mutex<Vec<String>>>,
    pub(crate) answers: Vec<(&'static str, &'static str)>,
}

impl Outbox for Outgoing {
    fn notify(&self, message: String) {
        self.sent.lock().unwrap().push(message);
    }

    fn request(
        &self,
        method: &'static str,
        params: RawJson,
    ) -> BoxFuture<'static, Result<RawJson, CallFailure>> {
        self.sent.lock().unwrap().push(format!("{method} {params}"));
        let answer = self.answers.iter().find(|(known, _)| *known == method).map(|(_, answer)| *answer);
        Box::pin(async move {
            let answer = answer.ok_or_else(|| CallFailure::Unanswered("nobody is here".to_owned()))?;
            Ok(RawJson::parse(answer).unwrap())
        })
    }
}

/// Works on what goes on in the background only when it is told to.
#[derive(Clone, Default)]
pub(crate) struct ByHand {
    work: Arc<Mutex<Vec<BoxFuture<'static, ()>>>>,
    /// Whatever is slept for is over.
    pub(crate) is_late: Arc<AtomicBool>,
}

impl ByHand {
    /// Works on everything until all of it waits.
    pub(crate) fn step(&self) {
        let mut work = std::mem::take(&mut *self.work.lock().unwrap());
        let mut context = Context::from_waker(Waker::noop());
        work.retain_mut(|work| work.as_mut().poll(&mut context).is_pending());
        self.work.lock().unwrap().extend(work);
    }

    /// How much there is to work on.
    pub(crate) fn load(&self) -> usize {
        self.work.lock().unwrap().len()
    }

    /// Ends it all, as a server does that stops.
    pub(crate) fn stop(&self) {
        let work = std::mem::take(&mut *self.work.lock().unwrap());
        drop(work);
    }
}

impl Background for ByHand {
    fn carry_on(&self, work: BoxFuture<'static, ()>) {
        self.work.lock().unwrap().push(work);
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        let is_late = self.is_late.clone();
        Box::pin(std::future::poll_fn(move |_| match is_late.load(Ordering::Relaxed) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }))
    }
}
