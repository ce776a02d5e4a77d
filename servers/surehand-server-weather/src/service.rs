use serde::Deserialize;
use serde::de::DeserializeOwned;
use surehand_mcp::ToolFailure;
use surehand_transport::{HttpClient, HttpError, HttpRequest};
use url::Url;

/// How many bytes an answer may have. Real ones have a few thousand.
const ANSWER_LIMIT: usize = 1 << 20;

/// The two addresses that are asked.
pub(crate) struct Service {
    pub(crate) http: HttpClient,
    pub(crate) geocoding: Url,
    pub(crate) forecast: Url,
}

/// Why the service gave no answer that can be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServiceError {
    #[error("The weather service cannot be asked: {0}.")]
    Unreachable(#[source] HttpError),
    #[error("The weather service refused with status {status}: {reason}.")]
    Refused { status: u16, reason: String },
    #[error("The weather service answered something that cannot be read.")]
    Unreadable(#[source] serde_json::Error),
}

impl From<ServiceError> for ToolFailure {
    fn from(error: ServiceError) -> Self {
        // What is asked never makes a request wrong, so what fails now may go well later.
        let failure = Self::new(error.to_string()).retryable();
        match error {
            ServiceError::Unreachable(HttpError::Timeout { .. }) => failure.code("timeout"),
            _ => failure,
        }
    }
}

/// How the service words a refusal.
#[derive(Deserialize)]
struct Refusal {
    reason: String,
}

impl Service {
    /// Asks one of the two addresses.
    pub(crate) async fn ask<T: DeserializeOwned>(
        &self,
        address: &Url,
        query: &[(&str, &str)],
    ) -> Result<T, ServiceError> {
        let mut url = address.clone();
        url.query_pairs_mut().extend_pairs(query);
        let response = self.http.send(HttpRequest::get(url)).await.map_err(ServiceError::Unreachable)?;
        let (status, fine) = (response.status, response.is_success());
        let body = response.collect(ANSWER_LIMIT).await.map_err(ServiceError::Unreachable)?;
        if !fine {
            let reason = serde_json::from_slice::<Refusal>(&body).map(|refusal| refusal.reason);
            let reason = reason.unwrap_or_else(|_| "it gave no reason".to_owned());
            return Err(ServiceError::Refused { status, reason });
        }
        serde_json::from_slice(&body).map_err(ServiceError::Unreadable)
    }
}
