use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use url::Url;

/// How many servers are remembered.
const SERVERS: usize = 64;
/// The longest nonce that is kept, in bytes.
const LONGEST: usize = 1_024;

/// The nonces that servers last gave out, an authorization server and a resource server each their own (RFC 9449, sections 8
/// and 9).
#[derive(Debug, Default)]
pub struct DpopNonces {
    pub(super) by_origin: Mutex<HashMap<String, String>>,
}

impl DpopNonces {
    /// Takes the value of `DPoP-Nonce` off any answer. Says whether it is another than before, so that a refused request is
    /// worth sending again.
    pub fn learn(&self, url: &Url, nonce: Option<&str>) -> bool {
        let Some(nonce) = nonce.filter(|nonce| !nonce.is_empty() && nonce.len() <= LONGEST) else {
            return false;
        };
        let mut by_origin = self.by_origin.lock().unwrap_or_else(PoisonError::into_inner);
        let origin = url.origin().ascii_serialization();
        if by_origin.len() >= SERVERS && !by_origin.contains_key(&origin) {
            // Whoever is forgotten refuses once and gives a new one.
            by_origin.clear();
        }
        by_origin.insert(origin, nonce.to_owned()).is_none_or(|before| before != nonce)
    }

    /// The nonce for a request to this address.
    pub fn of(&self, url: &Url) -> Option<String> {
        let by_origin = self.by_origin.lock().unwrap_or_else(PoisonError::into_inner);
        by_origin.get(&url.origin().ascii_serialization()).cloned()
    }
}
