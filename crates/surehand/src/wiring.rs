//! Puts the parts together: settings, runtime, host.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use surehand_host::config::{self, Environment, LoadOptions, Overrides, Scope, Settings, TrustStatus};
use surehand_host::{Host, HostParts, Observer, RunLimits, ServerState, WallClock};
use surehand_mcp::Implementation;
use surehand_transport::{HttpClient, HttpOptions, ProxyOptions};
use tokio_util::sync::CancellationToken;

use crate::approve::approver;
use crate::bundled;
use crate::cli::Common;
use crate::elicit::respondent;
use crate::error::{CommandError, Fault};
use crate::render::{BOLD, Screen, clean, paint};

/// How long what still runs after the last command has to end.
const LAST_WAIT: Duration = Duration::from_millis(200);

/// What every command works with.
pub(crate) struct App {
    /// The environment of the process, read once.
    pub(crate) environment: Environment,
    /// The common options.
    pub(crate) common: Common,
    /// Where everything is printed.
    pub(crate) screen: Arc<Screen>,
}

impl App {
    /// Reads the configuration.
    ///
    /// # Errors
    ///
    /// When no home directory is known or a file that was named cannot be read. Anything less is a note in the settings.
    pub(crate) fn settings(&self) -> Result<Settings, CommandError> {
        let cwd = std::env::current_dir().map_err(|fault| {
            CommandError::new(Fault::Failed, fault).hint("The current folder cannot be read; go to another.")
        })?;
        let options = LoadOptions {
            environment: self.environment.clone(),
            cwd,
            config_file: self.common.config.clone(),
            servers: self.common.servers.clone(),
            overrides: Overrides {
                model: self.common.model.clone(),
                max_turns: self.common.max_turns,
                timeout: self.common.timeout,
            },
        };
        let mut settings = config::load(&options).map_err(|fault| CommandError::new(Fault::Config, fault))?;
        // Whoever wants an end after some time does not want to wait longer than that for a server to begin.
        if let Some(timeout) = self.common.timeout {
            for server in &mut settings.servers {
                server.startup_timeout = server.startup_timeout.min(timeout);
            }
        }
        Ok(settings)
    }

    /// Reads the configuration, and where the project's file is not trusted and a person is there, asks about it.
    ///
    /// # Errors
    ///
    /// As [`App::settings`].
    pub(crate) fn settings_asking_for_trust(&self) -> Result<Settings, CommandError> {
        let settings = self.settings()?;
        let Some(project) = settings.project.clone().filter(|project| project.trust != TrustStatus::Trusted)
        else {
            return Ok(settings);
        };
        if !self.screen.terminal().has_person() || self.screen.form().is_json() {
            return Ok(settings);
        }
        let styled = self.screen.styled_err();
        let words = match project.trust {
            TrustStatus::Changed => "has changed since you trusted it. It would start:",
            _ => "wants to start these servers:",
        };
        self.screen.say(&format!("{} {words}", paint(styled, BOLD, &project.path.display().to_string())));
        for server in settings.servers.iter().filter(|server| server.scope == Scope::Project) {
            self.screen.say(&format!("  {}: {}", clean(&server.name), clean(&server.shown.target)));
        }
        self.screen.prompt("Trust this file? [y]es, [n]o: ");
        if !self.said_yes()? {
            return Ok(settings);
        }
        config::trust(&settings.paths, &project.path, project.digest)
            .map_err(|fault| CommandError::new(Fault::Failed, fault))?;
        self.settings()
    }

    /// Reads one answer from the keyboard; only a clear yes is one.
    ///
    /// # Errors
    ///
    /// When the keyboard cannot be read.
    pub(crate) fn said_yes(&self) -> Result<bool, CommandError> {
        let mut answer = String::new();
        if std::io::stdin().read_line(&mut answer)? > 0 {
            self.screen.answered();
        }
        Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
    }

    /// Runs asynchronous work to its end.
    ///
    /// # Errors
    ///
    /// What the work fails with, or that the system gives us no threads.
    pub(crate) fn block_on<T>(
        &self,
        work: impl Future<Output = Result<T, CommandError>>,
    ) -> Result<T, CommandError> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let outcome = runtime.block_on(work);
        // What still blocks a thread, such as a model's last step, does not keep the person waiting.
        runtime.shutdown_timeout(LAST_WAIT);
        outcome
    }

    /// The one HTTP client. Cheap until the first request.
    pub(crate) fn http(&self) -> HttpClient {
        let proxy = self.environment.proxy();
        HttpClient::new(HttpOptions {
            proxy: ProxyOptions {
                http: proxy.http,
                https: proxy.https,
                all: proxy.all,
                no_proxy: Some(proxy.no_proxy),
            },
            ..HttpOptions::default()
        })
    }

    /// Starts all servers and waits until each is ready or has failed.
    pub(crate) async fn open_host(
        &self,
        settings: Settings,
        http: HttpClient,
        observer: &dyn Observer,
    ) -> Arc<Host> {
        let parts = HostParts {
            bundled: bundled::servers(&http),
            approver: approver(self.common.approve, &self.screen),
            respondent: respondent(self.common.approve, &self.screen),
            http,
            clock: wall_clock(),
            implementation: implementation(),
            run: format!("{:x}-{:x}", wall_clock()(), std::process::id()),
        };
        Host::open(settings, parts, observer).await
    }

    /// Where a run ends; the flags are in the settings already.
    pub(crate) fn limits(&self, settings: &Settings) -> RunLimits {
        RunLimits {
            max_turns: settings.limits.max_turns,
            timeout: Some(settings.limits.timeout),
            budget_tokens: settings.limits.budget_tokens,
            ..RunLimits::default()
        }
    }
}

/// Who we are towards servers and clients.
pub(crate) fn implementation() -> Implementation {
    Implementation {
        name: "surehand".to_owned(),
        title: Some("Surehand".to_owned()),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// The time of day; the only look at the system's clock.
pub(crate) fn wall_clock() -> WallClock {
    Arc::new(|| {
        #[expect(
            clippy::disallowed_methods,
            reason = "the one place from which the clock is handed on as a value"
        )]
        let now = std::time::SystemTime::now();
        let since = now.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}

/// Does the work; the first Ctrl-C cancels it and waits for its end, the second gives up waiting.
///
/// # Errors
///
/// When it was interrupted twice.
pub(crate) async fn on_interrupt<T>(
    cancel: &CancellationToken,
    work: impl Future<Output = T>,
) -> Result<T, CommandError> {
    let mut work = pin!(work);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return Ok(done),
            signal = tokio::signal::ctrl_c() => {
                signal?;
                if cancel.is_cancelled() {
                    return Err(CommandError::new(Fault::Failed, "interrupted"));
                }
                cancel.cancel();
            }
        }
    }
}

/// Leaves only the server that `reference` (`SERVER` or `SERVER/TOOL`) names, where it names one: nobody else needs to start.
pub(crate) fn only_server_of(settings: &mut Settings, reference: &str) {
    let names = |server: &str| {
        server == reference || reference.strip_prefix(server).is_some_and(|rest| rest.starts_with('/'))
    };
    if settings.servers.iter().any(|server| names(&server.name)) {
        settings.servers.retain(|server| names(&server.name));
    }
}

/// Why the server that `reference` names cannot be used, if it cannot.
pub(crate) fn server_trouble(host: &Host, reference: &str) -> Option<CommandError> {
    let status = host.servers().iter().find(|status| {
        status.name == reference
            || reference.strip_prefix(status.name.as_str()).is_some_and(|rest| rest.starts_with('/'))
    })?;
    let name = &status.name;
    let why = status.notes.join("; ");
    let error = match status.status {
        ServerState::Connected => return None,
        ServerState::Failed => {
            CommandError::new(Fault::Unreachable, format!("server `{name}` is not available: {why}"))
        }
        ServerState::LoginNeeded => {
            CommandError::new(Fault::Login, format!("server `{name}` wants a login: {why}"))
        }
        ServerState::Disabled => CommandError::new(Fault::Config, format!("server `{name}` is switched off"))
            .hint(format!("surehand mcp enable {name}")),
        ServerState::NotStarted => {
            CommandError::new(Fault::Config, format!("server `{name}` was not started: {why}"))
        }
    };
    Some(error.about(name).hint("`surehand doctor` looks at everything."))
}
