//! Answers without a stream, and what the headers of a request say.

use axum::body::Body;
use axum::http::header::{ACCEPT, ALLOW, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use surehand_mcp::Reply;

/// In which forms a client takes an answer. A header that says nothing of either takes both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Takes {
    pub(super) json: bool,
    pub(super) events: bool,
}

impl Takes {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        match headers.get(ACCEPT) {
            None => return Self { json: true, events: true },
            // As the specification has it, and nearly everybody.
            Some(accept) if accept == "application/json, text/event-stream" => {
                return Self { json: true, events: true };
            }
            Some(_) => {}
        }
        let takes = |wanted: [&str; 3]| has_media_type(headers, ACCEPT, &wanted);
        Self {
            json: takes(["application/json", "application/*", "*/*"]),
            events: takes(["text/event-stream", "text/*", "*/*"]),
        }
    }
}

pub(super) static SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
pub(super) static VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(super) static METHOD: HeaderName = HeaderName::from_static("mcp-method");
pub(super) static NAME: HeaderName = HeaderName::from_static("mcp-name");
pub(super) static LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

pub(super) fn text_of<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim)
}

/// Whether the body is said to be JSON.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_some_and(|value| value == "application/json")
        || has_media_type(headers, CONTENT_TYPE, &["application/json"])
}

/// Whether a header names one of these media types, whatever their parameters.
fn has_media_type(headers: &HeaderMap, name: HeaderName, wanted: &[&str]) -> bool {
    headers
        .get_all(name)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|item| {
            let media_type = item.split(';').next().unwrap_or_default().trim();
            wanted.iter().any(|wanted| media_type.eq_ignore_ascii_case(wanted))
        })
}

pub(super) fn respond(reply: Reply) -> Response<Body> {
    let mut response = Response::new(Body::from(reply.body));
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::OK);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

pub(super) fn refuse(code: StatusCode, words: &str) -> Response<Body> {
    let mut response = respond(Reply::unreadable(words));
    *response.status_mut() = code;
    response
}

pub(super) fn status(code: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = code;
    response
}

pub(super) fn accepted() -> Response<Body> {
    status(StatusCode::ACCEPTED)
}

pub(super) fn not_allowed(allowed: &'static str) -> Response<Body> {
    let mut response = status(StatusCode::METHOD_NOT_ALLOWED);
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_accept_header_is_read_leniently() {
        for (accept, json, events) in [
            (None, true, true),
            (Some("application/json, text/event-stream"), true, true),
            (Some("*/*"), true, true),
            (Some("Application/JSON;q=0.9"), true, false),
            (Some("text/event-stream"), false, true),
            (Some("text/html"), false, false),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(accept) = accept {
                headers.insert(ACCEPT, HeaderValue::from_static(accept));
            }
            assert_eq!(Takes::of(&headers), Takes { json, events }, "{accept:?}");
        }
    }
}
