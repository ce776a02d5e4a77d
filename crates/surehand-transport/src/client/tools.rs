use std::sync::PoisonError;
use std::time::Duration;

use surehand_mcp::{
    CallTool, CallToolParams, CallToolResult, ErrorCode, Feature, ListTools, Listing, Method, Progress,
    ReadResult, TaskState, TaskSupport,
};
use surehand_model::{RawJson, Tool};
use tokio::sync::Notify;

use super::{CallOptions, CallOutcome, Client, ClientError, Wire, WireRequest};

impl Client {
    /// All tools, over all pages, in the server's order. One odd tool never costs the rest; the notes say what was left out.
    /// Empty where the server says that it has no tools.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn list_tools(&self) -> Result<Listing<Tool>, ClientError> {
        if let Wire::InProcess(server) = &self.wire {
            return Ok(Listing { items: server.tools(), notes: Vec::new() });
        }
        let mut listing = self.list::<ListTools>(self.server.has_tools).await?;
        if let Wire::Http(wire) = &self.wire {
            wire.learn_tools(&mut listing);
        }
        self.promises.write().unwrap_or_else(PoisonError::into_inner).learn(&listing.items);
        let supports = listing.items.iter().map(|tool| (tool.name.clone(), TaskSupport::of(tool)));
        *self.task_supports.write().unwrap_or_else(PoisonError::into_inner) =
            supports.filter(|(_, support)| *support != TaskSupport::Forbidden).collect();
        Ok(listing)
    }

    /// Runs one tool. The arguments reach the server byte for byte. Where the tool was listed with an output schema, the notes say
    /// whether its result breaks it. A call that becomes a task is waited for, as long again.
    ///
    /// # Errors
    ///
    /// [`ClientError`]. A tool that fails is a [`CallOutcome`] with `is_error`.
    pub async fn call_tool(
        &self,
        name: &str,
        arguments: &RawJson,
        options: CallOptions<'_>,
    ) -> Result<CallOutcome, ClientError> {
        // A tool that runs as a task only is asked to, and its task is kept for as long as it is waited for.
        let kept_for = u64::try_from(options.longest.unwrap_or(options.timeout).as_millis()).ok();
        let task = (self.task_support(name) == TaskSupport::Required).then_some(kept_for);
        let raw = self.call(name, arguments, task, options).await?;
        match TaskState::created(&raw) {
            Some(task) => self.finish_task(name, &task, options).await,
            None => self.outcome(name, raw),
        }
    }

    /// Calls once, as a task where `task` says for how long one is kept.
    pub(super) async fn call(
        &self,
        name: &str,
        arguments: &RawJson,
        task: Option<Option<u64>>,
        options: CallOptions<'_>,
    ) -> Result<RawJson, ClientError> {
        let Some(longest) = options.longest else {
            return self.call_within(name, arguments, task, options.timeout, options.on_progress).await;
        };
        let reported = Notify::new();
        let on_progress = |progress| {
            reported.notify_one();
            if let Some(listen) = options.on_progress {
                listen(progress);
            }
        };
        let silence =
            async { while self.questions.within(options.timeout, reported.notified()).await.is_some() {} };
        tokio::select! {
            biased;
            outcome = self.call_within(name, arguments, task, longest, Some(&on_progress)) => outcome,
            () = silence => Err(ClientError::Timeout { after: options.timeout }),
        }
    }

    async fn call_within(
        &self,
        name: &str,
        arguments: &RawJson,
        task: Option<Option<u64>>,
        timeout: Duration,
        on_progress: Option<&(dyn Fn(Progress) + Send + Sync)>,
    ) -> Result<RawJson, ClientError> {
        let params = CallToolParams { name: name.to_owned(), arguments: Some(arguments.clone()) };
        let request = WireRequest {
            method: CallTool::NAME,
            params: Some(Self::call_params(RawJson::from_serialize(&params), task)),
            subject: Some(name),
            arguments: Some(arguments),
            timeout,
            on_progress,
            is_read: false,
        };
        match self.send(request.clone()).await {
            Err(ClientError::Rpc { code: ErrorCode::HEADER_MISMATCH, .. }) if self.learns_headers() => {
                // Nothing has run. The tool wants other headers than it did when it was listed, or was never listed.
                self.heard.kept.forget(ListTools::NAME);
                self.list_tools().await?;
                self.send(request).await
            }
            outcome => outcome,
        }
    }

    /// A result as it is given to whoever called.
    pub(super) fn outcome(&self, name: &str, raw: RawJson) -> Result<CallOutcome, ClientError> {
        let mut result = CallToolResult::read(&raw)?;
        let broken = self.promises.read().unwrap_or_else(PoisonError::into_inner).check(name, &result);
        result.notes.extend(broken);
        let CallToolResult { content, structured, is_error, notes } = result;
        Ok(CallOutcome { content, structured, is_error, notes, raw })
    }

    pub(super) fn known_task_support(&self, tool: &str) -> TaskSupport {
        let supports = self.task_supports.read().unwrap_or_else(PoisonError::into_inner);
        supports.get(tool).copied().unwrap_or_default()
    }

    fn learns_headers(&self) -> bool {
        matches!(self.wire, Wire::Http(_)) && self.server.revision.has(Feature::RoutingHeaders)
    }
}
