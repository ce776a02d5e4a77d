//! What the configuration comes to once every file, flag and variable has been read: plain values, handed to the rest.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use surehand_model::{Json, Note, Secret};

use super::trust::ProjectFile;

/// Everything the rest of the product needs to know; nothing below this reads a file of ours or a variable again.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The servers in the order: named on the command line, project, user, bundled; within a file in its order. Names are unique.
    pub servers: Vec<ServerSettings>,
    /// The model to ask, such as `anthropic/claude-sonnet-5`; `None` lets the caller choose.
    pub model: Option<String>,
    /// Providers with a key or an address of their own, by name; those known from the usual variables come last.
    pub providers: Vec<ProviderSettings>,
    /// The `policy` part of the files, unread. Where two files have one, their lists are joined (nearer file first) and
    /// of other members the nearer file's stands.
    pub policy: Option<Json>,
    /// Limits of a run and of a call.
    pub limits: LimitSettings,
    /// The record of calls.
    pub audit: AuditSettings,
    /// The `sandbox` part of the nearest file that has one, unread.
    pub sandbox: Option<Json>,
    /// The `gateway` part of the nearest file that has one, unread.
    pub gateway: Option<Json>,
    /// Where things live.
    pub paths: Paths,
    /// What a child process is given.
    pub children: ChildEnvironment,
    /// How the outside is reached.
    pub proxy: ProxySettings,
    /// The project's file and whether it is trusted; `None` where there is none.
    pub project: Option<ProjectFile>,
    /// Everything that was left out, coerced or doubtful, with its weight. The same facts as `notes`.
    pub problems: Vec<Problem>,
    /// Everything that was left out, coerced or doubtful, as the start-up event and the screen show it.
    pub notes: Vec<Note>,
}

impl Settings {
    /// The server of this name.
    pub fn server(&self, name: &str) -> Option<&ServerSettings> {
        self.servers.iter().find(|server| server.name == name)
    }

    /// The provider of this name.
    pub fn provider(&self, name: &str) -> Option<&ProviderSettings> {
        self.providers.iter().find(|provider| provider.name == name)
    }
}

/// One server: how it is reached and where that was written.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerSettings {
    /// The name it has in the file; any text without control characters.
    pub name: String,
    /// How it is started or reached, every variable filled in. [`Launch::Unusable`] where `problem` says why.
    pub launch: Launch,
    /// The same as it may be shown: placeholders instead of values, written-out secrets covered.
    pub shown: ShownLaunch,
    /// Who asked for it.
    pub scope: Scope,
    /// The file it stands in; `None` for bundled servers and those of the command line.
    pub file: Option<PathBuf>,
    /// `false` where the entry is switched off.
    pub enabled: bool,
    /// How long it may take to start and to answer the first request.
    pub startup_timeout: Duration,
    /// How long one call may take.
    pub call_timeout: Duration,
    /// Whether several calls may be under way at once.
    pub parallel: bool,
    /// Which of its tools may be seen at all.
    pub tools: ToolFilter,
    /// How a login is gone about, where it wants one.
    pub login: LoginSettings,
    /// Why it must not be started, in one sentence that names what to change.
    pub problem: Option<String>,
    /// The entry as written, unknown members included; `Json::Null` where no file has one.
    pub entry: Json,
}

/// The `oauth` part of an entry: what a login needs that the server does not say itself.
#[derive(Clone, Debug, PartialEq)]
pub struct LoginSettings {
    /// `false` where the server is never logged in to.
    pub enabled: bool,
    /// What tokens are given for.
    pub grant: LoginGrant,
    /// Who we are to the authorization server, where that was settled by hand.
    pub client_id: Option<String>,
    /// What we prove it with.
    pub client_secret: Option<Secret<String>>,
    /// The authorization server that the client id belongs to.
    pub issuer: Option<String>,
    /// Where our description can be read.
    pub client_metadata_url: Option<url::Url>,
    /// How this machine is called in the redirect address: `127.0.0.1` or `localhost`.
    pub callback_host: String,
    /// The port of the redirect address; any where absent.
    pub callback_port: Option<u16>,
    /// Scopes to ask for beside those that the server names.
    pub scopes: Vec<String>,
    /// Hosts that may be private, and be reached without encryption, although only the server names them.
    pub trusted_hosts: Vec<String>,
}

/// What tokens are given for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LoginGrant {
    /// A person logs in.
    #[default]
    Person,
    /// This client itself, by its secret, or by what it signs with a private key.
    Client {
        /// The key, as PEM.
        private_key_file: Option<PathBuf>,
    },
    /// This workload, by the token that its platform gives it and renews.
    Workload {
        /// Where the token is.
        token_file: PathBuf,
    },
    /// A person whom the identity provider of their company vouches for.
    Enterprise {
        /// Where it exchanges tokens.
        token_endpoint: url::Url,
        /// Who we are to it.
        client_id: String,
        /// What we prove it with.
        client_secret: Option<Secret<String>>,
        /// Where the person's ID token is.
        id_token_file: PathBuf,
    },
}

impl Default for LoginSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            grant: LoginGrant::default(),
            client_id: None,
            client_secret: None,
            issuer: None,
            client_metadata_url: None,
            callback_host: "127.0.0.1".to_owned(),
            callback_port: None,
            scopes: Vec::new(),
            trusted_hosts: Vec::new(),
        }
    }
}

impl ServerSettings {
    /// A server of which nothing is set but how it starts.
    pub(super) fn plain(
        name: &str,
        launch: Launch,
        shown: ShownLaunch,
        scope: Scope,
        limits: &LimitSettings,
    ) -> Self {
        Self {
            name: name.to_owned(),
            launch,
            shown,
            scope,
            file: None,
            enabled: true,
            startup_timeout: limits.startup_timeout,
            call_timeout: limits.call_timeout,
            parallel: true,
            tools: ToolFilter::default(),
            login: LoginSettings::default(),
            problem: None,
            entry: Json::Null,
        }
    }

    /// Whether it is to be started: switched on, and nothing is wrong with it.
    pub fn starts(&self) -> bool {
        self.enabled && self.problem.is_none()
    }
}

/// How a server is started or reached. `Debug` shows no value that may hold a secret.
#[derive(Clone, PartialEq)]
pub enum Launch {
    /// A child process that speaks on its standard streams.
    Child {
        /// A name to be looked up in the search path, or a path. Never split at blanks.
        command: String,
        /// Its arguments, one each.
        args: Vec<String>,
        /// Variables on top of the inherited ones.
        env: Vec<(String, Secret<String>)>,
        /// Its working directory, absolute; `None` for ours.
        cwd: Option<PathBuf>,
    },
    /// A server at an address.
    Http {
        /// The endpoint, `http` or `https`.
        url: url::Url,
        /// Headers sent with each request.
        headers: Vec<(String, Secret<String>)>,
        /// Whether it speaks the older transport (an event stream that names where to post).
        sse: bool,
    },
    /// A server that comes with the product and runs inside it.
    Bundled {
        /// Which one: `files`, `time`, `weather`.
        name: String,
        /// Its options, an object; empty where nothing was set.
        options: Json,
    },
    /// Nothing that can be started; see [`ServerSettings::problem`].
    Unusable,
}

impl fmt::Debug for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Child { args, env, cwd, .. } => f
                .debug_struct("Child")
                .field("args", &args.len())
                .field("env", &env.iter().map(|(name, _)| name).collect::<Vec<_>>())
                .field("cwd", cwd)
                .finish_non_exhaustive(),
            Self::Http { url, headers, sse } => f
                .debug_struct("Http")
                .field("host", &url.host_str())
                .field("headers", &headers.iter().map(|(name, _)| name).collect::<Vec<_>>())
                .field("sse", sse)
                .finish(),
            Self::Bundled { name, .. } => {
                f.debug_struct("Bundled").field("name", name).finish_non_exhaustive()
            }
            Self::Unusable => f.write_str("Unusable"),
        }
    }
}

/// A launch as a person may see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownLaunch {
    /// `stdio`, `http`, `sse`, `bundled`, or empty where that cannot be told.
    pub kind: String,
    /// The command line or the address, placeholders unfilled.
    pub target: String,
    /// The command alone, likewise; empty where there is none.
    pub command: String,
    /// Names of variables with what stands for them: a placeholder such as `${TOKEN}`, or `***` for a value written out.
    pub env: Vec<(String, String)>,
    /// Names of headers, likewise.
    pub headers: Vec<(String, String)>,
}

/// Which tools of a server may be seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolFilter {
    /// Only these, where given.
    pub only: Option<Vec<String>>,
    /// Never these.
    pub except: Vec<String>,
}

impl ToolFilter {
    /// Whether the tool of this name may be seen.
    pub fn admits(&self, tool: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.iter().any(|name| name == tool))
            && !self.except.iter().any(|name| name == tool)
    }
}

/// Who asked for something; the later in this list, the nearer, and the nearer wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// It comes with the product.
    Bundled,
    /// The user's own file.
    User,
    /// The project's `.mcp.json`.
    Project,
    /// The command line: `--config` or `--server`.
    Flag,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bundled => "bundled",
            Self::User => "user",
            Self::Project => "project",
            Self::Flag => "flag",
        })
    }
}

/// Where a provider is reached and with which key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderSettings {
    /// Its name: one of the known ones (`openai`, `anthropic`, …), or one of the user's own.
    pub name: String,
    /// Base address, without a closing slash; `None` for the provider's own.
    pub base_url: Option<String>,
    /// The key.
    pub key: Option<Secret<String>>,
    /// Where the key comes from, for people: `OPENAI_API_KEY`, `${WORK_KEY}`, or `***` for one written out.
    pub key_source: Option<String>,
    /// Which spelling it speaks, such as `openai` or `anthropic`; `None` for what the name implies.
    pub dialect: Option<String>,
    /// Headers sent with each request.
    pub headers: Vec<(String, Secret<String>)>,
    /// Who named it. [`Scope::Bundled`] where only the usual variables do.
    pub scope: Scope,
    /// Why it cannot be used.
    pub problem: Option<String>,
}

/// Limits of a run and of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitSettings {
    /// How often the model may be asked within one question.
    pub max_turns: u32,
    /// How long one question may take, people's thinking not counted.
    pub timeout: Duration,
    /// How many tokens one question may cost, in and out together; `None` is no limit.
    pub budget_tokens: Option<u64>,
    /// How long one call may take where its server's entry does not say.
    pub call_timeout: Duration,
    /// How long a server may take to start where its entry does not say.
    pub startup_timeout: Duration,
    /// How many bytes of a result reach the model.
    pub max_result_bytes: usize,
    /// Whether arguments are changed where the tool's schema proves what was meant, for example `"5"` to `5`. Otherwise the model is
    /// told and has to call again.
    pub repair_arguments: bool,
}

impl Default for LimitSettings {
    fn default() -> Self {
        Self {
            max_turns: 25,
            timeout: Duration::from_secs(600),
            budget_tokens: None,
            call_timeout: Duration::from_secs(60),
            startup_timeout: Duration::from_secs(30),
            max_result_bytes: 256 * 1024,
            repair_arguments: true,
        }
    }
}

/// The proxies in force, as written in the environment; an address may hold a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxySettings {
    /// For `http` addresses.
    pub http: Option<Secret<String>>,
    /// For `https` addresses.
    pub https: Option<Secret<String>>,
    /// For both, where the particular one is not set.
    pub all: Option<Secret<String>>,
    /// Hosts that are reached directly, separated by commas.
    pub no_proxy: String,
}

/// The record of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditSettings {
    /// Whether calls are recorded. A project's file cannot switch it off.
    pub enabled: bool,
    /// The record's file.
    pub file: PathBuf,
}

/// Where things live. All absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// The home directory.
    pub home: PathBuf,
    /// `$XDG_CONFIG_HOME/surehand`
    pub config: PathBuf,
    /// `$XDG_STATE_HOME/surehand`
    pub state: PathBuf,
    /// `$XDG_CACHE_HOME/surehand`
    pub cache: PathBuf,
    /// The user's file, whether or not it exists.
    pub user_file: PathBuf,
    /// The project's file: the one found, or where a new one belongs.
    pub project_file: PathBuf,
    /// The folder in which we run.
    pub cwd: PathBuf,
}

impl Paths {
    /// Where trust in project files is kept.
    pub fn trust_file(&self) -> PathBuf {
        self.state.join("trust.json")
    }

    /// Where locks for files of ours are kept.
    pub fn locks(&self) -> PathBuf {
        self.state.join("locks")
    }

    /// Where embedded models are kept.
    pub fn models(&self) -> PathBuf {
        self.cache.join("models")
    }
}

/// What a child process is given besides its entry's own variables.
#[derive(Clone, PartialEq, Eq)]
pub struct ChildEnvironment {
    /// Where commands are looked up: `PATH`.
    pub search_path: OsString,
    /// Variables it inherits: the list is short, and holds no key of any provider.
    pub inherit: Vec<(OsString, OsString)>,
}

impl fmt::Debug for ChildEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChildEnvironment")
            .field("search_path", &self.search_path)
            .field("inherit", &self.inherit.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .finish()
    }
}

/// How grave a [`Problem`] is, mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Info,
    /// Something may not be as meant.
    Warning,
    /// Something does not work until it is changed.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// Something a person should know about the configuration. Holds no secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// How grave it is.
    pub severity: Severity,
    /// File with line and column, server, key.
    pub r#where: String,
    /// The server it is about, if it is about one.
    pub server: Option<String>,
    /// What is the matter.
    pub what: String,
    /// What to do about it; may be empty.
    pub hint: String,
}

impl Problem {
    /// The same as a note.
    pub fn note(&self) -> Note {
        Note::new(self.r#where.clone(), self.what.clone(), self.hint.clone())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.severity, self.r#where, self.what)?;
        if self.hint.is_empty() { Ok(()) } else { write!(f, "; {}", self.hint) }
    }
}
