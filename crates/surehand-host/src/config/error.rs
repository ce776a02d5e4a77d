use std::path::PathBuf;

use thiserror::Error;

/// Why there is no configuration at all. Everything milder is a [`Problem`](super::Problem).
#[derive(Debug, Error)]
pub enum LoadError {
    /// The file that was asked for is not there or cannot be read.
    #[error("there is no configuration file {path}", path = path.display())]
    ConfigMissing {
        /// As given.
        path: PathBuf,
    },
    /// A server of the command line cannot be read.
    #[error("`{text}` is no server: {what}")]
    BadServer {
        /// The beginning of what was given.
        text: String,
        /// What is wrong with it.
        what: String,
    },
    /// Nobody says where the home directory is.
    #[error("no home directory is known: set HOME")]
    NoHome,
}
