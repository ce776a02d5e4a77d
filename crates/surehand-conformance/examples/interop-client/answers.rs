//! What is said to a server that asks: the same to everyone, so that it can be found again in what the server makes of it.

use serde_json::json;
use surehand_mcp::{BoxFuture, RpcError};
use surehand_model::{Json, RawJson};
use surehand_transport::{
    ElicitAnswer, ElicitRequest, ElicitationModes, Elicitor, Root, Roots, Sampler, SamplingModes,
};

/// A person, a model and a folder that are always the same.
pub(crate) struct Always;

impl Elicitor for Always {
    fn modes(&self) -> ElicitationModes {
        ElicitationModes { forms: true, addresses: false }
    }

    fn elicit<'a>(&'a self, _: &'a ElicitRequest) -> BoxFuture<'a, ElicitAnswer> {
        let name = ("name".to_owned(), Json::String("Ada".to_owned()));
        Box::pin(async { ElicitAnswer::Accept(vec![name]) })
    }
}

impl Sampler for Always {
    fn modes(&self) -> SamplingModes {
        SamplingModes::default()
    }

    fn sample<'a>(&'a self, _: &'a RawJson) -> BoxFuture<'a, Result<RawJson, RpcError>> {
        let answer = json!({
            "role": "assistant",
            "content": {"type": "text", "text": "Good day"},
            "model": "interop",
            "stopReason": "endTurn"
        });
        Box::pin(async move { Ok(RawJson::from(&answer)) })
    }
}

impl Roots for Always {
    fn roots(&self) -> Vec<Root> {
        vec![Root { uri: "file:///srv/interop".to_owned(), name: Some("interop".to_owned()) }]
    }
}
