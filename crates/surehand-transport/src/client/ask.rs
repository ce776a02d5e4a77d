//! Requests on their way out: pages turned, input given where a server wants some first.

use surehand_mcp::{
    CallTool, Feature, GetPrompt, InputRequired, Listed, Listing, Method, PagedMethod, Paging, ReadResource,
    ReadResult, wanted_addresses,
};
use surehand_model::RawJson;

use super::{Client, ClientError, Wire, WireRequest};

/// How often a server may ask for input before it answers one request.
const INPUT_ROUNDS: usize = 8;

/// What a server may ask for input before it answers. Source: MCP 2026-07-28, "Multi round-trip requests".
const MAY_ASK_FIRST: [&str; 3] = [CallTool::NAME, GetPrompt::NAME, ReadResource::NAME];

impl Client {
    pub(super) async fn list<M: PagedMethod>(&self, offered: bool) -> Result<Listing<M::Item>, ClientError>
    where
        M::Item: Listed,
    {
        let mut paging = Paging::new(M::NAME);
        let mut next = offered.then(surehand_mcp::ListParams::default);
        while let Some(params) = next {
            let page = self.ask::<M>(&params, None).await?;
            next = paging.take(page);
        }
        Ok(paging.finish())
    }

    pub(super) async fn ask<M: Method>(
        &self,
        params: &M::Params,
        subject: Option<&str>,
    ) -> Result<M::Result, ClientError> {
        let request = WireRequest {
            method: M::NAME,
            params: Some(RawJson::from_serialize(params)),
            subject,
            arguments: None,
            timeout: self.request_timeout,
            on_progress: None,
            is_read: true,
        };
        Ok(M::Result::read(&self.send(request).await?)?)
    }

    /// Sends a request. Where a server asks for input first, it is given, and the request is made again.
    pub(super) async fn send(&self, request: WireRequest<'_>) -> Result<RawJson, ClientError> {
        let mut round = request.clone();
        for _ in 0..INPUT_ROUNDS {
            let result = self.send_once_opened(round).await?;
            let Err(fault) = surehand_mcp::check_result(self.server.revision, &result) else {
                return Ok(result);
            };
            let may_ask = MAY_ASK_FIRST.contains(&request.method);
            let Some(input) = may_ask.then(|| InputRequired::read(&result)).flatten() else {
                return Err(fault.into());
            };
            let responses =
                self.questions.answer_all(&input).await.map_err(|why| ClientError::unmet(fault, why))?;
            let params = input.retry(request.params.as_ref(), &responses);
            round = WireRequest { params: Some(params), ..request.clone() };
        }
        let result = self.send_once(round).await?;
        surehand_mcp::check_result(self.server.revision, &result).map_err(|fault| {
            ClientError::unmet(fault, format!("has done so {INPUT_ROUNDS} times already"))
        })?;
        Ok(result)
    }

    /// Sends a request. Where the server wants the person to open addresses first, and the person does, it is sent once more.
    async fn send_once_opened(&self, request: WireRequest<'_>) -> Result<RawJson, ClientError> {
        let outcome = self.send_once(request.clone()).await;
        if !self.server.revision.has(Feature::AddressErrors) {
            return outcome;
        }
        let wanted = match &outcome {
            Err(ClientError::Rpc { code, data, .. }) => wanted_addresses(*code, data.as_ref()),
            _ => None,
        };
        let Some(wanted) = wanted else { return outcome };
        let Some(ids) = self.questions.open_addresses(&wanted).await else { return outcome };
        let done = self.heard.until_completed(&ids, self.address_wait);
        self.questions.aside_from_timers(done).await;
        self.send_once(request).await
    }

    async fn send_once(&self, request: WireRequest<'_>) -> Result<RawJson, ClientError> {
        let result = match &self.wire {
            Wire::Child(wire) => wire.request(request).await?,
            Wire::Http(wire) => wire.request(request).await?,
            Wire::InProcess(_) => {
                let what = format!("a server in this process has no {}", request.method);
                return Err(ClientError::Rpc {
                    code: surehand_mcp::ErrorCode::METHOD_NOT_FOUND,
                    message: what,
                    data: None,
                });
            }
        };
        Ok(result)
    }
}
