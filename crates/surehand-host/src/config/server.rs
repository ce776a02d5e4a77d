//! One server's entry, in whatever spelling a README shows it, read into [`ServerSettings`].
//!
//! Nothing in an entry is guessed at in silence: what is read under another name, turned into text or passed over is reported,
//! and an entry that cannot be used is kept in the list with its reason.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use surehand_model::{Json, Secret};
use surehand_schema::nearest;

use super::environment::Environment;
use super::file::normalised;
use super::jsonc::{Member, Node, Value};
use super::reporter::{About, Reporter};
use super::settings::{Launch, LimitSettings, Scope, ServerSettings, Severity, ShownLaunch, ToolFilter};
use super::{BUNDLED_SERVERS, shown, variables};

/// The names under which a member is read without a word, first the one that our own files use.
const KEYS: &[(Key, &str, &[&str])] = &[
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
];

/// Members that mean something to other applications or to people, and nothing here.
const ELSEWHERE: &[&str] = &[
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
    "oauth",
    "auth",
    "scopes",
    "sandbox",
    "metadata",
    "$schema",
    "//",
];

/// Members that grant calls elsewhere.
const GRANTS: &[&str] = &["alwaysallow", "autoapprove", "trust", "autoallow", "defaulttoolsapprovalmode"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
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
}

/// What an entry is read against.
pub(super) struct Context<'a> {
    pub(super) environment: &'a Environment,
    pub(super) limits: &'a LimitSettings,
    pub(super) scope: Scope,
    /// The file the entry stands in.
    pub(super) file: &'a Path,
    /// Where a relative working directory begins.
    pub(super) base: &'a Path,
    /// The working directory of a child whose entry names none; `None` for ours.
    pub(super) default_cwd: Option<&'a Path>,
    pub(super) home: &'a Path,
}

/// What an entry says about being switched on, if anything; and whether it says nothing else.
pub(super) struct Switch {
    pub(super) enabled: Option<bool>,
    pub(super) is_all: bool,
}

/// Looks at the switches of an entry only.
pub(super) fn switch_of(entry: &Node) -> Switch {
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

/// Reads one entry.
pub(super) fn read(
    name: &str,
    entry: &Node,
    context: &Context<'_>,
    reporter: &mut Reporter<'_>,
) -> ServerSettings {
    let enabled = switch_of(entry).enabled.unwrap_or(true);
    let mut reader = EntryReader { name, context, reporter, enabled, faults: Vec::new() };
    let mut server = ServerSettings {
        name: name.to_owned(),
        launch: Launch::Unusable,
        shown: ShownLaunch::default(),
        scope: context.scope,
        file: Some(context.file.to_owned()),
        enabled,
        startup_timeout: context.limits.startup_timeout,
        call_timeout: context.limits.call_timeout,
        parallel: true,
        tools: ToolFilter::default(),
        problem: None,
        entry: entry.to_json(),
    };
    if entry.members().is_some() {
        let members = reader.sort(entry);
        reader.fill_common(&members, &mut server);
        let launch = reader.launch(entry, &members, &mut server.shown);
        server.launch = launch.unwrap_or(Launch::Unusable);
    } else {
        let what = format!("the entry is {} and no object", entry.kind());
        reader.fault(entry, None, what, "write { \"command\": … } or { \"url\": … }");
    }
    if !reader.faults.is_empty() {
        server.problem = Some(reader.faults.join("; "));
        server.launch = Launch::Unusable;
    }
    server
}

/// The members of an entry by what they mean.
type Members<'n> = Vec<(Key, &'n Member)>;

struct EntryReader<'a, 'r, 't> {
    name: &'a str,
    context: &'a Context<'a>,
    reporter: &'r mut Reporter<'t>,
    enabled: bool,
    faults: Vec<String>,
}

impl EntryReader<'_, '_, '_> {
    fn say(
        &mut self,
        severity: Severity,
        node: &Node,
        key: Option<&str>,
        what: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.reporter.say(severity, node, About { server: Some(self.name), key }, what, hint);
    }

    /// Something for which the server must not be started.
    fn fault(&mut self, node: &Node, key: Option<&str>, what: impl Into<String>, hint: impl Into<String>) {
        let (what, hint) = (what.into(), hint.into());
        // Nobody waits for a server that is switched off.
        let severity = if self.enabled { Severity::Error } else { Severity::Info };
        self.say(severity, node, key, format!("not started: {what}"), hint.clone());
        let key = key.map(|key| format!("`{key}`: ")).unwrap_or_default();
        let hint = if hint.is_empty() { hint } else { format!(" ({hint})") };
        self.faults.push(format!("{key}{what}{hint}"));
    }

    /// Finds out what each member means. Of two members with one meaning the one in our own spelling counts, else the later.
    fn sort<'n>(&mut self, entry: &'n Node) -> Members<'n> {
        let mut sorted: Members<'n> = Vec::new();
        for member in entry.members().unwrap_or_default() {
            let Some(key) = key_of(&member.key) else {
                self.unknown(member);
                continue;
            };
            let canonical = spelling(key);
            if member.key != canonical {
                let what = format!("read as `{canonical}`");
                self.say(Severity::Info, &member.value, Some(&member.key), what, "");
            }
            match sorted.iter_mut().find(|(known, _)| *known == key) {
                None => sorted.push((key, member)),
                Some(slot) if slot.1.key == member.key => slot.1 = member,
                Some(slot) => {
                    let (used, unused) =
                        if slot.1.key == canonical { (slot.1, member) } else { (member, slot.1) };
                    slot.1 = used;
                    let what = format!("passed over: `{}` says the same thing", used.key);
                    self.say(Severity::Warning, &unused.value, Some(&unused.key), what, "remove one of them");
                }
            }
        }
        sorted
    }

    fn unknown(&mut self, member: &Member) {
        let key = normalised(&member.key);
        if ELSEWHERE.contains(&key.as_str()) {
            return;
        }
        if GRANTS.contains(&key.as_str()) {
            let what = "grants nothing here: the `policy` part decides which calls run without asking";
            return self.say(Severity::Info, &member.value, Some(&member.key), what, "");
        }
        if key == "envfile" {
            let hint = "name the variables in `env`, as \"NAME\": \"${NAME}\"";
            return self.say(
                Severity::Warning,
                &member.value,
                Some(&member.key),
                "files of variables are not read",
                hint,
            );
        }
        let known = nearest(&member.key, KEYS.iter().map(|(_, spelling, _)| *spelling));
        let hint = known.first().map(|known| format!("did you mean `{known}`?")).unwrap_or_default();
        let severity = if known.is_empty() { Severity::Info } else { Severity::Warning };
        self.say(severity, &member.value, Some(&member.key), "an unknown key, passed over", hint);
    }

    fn fill_common(&mut self, members: &Members<'_>, server: &mut ServerSettings) {
        for (key, member) in members {
            match key {
                Key::Disabled | Key::Enabled => self.check_switch(member),
                Key::Timeout => self.duration(member, 1, &mut server.call_timeout),
                Key::TimeoutSeconds => self.duration(member, 1000, &mut server.call_timeout),
                Key::StartupTimeout => self.duration(member, 1, &mut server.startup_timeout),
                Key::StartupSeconds => self.duration(member, 1000, &mut server.startup_timeout),
                Key::Parallel => match truth(&member.value) {
                    Some(parallel) => server.parallel = parallel,
                    None => self.passed_over(member, "true or false"),
                },
                Key::OnlyTools => match self.names(member) {
                    Some(names) => server.tools.only = Some(names),
                    // A limit that cannot be read must not turn into no limit.
                    None => self.fault(&member.value, Some(&member.key), "not a list of tool names", ""),
                },
                Key::ExceptTools => match self.names(member) {
                    Some(names) => server.tools.except = names,
                    None => self.fault(&member.value, Some(&member.key), "not a list of tool names", ""),
                },
                _ => {}
            }
        }
        let both = |wanted| {
            members.iter().find(|(key, _)| *key == wanted).and_then(|(_, member)| truth(&member.value))
        };
        if let (Some(disabled), Some(enabled)) = (both(Key::Disabled), both(Key::Enabled))
            && disabled == enabled
        {
            let member = members.iter().find(|(key, _)| *key == Key::Enabled).map(|(_, member)| *member);
            if let Some(member) = member {
                let what = "contradicts `disabled`; the server stays off";
                self.say(Severity::Warning, &member.value, Some(&member.key), what, "remove one of them");
            }
        }
    }

    fn check_switch(&mut self, member: &Member) {
        match (&member.value.value, truth(&member.value)) {
            (Value::Bool(_), _) => {}
            (_, Some(truth)) => {
                self.say(
                    Severity::Warning,
                    &member.value,
                    Some(&member.key),
                    format!("read as {truth}"),
                    "write it without quotes",
                );
            }
            (_, None) => self.passed_over(member, "true or false"),
        }
    }

    fn passed_over(&mut self, member: &Member, wanted: &str) {
        let what = format!("passed over: it is {}, not {wanted}", member.value.kind());
        self.say(Severity::Warning, &member.value, Some(&member.key), what, "");
    }

    fn names(&mut self, member: &Member) -> Option<Vec<String>> {
        match &member.value.value {
            Value::Array(items) => items.iter().map(|item| item.text().map(str::to_owned)).collect(),
            _ => None,
        }
    }

    fn duration(&mut self, member: &Member, unit: u64, slot: &mut Duration) {
        match read_duration(&member.value, unit) {
            Ok(duration) => {
                *slot = duration;
                if duration < Duration::from_secs(1) && matches!(member.value.value, Value::Number(_)) {
                    let what = format!("a number is milliseconds, so this is {} s", duration.as_secs_f64());
                    let hint = "if seconds were meant, write it as a text with its unit, such as \"30s\"";
                    self.say(Severity::Warning, &member.value, Some(&member.key), what, hint);
                }
            }
            Err(why) => {
                let what = format!("passed over: {why}; {} s hold", slot.as_secs_f64());
                self.say(
                    Severity::Warning,
                    &member.value,
                    Some(&member.key),
                    what,
                    "write milliseconds, or a text such as \"30s\"",
                );
            }
        }
    }

    fn launch(&mut self, entry: &Node, members: &Members<'_>, shown: &mut ShownLaunch) -> Option<Launch> {
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

    /// Options with every text filled in; `None` where one cannot be, which is reported.
    fn options(&mut self, key: &str, node: &Node) -> Option<Json> {
        Some(match &node.value {
            Value::String(text) => {
                let filled = self.filled(key, node, text)?;
                Json::String(self.at_home(&filled))
            }
            Value::Array(items) => {
                let items: Vec<Option<Json>> = items.iter().map(|item| self.options(key, item)).collect();
                Json::Array(items.into_iter().collect::<Option<_>>()?)
            }
            Value::Object(members) => {
                let members: Vec<Option<(String, Json)>> =
                    members.iter().map(|m| Some((m.key.clone(), self.options(key, &m.value)?))).collect();
                Json::Object(members.into_iter().collect::<Option<_>>()?)
            }
            _ => node.to_json(),
        })
    }

    /// The texts of a list; numbers and truths become texts.
    fn list<'n>(&mut self, member: &'n Member) -> Option<Vec<(String, &'n Node, String)>> {
        let Value::Array(items) = &member.value.value else { return Some(Vec::new()) };
        let mut words = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let place = format!("{}[{index}]", member.key);
            let text = self.as_text(&place, item)?;
            words.push((place, item, text));
        }
        Some(words)
    }

    fn as_text(&mut self, key: &str, node: &Node) -> Option<String> {
        match &node.value {
            Value::String(text) => Some(text.clone()),
            Value::Number(_) | Value::Bool(_) => {
                let text = node.to_json().to_string();
                let what = format!("{} and no text; read as \"{text}\"", node.kind());
                self.say(Severity::Warning, node, Some(key), what, "put it into double quotes");
                Some(text)
            }
            _ => {
                self.fault(node, Some(key), format!("{} where a text must stand", node.kind()), "");
                None
            }
        }
    }

    fn map(&mut self, member: &Member, kind: MapKind) -> Option<Vec<Pair>> {
        let members = match &member.value.value {
            Value::Object(members) => members,
            Value::Null => return Some(Vec::new()),
            _ => {
                let what = format!("it is {} and no object", member.value.kind());
                self.fault(&member.value, Some(&member.key), what, "write { \"NAME\": \"value\" }");
                return None;
            }
        };
        let mut pairs: Vec<Pair> = Vec::new();
        let mut is_whole = true;
        // Of a name that stands twice the later counts; the file's reader has said so.
        let last: HashMap<&str, usize> =
            members.iter().enumerate().map(|(at, m)| (m.key.as_str(), at)).collect();
        let counting = members.iter().enumerate().filter(|(at, m)| last.get(m.key.as_str()) == Some(at));
        for (_, inner) in counting {
            let place = format!("{}.{}", member.key, inner.key);
            if let Some(fault) = kind.name_fault(&inner.key) {
                self.fault(&inner.value, Some(&place), fault, "");
                is_whole = false;
                continue;
            }
            if inner.value.value == Value::Null {
                self.say(
                    Severity::Warning,
                    &inner.value,
                    Some(&place),
                    "null, left out",
                    "write \"\" for an empty value",
                );
                continue;
            }
            let Some(text) = self.as_text(&place, &inner.value) else {
                is_whole = false;
                continue;
            };
            self.warn_of_hidden_blanks(&place, &inner.value, &text);
            if kind == MapKind::Env && looks_like_windows_path(&text) {
                self.warn_of_control_characters(&place, &inner.value, &text);
            }
            match self.filled(&place, &inner.value, &text) {
                None => is_whole = false,
                Some(value) => match kind.value_fault(&value) {
                    Some(fault) => {
                        self.fault(&inner.value, Some(&place), fault, "");
                        is_whole = false;
                    }
                    None => {
                        let value = if kind == MapKind::Headers { value.trim().to_owned() } else { value };
                        pairs.push(Pair {
                            name: inner.key.clone(),
                            value: Secret::new(value),
                            shown: shown::value(&text),
                        });
                    }
                },
            }
        }
        is_whole.then_some(pairs)
    }

    fn filled(&mut self, key: &str, node: &Node, template: &str) -> Option<String> {
        match variables::fill(template, self.context.environment) {
            Ok(text) => Some(text),
            Err(faults) => {
                for fault in faults {
                    self.fault(node, Some(key), fault.to_string(), fault.hint());
                }
                None
            }
        }
    }

    fn folder(&mut self, member: &Member) -> Option<PathBuf> {
        let Some(text) = member.value.text() else {
            let what = format!("it is {}, not a text", member.value.kind());
            self.fault(&member.value, Some(&member.key), what, "");
            return None;
        };
        self.warn_of_control_characters(&member.key, &member.value, text);
        let filled = self.filled(&member.key, &member.value, text)?;
        Some(self.context.base.join(self.at_home(&filled)))
    }

    /// A text that begins with `~/`, with the home directory in its place.
    fn at_home(&self, text: &str) -> String {
        match text.strip_prefix('~') {
            Some("") => self.context.home.to_string_lossy().into_owned(),
            Some(rest) if rest.starts_with('/') => format!("{}{rest}", self.context.home.display()),
            _ => text.to_owned(),
        }
    }

    fn trimmed(&mut self, key: &str, node: &Node, text: &str) -> String {
        let blank = |c: char| c.is_whitespace() || c == '\u{200b}' || c == '\u{feff}';
        let trimmed = text.trim_matches(blank);
        if trimmed.len() != text.len() {
            self.say(Severity::Warning, node, Some(key), "blanks at its ends, left out", "");
        }
        trimmed.to_owned()
    }

    fn warn_of_hidden_blanks(&mut self, key: &str, node: &Node, text: &str) {
        let hidden = |c: char| matches!(c, '\u{a0}' | '\u{200b}' | '\u{feff}' | '\u{2060}');
        if text.contains(hidden) || text.trim() != text {
            let what = "it holds blanks at its ends or blanks that cannot be seen";
            self.say(Severity::Warning, node, Some(key), what, "remove them unless they are meant");
        }
    }

    /// A tab or a line break in a command line is nearly always a Windows path whose backslashes were not doubled.
    fn warn_of_control_characters(&mut self, key: &str, node: &Node, text: &str) {
        if !text.contains(|c: char| c.is_control()) {
            return;
        }
        let doubled: String = text
            .chars()
            .map(|c| match c {
                '\t' => "\\\\t".to_owned(),
                '\n' => "\\\\n".to_owned(),
                '\r' => "\\\\r".to_owned(),
                '\u{8}' => "\\\\b".to_owned(),
                '\u{c}' => "\\\\f".to_owned(),
                '\\' => "\\\\".to_owned(),
                c => c.to_string(),
            })
            .collect();
        let what = "it holds control characters, such as a tab from `\\t` or a line break from `\\n`";
        let hint =
            format!("if a path is meant, double its backslashes: \"{}\"", shown::covered_text(&doubled));
        self.say(Severity::Warning, node, Some(key), what, hint);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Child,
    Http,
    Sse,
    Bundled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MapKind {
    Env,
    Headers,
}

impl MapKind {
    fn name_fault(self, name: &str) -> Option<&'static str> {
        match self {
            Self::Env if name.is_empty() || name.contains(['=', '\0']) => {
                Some("no name that a variable can have")
            }
            Self::Headers if !is_header_name(name) => Some("no name that a header can have"),
            _ => None,
        }
    }

    fn value_fault(self, value: &str) -> Option<&'static str> {
        match self {
            Self::Env if value.contains('\0') => Some("its value holds a NUL character"),
            // Blanks at the ends, such as the line break of a key that was read from a file, are left out below.
            Self::Headers if value.trim().contains(|c: char| c.is_control() && c != '\t') => {
                Some("its value holds a line break or another control character")
            }
            _ => None,
        }
    }
}

/// A variable or a header.
struct Pair {
    name: String,
    value: Secret<String>,
    shown: String,
}

/// Whether a text can be a header's name. Source: RFC 9110, section 5.6.2.
pub(super) fn is_header_name(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// An `http` or `https` address with a host.
pub(super) fn parse_address(text: &str) -> Result<url::Url, String> {
    let url = url::Url::parse(text).map_err(|error| format!("it is no address: {error}"))?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(url),
        "http" | "https" => Err("it is an address without a host".into()),
        // The scheme is not named: it may be the beginning of what a variable holds.
        _ => Err("it begins with neither http:// nor https://".into()),
    }
}

/// A number of units (`unit` milliseconds each) or a text such as `30s`, `500ms`, `2m`, `1h`. More than zero, at most a year.
pub(super) fn read_duration(node: &Node, unit: u64) -> Result<Duration, String> {
    const YEAR: f64 = 365.0 * 24.0 * 3600.0 * 1000.0;
    let (number, unit) = match &node.value {
        Value::Number(text) => (text.as_str(), unit as f64),
        Value::String(text) => {
            let text = text.trim();
            let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
            let unit = match text[split..].trim() {
                "" => unit as f64,
                "ms" => 1.0,
                "s" | "sec" => 1000.0,
                "m" | "min" => 60_000.0,
                "h" => 3_600_000.0,
                other => return Err(format!("`{other}` is no unit of time")),
            };
            (&text[..split], unit)
        }
        _ => return Err(format!("it is {} and no length of time", node.kind())),
    };
    let milliseconds = number.parse::<f64>().map_err(|_| "it is no length of time".to_owned())? * unit;
    if milliseconds > 0.0 && milliseconds <= YEAR {
        Ok(Duration::from_micros((milliseconds * 1000.0) as u64))
    } else {
        Err("it is not between zero and a year".to_owned())
    }
}

fn key_of(key: &str) -> Option<Key> {
    let plain = normalised(key);
    KEYS.iter()
        .find(|(_, spelling, others)| normalised(spelling) == plain || others.contains(&plain.as_str()))
        .map(|(key, ..)| *key)
}

fn spelling(key: Key) -> &'static str {
    KEYS.iter().find(|(known, ..)| *known == key).map_or("", |(_, spelling, _)| spelling)
}

fn truth(node: &Node) -> Option<bool> {
    match &node.value {
        Value::Bool(truth) => Some(*truth),
        Value::Number(text) if text == "1" => Some(true),
        Value::Number(text) if text == "0" => Some(false),
        Value::String(text) if text.eq_ignore_ascii_case("true") => Some(true),
        Value::String(text) if text.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

fn looks_like_windows_path(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests;
