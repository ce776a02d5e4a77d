//! The era of `initialize`: 2024-11-05 to 2025-11-25.

use serde::Serialize;
use surehand_model::RawJson;

use super::answer::Reply;
use super::{Arrival, HttpFacts, HttpSession, Request, ServerMachine, Verdict};
use crate::error::{ErrorCode, RpcError};
use crate::method::{CallTool, ListTools, Method, name};
use crate::revision::Revision;
use crate::types::lifecycle::write_implementation;
use crate::types::tools::write_tool;

impl ServerMachine {
    pub(super) fn legacy_request(&self, request: Request<'_>, arrival: Arrival<'_>) -> Verdict {
        if request.method == name::INITIALIZE {
            return self.initialize(request);
        }
        let revision = match arrival {
            // Before a handshake the newest is spoken; clients that skip it exist, and nothing is lost by answering them.
            Arrival::Stream { negotiated } => negotiated.unwrap_or(Revision::LATEST_LEGACY),
            Arrival::Http(facts) => match revision_of(facts) {
                Ok(revision) => revision,
                Err((status, words)) => {
                    return request.fail(RpcError::new(ErrorCode::INVALID_REQUEST, words), status);
                }
            },
        };
        let who = self.handler.implementation();
        match request.method {
            name::PING => Verdict::Answer(Reply::result(&request.id, "", &who, revision)),
            // Some clients set a level without asking whether there is a log.
            name::SET_LEVEL => Verdict::Answer(Reply::result(&request.id, "", &who, revision)),
            ListTools::NAME => match self.tools_members(&request, revision) {
                Ok(members) => Verdict::Answer(Reply::result(&request.id, &members, &who, revision)),
                Err(words) => request.refuse(ErrorCode::INVALID_PARAMS, words),
            },
            CallTool::NAME => self.call(request, revision),
            method => {
                let words = format!("this server has no method `{method}`");
                request.refuse(ErrorCode::METHOD_NOT_FOUND, words)
            }
        }
    }

    /// Settles on the client's revision where it is one of this era, else on the newest of this era; a stateless revision is
    /// never the outcome of a handshake.
    fn initialize(&self, request: Request<'_>) -> Verdict {
        let asked = request.params.members.string("protocolVersion");
        let revision = asked.as_deref().and_then(Revision::parse).filter(|revision| !revision.is_modern());
        let revision = revision.unwrap_or(Revision::LATEST_LEGACY);
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Answer {
            protocol_version: &'static str,
            capabilities: RawJson,
            server_info: RawJson,
            #[serde(skip_serializing_if = "Option::is_none")]
            instructions: Option<String>,
        }
        let answer = RawJson::from_serialize(&Answer {
            protocol_version: revision.as_str(),
            capabilities: capabilities(),
            server_info: write_implementation(&self.handler.implementation()),
            instructions: self.handler.instructions(),
        });
        let body = crate::envelope::write_result(&request.id, answer.as_str());
        Verdict::Open { revision, reply: Reply { body, status: 200 } }
    }

    /// `"tools":[...]` for one answer. All tools fit on one page, so no cursor was ever given out.
    pub(super) fn tools_members(&self, request: &Request<'_>, revision: Revision) -> Result<String, String> {
        if request.params.members.present("cursor").is_some() {
            return Err("this cursor was not given out by this server".to_owned());
        }
        let mut members = String::from("\"tools\":[");
        for (index, tool) in self.handler.tools().iter().enumerate() {
            if index > 0 {
                members.push(',');
            }
            members.push_str(write_tool(tool, revision).as_str());
        }
        members.push(']');
        Ok(members)
    }
}

/// What a server of tools offers, in either era.
pub(super) fn capabilities() -> RawJson {
    RawJson::from_serialize(&serde_json::json!({"tools": {}}))
}

fn revision_of(facts: HttpFacts<'_>) -> Result<Revision, (u16, String)> {
    if let Some(version) = facts.version
        && Revision::parse(version).is_none()
    {
        return Err((
            400,
            format!("`MCP-Protocol-Version: {version}` is not a revision that this server speaks"),
        ));
    }
    match facts.session {
        HttpSession::Open(revision) => Ok(revision),
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
