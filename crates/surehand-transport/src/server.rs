//! Serving a handler: over standard streams, over HTTP.

mod background;
mod outbox;
mod question;
mod seal;
mod stdio;
mod streamable;
mod subscribed;

pub(crate) use self::background::Carrier;
pub(crate) use self::seal::{Seal, unix_now};
pub use self::seal::{SealKey, SealKeyError};
pub use self::stdio::{ServeError, serve_stdio, serve_streams};
pub use self::streamable::{
    Caller, Gate, GateDocument, GateRefusal, HttpServer, HttpServerError, HttpServerOptions, serve_http,
};
