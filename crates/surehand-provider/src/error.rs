use std::time::Duration;

use thiserror::Error;

/// Why a model gave no answer. Never holds a key.
#[derive(Debug, Error)]
pub enum ProviderError {
    /// No key is set, or the provider refused it.
    #[error("{provider} refused the login: {message}")]
    Login {
        /// Which provider.
        provider: String,
        /// Its words, or which variable to set.
        message: String,
    },
    /// The provider could not be reached, or went on failing on its side after every retry.
    #[error("{provider} is not reachable: {message}")]
    Unreachable {
        /// Which provider.
        provider: String,
        /// What happened, chain included.
        message: String,
    },
    /// The provider asks for fewer requests, and retries are used up.
    #[error("{provider} limits the rate of requests: {message}")]
    RateLimited {
        /// Which provider.
        provider: String,
        /// Its words.
        message: String,
        /// How long it asks to wait.
        retry_after: Option<Duration>,
    },
    /// The provider understood and said no: an unknown model, a request it does not take.
    #[error("{provider} rejected the request ({status}): {message}")]
    Rejected {
        /// Which provider.
        provider: String,
        /// The HTTP status, or 0 where the refusal came inside a stream.
        status: u16,
        /// Its words.
        message: String,
    },
    /// The answer broke the provider's own wire format, or ended before it was whole.
    #[error("{provider} gave a broken answer: {message}")]
    Broken {
        /// Which provider.
        provider: String,
        /// Where and how.
        message: String,
    },
    /// A script does not fit what happened.
    #[error("the script does not fit: {message}")]
    Script {
        /// Which line, and what was expected.
        message: String,
    },
    /// The embedded model could not be fetched, loaded or run.
    #[error("the embedded model failed: {message}")]
    Local {
        /// What happened, and what to do.
        message: String,
    },
}
