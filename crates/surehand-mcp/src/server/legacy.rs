//! The era of `initialize`: 2024-11-05 to 2025-11-25.

use std::sync::atomic::Ordering;

use serde::Serialize;
use surehand_model::RawJson;

use super::answer::Reply;
use super::lists::List;
use super::{Arrival, HttpFacts, HttpSession, Negotiated, Request, ServerMachine, Verdict};
use crate::error::{ErrorCode, RpcError};
use crate::handler::Caller;
use crate::method::name;
use crate::revision::Revision;
use crate::types::utilities::LogLevel;

/// What a client hears that never said which log messages it wants.
const USUAL_LEVEL: LogLevel = LogLevel::Info;

impl ServerMachine {
    pub(super) fn legacy_request(&self, request: Request<'_>, arrival: Arrival<'_>) -> Verdict {
        if request.method == name::INITIALIZE {
            return self.initialize(request);
        }
        let (session, principal) = match arrival {
            Arrival::Stream { session, principal } => (session, principal),
            Arrival::Http(facts) => match session_of(facts) {
                Ok(session) => (Some(session), facts.principal),
                Err((status, words)) => {
                    return request.fail(RpcError::new(ErrorCode::INVALID_REQUEST, words), status);
                }
            },
        };
        // Before a handshake the newest is spoken; clients that skip it exist, and nothing is lost by answering them.
        let revision = session.map_or(Revision::LATEST_LEGACY, |session| session.revision);
        let empty = |request: &Request<'_>| Reply::result(&request.id, "", &self.core.who, revision);
        let offers = &self.core.offers;
        match request.method {
            name::PING => return Verdict::Answer(empty(&request)),
            name::SET_LEVEL => {
                let level = request.params.members.string("level");
                return match level.as_deref().and_then(LogLevel::parse) {
                    Some(level) => Verdict::SetLevel { level, reply: empty(&request) },
                    // Some clients set a level without asking whether there is a log.
                    None if !offers.logging => Verdict::Answer(empty(&request)),
                    None => request.refuse(ErrorCode::INVALID_PARAMS, unknown_level()),
                };
            }
            name::SUBSCRIBE | name::UNSUBSCRIBE if offers.subscriptions => {
                let is_subscribe = request.method == name::SUBSCRIBE;
                return match request.params.unambiguous("uri") {
                    Ok(uri) if is_subscribe => {
                        Verdict::Subscribe { id: request.id.clone(), uri, reply: empty(&request) }
                    }
                    Ok(uri) => Verdict::Unsubscribe { uri, reply: empty(&request) },
                    Err(words) => request.refuse(ErrorCode::INVALID_PARAMS, words),
                };
            }
            _ => {}
        }
        if let Some(list) = List::of(request.method).filter(|list| offers.has(*list)) {
            if let Some(words) = request.foreign_cursor() {
                return request.refuse(ErrorCode::INVALID_PARAMS, words);
            }
            let members = self.list_members(list, revision);
            return Verdict::Answer(Reply::result(&request.id, &members, &self.core.who, revision));
        }
        if let Some(verdict) = self.legacy_task(&request, revision, principal, session) {
            return verdict;
        }
        let mut caller = Caller::unknown(revision);
        caller.principal = principal.map(str::to_owned);
        if let Some(session) = session {
            caller.capabilities = session.capabilities.clone();
            caller.info = session.client_info.clone();
        }
        match self.awaited_task(&request, &caller, session).or_else(|| self.work(&request)) {
            None => {
                let words = format!("this server has no method `{}`", request.method);
                request.refuse(ErrorCode::METHOD_NOT_FOUND, words)
            }
            Some(Err(words)) => request.refuse(ErrorCode::INVALID_PARAMS, words),
            Some(Ok(work)) => {
                let level = session.and_then(|session| session.log_level).unwrap_or(USUAL_LEVEL);
                self.run(request, work, caller, Some(level), session)
            }
        }
    }

    /// Settles on the client's revision where it is one of this era, else on the newest of this era; a stateless revision is
    /// never the outcome of a handshake.
    fn initialize(&self, request: Request<'_>) -> Verdict {
        let members = &request.params.members;
        let asked = members.string("protocolVersion");
        let revision = asked.as_deref().and_then(Revision::parse).filter(|revision| !revision.is_modern());
        let revision = revision.unwrap_or(Revision::LATEST_LEGACY);
        let object =
            |key: &str| members.present(key).filter(|raw| raw.get().starts_with('{')).map(RawJson::from);
        let session = Negotiated {
            number: u128::from(self.core.sessions.fetch_add(1, Ordering::Relaxed)) + 1,
            revision,
            capabilities: object("capabilities").unwrap_or_else(RawJson::empty_object),
            client_info: object("clientInfo"),
            log_level: None,
        };
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Answer<'a> {
            protocol_version: &'static str,
            capabilities: RawJson,
            server_info: &'a RawJson,
            #[serde(skip_serializing_if = "Option::is_none")]
            instructions: Option<String>,
        }
        let answer = RawJson::from_serialize(&Answer {
            protocol_version: revision.as_str(),
            capabilities: self.core.offers.write(revision),
            server_info: &self.core.who,
            instructions: self.core.handler.instructions(),
        });
        let body = crate::envelope::write_result(&request.id, answer.as_str());
        Verdict::Open { session, reply: Reply { body, status: 200 } }
    }
}

/// What is said of a level that there is not.
pub(super) fn unknown_level() -> String {
    let levels = LogLevel::ALL.map(LogLevel::as_str).join(", ");
    format!("the level is not one of {levels}")
}

fn session_of(facts: HttpFacts<'_>) -> Result<&Negotiated, (u16, String)> {
    if let Some(version) = facts.version
        && Revision::parse(version).is_none()
    {
        return Err((
            400,
            format!("`MCP-Protocol-Version: {version}` is not a revision that this server speaks"),
        ));
    }
    match facts.session {
        HttpSession::Open(session) => Ok(session),
        HttpSession::Lost => {
            Err((404, "this session is not open, or no longer: send `initialize` again".to_owned()))
        }
        HttpSession::Absent => {
            let latest = Revision::LATEST;
            let words = format!(
                "this request belongs to no session: send `initialize` first, or say `{latest}` in `_meta` and in the \
                 header `MCP-Protocol-Version`"
            );
            Err((400, words))
        }
    }
}
