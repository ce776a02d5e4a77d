//! One configuration file, taken apart: the entries of its servers, and what is ours beside them.

use std::collections::HashMap;

use surehand_model::Json;
use surehand_schema::nearest;

use super::jsonc::{Member, Node, Value};
use super::reporter::{About, Reporter};
use super::settings::Severity;
use super::shown::is_hidden;

/// What may stand at the top of a file of ours.
const KNOWN: &[&str] =
    &["mcpServers", "model", "providers", "policy", "limits", "audit", "sandbox", "gateway"];

/// What other applications put there, which means nothing here.
const ELSEWHERE: &[&str] = &["$schema", "inputs", "version", "name", "description"];

/// How many servers one file may describe.
const SERVER_LIMIT: usize = 1000;

/// A file, taken apart and not yet judged.
#[derive(Clone, Debug, Default)]
pub(super) struct ConfigFile {
    /// Name, place of the name, entry; in their order, each name once.
    pub(super) servers: Vec<Member>,
    pub(super) model: Option<Node>,
    pub(super) providers: Vec<Member>,
    pub(super) limits: Vec<Member>,
    pub(super) audit: Option<Node>,
    pub(super) policy: Option<Json>,
    pub(super) sandbox: Option<Json>,
    pub(super) gateway: Option<Json>,
}

/// Takes a file apart. Whatever has the wrong shape is reported and left out.
pub(super) fn read(root: &Node, reporter: &mut Reporter<'_>) -> ConfigFile {
    let mut file = ConfigFile::default();
    let Some(members) = root.members() else {
        let what = format!("the file holds {} and no object", root.kind());
        reporter.say(Severity::Error, root, About::default(), what, "begin with { \"mcpServers\": { … } }");
        return file;
    };
    report_duplicates(root, &mut Vec::new(), reporter);

    let containers = containers(root);
    for container in &containers {
        file.servers.extend(entries_of(container, reporter));
    }
    let is_root_map = containers.is_empty();
    for member in members {
        let about = About { server: None, key: Some(&member.key) };
        let node = &member.value;
        match member.key.as_str() {
            "model" => file.model = Some(node.clone()),
            "providers" => file.providers = object(member, reporter),
            "limits" => file.limits = object(member, reporter),
            "audit" => file.audit = Some(node.clone()),
            "policy" => file.policy = part(member, reporter),
            "sandbox" => file.sandbox = part(member, reporter),
            "gateway" => file.gateway = part(member, reporter),
            key if ELSEWHERE.contains(&key) => {}
            _ if is_root_map && looks_like_entry(node) => file.servers.push(member.clone()),
            key if is_container_key(key) && node.members().is_some() => {}
            "mcp" if containers.iter().any(|container| contains(node, container)) => {}
            key if is_container_key(key) => {
                let what = format!("it is {} and no object, so no server was read from it", node.kind());
                reporter.say(Severity::Error, node, about, what, "write { \"NAME\": { \"command\": … } }");
            }
            key => {
                let known = nearest(key, KNOWN.iter().copied());
                let hint = known.first().map(|known| format!("did you mean `{known}`?")).unwrap_or_default();
                let severity = if known.is_empty() { Severity::Info } else { Severity::Warning };
                reporter.say(severity, node, about, "an unknown key, passed over", hint);
            }
        }
    }
    keep_last_of_each_name(&mut file.servers, reporter);
    file
}

/// The objects whose members are servers, in their order: `mcpServers`, `servers`, `context_servers`, and each of the first two
/// within `mcp`. Empty where the file is itself a map of servers.
pub(super) fn containers(root: &Node) -> Vec<&Node> {
    let mut found = Vec::new();
    for member in root.members().unwrap_or_default() {
        let node = &member.value;
        if node.members().is_none() || looks_like_entry(node) {
            continue;
        }
        if is_container_key(&member.key) {
            found.push(node);
        } else if member.key == "mcp" {
            let inner = node.members().unwrap_or_default().iter();
            found.extend(
                inner.filter(|m| is_container_key(&m.key) && m.value.members().is_some()).map(|m| &m.value),
            );
        }
    }
    found
}

/// Whether a member of the top is a server where the file is itself a map of servers.
pub(super) fn is_root_entry(member: &Member) -> bool {
    !KNOWN.contains(&member.key.as_str())
        && !ELSEWHERE.contains(&member.key.as_str())
        && looks_like_entry(&member.value)
}

fn is_container_key(key: &str) -> bool {
    matches!(normalised(key).as_str(), "mcpservers" | "servers" | "contextservers")
}

/// Whether an object has what only a server's entry has: a command or an address.
fn looks_like_entry(node: &Node) -> bool {
    let members = node.members().unwrap_or_default();
    members.iter().any(|member| match member.value.value {
        Value::String(_) => {
            matches!(
                normalised(&member.key).as_str(),
                "command" | "cmd" | "url" | "serverurl" | "httpurl" | "baseurl" | "bundled"
            )
        }
        Value::Array(_) => matches!(member.key.as_str(), "command" | "cmd"),
        _ => false,
    })
}

fn contains(node: &Node, inner: &Node) -> bool {
    node.span.start <= inner.span.start && inner.span.end <= node.span.end
}

fn entries_of(container: &Node, reporter: &mut Reporter<'_>) -> Vec<Member> {
    let mut entries = Vec::new();
    for member in container.members().unwrap_or_default() {
        match name_fault(&member.key) {
            None => entries.push(member.clone()),
            Some(fault) => {
                let about = About { server: Some(&member.key), key: None };
                reporter.say(
                    Severity::Error,
                    &member.value,
                    about,
                    format!("skipped: {fault}"),
                    "give it another name",
                );
            }
        }
    }
    entries
}

/// Why a text cannot be the name of a server.
pub(super) fn name_fault(name: &str) -> Option<&'static str> {
    if name.trim().is_empty() {
        Some("the name is empty")
    } else if name.chars().count() > 128 {
        Some("the name is longer than 128 characters")
    } else if name.chars().any(is_hidden) {
        Some("the name holds characters that cannot be seen")
    } else if name.trim() != name {
        Some("the name begins or ends with a blank")
    } else {
        None
    }
}

/// A key without its case and its separators, to recognise `http_url` and `httpUrl` as one.
pub(super) fn normalised(key: &str) -> String {
    key.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

fn object(member: &Member, reporter: &mut Reporter<'_>) -> Vec<Member> {
    match member.value.members() {
        Some(members) => members.to_vec(),
        None => {
            let what = format!("left out: it is {} and no object", member.value.kind());
            reporter.say(
                Severity::Error,
                &member.value,
                About { server: None, key: Some(&member.key) },
                what,
                "",
            );
            Vec::new()
        }
    }
}

fn part(member: &Member, reporter: &mut Reporter<'_>) -> Option<Json> {
    match member.value.value {
        Value::Object(_) => Some(member.value.to_json()),
        _ => {
            object(member, reporter);
            None
        }
    }
}

fn keep_last_of_each_name(servers: &mut Vec<Member>, reporter: &mut Reporter<'_>) {
    let last: HashMap<String, usize> =
        servers.iter().enumerate().map(|(at, member)| (member.key.clone(), at)).collect();
    let mut at = 0;
    servers.retain(|member| {
        let is_last = last.get(&member.key) == Some(&at);
        at += 1;
        if !is_last {
            let about = About { server: Some(&member.key), key: None };
            let what = "skipped: the name stands twice, and the later entry is used";
            reporter.say(Severity::Warning, &member.value, about, what, "rename one of them");
        }
        is_last
    });
    if let Some(first_over) = servers.get(SERVER_LIMIT) {
        let what = format!("skipped, and all after it: a file describes at most {SERVER_LIMIT} servers");
        reporter.say(
            Severity::Error,
            &first_over.value,
            About { server: Some(&first_over.key), key: None },
            what,
            "",
        );
        servers.truncate(SERVER_LIMIT);
    }
}

/// Says where a key stands twice, at any depth but among servers, which are reported with their names.
fn report_duplicates(node: &Node, path: &mut Vec<String>, reporter: &mut Reporter<'_>) {
    match &node.value {
        Value::Array(items) => items.iter().for_each(|item| report_duplicates(item, path, reporter)),
        Value::Object(members) => {
            let holds_servers = path.last().is_some_and(|key| is_container_key(key)) && path.len() <= 2;
            let last: HashMap<&str, usize> =
                members.iter().enumerate().map(|(at, member)| (member.key.as_str(), at)).collect();
            for (at, member) in members.iter().enumerate() {
                if !holds_servers && last.get(member.key.as_str()) != Some(&at) {
                    let key = path.iter().map(|key| format!("{key}.")).collect::<String>() + &member.key;
                    let about = About { server: None, key: Some(&key) };
                    // Two maps of servers are joined; of anything else the later counts.
                    let what = if is_container_key(&member.key) && path.is_empty() {
                        "the key stands twice; both are read"
                    } else {
                        "the key stands twice; the later is used"
                    };
                    reporter.say(Severity::Warning, &member.value, about, what, "remove one of them");
                }
                path.push(member.key.clone());
                report_duplicates(&member.value, path, reporter);
                path.pop();
            }
        }
        _ => {}
    }
}
