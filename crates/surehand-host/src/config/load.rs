//! Reads every source once and combines them: command line over project over user over what comes with the product.

mod combine;
mod limits;
mod source;

use std::path::{Path, PathBuf};
use std::time::Duration;

use surehand_model::{Json, Note};

use self::combine::{Candidate, Switch, bundled_beside, combine};
use self::limits::{read_audit, read_limits};
use self::source::{Source, find_project_file, read_source, trust_of, untrusted, wants};
use super::environment::Environment;
use super::error::LoadError;
use super::file::{self, ConfigFile};
use super::jsonc::Member;
use super::reporter::{About, Reporter};
use super::server::{self, Context, switch_of};
use super::settings::{
    AuditSettings, Launch, LimitSettings, Paths, Problem, ProviderSettings, Scope, ServerSettings, Settings,
    Severity,
};
use super::trust::{ProjectFile, TrustStatus};
use super::{ad_hoc, provider, shown, store};

/// The servers that come with the product, present unless an entry says otherwise.
pub const BUNDLED_SERVERS: &[&str] = &["files", "time", "weather"];

/// How a person agrees to a project's file.
const TRUST_HINT: &str = "look at it, then run `surehand mcp trust`";

/// Where the configuration is to be read from.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// The environment.
    pub environment: Environment,
    /// The folder in which we run.
    pub cwd: PathBuf,
    /// A file to be read instead of the user's, before all others. Who names it, trusts it.
    pub config_file: Option<PathBuf>,
    /// Servers of this run: `NAME=COMMAND ARGS…`, split as a shell does, or `NAME=URL`.
    pub servers: Vec<String>,
    /// Single values of this run.
    pub overrides: Overrides,
}

/// Single values of a run, over whatever a file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// The model to ask.
    pub model: Option<String>,
    /// See [`LimitSettings::max_turns`].
    pub max_turns: Option<u32>,
    /// See [`LimitSettings::timeout`].
    pub timeout: Option<Duration>,
}

/// Reads the configuration.
///
/// A file that cannot be read costs its own entries only, an entry that cannot be read itself only; see
/// [`Settings::problems`]. Nothing is started, and nothing of a project's file has an effect before the file is trusted.
///
/// # Errors
///
/// [`LoadError`]: the command line asks for something that is not there.
pub fn load(options: &LoadOptions) -> Result<Settings, LoadError> {
    let environment = &options.environment;
    let cwd = std::path::absolute(&options.cwd).unwrap_or_else(|_| options.cwd.clone());
    let mut paths = environment.paths(&cwd).ok_or(LoadError::NoHome)?;
    let mut problems = Vec::new();
    let mut sources = Vec::new();

    if let Some(path) = &options.config_file {
        let path = cwd.join(path);
        if !path.exists() {
            return Err(LoadError::ConfigMissing { path });
        }
        paths.user_file = path;
    }
    let named = options.config_file.is_some();
    let first_scope = if named { Scope::Flag } else { Scope::User };
    if let Some(source) = read_source(&paths.user_file, first_scope, &mut problems) {
        sources.push(source);
    }
    let mut project = None;
    let (path, is_there) = find_project_file(&cwd, &paths.home);
    paths.project_file = path;
    if is_there {
        let is_same = store::resolve(&paths.project_file) == store::resolve(&paths.user_file);
        if !is_same && let Some(source) = read_source(&paths.project_file, Scope::Project, &mut problems) {
            let trust = trust_of(&paths, &source, &mut problems);
            project = Some(ProjectFile {
                path: source.path.clone(),
                digest: source.digest,
                trust,
                wants: Vec::new(),
            });
            sources.push(Source { trusted: trust == TrustStatus::Trusted, ..source });
        }
    }
    sources.sort_by_key(|source| std::cmp::Reverse(source.scope));

    let read = read_all(&sources, environment, &paths, options, &mut problems);
    if let Some(project) = &mut project {
        project.wants.clone_from(&read.project_wants);
    }
    let mut settings = Settings {
        servers: Vec::new(),
        model: read.model,
        providers: read.providers,
        policy: read.policy,
        audit: read.audit,
        sandbox: read.sandbox,
        gateway: read.gateway,
        children: environment.children(),
        proxy: environment.proxy(),
        limits: read.limits,
        paths,
        project,
        problems: Vec::new(),
        notes: Vec::new(),
    };
    let mut ad_hoc = Vec::new();
    for text in &options.servers {
        let server = ad_hoc::parse(text, environment, &settings.limits)?;
        if ad_hoc.iter().any(|known: &ServerSettings| known.name == server.name) {
            let what = "the command line names this server twice".to_owned();
            return Err(LoadError::BadServer { text: server.name, what });
        }
        ad_hoc.push(server);
    }
    let bundled = bundled_beside(&read.servers, &ad_hoc, &settings.limits);
    settings.servers = combine(ad_hoc, read.servers, bundled, &read.switches, &mut problems);
    if let Some(project) = &settings.project
        && project.trust != TrustStatus::Trusted
    {
        let (place, problem) = (project.path.display().to_string(), untrusted(project.trust));
        let hint = TRUST_HINT.to_owned();
        problems.push(Problem {
            severity: Severity::Warning,
            r#where: place,
            server: None,
            what: problem.into(),
            hint,
        });
    }
    settings.notes = problems.iter().map(Problem::note).collect::<Vec<Note>>();
    settings.problems = problems;
    Ok(settings)
}

/// What all files say together.
struct ReadSettings {
    servers: Vec<Candidate>,
    switches: Vec<Switch>,
    model: Option<String>,
    providers: Vec<ProviderSettings>,
    policy: Option<Json>,
    limits: LimitSettings,
    audit: AuditSettings,
    sandbox: Option<Json>,
    gateway: Option<Json>,
    /// See [`ProjectFile::wants`].
    project_wants: Vec<String>,
}

fn read_all(
    sources: &[Source],
    environment: &Environment,
    paths: &Paths,
    options: &LoadOptions,
    problems: &mut Vec<Problem>,
) -> ReadSettings {
    let mut files: Vec<(&Source, ConfigFile)> = Vec::new();
    for source in sources {
        let mut reporter = Reporter::new(&source.path, &source.text, problems);
        let file = source.root.as_ref().map(|root| file::read(root, &mut reporter)).unwrap_or_default();
        files.push((source, file));
    }
    let limits = read_limits(&files, &options.overrides, problems);
    let mut settings = ReadSettings {
        servers: Vec::new(),
        switches: Vec::new(),
        model: options
            .overrides
            .model
            .clone()
            .or_else(|| environment.filled("SUREHAND_MODEL").map(str::to_owned)),
        providers: Vec::new(),
        policy: None,
        limits,
        audit: AuditSettings { enabled: true, file: paths.state.join("audit.jsonl") },
        sandbox: None,
        gateway: None,
        project_wants: Vec::new(),
    };
    for (source, file) in &files {
        if source.scope == Scope::Project {
            settings.project_wants = wants(file);
        }
        let mut reporter = Reporter::new(&source.path, &source.text, problems);
        read_servers(source, file, environment, paths, &mut settings, &mut reporter);
        if source.trusted {
            read_rest(source, file, environment, &mut settings, &mut reporter);
        }
    }
    read_audit(&files, paths, &mut settings.audit, problems);
    for known in environment.providers() {
        fill_provider(known, &mut settings.providers, problems);
    }
    settings
}

fn read_servers(
    source: &Source,
    file: &ConfigFile,
    environment: &Environment,
    paths: &Paths,
    settings: &mut ReadSettings,
    reporter: &mut Reporter<'_>,
) {
    let folder = source.path.parent().unwrap_or(Path::new("/"));
    let base = if source.scope == Scope::User { &paths.home } else { folder };
    let context = Context {
        environment,
        limits: &settings.limits,
        scope: source.scope,
        file: &source.path,
        base,
        default_cwd: (source.scope == Scope::Project).then_some(folder),
        home: &paths.home,
    };
    for Member { key: name, value: entry, .. } in &file.servers {
        let switch = switch_of(entry);
        if switch.is_all {
            if let (Some(enabled), true) = (switch.enabled, source.trusted) {
                let place = reporter.place(entry, About { server: Some(name), key: None });
                settings.switches.push(Switch { name: name.clone(), scope: source.scope, enabled, place });
            }
            continue;
        }
        let mut server = server::read(name, entry, &context, reporter);
        if source.scope == Scope::Project {
            settings
                .project_wants
                .push(shown::visible(&format!("start the server {name}: {}", server.shown.target)));
        }
        if !source.trusted {
            server.launch = Launch::Unusable;
            server.problem = Some(format!("the project's file is not trusted: {TRUST_HINT}"));
        }
        let says_enabled = switch.enabled.is_some();
        settings.servers.push(Candidate { server, says_enabled, trusted: source.trusted });
    }
}

fn read_rest(
    source: &Source,
    file: &ConfigFile,
    environment: &Environment,
    settings: &mut ReadSettings,
    reporter: &mut Reporter<'_>,
) {
    if let Some(node) = &file.model {
        match node.text().map(str::trim).filter(|text| !text.is_empty()) {
            Some(text) => settings.model = settings.model.take().or_else(|| Some(text.to_owned())),
            None => {
                let about = About { server: None, key: Some("model") };
                let what = format!("passed over: it is {} and no name of a model", node.kind());
                reporter.say(Severity::Error, node, about, what, "write \"provider/model\"");
            }
        }
    }
    for member in &file.providers {
        let provider = provider::read(member, environment, source.scope, reporter);
        // The later of two in one file counts, the nearer file's before it.
        settings.providers.retain(|known| known.name != provider.name || known.scope != provider.scope);
        if settings.providers.iter().all(|known| known.name != provider.name) {
            settings.providers.push(provider);
        }
    }
    if let Some(policy) = &file.policy {
        settings.policy = Some(match settings.policy.take() {
            None => policy.clone(),
            Some(nearer) => joined(nearer, policy),
        });
    }
    settings.sandbox = settings.sandbox.take().or_else(|| file.sandbox.clone());
    settings.gateway = settings.gateway.take().or_else(|| file.gateway.clone());
}

/// Two policies as one: lists are joined, the nearer first; of anything else the nearer stands.
fn joined(mut nearer: Json, farther: &Json) -> Json {
    for (key, value) in farther.as_object().unwrap_or_default() {
        match (nearer.get_mut(key), value) {
            (None, _) => nearer.set(key, value.clone()),
            (Some(Json::Array(items)), Json::Array(more)) => items.extend(more.iter().cloned()),
            (Some(_), _) => {}
        }
    }
    nearer
}

/// What the usual variables say, where the files leave it open. A key from the environment is not sent to an address that
/// only a project's file names.
fn fill_provider(
    known: ProviderSettings,
    providers: &mut Vec<ProviderSettings>,
    problems: &mut Vec<Problem>,
) {
    let Some(provider) = providers.iter_mut().find(|provider| provider.name == known.name) else {
        return providers.push(known);
    };
    if provider.key.is_none() && provider.problem.is_none() {
        if provider.scope == Scope::Project && provider.base_url.is_some() {
            if let Some(variable) = &known.key_source {
                problems.push(Problem {
                    severity: Severity::Warning,
                    r#where: format!("providers.{}", provider.name),
                    server: None,
                    what: format!("{variable} is not sent to the address that the project's file gives"),
                    hint: format!("write \"key\": \"${{{variable}}}\" beside the address if it should be"),
                });
            }
        } else {
            provider.key = known.key;
            provider.key_source = known.key_source;
        }
    }
    provider.base_url = provider.base_url.take().or(known.base_url);
}
