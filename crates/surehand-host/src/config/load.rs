//! Reads every source once and combines them: command line over project over user over what comes with the product.

use std::path::{Path, PathBuf};
use std::time::Duration;

use surehand_model::{Json, Note};
use thiserror::Error;

use super::environment::Environment;
use super::file::{self, ConfigFile, normalised};
use super::jsonc::{self, Fault, Member, Node, Value};
use super::reporter::{About, Reporter};
use super::server::{self, Context, read_duration, switch_of};
use super::settings::{
    AuditSettings, Launch, LimitSettings, Paths, Problem, ProviderSettings, Scope, ServerSettings, Settings,
    Severity, ShownLaunch, ToolFilter,
};
use super::store::{self, StoreError};
use super::trust::{self, Digest, ProjectFile, TrustStatus};
use super::{ad_hoc, provider, shown};

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

/// Why there is no configuration at all. Everything milder is a [`Problem`].
#[derive(Debug, Error)]
pub enum LoadError {
    /// The file that was asked for is not there or cannot be read.
    #[error("there is no configuration file {path}", path = path.display())]
    ConfigMissing {
        /// As given.
        path: PathBuf,
    },
    /// A server of the command line cannot be read.
    #[error("`{text}` is no server: {what}")]
    BadServer {
        /// The beginning of what was given.
        text: String,
        /// What is wrong with it.
        what: String,
    },
    /// Nobody says where the home directory is.
    #[error("no home directory is known: set HOME")]
    NoHome,
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

/// A file as it was read.
struct Source {
    path: PathBuf,
    scope: Scope,
    text: String,
    digest: Digest,
    root: Option<Node>,
    trusted: bool,
}

fn read_source(path: &Path, scope: Scope, problems: &mut Vec<Problem>) -> Option<Source> {
    let mut report = |place: String, what: String, hint: String| {
        problems.push(Problem { severity: Severity::Error, r#where: place, server: None, what, hint });
    };
    let bytes = match store::read(path) {
        Ok(bytes) => bytes?,
        Err(error) => {
            let cause = match &error {
                StoreError::Read { source, .. } => format!(": {source}"),
                _ => String::new(),
            };
            report(path.display().to_string(), format!("{error}{cause}"), String::new());
            return None;
        }
    };
    let digest = Digest::of(&bytes);
    let mut unreadable = |fault: Fault| {
        let what = format!("the file cannot be read, so nothing in it is used: {}", fault.what);
        report(format!("{}:{}", path.display(), fault.at), what, fault.hint);
    };
    let source =
        |text: String, root| Source { path: path.to_owned(), scope, text, digest, root, trusted: true };
    let text = match jsonc::decode(&bytes) {
        Ok(text) => text,
        Err(fault) => {
            unreadable(fault);
            return Some(source(String::new(), None));
        }
    };
    let root = jsonc::parse(text).unwrap_or_else(|fault| {
        unreadable(fault);
        None
    });
    Some(source(text.to_owned(), root))
}

/// `.mcp.json` in the nearest folder upwards that has one, no further than the repository's top or the home directory; where
/// there is none, where a new one belongs: at the repository's top, else here.
fn find_project_file(cwd: &Path, home: &Path) -> (PathBuf, bool) {
    for folder in cwd.ancestors() {
        let path = folder.join(".mcp.json");
        if path.exists() {
            return (path, true);
        }
        if folder.join(".git").exists() {
            return (path, false);
        }
        if folder == home {
            break;
        }
    }
    (cwd.join(".mcp.json"), false)
}

fn trust_of(paths: &Paths, source: &Source, problems: &mut Vec<Problem>) -> TrustStatus {
    trust::status(paths, &source.path, source.digest).unwrap_or_else(|error| {
        let place = paths.trust_file().display().to_string();
        problems.push(Problem {
            severity: Severity::Error,
            r#where: place,
            server: None,
            what: error.to_string(),
            hint: "until then no project's file is trusted".into(),
        });
        TrustStatus::Untrusted
    })
}

fn untrusted(status: TrustStatus) -> &'static str {
    match status {
        TrustStatus::Changed => "the project's file has changed since it was trusted; nothing in it is used",
        _ => "the project's file is not trusted yet; nothing in it is used",
    }
}

/// What a project's file would do besides starting the servers, whose command lines follow once they are read.
fn wants(file: &ConfigFile) -> Vec<String> {
    let mut wants = Vec::new();
    for Member { key: name, value: entry, .. } in &file.servers {
        match switch_of(entry) {
            server::Switch { is_all: true, enabled: Some(false) } => {
                wants.push(format!("switch off the server {name}"))
            }
            server::Switch { is_all: true, .. } => wants.push(format!("switch on the server {name}")),
            _ => {}
        }
    }
    if let Some(model) = file.model.as_ref().and_then(Node::text) {
        wants.push(format!("ask the model {model}"));
    }
    for provider in &file.providers {
        let is_address = |member: &&Member| provider::is_address_key(&member.key);
        let address = provider.value.members().unwrap_or_default().iter().find(is_address);
        let address = address.and_then(|member| member.value.text());
        let place = address.map(|text| format!(" at {}", shown::address(text))).unwrap_or_default();
        wants.push(format!("use the provider {}{place}", provider.key));
    }
    let parts = [
        (file.policy.is_some(), "add to the policy"),
        (!file.limits.is_empty(), "set limits"),
        (file.sandbox.is_some(), "set the sandbox"),
        (file.gateway.is_some(), "set the gateway"),
    ];
    wants.extend(parts.iter().filter(|(is_there, _)| *is_there).map(|(_, words)| (*words).to_owned()));
    wants.iter().map(|want| shown::visible(want)).collect()
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

/// An entry that says what to start.
struct Candidate {
    server: ServerSettings,
    /// Whether it says itself if it is switched on.
    says_enabled: bool,
    trusted: bool,
}

/// An entry that does nothing but switch a server that is described elsewhere.
struct Switch {
    name: String,
    scope: Scope,
    enabled: bool,
    place: String,
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

fn read_limits(
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
            let names =
                ["maxTurns", "timeout", "budgetTokens", "callTimeout", "startupTimeout", "maxResultBytes"];
            let known = surehand_schema::nearest(&member.key, names.into_iter());
            let hint = known.first().map(|known| format!("did you mean `{known}`?")).unwrap_or_default();
            return reporter.say(Severity::Warning, node, about, "an unknown key, passed over", hint);
        }
    };
    if understood.is_none() {
        let hint = "counts are whole numbers from 1, times are milliseconds or a text such as \"30s\"";
        reporter.say(Severity::Error, node, about, "passed over: not a limit that can hold", hint);
    }
}

/// `audit` is `true`, `false`, or an object with `enabled` and `file`. A project's file has no say in it.
fn read_audit(
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

/// The bundled servers that no entry has taken over, under whatever name or by whatever command line.
fn bundled_beside(
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
    ServerSettings {
        name: name.to_owned(),
        launch: Launch::Bundled { name: name.to_owned(), options: Json::Object(Vec::new()) },
        shown: ShownLaunch { kind: "bundled".into(), target: name.to_owned(), ..ShownLaunch::default() },
        scope: Scope::Bundled,
        file: None,
        enabled: true,
        startup_timeout: limits.startup_timeout,
        call_timeout: limits.call_timeout,
        parallel: true,
        tools: ToolFilter::default(),
        problem: None,
        entry: Json::Null,
    }
}

/// One server for each name, nearest scope first: the nearest that may be used, else the nearest.
fn combine(
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
