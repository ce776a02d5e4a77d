use surehand_mcp::BoxFuture;
use surehand_transport::{ElicitAnswer, ElicitRequest, ElicitationModes, Elicitor};

/// Says yes to every form without filling anything in, so that only the defaults remain.
pub(crate) struct Agreeable;

impl Elicitor for Agreeable {
    fn modes(&self) -> ElicitationModes {
        ElicitationModes { forms: true, addresses: false }
    }

    fn elicit<'a>(&'a self, _: &'a ElicitRequest) -> BoxFuture<'a, ElicitAnswer> {
        Box::pin(async { ElicitAnswer::Accept(Vec::new()) })
    }
}
