use serde_json::{Value, json};
use surehand_model::Secret;
use thiserror::Error;
use url::Url;

use crate::jose::Algorithm;
use crate::metadata::resource_metadata_places;
use crate::scopes::union;

/// Whom a server lets in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceOptions {
    /// The endpoint's address as clients know it, in front of any proxy.
    pub resource: Url,
    /// Who may make tokens for it; at least one.
    pub issuers: Vec<TrustedIssuer>,
    /// Audiences of tokens that are taken beside the resource itself, for authorization servers that do not name resources.
    pub audiences: Vec<String>,
    /// Scopes that every request needs, all of them.
    pub scopes: Vec<String>,
    /// Scopes that some operations need beside those.
    pub needs: Vec<ScopeNeed>,
    /// How tokens may be signed.
    pub algorithms: Vec<Algorithm>,
    /// Whether tokens are bound to keys.
    pub dpop: DpopPolicy,
    /// With a key that nobody can guess, proofs must carry a nonce of the last ten minutes that was made with it, so that none
    /// can be made ahead of time. Replicas share the key.
    pub nonce_key: Option<Secret<[u8; 32]>>,
    /// How far clocks may be apart, in seconds.
    pub leeway: u64,
    /// What people call the server.
    pub name: Option<String>,
}

/// Scopes that an operation needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopeNeed {
    /// For example `tools/call`.
    pub method: String,
    /// The tool or prompt by name, the resource by address; every one where absent.
    pub subject: Option<String>,
    /// All of them are needed.
    pub scopes: Vec<String>,
}

/// Somebody whose tokens are taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedIssuer {
    /// As it stands in tokens, letter by letter.
    pub issuer: String,
    /// Where its keys are; found through its metadata where absent.
    pub keys: Option<Url>,
}

/// What becomes of tokens that are bound to a key (RFC 9449).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DpopPolicy {
    /// They are taken, with a proof; so are tokens that are not bound.
    #[default]
    Accepted,
    /// No others are taken.
    Required,
}

/// Why options cannot be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ResourceFault {
    /// Nobody could ever be let in.
    #[error("no authorization server is trusted")]
    NoIssuer,
    /// An address at which tokens or keys could be read or changed on the way.
    #[error("`{0}` must be an https address, or one of this machine, without query and fragment")]
    Address(String),
}

impl ResourceOptions {
    /// Takes tokens of these issuers for this resource, signed in any known way, half a minute of difference between clocks.
    pub fn new(resource: Url, issuers: Vec<TrustedIssuer>) -> Self {
        Self {
            resource,
            issuers,
            audiences: Vec::new(),
            scopes: Vec::new(),
            needs: Vec::new(),
            algorithms: Algorithm::ALL.to_vec(),
            dpop: DpopPolicy::default(),
            nonce_key: None,
            leeway: 30,
            name: None,
        }
    }

    /// # Errors
    ///
    /// [`ResourceFault`].
    pub(super) fn check(&self) -> Result<(), ResourceFault> {
        if self.issuers.is_empty() {
            return Err(ResourceFault::NoIssuer);
        }
        let fault = |text: &str| ResourceFault::Address(text.to_owned());
        if !is_plain(&self.resource) {
            return Err(fault(self.resource.as_str()));
        }
        for TrustedIssuer { issuer, keys } in &self.issuers {
            let address = Url::parse(issuer).map_err(|_| fault(issuer))?;
            if !is_plain(&address) {
                return Err(fault(issuer));
            }
            if let Some(keys) = keys.as_ref().filter(|keys| !is_safe(keys)) {
                return Err(fault(keys.as_str()));
            }
        }
        Ok(())
    }

    /// Where the metadata are, as clients know it (RFC 9728, section 3.1).
    pub fn metadata_url(&self) -> Url {
        resource_metadata_places(&self.resource).swap_remove(0)
    }

    /// The metadata (RFC 9728, section 2).
    pub fn metadata(&self) -> Value {
        let issuers: Vec<&str> = self.issuers.iter().map(|trusted| trusted.issuer.as_str()).collect();
        let algorithms: Vec<&str> = Algorithm::ALL.into_iter().map(Algorithm::as_str).collect();
        let mut document = json!({
            "resource": self.resource_text(),
            "authorization_servers": issuers,
            "bearer_methods_supported": ["header"],
            "dpop_signing_alg_values_supported": algorithms,
        });
        let known = self.needs.iter().fold(self.scopes.clone(), |known, need| union(&known, &need.scopes));
        if !known.is_empty() {
            document["scopes_supported"] = known.into();
        }
        if self.dpop == DpopPolicy::Required {
            document["dpop_bound_access_tokens_required"] = true.into();
        }
        if let Some(name) = &self.name {
            document["resource_name"] = name.as_str().into();
        }
        document
    }

    /// All that an operation needs.
    pub(super) fn needed(&self, method: &str, subject: Option<&str>) -> Vec<String> {
        let concerns = |need: &&ScopeNeed| {
            need.method == method && need.subject.as_deref().is_none_or(|only| subject == Some(only))
        };
        let needs = self.needs.iter().filter(concerns);
        needs.fold(self.scopes.clone(), |needed, need| union(&needed, &need.scopes))
    }

    /// Every spelling of the audience that is taken. A slash at the end makes no other server.
    pub(super) fn accepted_audiences(&self) -> Vec<String> {
        let bare = self.resource.as_str().trim_end_matches('/');
        [vec![bare.to_owned(), format!("{bare}/")], self.audiences.clone()].concat()
    }

    /// The resource without the slash that an address without a path is written with.
    fn resource_text(&self) -> &str {
        let text = self.resource.as_str();
        if self.resource.path() == "/" { text.trim_end_matches('/') } else { text }
    }
}

/// Whether nobody on the way can change what comes from there.
pub(super) fn is_safe(url: &Url) -> bool {
    url.scheme() == "https" || url.scheme() == "http" && is_here(url)
}

/// Whether an address is of this machine.
pub(super) fn is_here(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

fn is_plain(url: &Url) -> bool {
    is_safe(url) && url.query().is_none() && url.fragment().is_none() && url.username().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(resource: &str) -> ResourceOptions {
        let issuer = TrustedIssuer { issuer: "https://as.example/t".to_owned(), keys: None };
        ResourceOptions::new(Url::parse(resource).unwrap(), vec![issuer])
    }

    #[test]
    fn the_metadata_stand_in_front_of_the_path_and_say_who_gives_tokens() {
        let bare = options("https://h.example/a/mcp");
        let place = "https://h.example/.well-known/oauth-protected-resource/a/mcp";
        assert_eq!(bare.metadata_url().as_str(), place);
        assert_eq!(
            bare.metadata().to_string(),
            r#"{"resource":"https://h.example/a/mcp","authorization_servers":["https://as.example/t"],"bearer_methods_supported":["header"],"dpop_signing_alg_values_supported":["ES256","RS256","PS256","EdDSA"]}"#
        );
        let full = ResourceOptions {
            scopes: vec!["a".to_owned()],
            dpop: DpopPolicy::Required,
            name: Some("Tools".to_owned()),
            needs: vec![need("tools/call", Some("write"), &["b", "a"]), need("prompts/get", None, &["c"])],
            ..options("https://h.example")
        };
        let place = "https://h.example/.well-known/oauth-protected-resource";
        assert_eq!(full.metadata_url().as_str(), place);
        assert_eq!(
            full.metadata().to_string(),
            r#"{"resource":"https://h.example","authorization_servers":["https://as.example/t"],"bearer_methods_supported":["header"],"dpop_signing_alg_values_supported":["ES256","RS256","PS256","EdDSA"],"scopes_supported":["a","b","c"],"dpop_bound_access_tokens_required":true,"resource_name":"Tools"}"#
        );
    }

    fn need(method: &str, subject: Option<&str>, scopes: &[&str]) -> ScopeNeed {
        let scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
        ScopeNeed { method: method.to_owned(), subject: subject.map(str::to_owned), scopes }
    }

    #[test]
    fn an_operation_needs_all_that_is_said_of_it() {
        let options = ResourceOptions {
            scopes: vec!["a".to_owned()],
            needs: vec![need("tools/call", None, &["b"]), need("tools/call", Some("write"), &["c", "a"])],
            ..options("https://h.example")
        };
        for (method, subject, needed) in [
            ("tools/call", Some("write"), vec!["a", "b", "c"]),
            ("tools/call", Some("read"), vec!["a", "b"]),
            ("prompts/get", Some("write"), vec!["a"]),
            ("completion/complete", None, vec!["a"]),
        ] {
            assert_eq!(options.needed(method, subject), needed, "{method} {subject:?}");
        }
    }

    #[test]
    fn addresses_on_which_others_could_listen_are_refused() {
        let with_issuer = |issuer: &str, keys: Option<&str>| {
            let keys = keys.map(|keys| Url::parse(keys).unwrap());
            let issuers = vec![TrustedIssuer { issuer: issuer.to_owned(), keys }];
            ResourceOptions { issuers, ..options("https://h.example") }.check()
        };
        let fault = |text: &str| Err(ResourceFault::Address(text.to_owned()));
        assert_eq!(with_issuer("http://127.0.0.1:1/x", Some("http://localhost:2/k?v=1")), Ok(()));
        assert_eq!(with_issuer("http://as.example", None), fault("http://as.example"));
        assert_eq!(with_issuer("https://as.example?x", None), fault("https://as.example?x"));
        assert_eq!(with_issuer("as", None), fault("as"));
        let keys = "http://as.example/keys";
        assert_eq!(with_issuer("https://as.example", Some(keys)), fault(keys));
        assert_eq!(options("http://h.example/").check(), fault("http://h.example/"));
        let nobody = ResourceOptions { issuers: Vec::new(), ..options("https://h.example") };
        assert_eq!(nobody.check(), Err(ResourceFault::NoIssuer));
    }
}
