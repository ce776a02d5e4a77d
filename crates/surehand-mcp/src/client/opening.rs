use surehand_model::{Note, RawJson};
use thiserror::Error;

use super::capabilities::ClientCapabilities;
use crate::error::RpcError;
use crate::handler::Implementation;
use crate::members::{Members, string_of};
use crate::meta::{MetaKey, with_meta};
use crate::method::name;
use crate::revision::Revision;
use crate::types::lifecycle::{ServerFacts, write_implementation};

/// In which era a client opens a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Era {
    /// Asks `server/discover` first and falls back to `initialize`.
    #[default]
    Auto,
    /// `initialize` only.
    Legacy,
    /// Stateless only.
    Modern,
}

/// Opens a connection: requests come out, their outcomes go in, until both sides know what they speak.
///
/// A server that answers discovery, or refuses its revision as a stateless server does, is stateless; whatever else happens
/// (any other error, silence, the end of the process) means that it wants `initialize`. No single error code is relied upon.
/// After silence both questions stand, and the first that is answered decides, so a slow start costs nothing but time.
///
/// Source: MCP 2026-07-28, "Backward compatibility".
#[derive(Debug)]
pub struct Opening {
    era: Era,
    who: Implementation,
    capabilities: ClientCapabilities,
    /// `server/discover` in this revision is not answered yet.
    discovering: bool,
    /// `initialize` has been sent, and in which revisions so far.
    initialized: Vec<Revision>,
    discovered: Vec<Revision>,
    reopened: bool,
    notes: Vec<Note>,
}

/// A question of the opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ask {
    /// `server/discover` in this revision.
    Discover(Revision),
    /// `initialize`, proposing this revision.
    Initialize(Revision),
}

/// A question of the opening as it is to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpeningRequest {
    /// Which one; the outcome is given back under it.
    pub ask: Ask,
    /// Its method.
    pub method: &'static str,
    /// Its parameters, whole.
    pub params: RawJson,
}

impl OpeningRequest {
    /// The revision to name in headers: none before a handshake is through.
    pub fn header_revision(&self) -> Option<Revision> {
        match self.ask {
            Ask::Discover(revision) => Some(revision),
            Ask::Initialize(_) => None,
        }
    }
}

/// What came of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpeningOutcome {
    /// A result.
    Answered(RawJson),
    /// A JSON-RPC error.
    Refused(RpcError),
    /// An answer that is no JSON-RPC, for example an HTTP error page; in words.
    Foreign(String),
    /// No answer yet, after a while. The question still stands.
    Silent,
    /// The other side is gone: the process ended, its streams are closed.
    Gone,
}

/// What is to be done next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpeningStep {
    /// Send this too. Questions sent before still stand.
    Ask(OpeningRequest),
    /// Start the server anew, then send this. Questions sent before are void.
    Reopen(OpeningRequest),
    /// Nothing, an answer is still to come.
    Wait,
    /// The connection is open.
    Opened(Box<Opened>),
    /// It will not open.
    Failed(OpeningFault),
}

/// An open connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// Who answers, and in which revision.
    pub server: ServerFacts,
    /// A notification to send first.
    pub notify: Option<&'static str>,
    /// What was odd.
    pub notes: Vec<Note>,
}

/// Why a connection does not open.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum OpeningFault {
    /// The server said no.
    #[error("the server refused `{method}`: {error}")]
    Refused {
        /// The question.
        method: &'static str,
        /// Its words.
        error: RpcError,
    },
    /// The answer cannot be used.
    #[error("the answer to `{method}` is not usable: {what}")]
    Unusable {
        /// The question.
        method: &'static str,
        /// What is wrong.
        what: String,
    },
    /// The two sides share no revision.
    #[error("the server speaks {}, none of which this client speaks", .offered.join(", "))]
    NoCommonRevision {
        /// What the server named.
        offered: Vec<String>,
    },
    /// Only the stateless era was wanted, and the server is of the other.
    #[error("the server does not speak the stateless protocol: {what}")]
    NotModern {
        /// What it did instead.
        what: String,
    },
    /// The server is gone, and starting it anew did not help or was not possible.
    #[error("the server ended while the connection was being opened")]
    Gone,
}

impl Opening {
    /// The machine and its first question.
    pub fn start(era: Era, who: Implementation, capabilities: ClientCapabilities) -> (Self, OpeningRequest) {
        let mut opening = Self {
            era,
            who,
            capabilities,
            discovering: false,
            initialized: Vec::new(),
            discovered: Vec::new(),
            reopened: false,
            notes: Vec::new(),
        };
        let first = match era {
            Era::Legacy => opening.initialize(Revision::LATEST_LEGACY),
            Era::Auto | Era::Modern => opening.discover(Revision::LATEST),
        };
        (opening, first)
    }

    /// Takes the outcome of a question in.
    pub fn outcome(&mut self, ask: Ask, outcome: OpeningOutcome) -> OpeningStep {
        match ask {
            Ask::Discover(revision) => self.discover_outcome(revision, outcome),
            Ask::Initialize(revision) => self.initialize_outcome(revision, outcome),
        }
    }

    fn discover_outcome(&mut self, revision: Revision, outcome: OpeningOutcome) -> OpeningStep {
        match outcome {
            OpeningOutcome::Answered(result) => {
                self.discovering = false;
                self.read_discovery(revision, &result)
            }
            OpeningOutcome::Refused(error) => {
                self.discovering = false;
                if error.is_unsupported_revision() {
                    self.other_revision(&error)
                } else if is_modern_refusal(&error) {
                    OpeningStep::Failed(OpeningFault::Refused { method: name::DISCOVER, error })
                } else {
                    self.fall_back(error.to_string())
                }
            }
            OpeningOutcome::Foreign(what) => {
                self.discovering = false;
                self.fall_back(what)
            }
            OpeningOutcome::Silent if self.era == Era::Modern => OpeningStep::Wait,
            OpeningOutcome::Silent => self.fall_back("silence".to_owned()),
            OpeningOutcome::Gone => self.gone(),
        }
    }

    fn initialize_outcome(&mut self, revision: Revision, outcome: OpeningOutcome) -> OpeningStep {
        match outcome {
            OpeningOutcome::Answered(result) => self.read_initialize(revision, &result),
            OpeningOutcome::Refused(error) => self.initialize_refused(error),
            OpeningOutcome::Foreign(what) => {
                OpeningStep::Failed(OpeningFault::Unusable { method: name::INITIALIZE, what })
            }
            OpeningOutcome::Silent => OpeningStep::Wait,
            OpeningOutcome::Gone => self.gone(),
        }
    }

    /// A discovery is one when it lists revisions or says of itself that it is a result; a server that says yes to everything
    /// has not said that.
    fn read_discovery(&mut self, asked: Revision, result: &RawJson) -> OpeningStep {
        let members = Members::parse(result.as_str()).filter(|members| {
            members.array("supportedVersions").is_some() || members.string("resultType").is_some()
        });
        let Some(members) = members else {
            return self.fall_back("an answer that lists no revisions".to_owned());
        };
        let offered: Option<Vec<String>> = members
            .array("supportedVersions")
            .map(|versions| versions.into_iter().filter_map(string_of).collect());
        let names = || offered.iter().flatten().map(String::as_str);
        let revision = match &offered {
            None => Some(asked),
            Some(_) => Revision::newest_of(names(), true),
        };
        if let Some(revision) = revision {
            let server = ServerFacts::read(&members, revision);
            return self.opened(server, None);
        }
        match Revision::newest_of(names(), false) {
            Some(legacy) if self.era == Era::Auto => self.initialize_once(legacy),
            _ => OpeningStep::Failed(OpeningFault::NoCommonRevision { offered: offered.unwrap_or_default() }),
        }
    }

    /// A stateless server that speaks another revision says which. A revision with a handshake is taken only when the server
    /// itself lists it. A server that lists the very revision it has refused is asked in it once more: what it says it speaks
    /// counts for more than one refusal.
    fn other_revision(&mut self, error: &RpcError) -> OpeningStep {
        let offered = error.supported_revisions();
        let names = || offered.iter().map(String::as_str);
        let asked = |revision| self.discovered.iter().filter(|asked| **asked == revision).count();
        let modern = Revision::newest_of(names(), true).filter(|revision| asked(*revision) < 2);
        if let Some(revision) = modern {
            return OpeningStep::Ask(self.discover(revision));
        }
        match Revision::newest_of(names(), false) {
            Some(legacy) if self.era == Era::Auto => self.initialize_once(legacy),
            _ => OpeningStep::Failed(OpeningFault::NoCommonRevision { offered }),
        }
    }

    fn read_initialize(&mut self, asked: Revision, result: &RawJson) -> OpeningStep {
        let unusable = |what: &str| {
            OpeningStep::Failed(OpeningFault::Unusable { method: name::INITIALIZE, what: what.to_owned() })
        };
        let Some(members) = Members::parse(result.as_str()) else { return unusable("it is not an object") };
        let revision = match members.string("protocolVersion") {
            Some(version) => match Revision::parse(&version) {
                Some(revision) if revision.is_modern() => {
                    let why = "it answered a handshake with a revision that has none";
                    self.notes.push(Note::new("initialize", format!("{asked} is spoken"), why));
                    asked
                }
                Some(revision) => revision,
                None => {
                    return OpeningStep::Failed(OpeningFault::NoCommonRevision { offered: vec![version] });
                }
            },
            None => {
                let why = "the server did not say which revision it speaks";
                self.notes.push(Note::new("initialize", format!("{asked} is spoken"), why));
                asked
            }
        };
        let server = ServerFacts::read(&members, revision);
        self.opened(server, Some(name::INITIALIZED))
    }

    fn initialize_refused(&mut self, error: RpcError) -> OpeningStep {
        let offered = error.supported_revisions();
        let names = || offered.iter().map(String::as_str);
        let legacy =
            Revision::newest_of(names(), false).filter(|revision| !self.initialized.contains(revision));
        if let Some(revision) = legacy {
            return OpeningStep::Ask(self.initialize(revision));
        }
        let modern =
            Revision::newest_of(names(), true).filter(|revision| !self.discovered.contains(revision));
        match modern {
            Some(revision) if self.era == Era::Auto => OpeningStep::Ask(self.discover(revision)),
            // It may be a stateless server that has not got round to the first question yet.
            _ if self.discovering => OpeningStep::Wait,
            _ => OpeningStep::Failed(OpeningFault::Refused { method: name::INITIALIZE, error }),
        }
    }

    fn gone(&mut self) -> OpeningStep {
        if self.reopened || self.discovered.is_empty() || self.era != Era::Auto {
            return OpeningStep::Failed(OpeningFault::Gone);
        }
        self.reopened = true;
        self.discovering = false;
        OpeningStep::Reopen(self.initialize(Revision::LATEST_LEGACY))
    }

    fn fall_back(&mut self, what: String) -> OpeningStep {
        if self.era == Era::Modern {
            return OpeningStep::Failed(OpeningFault::NotModern { what });
        }
        self.initialize_once(Revision::LATEST_LEGACY)
    }

    fn initialize_once(&mut self, revision: Revision) -> OpeningStep {
        if self.initialized.is_empty() {
            OpeningStep::Ask(self.initialize(revision))
        } else {
            OpeningStep::Wait
        }
    }

    fn opened(&mut self, server: ServerFacts, notify: Option<&'static str>) -> OpeningStep {
        OpeningStep::Opened(Box::new(Opened { server, notify, notes: std::mem::take(&mut self.notes) }))
    }

    fn discover(&mut self, revision: Revision) -> OpeningRequest {
        self.discovering = true;
        self.discovered.push(revision);
        let meta = [
            (MetaKey::PROTOCOL_VERSION, RawJson::from_serialize(revision.as_str())),
            (MetaKey::CLIENT_INFO, write_implementation(&self.who)),
            (MetaKey::CLIENT_CAPABILITIES, self.capabilities.write(revision)),
        ];
        let params = RawJson::parse(with_meta(None, &meta)).unwrap_or_else(|_| RawJson::empty_object());
        OpeningRequest { ask: Ask::Discover(revision), method: name::DISCOVER, params }
    }

    fn initialize(&mut self, revision: Revision) -> OpeningRequest {
        self.initialized.push(revision);
        #[derive(serde::Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Params {
            protocol_version: &'static str,
            capabilities: RawJson,
            client_info: RawJson,
        }
        let params = RawJson::from_serialize(&Params {
            protocol_version: revision.as_str(),
            capabilities: self.capabilities.write(revision),
            client_info: write_implementation(&self.who),
        });
        OpeningRequest { ask: Ask::Initialize(revision), method: name::INITIALIZE, params }
    }
}

/// Errors that only a stateless server gives, and that asking in another way would not help against.
fn is_modern_refusal(error: &RpcError) -> bool {
    use crate::error::ErrorCode;
    matches!(error.code, ErrorCode::HEADER_MISMATCH | ErrorCode::MISSING_CAPABILITY)
}
