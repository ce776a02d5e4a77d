use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, redirect};
use rustls::RootCertStore;
use rustls::crypto::CryptoProvider;
use tokio::sync::OnceCell;
use tokio::time::timeout;
use url::{Host, Url};

use super::address::{is_local_name, is_loopback_host, is_public};
use super::error::{HttpError, find, innermost};
use super::exchange::{HttpRequest, HttpResponse, Redirects};
use super::proxy::ProxyOptions;
use super::resolver::{GuardedResolver, Lookup, Refused, SystemLookup};

/// Which addresses a request may reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AddressGuard {
    /// Any, for hosts that the user named. A redirect leads to public addresses only, or from loopback to loopback.
    #[default]
    Anywhere,
    /// Public ones, for hosts that a server, a model or a page named. Through a proxy the proxy resolves names; then only
    /// addresses written as such are judged here.
    PublicOnly,
}

/// How the client behaves. Nothing is read from the environment.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// The proxies.
    pub proxy: ProxyOptions,
    /// How long a connection may take to come about.
    pub connect_timeout: Duration,
    /// How long a peer may be silent, where the request does not say.
    pub idle_timeout: Duration,
    /// What we call ourselves.
    pub user_agent: String,
    /// The most bytes that are ever collected of one body.
    pub max_body: usize,
    /// How many redirects are followed.
    pub max_redirects: usize,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            proxy: ProxyOptions::default(),
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(120),
            user_agent: concat!("surehand/", env!("CARGO_PKG_VERSION")).to_owned(),
            max_body: 64 << 20,
            max_redirects: 5,
        }
    }
}

/// The one client for outgoing HTTP. Cheap to clone; clones share connections.
///
/// Making one costs nothing: what it needs is made by the first request, and certificates are loaded by the first `https` one.
#[derive(Clone)]
pub struct HttpClient {
    shared: Arc<Shared>,
}

struct Shared {
    options: HttpOptions,
    lookup: Arc<dyn Lookup>,
    /// By guard, then by whether TLS is needed. Kept apart so that a connection made under one guard never serves another.
    clients: [[OnceCell<reqwest::Client>; 2]; 2],
}

impl HttpClient {
    /// A client that behaves as told.
    pub fn new(options: HttpOptions) -> Self {
        Self::with_lookup(options, Arc::new(SystemLookup))
    }

    pub(super) fn with_lookup(options: HttpOptions, lookup: Arc<dyn Lookup>) -> Self {
        Self { shared: Arc::new(Shared { options, lookup, clients: Default::default() }) }
    }

    /// How the client behaves.
    pub fn options(&self) -> &HttpOptions {
        &self.shared.options
    }

    /// Sends a request and waits for the headers of the answer, following redirects.
    ///
    /// A redirect to another origin is asked for without the request's own headers, except those that describe the body. One
    /// from `https` to `http` is refused. After 301, 302 (for POST) and 303 the next request is a GET.
    ///
    /// # Errors
    ///
    /// An [`HttpError`] where no answer came. An answer that tells of a failure is an answer.
    pub async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let options = &self.shared.options;
        let idle_timeout = request.idle_timeout.unwrap_or(options.idle_timeout);
        let first_origin = origin_of(&request.url);
        let mut hop = Hop::first(&request)?;
        for _ in 0..=options.max_redirects {
            let response = self.send_once(&hop, idle_timeout).await?;
            let next = match request.redirects {
                Redirects::Follow => hop.next(&response)?,
                Redirects::HandBack => None,
            };
            match next {
                Some(next) => hop = next,
                None => {
                    return Ok(HttpResponse {
                        status: response.status().as_u16(),
                        headers: response.headers().clone(),
                        url: hop.url,
                        body: response,
                        idle_timeout,
                        max_body: options.max_body,
                    });
                }
            }
        }
        Err(HttpError::TooManyRedirects { origin: first_origin, limit: options.max_redirects })
    }

    async fn send_once(&self, hop: &Hop, idle_timeout: Duration) -> Result<reqwest::Response, HttpError> {
        self.shared.check_address(hop)?;
        let client = self.shared.client(hop).await?;
        let mut request = client.request(hop.method.clone(), hop.url.clone()).headers(hop.headers.clone());
        if let Some(body) = &hop.body {
            request = request.body(body.clone());
        }
        match timeout(idle_timeout, request.send()).await {
            Err(_) => Err(HttpError::Timeout { origin: origin_of(&hop.url), after: idle_timeout }),
            Ok(Err(error)) => Err(self.shared.explain(error, &hop.url)),
            Ok(Ok(response)) => Ok(response),
        }
    }
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient").field("options", &self.shared.options).finish_non_exhaustive()
    }
}

impl Shared {
    /// Judges what the connector does not ask the resolver about: addresses written as such, and the proxy's own name.
    fn check_address(&self, hop: &Hop) -> Result<(), HttpError> {
        if hop.guard == AddressGuard::Anywhere {
            return Ok(());
        }
        let is_allowed = match hop.url.host() {
            Some(Host::Ipv4(address)) => is_public(address.into()),
            Some(Host::Ipv6(address)) => is_public(address.into()),
            Some(Host::Domain(name)) => {
                !is_local_name(name) && !self.options.proxy.hosts().iter().any(|host| host == name)
            }
            None => false,
        };
        if is_allowed {
            Ok(())
        } else {
            Err(HttpError::AddressRefused { host: hop.url.host_str().unwrap_or_default().to_owned() })
        }
    }

    async fn client(&self, hop: &Hop) -> Result<&reqwest::Client, HttpError> {
        let needs_tls = hop.url.scheme() == "https" || self.options.proxy.needs_tls();
        let guard = hop.guard;
        self.clients[usize::from(guard == AddressGuard::PublicOnly)][usize::from(needs_tls)]
            .get_or_try_init(|| async move {
                // Reading the system's certificates takes some milliseconds of file access.
                let tls = if needs_tls {
                    tokio::task::spawn_blocking(system_tls)
                        .await
                        .map_err(|error| HttpError::NoCertificates { reason: error.to_string() })??
                } else {
                    tls_without_roots()?
                };
                self.build(guard, tls)
            })
            .await
    }

    fn build(&self, guard: AddressGuard, tls: rustls::ClientConfig) -> Result<reqwest::Client, HttpError> {
        let options = &self.options;
        let resolver = GuardedResolver { lookup: self.lookup.clone(), guard, exempt: options.proxy.hosts() };
        #[expect(clippy::disallowed_methods, reason = "this is the one client for outgoing HTTP")]
        let mut builder = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .user_agent(&options.user_agent)
            .connect_timeout(options.connect_timeout)
            .redirect(redirect::Policy::none())
            .referer(false)
            .dns_resolver(Arc::new(resolver))
            .no_proxy();
        for proxy in options.proxy.build()? {
            builder = builder.proxy(proxy);
        }
        builder.build().map_err(|error| HttpError::Proxy { reason: innermost(&error) })
    }

    fn explain(&self, error: reqwest::Error, url: &Url) -> HttpError {
        if let Some(refused) = find::<Refused>(&error) {
            return HttpError::AddressRefused { host: refused.host.clone() };
        }
        let origin = origin_of(url);
        if error.is_timeout() {
            return HttpError::Timeout { origin, after: self.options.connect_timeout };
        }
        let reason = innermost(&error);
        if error.is_connect() {
            HttpError::Unreachable { origin, reason }
        } else {
            HttpError::Broken { origin, reason }
        }
    }
}

/// One request on the way to an answer.
struct Hop {
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Option<Bytes>,
    guard: AddressGuard,
}

impl Hop {
    fn first(request: &HttpRequest) -> Result<Self, HttpError> {
        if !matches!(request.url.scheme(), "http" | "https") || request.url.host().is_none() {
            return Err(HttpError::UnsupportedUrl { origin: origin_of(&request.url) });
        }
        let mut headers = HeaderMap::new();
        for (name, value) in &request.headers {
            let bad = || HttpError::BadHeader { name: name.clone() };
            let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
            let mut value = HeaderValue::from_str(value.expose()).map_err(|_| bad())?;
            value.set_sensitive(true);
            headers.append(key, value);
        }
        Ok(Self {
            method: request.method.clone(),
            url: request.url.clone(),
            headers,
            body: request.body.clone(),
            guard: request.guard,
        })
    }

    /// Where the answer sends us, if anywhere.
    fn next(&self, response: &reqwest::Response) -> Result<Option<Self>, HttpError> {
        let status = response.status().as_u16();
        if !matches!(status, 301 | 302 | 303 | 307 | 308) {
            return Ok(None);
        }
        let Some(location) = response.headers().get("location").and_then(|value| value.to_str().ok()) else {
            return Ok(None);
        };
        let refuse = |target: String| HttpError::RedirectRefused { origin: origin_of(&self.url), target };
        let Ok(mut url) = self.url.join(location) else { return Err(refuse("what is no URL".to_owned())) };
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            return Err(refuse(format!("a `{}` address", url.scheme())));
        }
        if self.url.scheme() == "https" && url.scheme() == "http" {
            return Err(refuse(format!("{} without encryption", origin_of(&url))));
        }
        if url.fragment().is_none() {
            url.set_fragment(self.url.fragment());
        }

        let mut next = Self {
            method: self.method.clone(),
            url,
            headers: self.headers.clone(),
            body: self.body.clone(),
            guard: self.guard,
        };
        if (status == 303 && self.method != Method::HEAD)
            || (matches!(status, 301 | 302) && self.method == Method::POST)
        {
            next.method = Method::GET;
            next.body = None;
            next.headers.remove("content-type");
        }
        if next.url.origin() != self.url.origin() {
            next.headers = describing_headers(&next.headers);
            // Whoever answers chose the new host, so it may not point into the user's own network.
            let stays_home = is_loopback_host(&self.url) && is_loopback_host(&next.url);
            if !stays_home && next.url.host() != self.url.host() {
                next.guard = AddressGuard::PublicOnly;
            }
        }
        Ok(Some(next))
    }
}

/// The headers that say what is sent and wanted, and nothing about who asks.
fn describing_headers(headers: &HeaderMap) -> HeaderMap {
    const KEPT: [&str; 4] = ["accept", "accept-language", "content-type", "user-agent"];
    headers
        .iter()
        .filter(|(name, _)| KEPT.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Scheme, host and port, which is all of a URL that may be shown.
pub(super) fn origin_of(url: &Url) -> String {
    match url.host_str() {
        Some(host) => match url.port() {
            Some(port) => format!("{}://{host}:{port}", url.scheme()),
            None => format!("{}://{host}", url.scheme()),
        },
        None => format!("{}:", url.scheme()),
    }
}

fn crypto() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn system_tls() -> Result<rustls::ClientConfig, HttpError> {
    let no_certificates = |error: rustls::Error| HttpError::NoCertificates { reason: error.to_string() };
    let verifier = rustls_platform_verifier::Verifier::new(crypto()).map_err(no_certificates)?;
    Ok(rustls::ClientConfig::builder_with_provider(crypto())
        .with_safe_default_protocol_versions()
        .map_err(no_certificates)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth())
}

/// For clients that only speak plain HTTP: nothing to load, nothing trusted.
fn tls_without_roots() -> Result<rustls::ClientConfig, HttpError> {
    Ok(rustls::ClientConfig::builder_with_provider(crypto())
        .with_safe_default_protocol_versions()
        .map_err(|error| HttpError::NoCertificates { reason: error.to_string() })?
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth())
}
