//! Whoever answers what servers ask of this client.

use surehand_mcp::{BoxFuture, ElicitAnswer, ElicitRequest, ElicitationModes, Root, RpcError, SamplingModes};
use surehand_model::RawJson;

/// Whoever answers what a server asks the person behind this client.
pub trait Elicitor: Send + Sync {
    /// In which ways questions may come. Only these are offered to the server; what comes in another way is declined unseen.
    fn modes(&self) -> ElicitationModes;

    /// Answers one question. Several may be open at once. The future is dropped when the server withdraws its question and when
    /// the connection ends. No time-out of the connection runs meanwhile.
    fn elicit<'a>(&'a self, request: &'a ElicitRequest) -> BoxFuture<'a, ElicitAnswer>;
}

/// Whoever has a model complete what a server asks for.
pub trait Sampler: Send + Sync {
    /// What may be asked beyond a plain completion. Only this is offered to the server, and tools are refused unless offered.
    fn modes(&self) -> SamplingModes;

    /// Answers one question. `params` are those of `sampling/createMessage`, as they came; the answer is its result, an object
    /// with `role`, `content`, `model` and `stopReason`. An error is told to a server that asked by a request of its own, and
    /// ends the call of one that cannot: [`surehand_mcp::ErrorCode::REJECTED`] where the person said no.
    ///
    /// Several may be open at once. The future is dropped when the server withdraws its question and when the connection ends.
    /// No time-out of the connection runs meanwhile.
    fn sample<'a>(&'a self, params: &'a RawJson) -> BoxFuture<'a, Result<RawJson, RpcError>>;
}

/// Whoever knows which folders this client works in.
pub trait Roots: Send + Sync {
    /// All of them, as they are now. [`crate::Client::roots_changed`] tells the server that they are others.
    fn roots(&self) -> Vec<Root>;
}
