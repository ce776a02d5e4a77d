use std::time::Duration;

use surehand_dialect::{DecodeError, ProviderFault, read_fault};
use surehand_transport::{HttpError, HttpResponse};

use super::ProviderTarget;
use super::retry::asked_wait;
use crate::ProviderError;

/// How many characters of a provider's words are passed on.
const WORDS_LIMIT: usize = 2000;

/// One try that failed.
pub(super) struct Failure {
    pub(super) error: ProviderError,
    pub(super) may_be_retried: bool,
    /// What the provider asked for.
    pub(super) retry_after: Option<Duration>,
}

impl Failure {
    /// A failure that another try would only repeat.
    pub(super) fn once(error: ProviderError) -> Self {
        Self { error, may_be_retried: false, retry_after: None }
    }

    fn passing(error: ProviderError) -> Self {
        Self { error, may_be_retried: true, retry_after: None }
    }
}

/// What matters of the head of a failed answer.
pub(super) struct Head {
    status: u16,
    retry_after: Option<Duration>,
    /// The provider's own word on whether to try again.
    should_retry: Option<bool>,
}

impl Head {
    pub(super) fn of(response: &HttpResponse) -> Self {
        Self {
            status: response.status,
            retry_after: asked_wait(|name| response.header(name).map(str::to_owned)),
            should_retry: response.header("x-should-retry").and_then(|text| text.trim().parse().ok()),
        }
    }
}

/// The provider answered, and said no.
pub(super) fn refused(target: &ProviderTarget, head: &Head, body: &str) -> Failure {
    let fault = read_fault(body.as_bytes());
    let message = match &fault {
        Some(fault) => redact(target, &fault.message),
        None => redact(target, &plain_words(body)),
    };
    let provider = target.provider.clone();
    let error = match head.status {
        401 | 403 => login(target, &message),
        429 => ProviderError::RateLimited { provider, message, retry_after: head.retry_after },
        status @ (500..=599 | 408) => ProviderError::Unreachable {
            provider,
            message: format!("it failed with status {status}: {message}"),
        },
        status => ProviderError::Rejected { provider, status, message },
    };
    // A spent budget comes with the status of a busy moment, but does not pass.
    let spent = fault.and_then(|fault| fault.code).is_some_and(|code| code == "insufficient_quota");
    let passing = matches!(head.status, 408 | 429 | 500 | 502 | 503 | 504 | 529) && !spent;
    Failure {
        error,
        may_be_retried: head.should_retry.unwrap_or(passing) && passing,
        retry_after: head.retry_after,
    }
}

/// What answered is a web server and no endpoint of a model, which another try would only repeat.
pub(super) fn web_page(target: &ProviderTarget) -> Failure {
    Failure::once(ProviderError::Unreachable {
        provider: target.provider.clone(),
        message: "a web page came back and no answer of a model; is the base URL right? Many end in /v1"
            .to_owned(),
    })
}

/// The connection did not come about, or broke.
pub(super) fn unreached(target: &ProviderTarget, error: &HttpError, before_answer: bool) -> Failure {
    let provider = target.provider.clone();
    let message = redact(target, &error.to_string());
    match error {
        HttpError::Unreachable { .. } => Failure::passing(ProviderError::Unreachable { provider, message }),
        HttpError::Broken { .. } if before_answer => {
            Failure::passing(ProviderError::Unreachable { provider, message })
        }
        HttpError::Broken { .. } => Failure::passing(ProviderError::Broken {
            provider,
            message: format!("the answer ended before it was whole: {message}"),
        }),
        HttpError::TooLarge { .. } => Failure::once(ProviderError::Broken { provider, message }),
        _ => Failure::once(ProviderError::Unreachable { provider, message }),
    }
}

/// The answer could not be read, or told of a failure inside it.
pub(super) fn undecoded(target: &ProviderTarget, error: DecodeError) -> Failure {
    let provider = target.provider.clone();
    match error {
        DecodeError::Provider { code, message } => {
            told(target, ProviderFault { code, message: redact(target, &message) })
        }
        DecodeError::Incomplete { .. } => {
            Failure::passing(ProviderError::Broken { provider, message: redact(target, &error.to_string()) })
        }
        DecodeError::Shape { .. } | DecodeError::TooLarge { .. } => {
            Failure::once(ProviderError::Broken { provider, message: redact(target, &error.to_string()) })
        }
    }
}

fn told(target: &ProviderTarget, fault: ProviderFault) -> Failure {
    let provider = target.provider.clone();
    let ProviderFault { code, message } = fault;
    let code = code.unwrap_or_default().to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| code.contains(word));
    if says(&["rate_limit", "resource_exhausted", "too_many_requests", "429"]) {
        return Failure::passing(ProviderError::RateLimited { provider, message, retry_after: None });
    }
    if says(&["authentication", "permission", "unauthenticated", "invalid_api_key", "401", "403"]) {
        return Failure::once(login(target, &message));
    }
    if says(&[
        "overloaded",
        "server_error",
        "api_error",
        "internal",
        "unavailable",
        "timeout",
        "500",
        "502",
        "503",
        "504",
        "529",
    ]) {
        return Failure::passing(ProviderError::Unreachable { provider, message });
    }
    Failure::once(ProviderError::Rejected { provider, status: 0, message })
}

fn login(target: &ProviderTarget, message: &str) -> ProviderError {
    let advice = match (&target.key, &target.key_variables[..]) {
        (_, []) if target.key.is_some() => "check the key of this provider".to_owned(),
        (_, []) => "set a key for this provider in the configuration".to_owned(),
        (Some(_), variables) => format!("check the key in {}", variables.join(" or ")),
        (None, variables) => format!("set {}", variables.join(" or ")),
    };
    let message = if message.is_empty() { advice } else { format!("{message} ({advice})") };
    ProviderError::Login { provider: target.provider.clone(), message }
}

/// The words in a body that is no JSON: markup of error pages is taken out.
fn plain_words(body: &str) -> String {
    let mut words = String::new();
    let mut inside = false;
    for character in body.chars() {
        match character {
            '<' => inside = true,
            '>' => {
                inside = false;
                words.push(' ');
            }
            _ if !inside => words.push(character),
            _ => {}
        }
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text without the keys of this provider, and not endless.
pub(super) fn redact(target: &ProviderTarget, text: &str) -> String {
    let mut text = text.to_owned();
    let keys = target.key.iter().chain(target.headers.iter().map(|(_, value)| value));
    for key in keys {
        let whole = key.expose().trim();
        let bare = whole.rsplit(' ').next().unwrap_or(whole);
        for secret in [whole, bare] {
            if secret.len() >= 6 {
                text = text.replace(secret, "***");
            }
        }
    }
    match text.char_indices().nth(WORDS_LIMIT) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
