use std::path::Path;
use std::sync::Arc;

use surehand_dialect::{Anthropic, Dialect, Gemini, OpenAi, Quirks, VENDORS, Vendor, vendor, vendor_of_url};
use surehand_model::Secret;
use surehand_schema::nearest;
use surehand_transport::HttpClient;
use thiserror::Error;
use url::Url;

use crate::{HttpProvider, Provider, ProviderError, ProviderTarget, RetryPolicy, ScriptProvider};

/// What providers need to know of the world around them, as values.
#[derive(Clone)]
pub struct ProviderEnvironment {
    /// What is known about single providers. The first entry of a name counts.
    pub endpoints: Vec<ProviderEndpoint>,
    /// Through which they are reached.
    pub http: HttpClient,
    /// How failed requests are tried again.
    pub retry: RetryPolicy,
}

impl ProviderEnvironment {
    /// An environment that knows only the way out.
    pub fn new(http: HttpClient) -> Self {
        Self { endpoints: Vec::new(), http, retry: RetryPolicy::default() }
    }
}

/// What is known about one provider: a known one whose address or key is given, or one of the user's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderEndpoint {
    /// A known name (`openai`, `deepseek`), or one of the user's own.
    pub name: String,
    /// The address, where it is not the provider's own.
    pub base_url: Option<String>,
    /// The key.
    pub key: Option<Secret<String>>,
    /// `openai`, `anthropic` or `gemini`; what the name implies where absent, else `openai`.
    pub dialect: Option<String>,
    /// Sent with each request.
    pub headers: Vec<(String, Secret<String>)>,
    /// Why it cannot be used.
    pub problem: Option<String>,
}

/// Why a model's name leads to no model.
#[derive(Debug, Error)]
pub enum ResolveError {
    /// Not of the form `provider/model`.
    #[error("`{id}` is no name of a model: write `provider/model`{}", hint.as_ref().map(|hint| format!(", for example `{hint}`")).unwrap_or_default())]
    Malformed {
        /// The name as given.
        id: String,
        /// A full name that may have been meant.
        hint: Option<String>,
    },
    /// Nobody of that name is known.
    #[error("there is no provider `{name}`{}", near_words(near, known))]
    Unknown {
        /// The name as given.
        name: String,
        /// Known names that are close, best first.
        near: Vec<String>,
        /// All known names.
        known: Vec<String>,
    },
    /// It needs a key, and none is set.
    #[error("{provider} needs a key: set {}", variables.join(" or "))]
    NoKey {
        /// Which provider.
        provider: String,
        /// The environment variables that may hold it, the preferred one first.
        variables: Vec<String>,
    },
    /// What is said about it cannot be used.
    #[error("the provider `{name}` cannot be used: {problem}")]
    Unusable {
        /// Which provider.
        name: String,
        /// Why.
        problem: String,
    },
    /// The script cannot be read.
    #[error(transparent)]
    Script(#[from] ProviderError),
}

fn near_words(near: &[String], known: &[String]) -> String {
    let quoted =
        |names: &[String]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if near.is_empty() {
        format!("; known are {}", quoted(known))
    } else {
        format!("; did you mean {}?", quoted(near))
    }
}

/// Finds who answers as the model of this name.
///
/// | name | who |
/// |---|---|
/// | `openai/MODEL`, `anthropic/MODEL`, `gemini/MODEL` | the three |
/// | `deepseek/MODEL`, `ollama/MODEL`, … | a vendor of [`VENDORS`] |
/// | `NAME/MODEL`, `compatible/NAME/MODEL` | an endpoint of the environment |
/// | `script:FILE` | a [`ScriptProvider`] |
///
/// # Errors
///
/// [`ResolveError`], in words that say what to write or set instead. No request is made.
pub fn resolve(model_id: &str, environment: &ProviderEnvironment) -> Result<Arc<dyn Provider>, ResolveError> {
    if let Some(file) = model_id.strip_prefix("script:") {
        return Ok(Arc::new(ScriptProvider::load(Path::new(file))?));
    }
    let named = model_id.strip_prefix("compatible/").unwrap_or(model_id);
    let Some((name, model)) =
        named.split_once('/').filter(|(name, model)| !name.is_empty() && !model.is_empty())
    else {
        return Err(ResolveError::Malformed { id: model_id.to_owned(), hint: full_name(model_id) });
    };
    let known = Known::of(name);
    let endpoint = environment.endpoints.iter().find(|endpoint| known.answers_to(&endpoint.name, name));
    if let (Known::Nobody, None) = (&known, endpoint) {
        return Err(unknown(name, environment));
    }
    let endpoint = endpoint.cloned().unwrap_or_default();
    if let Some(problem) = endpoint.problem {
        return Err(ResolveError::Unusable { name: name.to_owned(), problem });
    }
    let unusable = |problem: String| ResolveError::Unusable { name: name.to_owned(), problem };

    let kind = match endpoint.dialect.as_deref() {
        None => known.kind(),
        Some("openai" | "openai-chat" | "chat" | "chat-completions" | "openai-compatible") => Kind::OpenAi,
        Some("anthropic" | "messages" | "claude") => Kind::Anthropic,
        Some("gemini" | "google") => Kind::Gemini,
        Some(other) => {
            return Err(unusable(format!(
                "its dialect `{other}` is not known; known are `openai`, `anthropic` and `gemini`"
            )));
        }
    };
    let base_url = match endpoint.base_url.as_deref().or(known.base_url()) {
        Some(text) => {
            base_url(text, kind).map_err(|why| unusable(format!("its address `{text}` is wrong: {why}")))?
        }
        None => return Err(unusable("it has no address; give it a `base_url`".to_owned())),
    };
    let has_login = endpoint.key.is_some() || endpoint.headers.iter().any(|(name, _)| carries_login(name));
    // A person's own address may be a gateway that needs none.
    if !has_login && endpoint.base_url.is_none() && !known.key_variables().is_empty() {
        return Err(ResolveError::NoKey { provider: name.to_owned(), variables: known.key_variables() });
    }
    let (dialect, quirks) = dialect(kind, name, &known, &base_url);
    let target = ProviderTarget {
        id: model_id.to_owned(),
        provider: name.to_owned(),
        dialect,
        base_url,
        key: endpoint.key,
        key_variables: known.key_variables(),
        headers: endpoint.headers,
        quirks,
        stream: true,
        retry: environment.retry,
    };
    Ok(Arc::new(Named {
        id: model_id.to_owned(),
        model: model.to_owned(),
        inner: HttpProvider::new(target, environment.http.clone()),
    }))
}

/// The names of all providers that are known without any configuration, aliases left out.
pub fn provider_names() -> Vec<&'static str> {
    ["anthropic", "gemini", "openai"].into_iter().chain(VENDORS.iter().map(|vendor| vendor.name)).collect()
}

/// The environment variables that may hold the key of a known provider, the preferred one first.
pub fn key_variables(provider: &str) -> Vec<String> {
    Known::of(provider).key_variables()
}

/// Sets the model's name in each request: whoever asks knows the provider as a whole name only.
struct Named {
    id: String,
    model: String,
    inner: HttpProvider,
}

impl Provider for Named {
    fn id(&self) -> &str {
        &self.id
    }

    fn answer<'a>(
        &'a self,
        request: &'a surehand_model::ModelRequest,
        sink: crate::EventSink<'a>,
    ) -> crate::BoxFuture<'a, Result<surehand_model::ModelTurn, ProviderError>> {
        if request.model == self.model {
            return self.inner.answer(request, sink);
        }
        let request = surehand_model::ModelRequest { model: self.model.clone(), ..request.clone() };
        Box::pin(async move { self.inner.answer(&request, sink).await })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    OpenAi,
    Anthropic,
    Gemini,
}

/// What is known about a name without any configuration.
enum Known {
    OpenAi,
    Anthropic,
    Gemini,
    Vendor(&'static Vendor),
    Nobody,
}

impl Known {
    fn of(name: &str) -> Self {
        match name {
            "openai" => Self::OpenAi,
            "anthropic" | "claude" => Self::Anthropic,
            "gemini" | "google" => Self::Gemini,
            _ => vendor(name).map_or(Self::Nobody, Self::Vendor),
        }
    }

    /// Whether an entry called `entry` is about the provider that was asked for as `asked`.
    fn answers_to(&self, entry: &str, asked: &str) -> bool {
        entry == asked
            || match (self, Self::of(entry)) {
                (Self::Vendor(one), Self::Vendor(other)) => one.name == other.name,
                (Self::OpenAi, Self::OpenAi)
                | (Self::Anthropic, Self::Anthropic)
                | (Self::Gemini, Self::Gemini) => true,
                _ => false,
            }
    }

    fn kind(&self) -> Kind {
        match self {
            Self::Anthropic => Kind::Anthropic,
            Self::Gemini => Kind::Gemini,
            Self::OpenAi | Self::Vendor(_) | Self::Nobody => Kind::OpenAi,
        }
    }

    fn base_url(&self) -> Option<&'static str> {
        match self {
            Self::OpenAi => Some("https://api.openai.com/v1"),
            Self::Anthropic => Some("https://api.anthropic.com/v1"),
            Self::Gemini => Some("https://generativelanguage.googleapis.com/v1beta"),
            Self::Vendor(vendor) => Some(vendor.base_url),
            Self::Nobody => None,
        }
    }

    fn key_variables(&self) -> Vec<String> {
        let variables: &[&str] = match self {
            Self::OpenAi => &["OPENAI_API_KEY"],
            Self::Anthropic => &["ANTHROPIC_API_KEY"],
            Self::Gemini => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
            Self::Vendor(vendor) => vendor.key_variables,
            Self::Nobody => &[],
        };
        variables.iter().map(|name| (*name).to_owned()).collect()
    }
}

fn dialect(kind: Kind, name: &str, known: &Known, base_url: &Url) -> (Arc<dyn Dialect>, Quirks) {
    match (kind, known) {
        (Kind::Anthropic, _) => (Arc::new(Anthropic), Quirks::DEFAULT),
        (Kind::Gemini, _) => (Arc::new(Gemini), Quirks::DEFAULT),
        (Kind::OpenAi, Known::OpenAi) if base_url.host_str() == Some("api.openai.com") => {
            (Arc::new(OpenAi::new()), Quirks::OPENAI)
        }
        (Kind::OpenAi, Known::Vendor(vendor)) => {
            (Arc::new(OpenAi::of_vendor(vendor.name)), vendor.quirks.clone())
        }
        (Kind::OpenAi, _) => match vendor_of_url(base_url.as_str()) {
            Some(vendor) => (Arc::new(OpenAi::of_vendor(vendor.name)), vendor.quirks.clone()),
            None => (Arc::new(OpenAi::of_vendor(name)), Quirks::UNKNOWN_ENDPOINT),
        },
    }
}

/// The address before the dialect's own path. The version is added where the dialect's custom is to leave it out, or where there is
/// nothing but a host; a whole path of the dialect at the end is taken off.
fn base_url(text: &str, kind: Kind) -> Result<Url, String> {
    let text = text.trim().trim_end_matches('/');
    let with_scheme = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let mut url = Url::parse(&with_scheme).map_err(|error| error.to_string())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err("it is no http or https address".to_owned());
    }
    let mut path = url.path().trim_end_matches('/').to_owned();
    for whole in ["/chat/completions", "/messages"] {
        if let Some(rest) = path.strip_suffix(whole) {
            path.truncate(rest.len());
        }
    }
    let last = path.rsplit('/').next().unwrap_or_default();
    let versioned = last.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    match kind {
        Kind::Anthropic if !versioned => path.push_str("/v1"),
        Kind::Gemini if !versioned => path.push_str("/v1beta"),
        Kind::OpenAi if path.is_empty() => path.push_str("/v1"),
        _ => {}
    }
    url.set_path(&path);
    Ok(url)
}

fn carries_login(header: &str) -> bool {
    ["authorization", "x-api-key", "api-key", "x-goog-api-key"]
        .contains(&header.to_ascii_lowercase().as_str())
}

fn unknown(name: &str, environment: &ProviderEnvironment) -> ResolveError {
    let mut known: Vec<String> = provider_names().into_iter().map(str::to_owned).collect();
    known.extend(environment.endpoints.iter().map(|endpoint| endpoint.name.clone()));
    known.sort();
    known.dedup();
    let near = nearest(name, known.iter().map(String::as_str)).into_iter().map(str::to_owned).collect();
    ResolveError::Unknown { name: name.to_owned(), near, known }
}

/// What a model's bare name most likely stands for.
fn full_name(model: &str) -> Option<String> {
    let families = [
        ("claude", "anthropic"),
        ("gemini", "gemini"),
        ("gpt", "openai"),
        ("o1", "openai"),
        ("o3", "openai"),
        ("o4", "openai"),
        ("deepseek", "deepseek"),
        ("qwen", "qwen"),
        ("kimi", "kimi"),
        ("glm", "glm"),
        ("grok", "xai"),
        ("mistral", "mistral"),
    ];
    let (_, provider) = families.iter().find(|(start, _)| model.to_ascii_lowercase().starts_with(start))?;
    Some(format!("{provider}/{model}"))
}
