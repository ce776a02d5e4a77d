//! Whoever can answer as a model: the [`Provider`] trait, providers over HTTP, and a scripted one.
//!
//! The one decision that shapes this crate: a provider turns one [`ModelRequest`](surehand_model::ModelRequest) into one
//! [`ModelTurn`](surehand_model::ModelTurn). Streaming is a courtesy to whoever watches, told through a sink; what counts is the
//! whole turn that comes back. Dropping the future cancels the request and closes its connection.

mod error;
mod http;
mod provider;
mod resolve;
mod script;

pub use error::ProviderError;
pub use http::{HttpProvider, ProviderTarget, RetryPolicy};
pub use provider::{BoxFuture, EventSink, Provider};
pub use resolve::{
    ProviderEndpoint, ProviderEnvironment, ResolveError, key_variables, provider_names, resolve,
};
pub use script::ScriptProvider;
