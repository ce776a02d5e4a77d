//! The members of an entry: which names mean what, and what a switch says.

use super::super::file::normalised;
use super::super::jsonc::{Member, Node, Value};

/// The names under which a member is read without a word, first the one that our own files use.
pub(super) const KEYS: &[(Key, &str, &[&str])] = &[
    (Key::Command, "command", &["cmd"]),
    (Key::Args, "args", &["arguments"]),
    (Key::Env, "env", &["environment", "envs"]),
    (Key::Cwd, "cwd", &["workingdirectory", "workdir"]),
    (Key::Url, "url", &["serverurl", "httpurl", "baseurl", "uri", "endpoint"]),
    (Key::Headers, "headers", &["httpheaders", "requestheaders"]),
    (Key::Type, "type", &["transport", "transporttype"]),
    (Key::Disabled, "disabled", &[]),
    (Key::Enabled, "enabled", &[]),
    (
        Key::Timeout,
        "timeout",
        &["calltimeout", "tooltimeout", "requesttimeout", "timeoutms", "tooltimeoutms"],
    ),
    (Key::TimeoutSeconds, "toolTimeoutSec", &[]),
    (Key::StartupTimeout, "startupTimeout", &["startuptimeoutms", "connecttimeout", "inittimeout"]),
    (Key::StartupSeconds, "startupTimeoutSec", &[]),
    (Key::Parallel, "parallel", &["supportsparalleltoolcalls"]),
    (Key::OnlyTools, "includeTools", &["enabledtools", "allowedtools"]),
    (Key::ExceptTools, "excludeTools", &["disabledtools", "excludedtools"]),
    (Key::Bundled, "bundled", &[]),
    (Key::Login, "oauth", &[]),
];

/// Members that mean something to other applications or to people, and nothing here.
pub(super) const ELSEWHERE: &[&str] = &[
    "description",
    "name",
    "title",
    "icon",
    "note",
    "notes",
    "comment",
    "version",
    "gallery",
    "source",
    "tags",
    "auth",
    "scopes",
    "sandbox",
    "metadata",
    "$schema",
    "//",
];

/// Members that grant calls elsewhere.
pub(super) const GRANTS: &[&str] =
    &["alwaysallow", "autoapprove", "trust", "autoallow", "defaulttoolsapprovalmode"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Command,
    Args,
    Env,
    Cwd,
    Url,
    Headers,
    Type,
    Disabled,
    Enabled,
    Timeout,
    TimeoutSeconds,
    StartupTimeout,
    StartupSeconds,
    Parallel,
    OnlyTools,
    ExceptTools,
    Bundled,
    Login,
}

/// What an entry says about being switched on, if anything; and whether it says nothing else.
pub(in super::super) struct Switch {
    pub(in super::super) enabled: Option<bool>,
    pub(in super::super) is_all: bool,
}

/// Looks at the switches of an entry only.
pub(in super::super) fn switch_of(entry: &Node) -> Switch {
    let members = entry.members().unwrap_or_default();
    let said = |wanted: Key| {
        members
            .iter()
            .rev()
            .find(|member| key_of(&member.key) == Some(wanted))
            .and_then(|member| truth(&member.value))
    };
    let enabled = match (said(Key::Disabled), said(Key::Enabled)) {
        (Some(true), _) => Some(false),
        (_, Some(enabled)) => Some(enabled),
        (Some(false), None) => Some(true),
        (None, None) => None,
    };
    let is_switch = |member: &Member| matches!(key_of(&member.key), Some(Key::Disabled | Key::Enabled));
    Switch { enabled, is_all: !members.is_empty() && members.iter().all(is_switch) }
}

pub(super) fn key_of(key: &str) -> Option<Key> {
    let plain = normalised(key);
    KEYS.iter()
        .find(|(_, spelling, others)| normalised(spelling) == plain || others.contains(&plain.as_str()))
        .map(|(key, ..)| *key)
}

pub(super) fn spelling(key: Key) -> &'static str {
    KEYS.iter().find(|(known, ..)| *known == key).map_or("", |(_, spelling, _)| spelling)
}

pub(super) fn truth(node: &Node) -> Option<bool> {
    match &node.value {
        Value::Bool(truth) => Some(*truth),
        Value::Number(text) if text == "1" => Some(true),
        Value::Number(text) if text == "0" => Some(false),
        Value::String(text) if text.eq_ignore_ascii_case("true") => Some(true),
        Value::String(text) if text.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}
