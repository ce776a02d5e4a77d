//! What a browser wants to be told before a page of an allowed origin may ask. Called only after the guard let the origin pass.

use axum::body::Body;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};

/// Whether a browser asks beforehand what a page may send.
pub(super) fn is_preflight(request: &Request<Body>) -> bool {
    let headers = request.headers();
    request.method() == Method::OPTIONS
        && headers.contains_key(ORIGIN)
        && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// 204, with the methods served and every header asked for: parameters of tools travel in headers of any name.
pub(super) fn preflight(headers: &HeaderMap) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let told = response.headers_mut();
    told.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST, GET, DELETE"));
    told.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    if let Some(asked) = headers.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        told.insert(ACCESS_CONTROL_ALLOW_HEADERS, asked.clone());
    }
    if let Some(origin) = headers.get(ORIGIN) {
        allow(&mut response, origin.clone());
    }
    response
}

/// Lets a page of this origin read the answer, the session id and why it was not let in. Never with cookies, which nothing here uses.
pub(super) fn allow(response: &mut Response<Body>, origin: HeaderValue) {
    let told = response.headers_mut();
    told.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    told.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("Mcp-Session-Id, WWW-Authenticate, DPoP-Nonce"),
    );
    told.append(VARY, HeaderValue::from_static("Origin"));
}
