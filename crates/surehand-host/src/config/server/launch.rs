//! What an entry starts: a child, an address, or a bundled server.

use std::path::Path;

use surehand_model::Json;

use super::super::file::normalised;
use super::super::jsonc::{Member, Node, Value};
use super::super::settings::{Launch, Severity, ShownLaunch};
use super::super::{BUNDLED_SERVERS, shown, variables};
use super::keys::Key;
use super::values::{MapKind, parse_address};
use super::{EntryReader, Members};

impl EntryReader<'_, '_, '_> {
    pub(super) fn launch(
        &mut self,
        entry: &Node,
        members: &Members<'_>,
        shown: &mut ShownLaunch,
    ) -> Option<Launch> {
        let find = |wanted: Key| members.iter().find(|(key, _)| *key == wanted).map(|(_, member)| *member);
        let (command, url, bundled) = (find(Key::Command), find(Key::Url), find(Key::Bundled));
        let kind = match find(Key::Type) {
            Some(member) => self.kind(member)?,
            None => None,
        };
        let kind = match (kind, bundled, command, url) {
            (Some(Kind::Child), _, None, Some(_)) => {
                self.fault(
                    entry,
                    Some("type"),
                    "it says stdio, but there is a `url` and no `command`",
                    "make it \"http\"",
                );
                return None;
            }
            (Some(Kind::Http | Kind::Sse), _, Some(_), None) => {
                self.fault(
                    entry,
                    Some("type"),
                    "it says http, but there is a `command` and no `url`",
                    "make it \"stdio\"",
                );
                return None;
            }
            (None, Some(_), None, None) => Kind::Bundled,
            (None, None, Some(_), None) => Kind::Child,
            (None, None, None, Some(_)) => Kind::Http,
            (None, None, None, None) if BUNDLED_SERVERS.contains(&self.name) => Kind::Bundled,
            (None, None, None, None) => {
                self.fault(
                    entry,
                    None,
                    "the entry has neither a `command` nor a `url`",
                    "give it one of them, or remove it",
                );
                return None;
            }
            (Some(kind), ..) => kind,
            (None, ..) => {
                self.fault(
                    entry,
                    None,
                    "the entry says in more than one way what to start",
                    "keep one of `command`, `url` and `bundled`",
                );
                return None;
            }
        };
        match kind {
            Kind::Child => self.child(entry, members, shown),
            Kind::Http | Kind::Sse => self.http(entry, members, kind == Kind::Sse, shown),
            Kind::Bundled => self.bundled(entry, members, shown),
        }
    }

    /// `None` is a fault; `Some(None)` a word we do not know, from which nothing follows.
    fn kind(&mut self, member: &Member) -> Option<Option<Kind>> {
        let Some(text) = member.value.text() else {
            self.passed_over(member, "a text");
            return Some(None);
        };
        Some(Some(match normalised(text).as_str() {
            "stdio" | "local" | "command" | "process" => Kind::Child,
            "http" | "https" | "streamablehttp" | "httpstream" | "streamable" | "remote" => Kind::Http,
            "sse" | "httpsse" => Kind::Sse,
            "bundled" | "builtin" | "inprocess" => Kind::Bundled,
            "ws" | "wss" | "websocket" => {
                self.fault(
                    &member.value,
                    Some(&member.key),
                    "servers over WebSocket are not supported",
                    "use its http address",
                );
                return None;
            }
            _ => {
                let what = format!("passed over: `{text}` is no kind of server");
                self.say(
                    Severity::Warning,
                    &member.value,
                    Some(&member.key),
                    what,
                    "it is one of \"stdio\", \"http\", \"sse\"",
                );
                return Some(None);
            }
        }))
    }

    fn child(&mut self, entry: &Node, members: &Members<'_>, shown: &mut ShownLaunch) -> Option<Launch> {
        let find = |wanted: Key| members.iter().find(|(key, _)| *key == wanted).map(|(_, member)| *member);
        let mut words: Vec<(String, &Node, String)> = Vec::new();
        match find(Key::Command) {
            Some(member) => match &member.value.value {
                Value::String(text) => words.push((member.key.clone(), &member.value, text.clone())),
                Value::Array(_) => words.extend(self.list(member)?),
                _ => {
                    let what = format!("it is {}, not a text", member.value.kind());
                    self.fault(&member.value, Some(&member.key), what, "");
                    return None;
                }
            },
            None => {
                self.fault(entry, None, "there is no `command`", "");
                return None;
            }
        }
        if let Some(member) = find(Key::Args) {
            match &member.value.value {
                Value::Array(_) => words.extend(self.list(member)?),
                Value::String(text) => {
                    let hint = "write a list of texts, one for each argument";
                    self.say(
                        Severity::Warning,
                        &member.value,
                        Some(&member.key),
                        "a text and no list; taken as one argument",
                        hint,
                    );
                    words.push((member.key.clone(), &member.value, text.clone()));
                }
                Value::Null => {}
                _ => {
                    let what = format!("it is {}, not a list of texts", member.value.kind());
                    self.fault(&member.value, Some(&member.key), what, "");
                    return None;
                }
            }
        }
        let env = find(Key::Env).map_or(Some(Vec::new()), |member| self.map(member, MapKind::Env));
        let cwd = find(Key::Cwd).map_or(Some(None), |member| self.folder(member).map(Some));

        shown.kind = "stdio".into();
        shown.command = words.first().map(|(.., text)| variables::covered(text)).unwrap_or_default();
        shown.target = shown::command_line(&words.iter().map(|(.., text)| text.clone()).collect::<Vec<_>>());
        let mut filled = Vec::new();
        for (index, (key, node, text)) in words.iter().enumerate() {
            self.warn_of_control_characters(key, node, text);
            let text = if index == 0 { self.trimmed(key, node, text) } else { text.clone() };
            let value = self.filled(key, node, &text).unwrap_or_default();
            if value.contains('\0') {
                self.fault(node, Some(key), "it holds a NUL character", "");
            }
            filled.push(value);
        }
        let (env, cwd) = (env?, cwd?);
        shown.env = env.iter().map(|pair| (pair.name.clone(), pair.shown.clone())).collect();
        if !self.faults.is_empty() {
            return None;
        }
        let mut filled = filled.into_iter();
        let command = filled.next().map(|command| self.at_home(&command)).unwrap_or_default();
        if command.trim().is_empty() {
            self.fault(entry, Some("command"), "it is empty", "");
            return None;
        }
        Some(Launch::Child {
            command,
            args: filled.collect(),
            env: env.into_iter().map(|pair| (pair.name, pair.value)).collect(),
            cwd: cwd.or_else(|| self.context.default_cwd.map(Path::to_owned)),
        })
    }

    fn http(
        &mut self,
        entry: &Node,
        members: &Members<'_>,
        sse: bool,
        shown: &mut ShownLaunch,
    ) -> Option<Launch> {
        let find = |wanted: Key| members.iter().find(|(key, _)| *key == wanted).map(|(_, member)| *member);
        let Some(member) = find(Key::Url) else {
            self.fault(entry, None, "there is no `url`", "");
            return None;
        };
        let headers =
            find(Key::Headers).map_or(Some(Vec::new()), |member| self.map(member, MapKind::Headers));
        let Some(template) = member.value.text() else {
            let what = format!("it is {}, not a text", member.value.kind());
            self.fault(&member.value, Some(&member.key), what, "");
            return None;
        };
        let template = self.trimmed(&member.key, &member.value, template);
        shown.kind = if sse { "sse" } else { "http" }.into();
        shown.target = shown::address(&template);
        let filled = self.filled(&member.key, &member.value, &template);
        let headers = headers?;
        shown.headers = headers.iter().map(|pair| (pair.name.clone(), pair.shown.clone())).collect();
        let url = match parse_address(&filled?) {
            Ok(url) => url,
            Err(why) => {
                self.fault(
                    &member.value,
                    Some(&member.key),
                    why,
                    "write an address such as \"https://host/mcp\"",
                );
                return None;
            }
        };
        for (key, member) in members {
            if matches!(key, Key::Args | Key::Env | Key::Cwd | Key::Command) {
                self.say(
                    Severity::Warning,
                    &member.value,
                    Some(&member.key),
                    "has no effect: the server is reached by its `url`",
                    "",
                );
            }
        }
        // By a wide-spread habit an address that ends so speaks the older transport.
        let sse = sse || (find(Key::Type).is_none() && url.path().trim_end_matches('/').ends_with("/sse"));
        if sse {
            shown.kind = "sse".into();
        }
        Some(Launch::Http {
            url,
            headers: headers.into_iter().map(|pair| (pair.name, pair.value)).collect(),
            sse,
        })
    }

    fn bundled(&mut self, entry: &Node, members: &Members<'_>, shown: &mut ShownLaunch) -> Option<Launch> {
        let find = |wanted: Key| members.iter().find(|(key, _)| *key == wanted).map(|(_, member)| *member);
        let name = match find(Key::Bundled) {
            Some(member) => match member.value.text() {
                Some(text) => text.to_owned(),
                None => {
                    self.fault(&member.value, Some("bundled"), "it is not the name of a bundled server", "");
                    return None;
                }
            },
            None => self.name.to_owned(),
        };
        if !BUNDLED_SERVERS.contains(&name.as_str()) {
            let known = BUNDLED_SERVERS.join("`, `");
            self.fault(
                entry,
                Some("bundled"),
                format!("there is no bundled server `{name}`"),
                format!("there are `{known}`"),
            );
            return None;
        }
        shown.kind = "bundled".into();
        shown.target = name.clone();
        let options = match find(Key::Args) {
            None => Json::Object(Vec::new()),
            Some(member) if member.value.members().is_some() => self.options(&member.key, &member.value)?,
            Some(member) => {
                let what =
                    format!("it is {}; a bundled server takes an object of options", member.value.kind());
                self.fault(&member.value, Some(&member.key), what, "");
                return None;
            }
        };
        Some(Launch::Bundled { name, options })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Child,
    Http,
    Sse,
    Bundled,
}
