//! The `providers` part of a file: addresses, keys and spellings of those that answer as a model.

use surehand_model::Secret;
use surehand_schema::nearest;

use super::environment::Environment;
use super::file::normalised;
use super::jsonc::{Member, Node, Value};
use super::reporter::{About, Reporter};
use super::server::{is_header_name, parse_address};
use super::settings::{ProviderSettings, Scope, Severity};
use super::{shown, variables};

const KEYS: &[&str] = &["baseUrl", "key", "dialect", "headers"];

/// Reads one provider. A part that cannot be used leaves a problem, so that no question goes to the wrong place.
pub(super) fn read(
    member: &Member,
    environment: &Environment,
    scope: Scope,
    reporter: &mut Reporter<'_>,
) -> ProviderSettings {
    let mut provider = ProviderSettings {
        name: member.key.clone(),
        base_url: None,
        key: None,
        key_source: None,
        dialect: None,
        headers: Vec::new(),
        scope,
        problem: None,
    };
    let mut reader = ProviderReader { name: &member.key, environment, reporter, faults: Vec::new() };
    match member.value.members() {
        Some(members) => members.iter().for_each(|inner| reader.member(inner, &mut provider)),
        None => reader.fault(&member.value, "", format!("it is {} and no object", member.value.kind())),
    }
    if !reader.faults.is_empty() {
        provider.problem = Some(reader.faults.join("; "));
    }
    provider
}

/// Whether a member of this name is the provider's address.
pub(super) fn is_address_key(key: &str) -> bool {
    matches!(normalised(key).as_str(), "baseurl" | "url" | "apibase" | "endpoint")
}

struct ProviderReader<'a, 'r, 't> {
    name: &'a str,
    environment: &'a Environment,
    reporter: &'r mut Reporter<'t>,
    faults: Vec<String>,
}

impl ProviderReader<'_, '_, '_> {
    fn say(
        &mut self,
        severity: Severity,
        node: &Node,
        key: &str,
        what: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let key = format!("providers.{}{}{key}", self.name, if key.is_empty() { "" } else { "." });
        self.reporter.say(severity, node, About { server: None, key: Some(&key) }, what, hint);
    }

    fn fault(&mut self, node: &Node, key: &str, what: impl Into<String>) {
        let what = what.into();
        self.say(Severity::Error, node, key, format!("the provider cannot be used: {what}"), "");
        self.faults.push(if key.is_empty() { what } else { format!("`{key}`: {what}") });
    }

    fn filled(&mut self, node: &Node, key: &str) -> Option<String> {
        let Some(template) = node.text() else {
            self.fault(node, key, format!("it is {} and no text", node.kind()));
            return None;
        };
        match variables::fill(template, self.environment) {
            Ok(text) => Some(text),
            Err(faults) => {
                let what = faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
                self.fault(node, key, what);
                None
            }
        }
    }

    fn member(&mut self, member: &Member, provider: &mut ProviderSettings) {
        let node = &member.value;
        match normalised(&member.key).as_str() {
            _ if is_address_key(&member.key) => {
                let Some(text) = self.filled(node, &member.key) else { return };
                match parse_address(text.trim()) {
                    Ok(_) => provider.base_url = Some(text.trim().trim_end_matches('/').to_owned()),
                    Err(why) => self.fault(node, &member.key, why),
                }
            }
            "key" | "apikey" | "token" => {
                let Some(text) = self.filled(node, &member.key) else { return };
                let template = node.text().unwrap_or_default();
                if !variables::has_placeholder(template) && !text.is_empty() {
                    let hint = "keep it in an environment variable and write \"${NAME}\"";
                    self.say(Severity::Warning, node, &member.key, "a key is written out in the file", hint);
                }
                provider.key_source = Some(shown::value(template));
                provider.key = Some(Secret::new(text.trim().to_owned()));
            }
            "dialect" | "type" | "api" => match node.text() {
                Some(text) => provider.dialect = Some(text.to_owned()),
                None => self.fault(node, &member.key, format!("it is {} and no text", node.kind())),
            },
            "headers" => match &node.value {
                Value::Object(members) => members.iter().for_each(|header| self.header(header, provider)),
                _ => self.fault(node, &member.key, format!("it is {} and no object", node.kind())),
            },
            "description" | "name" | "models" => {}
            _ => {
                let known = nearest(&member.key, KEYS.iter().copied());
                let hint = known.first().map(|known| format!("did you mean `{known}`?")).unwrap_or_default();
                self.say(Severity::Warning, node, &member.key, "an unknown key, passed over", hint);
            }
        }
    }

    fn header(&mut self, header: &Member, provider: &mut ProviderSettings) {
        let key = format!("headers.{}", header.key);
        if !is_header_name(&header.key) {
            return self.fault(&header.value, &key, "no name that a header can have");
        }
        let Some(value) = self.filled(&header.value, &key) else { return };
        if value.trim().contains(char::is_control) {
            return self.fault(&header.value, &key, "its value holds a control character");
        }
        provider.headers.push((header.key.clone(), Secret::new(value.trim().to_owned())));
    }
}
