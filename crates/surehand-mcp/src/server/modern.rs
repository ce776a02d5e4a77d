//! The stateless era: 2026-07-28.

use serde::Serialize;
use surehand_model::RawJson;

use super::answer::Reply;
use super::legacy::unknown_level;
use super::listen::Subscription;
use super::lists::List;
use super::{Arrival, HttpFacts, Request, ServerMachine, Verdict};
use crate::error::{ErrorCode, RpcError};
use crate::handler::Caller;
use crate::header::decode_header_value;
use crate::members::string_of;
use crate::meta::MetaKey;
use crate::method::{CallTool, Method, name};
use crate::revision::Revision;
use crate::types::utilities::LogLevel;

/// How long a list may be kept, in milliseconds. Who may see it is never said to be everybody: a server may show each caller
/// something else.
const LIST_LIFETIME: u32 = 60_000;

impl ServerMachine {
    pub(super) fn modern_request(&self, request: Request<'_>, arrival: Arrival<'_>) -> Verdict {
        let revision = match check(&request, arrival) {
            Ok(revision) => revision,
            Err(error) => return request.fail(error, 400),
        };
        let who = &self.core.who;
        if request.method == name::DISCOVER {
            let members = self.discover_members();
            return Verdict::Answer(Reply::result(&request.id, &members, who, revision));
        }
        let offers = &self.core.offers;
        if let Some(list) = List::of(request.method).filter(|list| offers.has(*list)) {
            if let Some(words) = request.foreign_cursor() {
                return request.refuse(ErrorCode::INVALID_PARAMS, words);
            }
            let mut members = self.list_members(list, revision);
            members.push_str(&cache_hint());
            return Verdict::Answer(Reply::result(&request.id, &members, who, revision));
        }
        if request.method == name::LISTEN && offers.has_changes() {
            let caller = caller(&request, arrival, revision);
            return match Subscription::read(request.id.clone(), &request.params.members, offers) {
                Ok(subscription) => self.listen_for_tasks(&request, subscription, &caller),
                Err(words) => request.refuse(ErrorCode::INVALID_PARAMS, words),
            };
        }
        let caller = caller(&request, arrival, revision);
        if let Some(verdict) = self.modern_task(&request, &caller) {
            return verdict;
        }
        let log_level = match log_level(&request) {
            Ok(level) => level,
            Err(words) => return request.refuse(ErrorCode::INVALID_PARAMS, words),
        };
        match self.work(&request) {
            None => {
                let words = format!("this server has no method `{}` in revision {revision}", request.method);
                request.fail(RpcError::new(ErrorCode::METHOD_NOT_FOUND, words), 404)
            }
            Some(Err(words)) => request.refuse(ErrorCode::INVALID_PARAMS, words),
            Some(Ok(work)) => {
                if request.method == CallTool::NAME
                    && let Err(words) = self.check_repeated(&request, arrival)
                {
                    return request.fail(mismatch(words), 400);
                }
                self.run(request, work, caller, log_level, None)
            }
        }
    }

    fn discover_members(&self) -> String {
        let versions = RawJson::from_serialize(&supported());
        let mut members = format!(
            "\"supportedVersions\":{versions},\"capabilities\":{}",
            self.core.offers.write(Revision::LATEST)
        );
        if let Some(instructions) = self.core.handler.instructions() {
            members.push_str(",\"instructions\":");
            members.push_str(RawJson::from_serialize(&instructions).as_str());
        }
        members.push_str(&cache_hint());
        members
    }
}

/// Who asks: each request says it for itself.
fn caller(request: &Request<'_>, arrival: Arrival<'_>, revision: Revision) -> Caller {
    let meta = request.params.meta.as_ref();
    let object = |key: &str| {
        meta.and_then(|meta| meta.get(key)).filter(|raw| raw.get().starts_with('{')).map(RawJson::from)
    };
    let (Arrival::Http(HttpFacts { principal, .. }) | Arrival::Stream { principal, .. }) = arrival;
    Caller {
        revision,
        capabilities: object(MetaKey::CLIENT_CAPABILITIES).unwrap_or_else(RawJson::empty_object),
        info: object(MetaKey::CLIENT_INFO),
        principal: principal.map(str::to_owned),
    }
}

/// The least level of log messages that the request asks for; without it, none is sent.
fn log_level(request: &Request<'_>) -> Result<Option<LogLevel>, String> {
    let Some(raw) = request.params.meta.as_ref().and_then(|meta| meta.present(MetaKey::LOG_LEVEL)) else {
        return Ok(None);
    };
    string_of(raw).as_deref().and_then(LogLevel::parse).map(Some).ok_or_else(unknown_level)
}

fn cache_hint() -> String {
    format!(",\"ttlMs\":{LIST_LIFETIME},\"cacheScope\":\"private\"")
}

/// Newest first, so that a client that takes the first takes the best.
fn supported() -> Vec<&'static str> {
    Revision::ALL.iter().rev().map(|revision| revision.as_str()).collect()
}

/// The checks that come before any method, in the order in which the specification's errors exclude each other: headers
/// against body, required keys, revision, routing headers.
fn check(request: &Request<'_>, arrival: Arrival<'_>) -> Result<Revision, RpcError> {
    let meta = request.params.meta.as_ref();
    let named = meta.and_then(|meta| meta.get(MetaKey::PROTOCOL_VERSION));
    let version = named.and_then(string_of);
    if let (Arrival::Http(facts), Some(_)) = (arrival, named)
        && facts.version.is_none_or(|header| Some(header) != version.as_deref())
    {
        let header = facts.version.unwrap_or("(absent)");
        return Err(mismatch(format!(
            "`MCP-Protocol-Version` is {header} and `_meta` says {}",
            named.map_or("nothing", |named| named.get())
        )));
    }
    let missing = |key: &str| RpcError::new(ErrorCode::INVALID_PARAMS, format!("`_meta` lacks `{key}`"));
    let version = version.ok_or_else(|| missing(MetaKey::PROTOCOL_VERSION))?;
    let revision = Revision::parse(&version).filter(|revision| revision.is_modern());
    let revision = revision.ok_or_else(|| unsupported(&version))?;
    if meta.and_then(|meta| meta.object(MetaKey::CLIENT_CAPABILITIES)).is_none() {
        return Err(missing(MetaKey::CLIENT_CAPABILITIES));
    }
    if let Arrival::Http(facts) = arrival {
        check_routing(request, facts)?;
    }
    Ok(revision)
}

fn check_routing(request: &Request<'_>, facts: HttpFacts<'_>) -> Result<(), RpcError> {
    if facts.method != Some(request.method) {
        let header = facts.method.unwrap_or("(absent)");
        return Err(mismatch(format!("`Mcp-Method` is {header} and the body says {}", request.method)));
    }
    let Some(subject) = request.subject() else { return Ok(()) };
    let header = facts.name.map(decode_header_value);
    match header {
        Some(Some(name)) if name == subject => Ok(()),
        Some(Some(name)) => Err(mismatch(format!("`Mcp-Name` is {name} and the body says {subject}"))),
        Some(None) => Err(mismatch("`Mcp-Name` is not readable".to_owned())),
        None => Err(mismatch(format!("`Mcp-Name` is absent and the body says {subject}"))),
    }
}

fn mismatch(words: String) -> RpcError {
    RpcError::new(ErrorCode::HEADER_MISMATCH, words)
}

fn unsupported(requested: &str) -> RpcError {
    #[derive(Serialize)]
    struct Data<'a> {
        supported: Vec<&'static str>,
        requested: &'a str,
    }
    RpcError {
        code: ErrorCode::UNSUPPORTED_REVISION,
        message: format!("revision {requested} is not spoken here"),
        data: Some(RawJson::from_serialize(&Data { supported: supported(), requested })),
    }
}
