//! The id of a session is the session: all that `initialize` settled stands in it, sealed, so that a session which nobody uses
//! costs nothing, and another server with the same key knows it too.

use std::collections::{HashSet, VecDeque};

use serde_json::{Map, Value};
use surehand_mcp::{Negotiated, Revision};
use surehand_model::RawJson;

use crate::server::seal::Seal;

/// How long a session lasts, in seconds. Its client is then told to open another.
const LIFETIME: u64 = 7 * 24 * 60 * 60;
/// How many sessions that were ended before their time are remembered.
const ENDED: usize = 1 << 16;
/// How long the capabilities in an id may be, in bytes. Headers have no more room.
const CAPABILITIES: usize = 1_500;
/// The same for name and version of the client.
const INFO: usize = 500;
const PURPOSE: &str = "session";

/// Which session, among all that were ever opened under one key.
pub(super) type SessionKey = u128;

/// A session as its id tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OpenSession {
    pub(super) key: SessionKey,
    pub(super) negotiated: Negotiated,
    /// Whose it is, where credentials are checked.
    pub(super) principal: Option<String>,
}

/// A new session's id.
pub(super) fn seal_session(seal: &Seal, negotiated: &Negotiated, principal: Option<&str>) -> String {
    let mut plain = Vec::with_capacity(256);
    plain.extend_from_slice(&seal.time().to_le_bytes());
    let capabilities = short_capabilities(&negotiated.capabilities);
    let info = negotiated.client_info.as_ref().map(RawJson::as_str).filter(|info| info.len() <= INFO);
    for part in [negotiated.revision.as_str(), capabilities.as_str(), info.unwrap_or_default()] {
        plain.extend_from_slice(&u16::try_from(part.len()).unwrap_or_default().to_le_bytes());
        plain.extend_from_slice(part.as_bytes());
    }
    if let Some(principal) = principal {
        plain.push(1);
        plain.extend_from_slice(principal.as_bytes());
    }
    seal.seal_for(PURPOSE, &plain).1
}

/// The session that an id names, where it is one of this server's and not too old.
pub(super) fn open_session(seal: &Seal, id: &str) -> Option<OpenSession> {
    let opened = seal.open_for(PURPOSE, id)?;
    let (issued, mut rest) = opened.plain.split_first_chunk::<8>()?;
    if u64::from_le_bytes(*issued).saturating_add(LIFETIME) < seal.time() {
        return None;
    }
    let mut part = || {
        let (length, behind) = rest.split_first_chunk::<2>()?;
        let (part, behind) = behind.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
        rest = behind;
        std::str::from_utf8(part).ok()
    };
    let (revision, capabilities, info) = (part()?, part()?, part()?);
    let negotiated = Negotiated {
        number: opened.number,
        revision: Revision::parse(revision)?,
        capabilities: RawJson::parse(capabilities).ok()?,
        client_info: if info.is_empty() { None } else { Some(RawJson::parse(info).ok()?) },
        log_level: None,
    };
    let principal = match rest.split_first() {
        None => None,
        Some((_, principal)) => Some(std::str::from_utf8(principal).ok()?.to_owned()),
    };
    Some(OpenSession { key: opened.number, negotiated, principal })
}

/// The capabilities as they came; where they are too long, only those that a server asks about.
fn short_capabilities(capabilities: &RawJson) -> String {
    if capabilities.as_str().len() <= CAPABILITIES {
        return capabilities.as_str().to_owned();
    }
    let mut all = match capabilities.to_value() {
        Value::Object(all) => all,
        _ => Map::new(),
    };
    all.retain(|name, _| {
        matches!(name.as_str(), "elicitation" | "extensions" | "roots" | "sampling" | "tasks")
    });
    if let Some(Value::Object(extensions)) = all.get_mut("extensions") {
        extensions.values_mut().for_each(|settings| *settings = Value::Object(Map::new()));
    }
    let short = Value::Object(all).to_string();
    if short.len() <= CAPABILITIES { short } else { "{}".to_owned() }
}

/// Sessions that were ended: their ids would still open.
#[derive(Debug, Default)]
pub(super) struct EndedSessions {
    known: HashSet<SessionKey>,
    order: VecDeque<SessionKey>,
}

impl EndedSessions {
    /// Says whether the session had not been ended before.
    pub(super) fn add(&mut self, key: SessionKey) -> bool {
        if !self.known.insert(key) {
            return false;
        }
        self.order.push_back(key);
        if self.order.len() > ENDED
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        true
    }

    pub(super) fn has(&self, key: SessionKey) -> bool {
        self.known.contains(&key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn negotiated(capabilities: &str) -> Negotiated {
        Negotiated {
            number: 0,
            revision: Revision::V2025_11_25,
            capabilities: RawJson::parse(capabilities).unwrap(),
            client_info: Some(RawJson::parse(r#"{"name":"c","version":"1"}"#).unwrap()),
            log_level: None,
        }
    }

    #[test]
    fn an_id_holds_all_that_the_handshake_settled_in_visible_characters() {
        let seal = Seal::of_this_process().unwrap();
        let known = negotiated(r#"{"roots":{"listChanged":true},"elicitation":{}}"#);
        let silent = Negotiated { client_info: None, ..negotiated("{}") };
        for (negotiated, principal) in [(known, Some("ada")), (silent, None)] {
            let id = seal_session(&seal, &negotiated, principal);
            assert!(id.bytes().all(|byte| byte.is_ascii_graphic()));
            let opened = open_session(&seal, &id).unwrap();
            let expected = Negotiated { number: opened.key, ..negotiated.clone() };
            assert_eq!((&opened.negotiated, opened.principal.as_deref()), (&expected, principal));
            let other = seal_session(&seal, &negotiated, principal);
            assert_ne!(open_session(&seal, &other).unwrap().key, opened.key);
        }
    }

    #[test]
    fn an_id_of_another_server_and_one_that_is_too_old_open_nothing() {
        let seal = Seal::of_this_process().unwrap().at(|| 1_000);
        let id = seal_session(&seal, &negotiated("{}"), None);
        assert_eq!(open_session(&Seal::of_this_process().unwrap(), &id), None);
        let seal = seal.at(|| 1_000 + LIFETIME);
        assert!(open_session(&seal, &id).is_some());
        assert_eq!(open_session(&seal.at(|| 1_001 + LIFETIME), &id), None);
    }

    #[test]
    fn capabilities_too_long_for_a_header_keep_what_a_server_asks_about() {
        let seal = Seal::of_this_process().unwrap();
        let long = "x".repeat(CAPABILITIES);
        let kept = |declared: &str| {
            let id = seal_session(&seal, &negotiated(declared), None);
            assert!(id.len() < 4_096);
            open_session(&seal, &id).unwrap().negotiated.capabilities.as_str().to_owned()
        };
        let declared = format!(
            r#"{{"experimental":{{"a":"{long}"}},"sampling":{{"tools":{{}}}},"extensions":{{"e/x":{{"b":"{long}"}}}}}}"#
        );
        assert_eq!(kept(&declared), r#"{"sampling":{"tools":{}},"extensions":{"e/x":{}}}"#);
        assert_eq!(kept(&format!(r#"{{"sampling":{{"{long}":1}}}}"#)), "{}");
    }

    #[test]
    fn sessions_that_were_ended_are_remembered_up_to_a_number() {
        let mut ended = EndedSessions::default();
        assert!(ended.add(0));
        assert!(!ended.add(0));
        for key in 1..=ENDED as u128 {
            ended.add(key);
        }
        assert_eq!((ended.has(0), ended.has(1)), (false, true));
    }
}
