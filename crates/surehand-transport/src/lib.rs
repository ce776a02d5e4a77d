//! stdio, Streamable HTTP, in-process; one guarded HTTP client.

mod http;
mod lines;
mod sse;

pub use http::{
    AddressGuard, HeaderMap, HttpClient, HttpError, HttpOptions, HttpRequest, HttpResponse, Method,
    ProxyOptions,
};
pub use lines::{Line, LineReader, LineSplitter};
pub use sse::{SseDecoder, SseError, SseEvent};
