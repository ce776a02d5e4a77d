use std::fmt;
use std::sync::Arc;

use surehand_mcp::{BoxFuture, PendingRequest};

use crate::http::{HeaderMap, Method};

/// Decides who may use the endpoint. It is asked about each request before anything of its body is read.
///
/// Requests with a foreign `Host` or `Origin`, and a browser's preflights, which carry no credentials, never reach it.
pub trait Gate: fmt::Debug + Send + Sync {
    /// Judges a request. A refusal is the whole answer.
    fn admit<'a>(
        &'a self,
        method: &'a Method,
        headers: &'a HeaderMap,
    ) -> BoxFuture<'a, Result<Caller, GateRefusal>>;

    /// Judges what a caller who was let in wants to run, once it has been read: a method such as `tools/call`, and the name of
    /// the tool or prompt or the address of the resource. A refusal is the whole answer, and nothing has run.
    ///
    /// # Errors
    ///
    /// A [`GateRefusal`], usually 403.
    fn permit(&self, caller: &Caller, method: &str, subject: Option<&str>) -> Result<(), GateRefusal> {
        let _ = (caller, method, subject);
        Ok(())
    }

    /// What everybody may read beside the endpoint.
    fn documents(&self) -> Vec<GateDocument> {
        Vec::new()
    }
}

/// Who sent a request that was let in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// Names the one who asks, the same for each of their requests and never for another; none for one without a name.
    pub principal: Option<String>,
    /// What they are let in for, in the gate's own words.
    pub scopes: Vec<String>,
}

/// Why a request was not let in, as it is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateRefusal {
    /// The status, usually 401 or 403.
    pub status: u16,
    /// Headers of the answer, for example `WWW-Authenticate`.
    pub headers: Vec<(String, String)>,
    /// The reason, for whoever reads the body.
    pub words: String,
}

/// A JSON document under a path of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateDocument {
    /// Absolute, for example `/.well-known/oauth-protected-resource/mcp`.
    pub path: String,
    /// The JSON.
    pub body: String,
}

/// A caller who was let in, and by whom.
#[derive(Clone, Debug)]
pub(crate) struct Admitted {
    pub(crate) gate: Arc<dyn Gate>,
    pub(crate) caller: Caller,
}

impl Admitted {
    /// Why they may not run a request, if so.
    pub(crate) fn forbids(&self, request: &PendingRequest) -> Option<GateRefusal> {
        self.gate.permit(&self.caller, request.method(), request.subject()).err()
    }
}
