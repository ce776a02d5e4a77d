//! Limits and the record: small parts of a file that are read member by member.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::super::file::{ConfigFile, normalised};
use super::super::jsonc::{Member, Value};
use super::super::reporter::{About, Reporter};
use super::super::server::read_duration;
use super::super::settings::{AuditSettings, LimitSettings, Paths, Problem, Scope, Severity};
use super::Overrides;
use super::source::Source;

pub(super) fn read_limits(
    files: &[(&Source, ConfigFile)],
    overrides: &Overrides,
    problems: &mut Vec<Problem>,
) -> LimitSettings {
    let mut limits = LimitSettings::default();
    // Farther files first, so that the nearer overwrite them.
    for (source, file) in files.iter().rev().filter(|(source, _)| source.trusted) {
        let mut reporter = Reporter::new(&source.path, &source.text, problems);
        for member in &file.limits {
            read_limit(member, &mut limits, &mut reporter);
        }
    }
    limits.max_turns = overrides.max_turns.unwrap_or(limits.max_turns);
    limits.timeout = overrides.timeout.unwrap_or(limits.timeout);
    limits
}

fn read_limit(member: &Member, limits: &mut LimitSettings, reporter: &mut Reporter<'_>) {
    let whole = |most: u64| match &member.value.value {
        Value::Number(text) => text.parse::<u64>().ok().filter(|number| (1..=most).contains(number)),
        _ => None,
    };
    let key = format!("limits.{}", member.key);
    let about = About { server: None, key: Some(&key) };
    let node = &member.value;
    let understood = match normalised(&member.key).as_str() {
        "maxturns" => whole(10_000).map(|turns| limits.max_turns = turns as u32),
        "budgettokens" => whole(u64::MAX).map(|tokens| limits.budget_tokens = Some(tokens)),
        "maxresultbytes" => whole(1 << 30).map(|bytes| limits.max_result_bytes = bytes as usize),
        "repairarguments" => match &node.value {
            Value::Bool(may) => {
                limits.repair_arguments = *may;
                Some(())
            }
            _ => None,
        },
        name @ ("timeout" | "calltimeout" | "startuptimeout") => {
            let duration = read_duration(node, 1).ok();
            if let Some(duration) = duration.filter(|d| *d < Duration::from_secs(1) && node.text().is_none())
            {
                let what = format!("a number is milliseconds, so this is {} s", duration.as_secs_f64());
                reporter.say(
                    Severity::Warning,
                    node,
                    about,
                    what,
                    "if seconds were meant, write a text such as \"30s\"",
                );
            }
            duration.map(|duration| match name {
                "timeout" => limits.timeout = duration,
                "calltimeout" => limits.call_timeout = duration,
                _ => limits.startup_timeout = duration,
            })
        }
        _ => {
            let names = [
                "maxTurns",
                "timeout",
                "budgetTokens",
                "callTimeout",
                "startupTimeout",
                "maxResultBytes",
                "repairArguments",
            ];
            let known = surehand_schema::nearest(&member.key, names.into_iter());
            let hint = known.first().map(|known| format!("did you mean `{known}`?")).unwrap_or_default();
            return reporter.say(Severity::Warning, node, about, "an unknown key, passed over", hint);
        }
    };
    if understood.is_none() {
        let hint = match normalised(&member.key).as_str() {
            "repairarguments" => "it is true or false",
            _ => "counts are whole numbers from 1, times are milliseconds or a text such as \"30s\"",
        };
        reporter.say(Severity::Error, node, about, "passed over: not a limit that can hold", hint);
    }
}

/// `audit` is `true`, `false`, or an object with `enabled` and `file`. A project's file has no say in it.
pub(super) fn read_audit(
    files: &[(&Source, ConfigFile)],
    paths: &Paths,
    audit: &mut AuditSettings,
    problems: &mut Vec<Problem>,
) {
    for (source, file) in files.iter().rev() {
        let Some(node) = &file.audit else { continue };
        let mut reporter = Reporter::new(&source.path, &source.text, problems);
        let about = About { server: None, key: Some("audit") };
        if source.scope == Scope::Project {
            let hint = "set it in the user's file";
            reporter.say(
                Severity::Warning,
                node,
                about,
                "passed over: a project's file does not decide about the record",
                hint,
            );
            continue;
        }
        match &node.value {
            Value::Bool(enabled) => audit.enabled = *enabled,
            Value::Object(members) => {
                for member in members {
                    match (member.key.as_str(), &member.value.value) {
                        ("enabled", Value::Bool(enabled)) => audit.enabled = *enabled,
                        ("file" | "path", Value::String(text)) => {
                            let text = text
                                .strip_prefix("~/")
                                .map_or(PathBuf::from(text), |rest| paths.home.join(rest));
                            audit.file = source.path.parent().unwrap_or(Path::new("/")).join(text);
                        }
                        _ => {
                            let key = format!("audit.{}", member.key);
                            let about = About { server: None, key: Some(&key) };
                            reporter.say(
                                Severity::Warning,
                                &member.value,
                                about,
                                "not understood, passed over",
                                "there are `enabled` and `file`",
                            );
                        }
                    }
                }
            }
            _ => reporter.say(
                Severity::Error,
                node,
                about,
                "passed over: neither true, false nor an object",
                "",
            ),
        }
    }
}
