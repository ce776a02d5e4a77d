//! The embedded model: a language model that runs inside this process, on the CPU.
//!
//! The one decision that shapes this crate: **a small model is never trusted with what can be made certain.** Which tools it sees is found
//! by search; that a call is valid is forced by a grammar while it is written; that no call is made twice, and no number in an answer is
//! made up, is checked here. What is left to the model is what only it can do: understand the question, and put the data into words.

mod answer;
mod compare;
mod conversation;
mod decide;
mod fetch;
mod items;
mod models;
mod needle;
mod numbers;
mod prompt;
mod provider;
mod runtime;
mod search;
mod words;
mod work;

pub use fetch::{FetchError, FetchEvent, FetchOptions, FetchProgress, FetchWatcher, fetch, free_memory};
pub use models::{EngineKind, LocalModel, LocalModelStatus};
pub use provider::{LocalOptions, LocalProvider};
pub use runtime::{EngineError, EngineOptions};
