//! The `oauth` part of an entry.

use surehand_model::Secret;
use url::Url;

use super::super::file::normalised;
use super::super::jsonc::{Member, Node, Value};
use super::super::settings::{LoginSettings, Severity};
use super::EntryReader;

/// The members, for whoever misspells one.
const MEMBERS: [&str; 8] = [
    "clientId",
    "clientSecret",
    "issuer",
    "clientMetadataUrl",
    "callbackHost",
    "callbackPort",
    "scopes",
    "trustedHosts",
];

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
        for inner in members {
            let place = format!("{}.{}", member.key, inner.key);
            match normalised(&inner.key).as_str() {
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
        Some(login)
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
