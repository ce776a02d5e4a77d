use std::net::IpAddr;

use axum::http::HeaderMap;
use axum::http::header::{HOST, ORIGIN};
use url::Url;

/// Lets in requests for this server's own names and from pages of those or of listed origins, and no others.
///
/// A page of the web can make its own name point to this machine; the browser then sends that name as `Host`, and its own
/// address as `Origin`. Both are judged, each alone.
///
/// Source: MCP, "Transports", security warning on DNS rebinding.
#[derive(Debug)]
pub(super) struct Guard {
    hosts: Vec<String>,
    origins: Vec<String>,
    /// Listens on every address, so any of them may be asked for.
    any_address: bool,
}

const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

impl Guard {
    pub(super) fn new(address: IpAddr, hosts: &[String], origins: &[String]) -> Self {
        let mut names: Vec<String> = hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
        if address.is_loopback() || address.is_unspecified() {
            names.extend(LOOPBACK.map(str::to_owned));
        }
        names.push(match address {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        });
        let origins =
            origins.iter().map(|origin| origin.trim_end_matches('/').to_ascii_lowercase()).collect();
        Self { hosts: names, origins, any_address: address.is_unspecified() }
    }

    /// # Errors
    ///
    /// In words, why the request is not let in.
    pub(super) fn check(&self, headers: &HeaderMap) -> Result<(), String> {
        let host = headers.get(HOST).map(|host| host.to_str().unwrap_or_default());
        match host {
            // Nearly all are written in the plainest way.
            Some(host) if self.hosts.iter().any(|name| name == without_port(host)) => {}
            Some(host) if host_name(host).is_some_and(|name| self.is_ours(&name)) => {}
            _ => return Err(format!("this server is not known as `{}`", host.unwrap_or("(no Host header)"))),
        }
        let Some(origin) = headers.get(ORIGIN) else { return Ok(()) };
        let origin = origin.to_str().unwrap_or_default().to_ascii_lowercase();
        let page = Url::parse(&origin).ok().filter(|page| matches!(page.scheme(), "http" | "https"));
        let is_ours =
            page.and_then(|page| page.host_str().map(str::to_owned)).is_some_and(|host| self.is_ours(&host));
        if is_ours || self.origins.contains(&origin) {
            Ok(())
        } else {
            Err(format!("pages of `{origin}` may not use this server"))
        }
    }

    fn is_ours(&self, host: &str) -> bool {
        let is_address = || host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
        self.hosts.iter().any(|name| name == host) || self.any_address && is_address()
    }
}

/// What stands before a port of digits.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// The name in a `Host` header, in lower case, without the port.
fn host_name(host: &str) -> Option<String> {
    let url = Url::parse(&format!("http://{host}/")).ok()?;
    let is_plain =
        url.username().is_empty() && url.password().is_none() && url.path() == "/" && url.query().is_none();
    url.host_str().filter(|_| is_plain).map(str::to_ascii_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(guard: &Guard, host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(ORIGIN, origin.parse().unwrap());
        }
        guard.check(&headers).is_ok()
    }

    #[test]
    fn a_foreign_host_and_a_foreign_origin_are_each_refused_alone() {
        let guard = Guard::new(IpAddr::from([127, 0, 0, 1]), &[], &[]);
        for (host, origin, allowed) in [
            ("127.0.0.1:8080", None, true),
            ("localhost", Some("http://localhost:6274"), true),
            ("[::1]:80", None, true),
            ("LocalHost:1", Some("https://127.0.0.1"), true),
            ("evil.example", None, false),
            ("localhost.evil.example", None, false),
            ("user@localhost", None, false),
            ("localhost:", None, true),
            ("localhost:80:80", None, false),
            ("localhost:99999", None, true),
            ("localhost:80@evil.example", None, false),
            ("192.168.0.7", None, false),
            ("localhost", Some("http://evil.example"), false),
            ("localhost", Some("http://localhost.evil.example"), false),
            ("localhost", Some("null"), false),
            ("localhost", Some("file://localhost"), false),
        ] {
            assert_eq!(judged(&guard, host, origin), allowed, "{host} {origin:?}");
        }
    }

    #[test]
    fn a_server_on_every_address_takes_addresses_and_listed_names() {
        let hosts = ["tools.example".to_owned()];
        let guard = Guard::new(IpAddr::from([0, 0, 0, 0]), &hosts, &["https://app.example/".to_owned()]);
        for (host, origin, allowed) in [
            ("192.168.0.7:80", None, true),
            ("Tools.Example:80", Some("https://app.example"), true),
            ("other.example", None, false),
            ("tools.example", Some("http://app.example"), false),
        ] {
            assert_eq!(judged(&guard, host, origin), allowed, "{host} {origin:?}");
        }
    }

    #[test]
    fn a_request_without_a_host_is_refused() {
        assert!(Guard::new(IpAddr::from([127, 0, 0, 1]), &[], &[]).check(&HeaderMap::new()).is_err());
    }
}
