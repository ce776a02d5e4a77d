//! Requests on their way out: pages turned, input given where a server wants some first.

use std::sync::PoisonError;

use surehand_mcp::{
    CacheKey, CallTool, ErrorCode, Feature, GetPrompt, InputRequired, ListParams, Listed, Listing, Method,
    PagedMethod, Paging, ReadResource, ReadResult, ResultCache, TaskState, wanted_addresses, with_log_level,
};
use surehand_model::RawJson;

use super::{Client, ClientError, Wire, WireRequest};

/// How often a server may ask for input before it answers one request.
const INPUT_ROUNDS: usize = 8;

/// What a server may ask for input before it answers. Source: MCP 2026-07-28, "Multi round-trip requests".
const MAY_ASK_FIRST: [&str; 3] = [CallTool::NAME, GetPrompt::NAME, ReadResource::NAME];

/// A result and how it came about.
struct Answer {
    result: RawJson,
    /// The server was given input for it.
    took_input: bool,
}

impl Client {
    pub(super) async fn list<M: PagedMethod>(&self, offered: bool) -> Result<Listing<M::Item>, ClientError>
    where
        M::Item: Listed,
    {
        if !offered {
            return Ok(Paging::new(M::NAME).finish());
        }
        match self.pages::<M>().await {
            // A cursor out of a page that was kept may have gone bad; from the start again, everything fresh.
            Err((ClientError::Rpc { code: ErrorCode::INVALID_PARAMS, .. }, true)) => {
                self.heard.kept.forget(M::NAME);
                self.pages::<M>().await.map_err(|(error, _)| error)
            }
            outcome => outcome.map_err(|(error, _)| error),
        }
    }

    /// All pages. An error says whether it came behind a page that had been kept.
    async fn pages<M: PagedMethod>(&self) -> Result<Listing<M::Item>, (ClientError, bool)>
    where
        M::Item: Listed,
    {
        let mut paging = Paging::new(M::NAME);
        let mut next = Some(ListParams::default());
        let mut any_kept = false;
        while let Some(params) = next {
            let (result, is_kept) =
                self.fetch::<M>(&params, None).await.map_err(|error| (error, any_kept))?;
            any_kept |= is_kept;
            next = paging.take(result);
        }
        Ok(paging.finish())
    }

    pub(super) async fn ask<M: Method>(
        &self,
        params: &M::Params,
        subject: Option<&str>,
    ) -> Result<M::Result, ClientError> {
        self.fetch::<M>(params, subject).await.map(|(result, _)| result)
    }

    /// The result, and whether it was kept from before.
    async fn fetch<M: Method>(
        &self,
        params: &M::Params,
        subject: Option<&str>,
    ) -> Result<(M::Result, bool), ClientError> {
        let request = WireRequest {
            method: M::NAME,
            params: Some(RawJson::from_serialize(params)),
            subject,
            arguments: None,
            timeout: self.request_timeout,
            on_progress: None,
            is_read: true,
        };
        let (raw, is_kept) = self.fetch_raw(request).await?;
        Ok((M::Result::read(&raw)?, is_kept))
    }

    /// The same, as it came.
    pub(super) async fn fetch_raw(&self, request: WireRequest<'_>) -> Result<(RawJson, bool), ClientError> {
        let revision = self.server.revision;
        let key = ResultCache::keeps(request.method, revision).then(|| CacheKey {
            method: request.method,
            subject: request.subject.map(str::to_owned),
            params: request.params.as_ref().map(ToString::to_string).unwrap_or_default(),
            revision,
        });
        let Some(key) = key else { return Ok((self.send(request).await?, false)) };
        let kept = &self.heard.kept;
        if let Some(result) = kept.get(&key) {
            return Ok((result, true));
        }
        let ticket = kept.ticket(key.method);
        let answer = self.answer(request).await?;
        // What came of input was meant for this one time.
        if !answer.took_input {
            kept.put(ticket, key, &answer.result);
        }
        Ok((answer.result, false))
    }

    pub(super) async fn send(&self, request: WireRequest<'_>) -> Result<RawJson, ClientError> {
        self.answer(request).await.map(|answer| answer.result)
    }

    /// Sends a request. Where a server asks for input first, it is given, and the request is made again.
    async fn answer(&self, request: WireRequest<'_>) -> Result<Answer, ClientError> {
        let mut took_input = false;
        let mut round = request.clone();
        for _ in 0..INPUT_ROUNDS {
            let result = self.send_once_opened(round).await?;
            let Err(fault) = surehand_mcp::check_result(self.server.revision, &result) else {
                return Ok(Answer { result, took_input });
            };
            if self.takes_task(&request) && TaskState::created(&result).is_some() {
                return Ok(Answer { result, took_input });
            }
            let may_ask = MAY_ASK_FIRST.contains(&request.method);
            let Some(input) = may_ask.then(|| InputRequired::read(&result)).flatten() else {
                return Err(fault.into());
            };
            let responses =
                self.questions.answer_all(&input).await.map_err(|why| ClientError::unmet(fault, why))?;
            let params = input.retry(request.params.as_ref(), &responses);
            round = WireRequest { params: Some(params), ..request.clone() };
            took_input = true;
        }
        let result = self.send_once(round).await?;
        match surehand_mcp::check_result(self.server.revision, &result) {
            Err(_) if self.takes_task(&request) && TaskState::created(&result).is_some() => {}
            checked => checked.map_err(|fault| {
                ClientError::unmet(fault, format!("has done so {INPUT_ROUNDS} times already"))
            })?,
        }
        Ok(Answer { result, took_input })
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

    async fn send_once(&self, mut request: WireRequest<'_>) -> Result<RawJson, ClientError> {
        if self.server.revision.has(Feature::Stateless) {
            let level = *self.log_level.lock().unwrap_or_else(PoisonError::into_inner);
            request.params =
                level.map(|level| with_log_level(request.params.as_ref(), level)).or(request.params);
        }
        match &self.wire {
            Wire::Child(wire) => wire.request(request).await,
            Wire::Http(wire) => wire.request(request).await,
            Wire::InProcess(wire) => wire.request(request).await,
        }
    }
}
