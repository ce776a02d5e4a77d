use serde_json::Value;
use url::Url;

/// What a server says about itself. Fields of the wrong kind count as absent.
///
/// Source: RFC 9728, section 2.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceMetadata {
    /// Its name for itself, byte for byte as published.
    pub resource: Option<String>,
    /// Who gives tokens for it.
    pub authorization_servers: Vec<String>,
    /// The scopes it knows; `None` where it says nothing about scopes.
    pub scopes_supported: Option<Vec<String>>,
    /// Whether it takes only tokens that are bound to a key (RFC 9449).
    pub dpop_bound_access_tokens_required: bool,
}

impl ResourceMetadata {
    /// Reads it; `None` where the text is no JSON object.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(text).ok()?;
        let fields = Fields(value.as_object()?);
        Some(Self {
            resource: fields.text("resource"),
            authorization_servers: fields.texts("authorization_servers").unwrap_or_default(),
            scopes_supported: fields.texts("scopes_supported"),
            dpop_bound_access_tokens_required: fields.flag("dpop_bound_access_tokens_required"),
        })
    }
}

/// What an authorization server says about itself. Fields of the wrong kind, and addresses that are none, count as absent.
///
/// Sources: RFC 8414, section 2; RFC 9207, section 3; RFC 9449, section 5.1; OAuth Client ID Metadata Document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerMetadata {
    /// Its name, byte for byte as published.
    pub issuer: Option<String>,
    /// Where a person grants access.
    pub authorization_endpoint: Option<Url>,
    /// Where tokens come from.
    pub token_endpoint: Option<Url>,
    /// Where clients register themselves.
    pub registration_endpoint: Option<Url>,
    /// The scopes it knows.
    pub scopes_supported: Option<Vec<String>>,
    /// How codes can be bound to who asked.
    pub code_challenge_methods_supported: Option<Vec<String>>,
    /// What tokens are given for.
    pub grant_types_supported: Option<Vec<String>>,
    /// How clients show who they are.
    pub token_endpoint_auth_methods_supported: Option<Vec<String>>,
    /// How a client's assertion may be signed.
    pub token_endpoint_auth_signing_alg_values_supported: Option<Vec<String>>,
    /// How a proof of possession may be signed.
    pub dpop_signing_alg_values_supported: Option<Vec<String>>,
    /// Whether a client may be known by the address of its description.
    pub client_id_metadata_document_supported: bool,
    /// Whether redirects say who sent them.
    pub authorization_response_iss_parameter_supported: bool,
}

impl ServerMetadata {
    /// Reads it; `None` where the text is no JSON object.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(text).ok()?;
        let fields = Fields(value.as_object()?);
        Some(Self {
            issuer: fields.text("issuer"),
            authorization_endpoint: fields.url("authorization_endpoint"),
            token_endpoint: fields.url("token_endpoint"),
            registration_endpoint: fields.url("registration_endpoint"),
            scopes_supported: fields.texts("scopes_supported"),
            code_challenge_methods_supported: fields.texts("code_challenge_methods_supported"),
            grant_types_supported: fields.texts("grant_types_supported"),
            token_endpoint_auth_methods_supported: fields.texts("token_endpoint_auth_methods_supported"),
            token_endpoint_auth_signing_alg_values_supported: fields
                .texts("token_endpoint_auth_signing_alg_values_supported"),
            dpop_signing_alg_values_supported: fields.texts("dpop_signing_alg_values_supported"),
            client_id_metadata_document_supported: fields.flag("client_id_metadata_document_supported"),
            authorization_response_iss_parameter_supported: fields
                .flag("authorization_response_iss_parameter_supported"),
        })
    }

    /// What a server without any metadata is taken to have, at its origin. Source: MCP 2025-03-26, "Fallbacks for servers without
    /// metadata discovery".
    pub fn default_endpoints(origin: &Url) -> Self {
        let at = |path| at_path(origin, path);
        Self {
            issuer: Some(origin_text(origin)),
            authorization_endpoint: Some(at("/authorize")),
            token_endpoint: Some(at("/token")),
            registration_endpoint: Some(at("/register")),
            code_challenge_methods_supported: Some(vec!["S256".to_owned()]),
            ..Self::default()
        }
    }

    /// Whether a list names `word`; what is not listed counts as `unlisted`.
    pub(crate) fn lists(list: Option<&Vec<String>>, word: &str, unlisted: bool) -> bool {
        list.map_or(unlisted, |list| list.iter().any(|own| own == word))
    }
}

/// Where the metadata of a server may be, in the order in which they are asked for. Source: RFC 9728, section 3.1.
pub fn resource_metadata_places(server: &Url) -> Vec<Url> {
    let path = server.path().trim_end_matches('/');
    let mut places = vec![at_path(server, &format!("/.well-known/oauth-protected-resource{path}"))];
    if !path.is_empty() {
        places.push(at_path(server, "/.well-known/oauth-protected-resource"));
    }
    places
}

/// Where the metadata of an authorization server may be, in order. Sources: RFC 8414, sections 3 and 5; OpenID Connect Discovery,
/// section 4.
pub fn server_metadata_places(issuer: &Url) -> Vec<Url> {
    let path = issuer.path().trim_end_matches('/');
    let mut places = vec![
        at_path(issuer, &format!("/.well-known/oauth-authorization-server{path}")),
        at_path(issuer, &format!("/.well-known/openid-configuration{path}")),
    ];
    if !path.is_empty() {
        places.push(at_path(issuer, &format!("{path}/.well-known/openid-configuration")));
    }
    places
}

/// How the resource that metadata are about relates to the address in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceMatch {
    /// They are the same.
    Same,
    /// It differs by a slash at the end, or the address in use lies beneath it on the same origin.
    Covers,
    /// It is something else.
    Other,
}

/// Compares the resource of metadata with the address in use.
pub fn match_resource(server: &Url, resource: &str) -> ResourceMatch {
    let Ok(named) = Url::parse(resource) else { return ResourceMatch::Other };
    if named.origin() != server.origin() || named.query().is_some_and(|_| named.query() != server.query()) {
        return ResourceMatch::Other;
    }
    if named.path() == server.path() {
        return ResourceMatch::Same;
    }
    let beneath = named.path().trim_end_matches('/');
    match server.path().strip_prefix(beneath) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => ResourceMatch::Covers,
        _ => ResourceMatch::Other,
    }
}

/// Whether metadata are of the issuer that they were looked up for. Compared as text; only an origin may carry a slash more, which
/// is the same address (RFC 3986, section 6.2.3).
pub fn is_same_issuer(expected: &str, found: &str) -> bool {
    let bare = |text: &str| {
        let is_origin = Url::parse(text).is_ok_and(|url| url.path() == "/" && url.query().is_none());
        if is_origin { text.strip_suffix('/').unwrap_or(text).to_owned() } else { text.to_owned() }
    };
    bare(expected) == bare(found)
}

/// Scheme, host and port, without a slash behind.
pub fn origin_text(url: &Url) -> String {
    url.origin().ascii_serialization()
}

fn at_path(origin: &Url, path: &str) -> Url {
    let mut url = origin.clone();
    // Fails only for addresses without a host, which are refused before.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.set_path(path);
    url
}

struct Fields<'a>(&'a serde_json::Map<String, Value>);

impl Fields<'_> {
    fn text(&self, name: &str) -> Option<String> {
        self.0.get(name)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
    }

    fn texts(&self, name: &str) -> Option<Vec<String>> {
        Some(
            self.0
                .get(name)?
                .as_array()?
                .iter()
                .filter_map(|item| item.as_str().map(str::to_owned))
                .collect(),
        )
    }

    fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or_default()
    }

    fn url(&self, name: &str) -> Option<Url> {
        Url::parse(self.0.get(name)?.as_str()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn texts(urls: Vec<Url>) -> Vec<String> {
        urls.into_iter().map(String::from).collect()
    }

    #[test]
    fn metadata_are_looked_for_with_the_path_first_and_at_the_root_last() {
        let cases = [
            (
                "https://h.example/a/mcp/?k=v#f",
                vec![
                    "https://h.example/.well-known/oauth-protected-resource/a/mcp",
                    "https://h.example/.well-known/oauth-protected-resource",
                ],
            ),
            (
                "https://user:pass@h.example:8443",
                vec!["https://h.example:8443/.well-known/oauth-protected-resource"],
            ),
        ];
        for (server, wanted) in cases {
            assert_eq!(texts(resource_metadata_places(&url(server))), wanted);
        }
        let cases = [
            (
                "https://a.example/tenant1",
                vec![
                    "https://a.example/.well-known/oauth-authorization-server/tenant1",
                    "https://a.example/.well-known/openid-configuration/tenant1",
                    "https://a.example/tenant1/.well-known/openid-configuration",
                ],
            ),
            (
                "https://a.example/",
                vec![
                    "https://a.example/.well-known/oauth-authorization-server",
                    "https://a.example/.well-known/openid-configuration",
                ],
            ),
        ];
        for (issuer, wanted) in cases {
            assert_eq!(texts(server_metadata_places(&url(issuer))), wanted);
        }
    }

    #[test]
    fn a_resource_is_ours_if_it_is_our_address_or_lies_above_it_on_our_origin() {
        use ResourceMatch::{Covers, Other, Same};
        let cases = [
            ("https://h.example/a/mcp", Same),
            ("https://H.example:443/a/mcp", Same),
            ("https://h.example/a/mcp/", Covers),
            ("https://h.example/a", Covers),
            ("https://h.example", Covers),
            ("https://h.example/", Covers),
            ("https://h.example/a/m", Other),
            ("https://h.example/a/mcp/deeper", Other),
            ("https://h.example/a/mcp?tenant=1", Other),
            ("http://h.example/a/mcp", Other),
            ("https://other.example/a/mcp", Other),
            ("https://h.example:8443/a/mcp", Other),
            ("not an address", Other),
        ];
        for (resource, wanted) in cases {
            assert_eq!(match_resource(&url("https://h.example/a/mcp"), resource), wanted, "{resource}");
        }
    }

    #[test]
    fn an_issuer_is_compared_as_text_but_for_the_slash_behind_an_origin() {
        assert!(is_same_issuer("https://a.example", "https://a.example/"));
        assert!(is_same_issuer("https://a.example/t", "https://a.example/t"));
        for (expected, found) in [
            ("https://a.example/t", "https://a.example/t/"),
            ("https://a.example", "https://A.example"),
            ("https://a.example", "https://a.example:443"),
            ("https://a.example", "https://evil.example"),
        ] {
            assert!(!is_same_issuer(expected, found), "{found}");
        }
    }

    #[test]
    fn what_is_of_the_wrong_kind_counts_as_absent() {
        let text = br#"{"issuer":7,"authorization_endpoint":"nowhere","token_endpoint":"https://a.example/t",
            "scopes_supported":["a",1],"code_challenge_methods_supported":"S256","client_id_metadata_document_supported":"yes"}"#;
        let wanted = ServerMetadata {
            token_endpoint: Some(url("https://a.example/t")),
            scopes_supported: Some(vec!["a".to_owned()]),
            ..ServerMetadata::default()
        };
        assert_eq!(ServerMetadata::parse(text), Some(wanted));
        assert_eq!(ServerMetadata::parse(b"<html>"), None);
        assert_eq!(ResourceMetadata::parse(b"[]"), None);
        assert_eq!(
            ResourceMetadata::parse(
                br#"{"resource":"https://h.example","authorization_servers":["https://a.example"]}"#
            ),
            Some(ResourceMetadata {
                resource: Some("https://h.example".to_owned()),
                authorization_servers: vec!["https://a.example".to_owned()],
                ..ResourceMetadata::default()
            })
        );
    }
}
