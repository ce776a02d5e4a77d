//! The stateless era: 2026-07-28.

use serde::Serialize;
use surehand_model::RawJson;

use super::answer::Reply;
use super::legacy::capabilities;
use super::{Arrival, HttpFacts, Request, ServerMachine, Verdict};
use crate::error::{ErrorCode, RpcError};
use crate::header::decode_header_value;
use crate::members::string_of;
use crate::meta::MetaKey;
use crate::method::{CallTool, ListTools, Method, name};
use crate::revision::Revision;

/// How long a list may be kept, in milliseconds. Who may see it is never said to be everybody: a server may show each caller
/// something else.
const LIST_LIFETIME: u32 = 60_000;

impl ServerMachine {
    pub(super) fn modern_request(&self, request: Request<'_>, arrival: Arrival<'_>) -> Verdict {
        let revision = match check(&request, arrival) {
            Ok(revision) => revision,
            Err(error) => return request.fail(error, 400),
        };
        let who = self.handler.implementation();
        match request.method {
            name::DISCOVER => {
                let members = self.discover_members();
                Verdict::Answer(Reply::result(&request.id, &members, &who, revision))
            }
            ListTools::NAME => match self.tools_members(&request, revision) {
                Ok(mut members) => {
                    members.push_str(&cache_hint());
                    Verdict::Answer(Reply::result(&request.id, &members, &who, revision))
                }
                Err(words) => request.refuse(ErrorCode::INVALID_PARAMS, words),
            },
            CallTool::NAME => match self.check_repeated(&request, arrival) {
                Ok(()) => self.call(request, revision),
                Err(words) => request.fail(mismatch(words), 400),
            },
            method => {
                let words = format!("this server has no method `{method}` in revision {revision}");
                request.fail(RpcError::new(ErrorCode::METHOD_NOT_FOUND, words), 404)
            }
        }
    }

    fn discover_members(&self) -> String {
        let versions = RawJson::from_serialize(&supported());
        let mut members = format!("\"supportedVersions\":{versions},\"capabilities\":{}", capabilities());
        if let Some(instructions) = self.handler.instructions() {
            members.push_str(",\"instructions\":");
            members.push_str(RawJson::from_serialize(&instructions).as_str());
        }
        members.push_str(&cache_hint());
        members
    }
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
