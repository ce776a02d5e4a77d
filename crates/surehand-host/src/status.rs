//! How a server is doing, for whoever looks.

use serde::Serialize;

/// How a server is doing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ServerStatus {
    /// Its name in the configuration.
    pub name: String,
    /// How it is doing.
    pub status: ServerState,
    /// Its version, as it says.
    pub version: Option<String>,
    /// How many of its tools can be used.
    pub tools: usize,
    /// What went wrong and what was left out.
    pub notes: Vec<String>,
}

/// How a server is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerState {
    /// It answers.
    Connected,
    /// It could not be started or reached.
    Failed,
    /// It wants a login.
    LoginNeeded,
    /// Switched off in the configuration.
    Disabled,
    /// Not started, since its entry has a problem or its folder is not trusted.
    NotStarted,
}
