//! What a server has beside tools, each with the function behind it.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use surehand_model::ResourceContents;

use super::template::variables_of;
use crate::types::completion::{CompleteParams, CompleteResult, CompletionRef};
use crate::types::prompts::Prompt;
use crate::types::resources::{Resource, ResourceTemplate};
use crate::{BoxFuture, CallFailure, PromptOutput, RequestContext};

/// A future that a server's own function gives.
type Answer<T> = BoxFuture<'static, Result<T, CallFailure>>;

type ReadOne = Arc<dyn Fn(RequestContext) -> Answer<Vec<ResourceContents>> + Send + Sync>;
type ReadFamily = Arc<
    dyn Fn(String, BTreeMap<String, String>, RequestContext) -> Answer<Vec<ResourceContents>> + Send + Sync,
>;
type FillIn = Arc<dyn Fn(BTreeMap<String, String>, RequestContext) -> Answer<PromptOutput> + Send + Sync>;
type CompleteOne = Arc<dyn Fn(&str, &BTreeMap<String, String>) -> Vec<String> + Send + Sync>;

/// The parts of a [`Toolset`](super::Toolset) that are no tools.
#[derive(Default)]
pub(super) struct Entries {
    pub(super) resources: Vec<(Resource, ReadOne)>,
    pub(super) templates: Vec<(ResourceTemplate, ReadFamily)>,
    pub(super) prompts: Vec<(Prompt, FillIn)>,
    pub(super) completions: Vec<Completion>,
}

/// Who completes what.
pub(super) struct Completion {
    of: CompletionRef,
    argument: String,
    complete: CompleteOne,
}

impl Entries {
    pub(super) fn resource<F, Fut>(&mut self, resource: Resource, read: F)
    where
        F: Fn(RequestContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Vec<ResourceContents>, CallFailure>> + Send + 'static,
    {
        self.resources.retain(|(known, _)| known.uri != resource.uri);
        self.resources.push((resource, Arc::new(move |context| Box::pin(read(context)))));
    }

    pub(super) fn template<F, Fut>(&mut self, template: ResourceTemplate, read: F)
    where
        F: Fn(String, BTreeMap<String, String>, RequestContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Vec<ResourceContents>, CallFailure>> + Send + 'static,
    {
        self.templates.retain(|(known, _)| known.uri_template != template.uri_template);
        let read: ReadFamily = Arc::new(move |uri, values, context| Box::pin(read(uri, values, context)));
        self.templates.push((template, read));
    }

    pub(super) fn prompt<F, Fut>(&mut self, prompt: Prompt, fill_in: F)
    where
        F: Fn(BTreeMap<String, String>, RequestContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<PromptOutput, CallFailure>> + Send + 'static,
    {
        self.prompts.retain(|(known, _)| known.name != prompt.name);
        self.prompts
            .push((prompt, Arc::new(move |arguments, context| Box::pin(fill_in(arguments, context)))));
    }

    pub(super) fn completion<F>(&mut self, of: CompletionRef, argument: String, complete: F)
    where
        F: Fn(&str, &BTreeMap<String, String>) -> Vec<String> + Send + Sync + 'static,
    {
        self.completions.retain(|known| known.of != of || known.argument != argument);
        self.completions.push(Completion { of, argument, complete: Arc::new(complete) });
    }

    /// A resource that stands in the list, or one of a family.
    pub(super) fn read(&self, uri: &str, context: RequestContext) -> Answer<Vec<ResourceContents>> {
        if let Some((_, read)) = self.resources.iter().find(|(resource, _)| resource.uri == uri) {
            return read(context);
        }
        let family = self
            .templates
            .iter()
            .find_map(|(template, read)| Some((variables_of(&template.uri_template, uri)?, read)));
        match family {
            Some((values, read)) => read(uri.to_owned(), values, context),
            None => {
                let failure = CallFailure::UnknownResource(uri.to_owned());
                Box::pin(async { Err(failure) })
            }
        }
    }

    pub(super) fn fill_in(
        &self,
        name: &str,
        arguments: BTreeMap<String, String>,
        context: RequestContext,
    ) -> Answer<PromptOutput> {
        match self.prompts.iter().find(|(prompt, _)| prompt.name == name) {
            Some((_, fill_in)) => fill_in(arguments, context),
            None => {
                let failure = CallFailure::UnknownPrompt(name.to_owned());
                Box::pin(async { Err(failure) })
            }
        }
    }

    /// What nobody completes has no values; what does not exist is an error.
    pub(super) fn complete(&self, params: &CompleteParams) -> Result<CompleteResult, CallFailure> {
        let completion = self
            .completions
            .iter()
            .find(|known| known.of == params.r#ref && known.argument == params.argument.name);
        if let Some(completion) = completion {
            let values = (completion.complete)(&params.argument.value, &params.context.arguments);
            return Ok(CompleteResult { values, ..CompleteResult::default() });
        }
        match &params.r#ref {
            CompletionRef::Prompt { name } if self.prompts.iter().all(|(prompt, _)| prompt.name != *name) => {
                Err(CallFailure::UnknownPrompt(name.clone()))
            }
            CompletionRef::Resource { uri }
                if self.templates.iter().all(|(template, _)| template.uri_template != *uri)
                    && self.resources.iter().all(|(resource, _)| resource.uri != *uri) =>
            {
                Err(CallFailure::InvalidParams(format!("there is no resource template {uri}")))
            }
            _ => Ok(CompleteResult::default()),
        }
    }
}
