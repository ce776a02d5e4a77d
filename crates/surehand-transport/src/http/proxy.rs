use std::net::IpAddr;

use reqwest::Proxy;
use surehand_model::Secret;
use url::{Host, Url};

use super::address::is_loopback_host;
use super::error::HttpError;

/// The proxies, each a URL (`http://user:password@host:port`, `socks5://…`). Loopback is always reached directly.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProxyOptions {
    /// For `http` URLs.
    pub http: Option<Secret<String>>,
    /// For `https` URLs.
    pub https: Option<Secret<String>>,
    /// For both, where the one above is absent.
    pub all: Option<Secret<String>>,
    /// Hosts reached directly, in the form of `NO_PROXY`: names (which stand for their subdomains too), addresses, blocks of
    /// addresses (`10.0.0.0/8`), or `*`, separated by commas.
    pub no_proxy: Option<String>,
}

impl ProxyOptions {
    fn given(&self) -> impl Iterator<Item = &Secret<String>> {
        [&self.http, &self.https, &self.all].into_iter().flatten()
    }

    /// The hosts of the proxies themselves.
    pub(super) fn hosts(&self) -> Vec<String> {
        let urls = self.given().filter_map(|proxy| parse_proxy(proxy.expose()).ok());
        urls.filter_map(|url| url.host_str().map(str::to_owned)).collect()
    }

    /// Whether a proxy is itself reached over TLS.
    pub(super) fn needs_tls(&self) -> bool {
        self.given().any(|proxy| proxy.expose().starts_with("https:"))
    }

    pub(super) fn build(&self) -> Result<Vec<Proxy>, HttpError> {
        let exceptions = NoProxy::parse(self.no_proxy.as_deref().unwrap_or_default());
        let mut proxies = Vec::new();
        for (scheme, own) in [("http", &self.http), ("https", &self.https)] {
            if let Some(proxy) = own.as_ref().or(self.all.as_ref()) {
                let proxy = parse_proxy(proxy.expose())?;
                let exceptions = exceptions.clone();
                proxies.push(Proxy::custom(move |url: &Url| {
                    let is_proxied =
                        url.scheme() == scheme && !is_loopback_host(url) && !exceptions.covers(url);
                    is_proxied.then(|| proxy.clone())
                }));
            }
        }
        Ok(proxies)
    }
}

/// Reads a proxy setting; as everywhere, a missing scheme means `http`.
fn parse_proxy(text: &str) -> Result<Url, HttpError> {
    let bad = |reason: &str| HttpError::Proxy { reason: reason.to_owned() };
    let text = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let url = Url::parse(&text).map_err(|error| bad(&error.to_string()))?;
    match url.scheme() {
        "http" | "https" | "socks4" | "socks4a" | "socks5" | "socks5h" if url.host().is_some() => Ok(url),
        scheme => Err(bad(&format!("`{scheme}` is no kind of proxy"))),
    }
}

#[derive(Clone, Debug)]
struct NoProxy {
    exceptions: Vec<Exception>,
}

#[derive(Clone, Debug)]
enum Exception {
    Everything,
    /// A name, and whether it is followed by a port.
    Name(String, Option<u16>),
    Block(IpAddr, u8),
}

impl NoProxy {
    fn parse(text: &str) -> Self {
        let words = text.split([',', ' ']).map(str::trim).filter(|word| !word.is_empty());
        Self { exceptions: words.map(Exception::parse).collect() }
    }

    fn covers(&self, url: &Url) -> bool {
        self.exceptions.iter().any(|exception| exception.covers(url))
    }
}

impl Exception {
    fn parse(word: &str) -> Self {
        if word == "*" {
            return Self::Everything;
        }
        let (address, bits) = match word.split_once('/') {
            Some((address, bits)) => (address, bits.parse().ok()),
            None => (word, Some(u8::MAX)),
        };
        if let (Ok(address), Some(bits)) = (address.trim_matches(['[', ']']).parse(), bits) {
            return Self::Block(address, bits);
        }
        let (name, port) = match word.rsplit_once(':') {
            Some((name, port)) => (name, port.parse().ok()),
            None => (word, None),
        };
        Self::Name(name.trim_start_matches("*.").trim_matches('.').to_ascii_lowercase(), port)
    }

    fn covers(&self, url: &Url) -> bool {
        match (self, url.host()) {
            (Self::Everything, _) => true,
            (Self::Block(block, bits), Some(Host::Ipv4(address))) => is_within(address.into(), *block, *bits),
            (Self::Block(block, bits), Some(Host::Ipv6(address))) => is_within(address.into(), *block, *bits),
            (Self::Name(name, port), Some(host)) => {
                let host = host.to_string();
                let host = host.trim_end_matches('.');
                let is_named =
                    host == name || host.strip_suffix(name.as_str()).is_some_and(|rest| rest.ends_with('.'));
                is_named && port.is_none_or(|port| url.port_or_known_default() == Some(port))
            }
            _ => false,
        }
    }
}

fn is_within(address: IpAddr, block: IpAddr, bits: u8) -> bool {
    let differs = match (address, block) {
        (IpAddr::V4(address), IpAddr::V4(block)) => {
            (address.to_bits() ^ block.to_bits()).leading_zeros() < u32::from(bits.min(32))
        }
        (IpAddr::V6(address), IpAddr::V6(block)) => {
            (address.to_bits() ^ block.to_bits()).leading_zeros() < u32::from(bits.min(128))
        }
        _ => true,
    };
    !differs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_are_names_with_subdomains_addresses_blocks_and_ports() {
        let no_proxy = NoProxy::parse(
            "corp.example, .dot.example,*.star.example,10.0.0.0/8 192.168.1.7,port.example:81,fd00::/8,[fe80::1]",
        );
        let direct = [
            "http://corp.example",
            "https://a.b.corp.example:1",
            "http://dot.example",
            "http://x.dot.example",
            "http://a.star.example",
            "http://10.255.0.1",
            "http://192.168.1.7",
            "http://port.example:81",
            "http://[fd00::5]",
            "http://[fe80::1]",
            "http://CORP.example.",
        ];
        let proxied = [
            "http://notcorp.example",
            "http://corp.example.org",
            "http://11.0.0.1",
            "http://192.168.1.8",
            "http://port.example",
            "http://[fe80::2]",
            "http://1.10.0.0",
        ];
        let judged = |texts: &[&'static str], wanted: bool| -> Vec<&'static str> {
            texts
                .iter()
                .copied()
                .filter(|text| no_proxy.covers(&Url::parse(text).unwrap()) != wanted)
                .collect()
        };
        assert_eq!((judged(&direct, true), judged(&proxied, false)), (vec![], vec![]));
        assert!(NoProxy::parse("*").covers(&Url::parse("http://any.example").unwrap()));
        assert!(!NoProxy::parse("").covers(&Url::parse("http://any.example").unwrap()));
    }
}
