//! The body of an answer that is a stream of events.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue, Response};
use bytes::Bytes;
use futures_util::Stream;
use tokio::time::{Instant, Sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::events::{Next, Reader};
use super::running::Running;

/// After how long a silent stream says that it is still there.
const SILENCE: Duration = Duration::from_secs(15);
const STILL_HERE: Bytes = Bytes::from_static(b":\n\n");

/// The answer that gives these events. `running` is worked on as they are read; `stop` ends them.
pub(super) fn stream(reader: Reader, running: Option<Running>, stop: Stopping) -> Response<Body> {
    as_events(EventBody { reader, running, stop: Some(stop), silence: KeepAlive::new() })
}

/// An answer of whatever events.
pub(super) fn as_events(
    events: impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static,
) -> Response<Body> {
    let mut response = Response::new(Body::from_stream(events));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // Proxies that gather a body before they pass it on would hold everything back.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

/// Gives a comment, which readers pass over, after each silence.
pub(super) struct KeepAlive {
    silence: Pin<Box<Sleep>>,
}

impl KeepAlive {
    pub(super) fn new() -> Self {
        Self { silence: Box::pin(tokio::time::sleep(SILENCE)) }
    }

    /// There is no silence.
    pub(super) fn put_off(&mut self) {
        self.silence.as_mut().reset(Instant::now() + SILENCE);
    }

    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Bytes> {
        ready!(self.silence.as_mut().poll(context));
        // Whoever got something asks again, and then the next silence is waited for.
        self.put_off();
        Poll::Ready(STILL_HERE)
    }
}

/// What ends a stream from this side: when the server stops, or has stopped.
pub(super) struct Stopping {
    stopped: Pin<Box<WaitForCancellationFutureOwned>>,
    /// The last message then; a stream without one just ends.
    last: Option<String>,
}

impl Stopping {
    pub(super) fn new(stop: &CancellationToken, last: Option<String>) -> Self {
        Self { stopped: Box::pin(stop.clone().cancelled_owned()), last }
    }
}

struct EventBody {
    reader: Reader,
    running: Option<Running>,
    stop: Option<Stopping>,
    silence: KeepAlive,
}

impl Stream for EventBody {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        if let Some(running) = &mut this.running {
            running.work(context);
        }
        if let Some(stop) = &mut this.stop
            && stop.stopped.as_mut().poll(context).is_ready()
        {
            match stop.last.take() {
                Some(last) => this.reader.events().finish(&last),
                None => this.reader.events().end(),
            }
            this.stop = None;
        }
        match this.reader.poll_next(context) {
            Poll::Ready(Next::Event(event)) => {
                this.silence.put_off();
                return Poll::Ready(Some(Ok(event)));
            }
            Poll::Ready(Next::End) => return Poll::Ready(None),
            Poll::Pending => {}
        }
        this.silence.poll(context).map(|comment| Some(Ok(comment)))
    }
}
