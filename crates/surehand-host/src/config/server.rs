//! One server's entry, in whatever spelling a README shows it, read into [`ServerSettings`].
//!
//! Nothing in an entry is guessed at in silence: what is read under another name, turned into text or passed over is reported,
//! and an entry that cannot be used is kept in the list with its reason.

mod keys;
mod launch;
mod login;
mod values;

use std::path::Path;
use std::time::Duration;

use surehand_schema::nearest;

use self::keys::{ELSEWHERE, GRANTS, KEYS, Key, key_of, spelling, truth};
pub(super) use self::keys::{Switch, switch_of};
pub(super) use self::values::{is_header_name, parse_address, read_duration};
use super::environment::Environment;
use super::file::normalised;
use super::jsonc::{Member, Node, Value};
use super::reporter::{About, Reporter};
use super::settings::{Launch, LimitSettings, Scope, ServerSettings, Severity, ShownLaunch};

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

/// Reads one entry.
pub(super) fn read(
    name: &str,
    entry: &Node,
    context: &Context<'_>,
    reporter: &mut Reporter<'_>,
) -> ServerSettings {
    let enabled = switch_of(entry).enabled.unwrap_or(true);
    let mut reader = EntryReader { name, context, reporter, enabled, faults: Vec::new() };
    let unread =
        ServerSettings::plain(name, Launch::Unusable, ShownLaunch::default(), context.scope, context.limits);
    let mut server =
        ServerSettings { file: Some(context.file.to_owned()), enabled, entry: entry.to_json(), ..unread };
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
                // For the address most applications know one name only, so the file does not work everywhere.
                let severity = if key == Key::Url { Severity::Warning } else { Severity::Info };
                self.say(severity, &member.value, Some(&member.key), what, format!("write `{canonical}`"));
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
                Key::Login => {
                    if let Some(login) = self.login(member) {
                        server.login = login;
                    }
                }
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
}

#[cfg(test)]
mod tests;
