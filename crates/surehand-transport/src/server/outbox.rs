use surehand_mcp::{BoxFuture, CallFailure, Outbox};
use surehand_model::RawJson;

/// No way back to the client but the answer.
pub(crate) struct NoWayBack;

impl Outbox for NoWayBack {
    fn notify(&self, _: String) {}

    fn request(&self, _: &'static str, _: RawJson) -> BoxFuture<'static, Result<RawJson, CallFailure>> {
        Box::pin(async { Err(CallFailure::Unanswered("there is no way to ask the client".to_owned())) })
    }
}
