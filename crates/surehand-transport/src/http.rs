//! The one client for outgoing HTTP.
//!
//! Everything it may do is handed in: proxies, time-outs, sizes, and for each request which addresses it may reach. Requests to
//! hosts the user named go anywhere; requests to hosts that somebody else named reach public addresses only.

mod address;
mod client;
mod error;
mod exchange;
mod proxy;
mod resolver;

pub use address::is_loopback_host;
pub use client::{AddressGuard, HttpClient, HttpOptions};
pub use error::HttpError;
pub use exchange::{HttpRequest, HttpResponse, Redirects};
pub use proxy::ProxyOptions;
pub use reqwest::{Method, header::HeaderMap};

#[cfg(test)]
mod tests;
