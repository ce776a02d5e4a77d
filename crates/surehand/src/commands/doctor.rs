use std::path::Path;

use serde::Serialize;
use surehand_host::config::{Problem, Scope, Settings, Severity, TrustStatus, check};
use surehand_host::{NobodyWatches, ServerState, ServerStatus};

use crate::error::{CommandError, Fault};
use crate::models;
use crate::render::{DIM, GREEN, RED, YELLOW, clean, count, paint};
use crate::wiring::App;

/// Look at everything and say what is wrong and what to do
///
/// Reads the configuration, starts every server, asks each for its tools, and looks whether a model can answer. Project files
/// that are not trusted start nothing here either.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Only read: start no server and reach no address.
    #[arg(long)]
    offline: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    ok: bool,
    files: Vec<FileShape>,
    problems: Vec<ProblemShape<'a>>,
    servers: &'a [ServerStatus],
    model: ModelShape,
}

#[derive(Serialize)]
struct FileShape {
    path: String,
    state: &'static str,
}

#[derive(Serialize)]
struct ProblemShape<'a> {
    severity: String,
    r#where: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'a str>,
    what: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    hint: &'a str,
}

#[derive(Serialize)]
struct ModelShape {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    ok: bool,
    why: String,
}

pub(crate) fn run(args: &DoctorArgs, app: &App) -> Result<(), CommandError> {
    let settings = app.settings()?;
    let mut problems = check(&settings);
    let servers = if args.offline {
        Vec::new()
    } else {
        app.block_on(async {
            let host = app.open_host(settings.clone(), app.http(), &NobodyWatches).await;
            let statuses = host.servers().to_vec();
            // What the policy part says wrongly, and what servers list wrongly, is known only now.
            for note in host.skipped() {
                if !problems.iter().any(|known| known.note() == *note) && !is_about_status(note, &statuses) {
                    problems.push(Problem {
                        severity: Severity::Warning,
                        r#where: note.r#where.clone(),
                        server: None,
                        what: note.what.clone(),
                        hint: note.why.clone(),
                    });
                }
            }
            host.close().await;
            Ok(statuses)
        })?
    };
    let model = look_at_model(app, &settings);
    let fault = worst(&problems, &servers, &model);
    let report = Report {
        ok: fault.is_none(),
        files: files(&settings),
        problems: problems.iter().map(shape).collect(),
        servers: &servers,
        model,
    };
    if app.screen.form().is_json() {
        let text = serde_json::to_string(&report).map_err(|fault| CommandError::new(Fault::Failed, fault))?;
        app.screen.print(&format!("{text}\n"))?;
    } else {
        app.screen.print(&text(&report, &settings, app))?;
    }
    match fault {
        None => Ok(()),
        Some(fault) => Err(CommandError::new(fault, "something is wrong; see above")),
    }
}

/// A note that only repeats why a server is not there.
fn is_about_status(note: &surehand_model::Note, statuses: &[ServerStatus]) -> bool {
    statuses.iter().any(|status| status.name == note.r#where && status.status != ServerState::Connected)
}

/// Which exit code the whole comes to: the configuration before a login before what cannot be reached.
fn worst(problems: &[Problem], servers: &[ServerStatus], model: &ModelShape) -> Option<Fault> {
    let is = |state: ServerState| servers.iter().any(|server| server.status == state);
    let untrusted_or_bad = problems.iter().any(|problem| problem.severity == Severity::Error);
    if untrusted_or_bad || is(ServerState::NotStarted) {
        Some(Fault::Config)
    } else if is(ServerState::LoginNeeded) {
        Some(Fault::Login)
    } else if is(ServerState::Failed) {
        Some(Fault::Unreachable)
    } else if !model.ok {
        Some(Fault::Config)
    } else {
        None
    }
}

fn look_at_model(app: &App, settings: &Settings) -> ModelShape {
    match models::choose(app, settings) {
        Ok(choice) => {
            let id = Some(choice.id());
            match models::readiness(&choice, settings) {
                Ok(why) => ModelShape { id, ok: true, why },
                Err(fault) => ModelShape { id, ok: false, why: words(&fault) },
            }
        }
        Err(fault) => ModelShape { id: None, ok: false, why: words(&fault) },
    }
}

fn words(fault: &CommandError) -> String {
    let mut words = fault.chain().join(": ");
    for hint in &fault.hints {
        words.push_str(". ");
        words.push_str(hint.trim_end_matches('.'));
    }
    words
}

fn files(settings: &Settings) -> Vec<FileShape> {
    let user = &settings.paths.user_file;
    let mut files = vec![FileShape {
        path: user.display().to_string(),
        state: match (user.exists(), has_errors(settings, user)) {
            (false, _) => "not there",
            (true, true) => "has errors",
            (true, false) => "read",
        },
    }];
    if let Some(project) = &settings.project {
        let state = match project.trust {
            TrustStatus::Trusted if has_errors(settings, &project.path) => "has errors",
            TrustStatus::Trusted => "read",
            TrustStatus::Changed => "changed since it was trusted",
            TrustStatus::Untrusted => "not trusted",
        };
        files.push(FileShape { path: project.path.display().to_string(), state });
    }
    files
}

/// Whether reading the file brought up something that is not merely passed over.
fn has_errors(settings: &Settings, file: &Path) -> bool {
    let start = format!("{}:", file.display());
    let errors = settings.problems.iter().filter(|problem| problem.severity == Severity::Error);
    errors.into_iter().any(|problem| problem.r#where.starts_with(&start))
}

fn shape(problem: &Problem) -> ProblemShape<'_> {
    ProblemShape {
        severity: problem.severity.to_string(),
        r#where: &problem.r#where,
        server: problem.server.as_deref(),
        what: &problem.what,
        hint: &problem.hint,
    }
}

fn text(report: &Report<'_>, settings: &Settings, app: &App) -> String {
    let styled = app.screen.styled();
    let (good, bad, note) = (paint(styled, GREEN, "✓"), paint(styled, RED, "✗"), paint(styled, YELLOW, "!"));
    let mut out = String::from("Configuration\n");
    for file in &report.files {
        let mark = match file.state {
            "read" => &good,
            "not there" => "-",
            _ => &bad,
        };
        out.push_str(&format!("  {mark} {} ({})\n", clean(&file.path), file.state));
    }
    for problem in &report.problems {
        let mark = match problem.severity.as_str() {
            "error" => &bad,
            "warning" => &note,
            _ => "-",
        };
        out.push_str(&format!("  {mark} {}: {}\n", clean(problem.r#where), clean(problem.what)));
        if !problem.hint.is_empty() {
            out.push_str(&format!("      {}\n", paint(styled, DIM, &clean(problem.hint))));
        }
    }
    out.push_str("Servers\n");
    for server in &settings.servers {
        let status = report.servers.iter().find(|status| status.name == server.name);
        let scope =
            if server.scope == Scope::Bundled { "bundled".to_owned() } else { server.scope.to_string() };
        let (mark, state) = match status.map(|status| (status.status, status)) {
            Some((ServerState::Connected, status)) => (good.as_str(), count(status.tools, "tool")),
            Some((ServerState::Disabled, _)) => ("-", "switched off".to_owned()),
            Some((ServerState::LoginNeeded, _)) => (bad.as_str(), "login needed".to_owned()),
            Some((ServerState::Failed, _)) => (bad.as_str(), "not available".to_owned()),
            Some((ServerState::NotStarted, _)) => (bad.as_str(), "not started".to_owned()),
            None => ("-", "not looked at".to_owned()),
        };
        out.push_str(&format!("  {mark} {} ({scope}): {state}\n", clean(&server.name)));
        for note in status.into_iter().flat_map(|status| &status.notes) {
            out.push_str(&format!("      {}\n", paint(styled, DIM, &clean(note))));
        }
    }
    let mark = if report.model.ok { &good } else { &bad };
    let id = report.model.id.as_deref().unwrap_or("none");
    out.push_str(&format!("Model\n  {mark} {id}: {}\n", clean(&report.model.why)));
    out
}
