//! Who answers: the model that was named, else one whose key is set, else the embedded one.

#[cfg(feature = "local")]
mod local;
#[cfg(not(feature = "local"))]
#[path = "models/without_local.rs"]
mod local;

use std::sync::Arc;

use surehand_host::config::{Paths, ProviderSettings, Settings};
use surehand_provider::{
    Provider, ProviderEndpoint, ProviderEnvironment, ProviderError, ResolveError, resolve,
};

pub(crate) use local::{LocalModel, known_models};

use crate::error::{CommandError, Fault};
use crate::wiring::App;

/// What answers when a provider's key is set and no model is named, the first provider with a key first.
const DEFAULT_MODELS: [(&str, &str); 4] = [
    ("anthropic", "claude-sonnet-5"),
    ("openai", "gpt-5-mini"),
    ("gemini", "gemini-2.5-flash"),
    ("deepseek", "deepseek-chat"),
];

/// A model that was decided on.
pub(crate) enum Choice {
    /// Reached over HTTP, or a script: ready when asked.
    Ready(Arc<dyn Provider>),
    /// Embedded: fetched and loaded first.
    Local(LocalModel),
}

impl Choice {
    /// `provider/model`.
    pub(crate) fn id(&self) -> String {
        match self {
            Self::Ready(provider) => provider.id().to_owned(),
            Self::Local(model) => model.id(),
        }
    }

    /// The name without its provider.
    pub(crate) fn model_name(&self) -> String {
        let id = self.id();
        id.split_once('/')
            .filter(|_| !id.starts_with("script:"))
            .map_or(id.clone(), |(_, name)| name.to_owned())
    }
}

/// Decides who answers.
///
/// # Errors
///
/// When the named model leads nowhere, or none is named and none is there.
pub(crate) fn choose(app: &App, settings: &Settings) -> Result<Choice, CommandError> {
    match &settings.model {
        Some(id) => named(app, settings, id),
        None => match default_model(settings) {
            Some(id) => named(app, settings, &id),
            None => Ok(Choice::Local(local::default_model(&settings.paths)?)),
        },
    }
}

/// The model of the first provider that has a key and a usual model.
pub(crate) fn default_model(settings: &Settings) -> Option<String> {
    let has_key = |name: &str| settings.provider(name).is_some_and(|provider| provider.key.is_some());
    DEFAULT_MODELS.iter().find(|(name, _)| has_key(name)).map(|(name, model)| format!("{name}/{model}"))
}

/// The model of this name. No request is made and nothing is loaded.
///
/// # Errors
///
/// When there is no such provider, its key is missing, or a script cannot be read.
pub(crate) fn named(app: &App, settings: &Settings, id: &str) -> Result<Choice, CommandError> {
    if let Some(name) = id.strip_prefix("local/") {
        return Ok(Choice::Local(local::named(name, &settings.paths)?));
    }
    let environment = ProviderEnvironment {
        endpoints: settings.providers.iter().map(endpoint).collect(),
        ..ProviderEnvironment::new(app.http())
    };
    resolve(id, &environment).map(Choice::Ready).map_err(|failure| {
        let (fault, hint) = match &failure {
            ResolveError::NoKey { .. } => (Fault::Login, None),
            ResolveError::Script(_) | ResolveError::Malformed { .. } => (Fault::Usage, None),
            ResolveError::Unknown { .. } => {
                (Fault::Usage, Some("`surehand models list` shows what can answer."))
            }
            ResolveError::Unusable { .. } => (Fault::Config, None),
        };
        let error = CommandError::new(fault, failure);
        match hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    })
}

fn endpoint(provider: &ProviderSettings) -> ProviderEndpoint {
    ProviderEndpoint {
        name: provider.name.clone(),
        base_url: provider.base_url.clone(),
        key: provider.key.clone(),
        dialect: provider.dialect.clone(),
        headers: provider.headers.clone(),
        problem: provider.problem.clone(),
    }
}

/// Whether the model could answer now, as far as that can be told without asking it.
///
/// # Errors
///
/// What stands in its way.
pub(crate) fn readiness(choice: &Choice, settings: &Settings) -> Result<String, CommandError> {
    match choice {
        Choice::Ready(provider) => {
            let name = provider.id().split(['/', ':']).next().unwrap_or_default();
            let facts = settings.provider(name).map(provider_facts).unwrap_or_default();
            Ok(if facts.is_empty() { "not asked".to_owned() } else { format!("not asked, {facts}") })
        }
        Choice::Local(model) => model.readiness(),
    }
}

/// Where a provider's key comes from and where it is reached, for people.
pub(crate) fn provider_facts(provider: &ProviderSettings) -> String {
    let key = provider.key_source.as_ref().map(|source| format!("key from {source}"));
    let address = provider.base_url.as_ref().map(|url| format!("at {}", without_login(url)));
    key.into_iter().chain(address).collect::<Vec<_>>().join(", ")
}

/// The address without a name and a password in it.
fn without_login(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    let end = rest.find('/').unwrap_or(rest.len());
    let host = rest[..end].rsplit_once('@').map_or(&rest[..end], |(_, host)| host);
    format!("{scheme}://{host}{}", &rest[end..])
}

/// Fetches an embedded model that is not there yet. Where it is large and a person is there, asks first, unless the person
/// `asked_for` just this.
///
/// # Errors
///
/// When the person declines, or no source gave it.
pub(crate) async fn fetch_if_needed(
    app: &App,
    settings: &Settings,
    choice: &Choice,
    asked_for: bool,
) -> Result<(), CommandError> {
    match choice {
        Choice::Ready(_) => Ok(()),
        Choice::Local(model) => model.fetch_if_needed(app, settings, asked_for).await,
    }
}

/// Gets the model ready to answer.
///
/// # Errors
///
/// When an embedded model cannot be loaded.
pub(crate) async fn open(choice: &Choice, paths: &Paths) -> Result<Arc<dyn Provider>, CommandError> {
    match choice {
        Choice::Ready(provider) => Ok(Arc::clone(provider)),
        Choice::Local(model) => model.open(paths).await,
    }
}

/// Whose fault it is that a model gave no answer.
pub(crate) fn provider_failure(failure: ProviderError) -> CommandError {
    let fault = match &failure {
        ProviderError::Login { .. } => Fault::Login,
        ProviderError::Unreachable { .. } | ProviderError::RateLimited { .. } => Fault::Unreachable,
        ProviderError::Rejected { .. }
        | ProviderError::Broken { .. }
        | ProviderError::Script { .. }
        | ProviderError::Local { .. } => Fault::Failed,
    };
    let hint = match &failure {
        ProviderError::RateLimited { retry_after: Some(wait), .. } => {
            Some(format!("The provider asks to wait {}.", crate::render::duration(*wait)))
        }
        ProviderError::Rejected { status: 404, .. } => {
            Some("Is the model's name right? `surehand models list` shows what can answer.".to_owned())
        }
        _ => None,
    };
    let error = CommandError::new(fault, failure);
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}
