use std::sync::Arc;

use clap::Args;
use serde::Serialize;
use surehand_auth::{LoopbackBrowser, Paste};
use surehand_host::config::{ServerSettings, Settings};
use surehand_host::{LoggedIn, LoginError, LoginParts};
use surehand_model::RawJson;
use surehand_schema::nearest;
use surehand_transport::{HttpClient, OpenError};

use super::no_such_server;
use crate::approve::read_line;
use crate::error::{CommandError, Fault};
use crate::render::{BOLD, Screen, paint};
use crate::wiring::{App, implementation, wall_clock};

/// Log in to a server behind a URL, in a browser. Whatever login there was is replaced
#[derive(Debug, Args)]
#[command(after_help = "\
The address to open is shown and never opened here. The answer comes back to a port of this machine; where the browser runs on
another one, paste the address that it ended at.

Credentials are kept in $XDG_STATE_HOME/surehand/oauth, readable by you alone.")]
pub(super) struct LoginArgs {
    /// Which server.
    name: String,
    /// Scopes to ask for beside those that the server names, separated by commas.
    #[arg(long, value_name = "SCOPES", value_delimiter = ',')]
    scopes: Vec<String>,
}

/// Forget the login to a server
#[derive(Debug, Args)]
pub(super) struct LogoutArgs {
    /// Which server.
    name: String,
}

pub(super) fn log_in(args: &LoginArgs, app: &App) -> Result<(), CommandError> {
    let settings = app.settings()?;
    let server = server_of(&settings, &args.name)?;
    if let Some(problem) = &server.problem {
        let words = format!("server `{}` cannot be used: {problem}", server.name);
        return Err(CommandError::new(Fault::Config, words));
    }
    let screen = Arc::clone(&app.screen);
    let paste = app.screen.terminal().has_person().then(|| paste(&app.screen));
    let browser = LoopbackBrowser {
        host: server.login.callback_host.clone(),
        port: server.login.callback_port,
        paste,
        ..LoopbackBrowser::new(Arc::new(move |url| {
            let styled = screen.styled_err();
            screen.say(&format!("Open this address in a browser:\n{}", paint(styled, BOLD, url.as_str())));
        }))
    };
    let http = app.http();
    let screen = Arc::clone(&app.screen);
    let parts = LoginParts {
        browser: Some(Arc::new(browser)),
        scopes: args.scopes.clone(),
        on_note: Some(Arc::new(move |note| screen.warn(&note.to_string()))),
        ..parts(&settings, &http)
    };
    let name = &server.name;
    let done = app.block_on(async {
        surehand_host::log_in(server, parts).await.map_err(|error| failed(error).about(name))
    })?;
    let (state, words) = match done {
        LoggedIn::Yes => ("logged_in", format!("Logged in to `{name}`.\n")),
        LoggedIn::NotNeeded => ("not_needed", format!("`{name}` wants no login.\n")),
    };
    report(app, name, state, &words)
}

pub(super) fn log_out(args: &LogoutArgs, app: &App) -> Result<(), CommandError> {
    let settings = app.settings()?;
    let server = server_of(&settings, &args.name)?;
    let http = app.http();
    let had = surehand_host::log_out(server, parts(&settings, &http)).map_err(failed)?;
    let name = &server.name;
    let words =
        if had { format!("Logged out of `{name}`.\n") } else { format!("There was no login to `{name}`.\n") };
    report(app, name, if had { "logged_out" } else { "not_needed" }, &words)
}

/// What is kept of a login to a server; `None` where nothing is to be said of it.
pub(super) fn kept(server: &ServerSettings, settings: &Settings, app: &App) -> Option<&'static str> {
    surehand_host::is_logged_in(server, parts(settings, &app.http())).ok()?.then_some("kept")
}

fn parts<'a>(settings: &'a Settings, http: &'a HttpClient) -> LoginParts<'a> {
    LoginParts {
        state: &settings.paths.state,
        http,
        clock: wall_clock(),
        implementation: implementation(),
        browser: None,
        scopes: Vec::new(),
        on_note: None,
    }
}

fn server_of<'a>(settings: &'a Settings, name: &str) -> Result<&'a ServerSettings, CommandError> {
    settings.server(name).ok_or_else(|| {
        let names = settings.servers.iter().map(|server| server.name.as_str());
        no_such_server(name, nearest(name, names).first().copied())
    })
}

fn paste(screen: &Arc<Screen>) -> Paste {
    let screen = Arc::clone(screen);
    Arc::new(move || {
        let screen = Arc::clone(&screen);
        Box::pin(async move {
            screen.prompt("Waiting for the browser; or paste the address that it ended at: ");
            let line = read_line().await.ok().filter(|line| !line.trim().is_empty())?;
            screen.answered();
            Some(line)
        })
    })
}

fn failed(error: LoginError) -> CommandError {
    let fault = match &error {
        LoginError::NotForLogin { .. } | LoginError::File { .. } => Fault::Config,
        LoginError::Kept(_) => Fault::Failed,
        LoginError::Open(OpenError::LoginNeeded { .. } | OpenError::LoginFailed { .. }) => Fault::Login,
        LoginError::Open(_) => Fault::Unreachable,
    };
    CommandError::new(fault, error)
}

fn report(app: &App, server: &str, state: &str, words: &str) -> Result<(), CommandError> {
    if !app.screen.form().is_json() {
        return Ok(app.screen.print(words)?);
    }
    #[derive(Serialize)]
    struct Shape<'a> {
        server: &'a str,
        state: &'a str,
    }
    Ok(app.screen.print(&format!("{}\n", RawJson::from_serialize(&Shape { server, state })))?)
}
