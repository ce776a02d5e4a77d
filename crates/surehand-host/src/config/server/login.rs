//! The `oauth` part of an entry.

use std::path::PathBuf;

use surehand_model::Secret;
use url::Url;

use super::super::file::normalised;
use super::super::jsonc::{Member, Node, Value};
use super::super::settings::{LoginGrant, LoginSettings, Severity};
use super::EntryReader;

/// The members, for whoever misspells one.
const MEMBERS: [&str; 12] = [
    "grant",
    "clientId",
    "clientSecret",
    "privateKeyFile",
    "tokenFile",
    "identityProvider",
    "issuer",
    "clientMetadataUrl",
    "callbackHost",
    "callbackPort",
    "scopes",
    "trustedHosts",
];

/// What grants without a person take.
#[derive(Default)]
struct WithoutPerson<'n> {
    kind: Option<(String, &'n Node)>,
    private_key_file: Option<PathBuf>,
    token_file: Option<PathBuf>,
    provider: Option<Provider>,
}

impl WithoutPerson<'_> {
    fn is_given(&self) -> bool {
        self.private_key_file.is_some() || self.token_file.is_some() || self.provider.is_some()
    }
}

#[derive(Default)]
struct Provider {
    token_endpoint: Option<Url>,
    client_id: Option<String>,
    client_secret: Option<Secret<String>>,
    id_token_file: Option<PathBuf>,
}

impl EntryReader<'_, '_, '_> {
    /// Reads it; `None` where it is no use, which is reported.
    pub(super) fn login(&mut self, member: &Member) -> Option<LoginSettings> {
        let mut login = LoginSettings::default();
        let members = match &member.value.value {
            Value::Null | Value::Bool(true) => return Some(login),
            Value::Bool(false) => return Some(LoginSettings { enabled: false, ..login }),
            Value::Object(members) => members,
            _ => {
                self.passed_over(member, "an object, or false");
                return None;
            }
        };
        let mut without_person = WithoutPerson::default();
        for inner in members {
            let place = format!("{}.{}", member.key, inner.key);
            match normalised(&inner.key).as_str() {
                "grant" => {
                    without_person.kind = Some((self.filled_text(&place, &inner.value)?, &inner.value))
                }
                "privatekeyfile" => without_person.private_key_file = self.file(&place, &inner.value),
                "tokenfile" => without_person.token_file = self.file(&place, &inner.value),
                "identityprovider" => {
                    without_person.provider = Some(self.provider(&place, &inner.value)?);
                }
                "clientid" => login.client_id = self.filled_text(&place, &inner.value),
                "clientsecret" => {
                    login.client_secret = self.filled_text(&place, &inner.value).map(Secret::new);
                }
                "issuer" => login.issuer = self.filled_text(&place, &inner.value),
                "clientmetadataurl" => {
                    let text = self.filled_text(&place, &inner.value)?;
                    match Url::parse(&text) {
                        Ok(url) if url.scheme() == "https" && url.path() != "/" => {
                            login.client_metadata_url = Some(url);
                        }
                        _ => self.fault(&inner.value, Some(&place), "it is no https address with a path", ""),
                    }
                }
                "callbackhost" => match inner.value.text() {
                    Some(host @ ("127.0.0.1" | "localhost")) => login.callback_host = host.to_owned(),
                    _ => {
                        let hint = "write \"127.0.0.1\" or \"localhost\"";
                        self.fault(&inner.value, Some(&place), "logins come back to this machine only", hint);
                    }
                },
                "callbackport" => match port(&inner.value) {
                    Some(port) => login.callback_port = Some(port),
                    _ => self.fault(
                        &inner.value,
                        Some(&place),
                        "it is no port",
                        "write a number from 1 to 65535",
                    ),
                },
                "scopes" => login.scopes = self.words(&place, &inner.value)?,
                "trustedhosts" => login.trusted_hosts = self.words(&place, &inner.value)?,
                _ => {
                    let hint = format!("there are `{}`", MEMBERS.join("`, `"));
                    self.say(Severity::Info, &inner.value, Some(&place), "an unknown key, passed over", hint);
                }
            }
        }
        match without_person.kind.take() {
            Some((kind, node)) => login.grant = self.grant(&kind, node, without_person, &login)?,
            None if without_person.is_given() => {
                let hint = "write \"client_credentials\", \"workload\" or \"enterprise\"";
                self.fault(
                    &member.value,
                    Some("oauth.grant"),
                    "it is missing, and no person is to log in",
                    hint,
                );
            }
            None => {}
        }
        Some(login)
    }

    /// What tokens are given for, once all that it takes has been read.
    fn grant(
        &mut self,
        kind: &str,
        node: &Node,
        given: WithoutPerson<'_>,
        login: &LoginSettings,
    ) -> Option<LoginGrant> {
        let place = Some("oauth.grant");
        let mut lacks = |what: &str| {
            self.fault(node, place, format!("it needs `{what}`"), "");
            None
        };
        match kind {
            "person" => Some(LoginGrant::Person),
            "client_credentials" | "workload" | "enterprise" if login.client_id.is_none() => {
                lacks("clientId")
            }
            "client_credentials" if login.client_secret.is_none() && given.private_key_file.is_none() => {
                lacks("clientSecret` or `privateKeyFile")
            }
            "client_credentials" => Some(LoginGrant::Client { private_key_file: given.private_key_file }),
            "workload" => match given.token_file {
                Some(token_file) => Some(LoginGrant::Workload { token_file }),
                None => lacks("tokenFile"),
            },
            "enterprise" => match given.provider {
                Some(Provider {
                    token_endpoint: Some(token_endpoint),
                    client_id: Some(client_id),
                    client_secret,
                    id_token_file: Some(id_token_file),
                }) => {
                    Some(LoginGrant::Enterprise { token_endpoint, client_id, client_secret, id_token_file })
                }
                _ => lacks("identityProvider` with `tokenEndpoint`, `clientId` and `idTokenFile"),
            },
            _ => {
                let hint = "write \"person\", \"client_credentials\", \"workload\" or \"enterprise\"";
                self.fault(node, place, "there is no such grant", hint);
                None
            }
        }
    }

    fn provider(&mut self, place: &str, node: &Node) -> Option<Provider> {
        let Some(members) = node.members() else {
            self.fault(node, Some(place), format!("it is {}, not an object", node.kind()), "");
            return None;
        };
        let mut provider = Provider::default();
        for inner in members {
            let place = format!("{place}.{}", inner.key);
            match normalised(&inner.key).as_str() {
                "tokenendpoint" => {
                    let text = self.filled_text(&place, &inner.value)?;
                    match Url::parse(&text) {
                        Ok(url) if matches!(url.scheme(), "http" | "https") => {
                            provider.token_endpoint = Some(url);
                        }
                        _ => self.fault(&inner.value, Some(&place), "it is no http or https address", ""),
                    }
                }
                "clientid" => provider.client_id = self.filled_text(&place, &inner.value),
                "clientsecret" => {
                    provider.client_secret = self.filled_text(&place, &inner.value).map(Secret::new);
                }
                "idtokenfile" => provider.id_token_file = self.file(&place, &inner.value),
                _ => {
                    let hint = "there are `tokenEndpoint`, `clientId`, `clientSecret`, `idTokenFile`";
                    self.say(Severity::Info, &inner.value, Some(&place), "an unknown key, passed over", hint);
                }
            }
        }
        Some(provider)
    }

    /// A path, seen from where a relative `cwd` of the entry is.
    fn file(&mut self, place: &str, node: &Node) -> Option<PathBuf> {
        let text = self.filled_text(place, node)?;
        Some(self.context.base.join(self.at_home(&text)))
    }

    fn filled_text(&mut self, place: &str, node: &Node) -> Option<String> {
        let text = self.as_text(place, node)?;
        self.filled(place, node, &text).filter(|text| !text.is_empty())
    }

    /// A list of words, or a text of words.
    fn words(&mut self, place: &str, node: &Node) -> Option<Vec<String>> {
        let texts = match &node.value {
            Value::Array(items) => {
                items.iter().map(|item| self.as_text(place, item)).collect::<Option<Vec<_>>>()?
            }
            _ => vec![self.as_text(place, node)?],
        };
        Some(texts.iter().flat_map(|text| text.split_whitespace()).map(str::to_owned).collect())
    }
}

fn port(node: &Node) -> Option<u16> {
    match &node.value {
        Value::Number(text) | Value::String(text) => text.parse().ok().filter(|port| *port != 0),
        _ => None,
    }
}
