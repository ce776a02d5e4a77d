use surehand_model::{ModelEvent, ModelRequest, ModelTurn, Note};
use thiserror::Error;

use crate::{NameTable, Quirks};

/// How one kind of provider writes requests and answers.
pub trait Dialect: Send + Sync {
    /// The dialect's name, for example `anthropic`. Opaque state carries it.
    fn name(&self) -> &'static str;

    /// The header that carries the key.
    fn key_header(&self) -> KeyHeader;

    /// Writes a request.
    ///
    /// Never fails: what the provider would refuse is left out alone or put another way, and said in [`Encoded::notes`].
    fn encode(&self, request: &ModelRequest, options: EncodeOptions<'_>) -> Encoded;

    /// Reads a whole answer, with the names of the request it answers.
    ///
    /// # Errors
    ///
    /// [`DecodeError`] when it is not an answer of this dialect.
    fn decode(&self, body: &[u8], names: &NameTable) -> Result<ModelTurn, DecodeError>;

    /// Begins to read an answer that comes as server-sent events.
    fn stream(&self, names: &NameTable) -> Box<dyn StreamDecoder>;
}

/// Reads an answer event by event.
pub trait StreamDecoder: Send {
    /// Takes the next server-sent event and gives what it means, in order.
    ///
    /// # Errors
    ///
    /// [`DecodeError`] when the event is not of this dialect, or says that the provider failed. The decoder is then spent.
    fn event(&mut self, name: Option<&str>, data: &str) -> Result<Vec<ModelEvent>, DecodeError>;

    /// Whether the answer's end mark has been seen, so that nothing more needs to be waited for.
    fn is_done(&self) -> bool;

    /// Ends the stream: the events held back until now, and the whole turn.
    ///
    /// # Errors
    ///
    /// [`DecodeError::Incomplete`] when the end mark never came: such an answer is broken, never merely short.
    fn finish(self: Box<Self>) -> Result<(Vec<ModelEvent>, ModelTurn), DecodeError>;
}

/// How a request is written.
#[derive(Clone, Copy, Debug)]
pub struct EncodeOptions<'a> {
    /// As a stream of events, or as one answer.
    pub stream: bool,
    /// What sets this vendor apart.
    pub quirks: &'a Quirks,
}

/// A request as it goes out.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// Follows the base URL; begins with `/` and may carry a query.
    pub path: String,
    /// Without the key.
    pub headers: Vec<(&'static str, String)>,
    /// JSON.
    pub body: Vec<u8>,
    /// What the tools are called on this wire; the answer is read with it.
    pub names: NameTable,
    /// What was left out or put another way.
    pub notes: Vec<Note>,
}

/// The header that carries a key: `name: prefix key`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyHeader {
    /// In lower case.
    pub name: &'static str,
    /// Stands before the key, for example `Bearer `, or nothing.
    pub prefix: &'static str,
}

/// Why an answer could not be read.
#[derive(Debug, Error)]
pub enum DecodeError {
    /// Not JSON, or JSON of another shape.
    #[error("{place} is not what this provider sends: {what}")]
    Shape {
        /// The answer, or which event of the stream, counted from 1.
        place: String,
        /// What is wrong with it.
        what: String,
    },
    /// The provider says that it failed.
    #[error("{message}")]
    Provider {
        /// Its own word for what happened, for example `overloaded_error`.
        code: Option<String>,
        /// Its own words.
        message: String,
    },
    /// The stream ended before its end mark.
    #[error("the answer ended before it was whole: {what}")]
    Incomplete {
        /// What was missing.
        what: &'static str,
    },
    /// The answer is larger than what is held in memory.
    #[error("the answer is larger than {limit} bytes")]
    TooLarge {
        /// In bytes.
        limit: usize,
    },
}
