//! One server for each name, out of all that the files and the command line describe.

use std::path::Path;

use surehand_model::Json;

use super::super::settings::{Launch, LimitSettings, Problem, Scope, ServerSettings, Severity, ShownLaunch};
use super::BUNDLED_SERVERS;

/// An entry that says what to start.
pub(super) struct Candidate {
    pub(super) server: ServerSettings,
    /// Whether it says itself if it is switched on.
    pub(super) says_enabled: bool,
    pub(super) trusted: bool,
}

/// An entry that does nothing but switch a server that is described elsewhere.
pub(super) struct Switch {
    pub(super) name: String,
    pub(super) scope: Scope,
    pub(super) enabled: bool,
    pub(super) place: String,
}

/// One server for each name, nearest scope first: the nearest that may be used, else the nearest.
pub(super) fn combine(
    ad_hoc: Vec<ServerSettings>,
    candidates: Vec<Candidate>,
    bundled: Vec<Candidate>,
    switches: &[Switch],
    problems: &mut Vec<Problem>,
) -> Vec<ServerSettings> {
    let ad_hoc = ad_hoc.into_iter().map(|server| Candidate { server, says_enabled: true, trusted: true });
    // What is not trusted comes last, so that it takes nobody's place.
    let (trusted, others): (Vec<_>, Vec<_>) = candidates.into_iter().partition(|candidate| candidate.trusted);
    let mut chosen: Vec<Candidate> = Vec::new();
    for candidate in ad_hoc.chain(trusted).chain(bundled).chain(others) {
        let name = &candidate.server.name;
        match chosen.iter().find(|known| known.server.name == *name) {
            None => chosen.push(candidate),
            // That an entry takes the place of a bundled server needs no word.
            Some(_) if candidate.server.scope == Scope::Bundled => {}
            Some(known) => {
                let file = candidate.server.file.as_deref().unwrap_or(Path::new("")).display();
                problems.push(Problem {
                    severity: Severity::Info,
                    r#where: format!("{file}, server `{name}`"),
                    server: Some(name.clone()),
                    what: format!(
                        "not used: a server of the same name comes first (scope: {})",
                        known.server.scope
                    ),
                    hint: String::new(),
                });
            }
        }
    }
    for switch in switches {
        if chosen.iter().all(|candidate| candidate.server.name != switch.name) {
            problems.push(Problem {
                severity: Severity::Warning,
                r#where: switch.place.clone(),
                server: Some(switch.name.clone()),
                what: "has no effect: no server of this name is described anywhere".into(),
                hint: "give the entry a `command` or a `url`".into(),
            });
        }
    }
    chosen.sort_by_key(|candidate| std::cmp::Reverse(candidate.server.scope));
    chosen.into_iter().map(|candidate| switched(candidate, switches)).collect()
}

/// A switch counts where it is nearer than the server's own entry, or where that entry leaves the matter open.
fn switched(candidate: Candidate, switches: &[Switch]) -> ServerSettings {
    let mut server = candidate.server;
    let nearest =
        switches.iter().filter(|switch| switch.name == server.name).max_by_key(|switch| switch.scope);
    if let Some(switch) = nearest
        && (switch.scope > server.scope || !candidate.says_enabled)
    {
        server.enabled = switch.enabled;
    }
    server
}

/// The bundled servers that no entry has taken over, under whatever name or by whatever command line.
pub(super) fn bundled_beside(
    candidates: &[Candidate],
    ad_hoc: &[ServerSettings],
    limits: &LimitSettings,
) -> Vec<Candidate> {
    let described: Vec<&ServerSettings> =
        candidates.iter().filter(|c| c.trusted).map(|c| &c.server).chain(ad_hoc).collect();
    let is_taken = |wanted: &str| {
        described.iter().any(|server| match &server.launch {
            Launch::Bundled { name, .. } => name == wanted,
            Launch::Child { command, args, .. } => {
                let program = Path::new(command).file_stem().unwrap_or_default();
                program == "surehand" && args.len() >= 2 && args[0] == "server" && args[1] == wanted
            }
            _ => false,
        })
    };
    let free = BUNDLED_SERVERS.iter().filter(|name| !is_taken(name));
    free.map(|name| Candidate { server: bundled(name, limits), says_enabled: false, trusted: true }).collect()
}

fn bundled(name: &str, limits: &LimitSettings) -> ServerSettings {
    let launch = Launch::Bundled { name: name.to_owned(), options: Json::Object(Vec::new()) };
    let shown = ShownLaunch { kind: "bundled".into(), target: name.to_owned(), ..ShownLaunch::default() };
    ServerSettings::plain(name, launch, shown, Scope::Bundled, limits)
}
