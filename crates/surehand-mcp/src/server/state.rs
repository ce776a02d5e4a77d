//! What a request of the stateless era has been answered so far, sealed and in the client's keeping.
//!
//! Source: MCP 2026-07-28, "Multi round-trip requests", on `requestState`.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use surehand_model::RawJson;

/// How long a client may take to answer, in seconds.
const LIFETIME: u64 = 10 * 60;

/// Seals what clients keep for a server, so that nobody can read or change it, and knows the time. Transports hand it in.
pub trait StateSeal: Send + Sync {
    /// Encrypted and authenticated, as printable ASCII. The same bytes never give the same text twice.
    fn seal(&self, plain: &[u8]) -> String;

    /// What was sealed; nothing where the text is not one of our own making.
    fn open(&self, text: &str) -> Option<Vec<u8>>;

    /// Seconds since 1970.
    fn now(&self) -> u64;
}

/// What a sealed state is bound to: whoever asks, and all that the handler is given, which is the same each time of asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Binding {
    pub(super) principal: Option<String>,
    pub(super) method: &'static str,
    /// What the request is about.
    pub(super) subject: String,
    pub(super) arguments: RawJson,
}

#[derive(Serialize, Deserialize)]
struct Sealed {
    expires: u64,
    principal: Option<String>,
    digest: String,
    answers: Vec<(String, RawJson)>,
}

impl Binding {
    /// Made only for a state, which few requests have.
    fn digest(&self) -> String {
        let mut hasher = Sha256::new();
        for part in [self.method, &self.subject, self.arguments.as_str()] {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    pub(super) fn seal(&self, answers: Vec<(String, RawJson)>, seal: &dyn StateSeal) -> String {
        let (principal, digest) = (self.principal.clone(), self.digest());
        let sealed = Sealed { expires: seal.now().saturating_add(LIFETIME), principal, digest, answers };
        seal.seal(RawJson::from_serialize(&sealed).as_str().as_bytes())
    }

    /// The answers in a state that was sealed for this very request.
    ///
    /// # Errors
    ///
    /// In words, why it is not taken.
    pub(super) fn open(&self, text: &str, seal: &dyn StateSeal) -> Result<Vec<(String, RawJson)>, String> {
        let foreign = || "`requestState` was not given out by this server".to_owned();
        let plain = seal.open(text).ok_or_else(foreign)?;
        let sealed: Sealed = serde_json::from_slice(&plain).map_err(|_| foreign())?;
        if sealed.expires < seal.now() {
            return Err("`requestState` has expired: ask again without it".to_owned());
        }
        if sealed.principal != self.principal || sealed.digest != self.digest() {
            return Err("`requestState` belongs to another request".to_owned());
        }
        Ok(sealed.answers)
    }
}
