mod login;

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;
use surehand_host::config::{
    self, Change, ChangeError, EditError, EditOptions, Launch, Scope, ServerSettings, Settings, TrustStatus,
    check,
};
use surehand_model::{Json, RawJson};
use surehand_schema::nearest;

use self::login::{LoginArgs, LogoutArgs};
use crate::error::{CommandError, Fault};
use crate::render::{BOLD, clean, paint, problem_text, table};
use crate::wiring::App;

/// Add, look at, remove and trust MCP servers, and log in to them
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    command: McpCommand,
}

#[derive(Debug, Subcommand)]
enum McpCommand {
    Add(AddArgs),
    AddJson(AddJsonArgs),
    #[command(alias = "ls")]
    List(ListArgs),
    Get(GetArgs),
    #[command(alias = "rm")]
    /// Remove a server from the file it is written in
    Remove(ChangeArgs),
    /// Switch a server on again
    Enable(ChangeArgs),
    /// Switch a server off and keep its entry
    Disable(ChangeArgs),
    Trust(TrustArgs),
    Login(LoginArgs),
    Logout(LogoutArgs),
}

/// Add a server: a command line behind `--`, one command, or a URL
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  surehand mcp add files -- npx -y @modelcontextprotocol/server-filesystem /data
  surehand mcp add -e API_KEY='${API_KEY}' search -- uvx search-server
  surehand mcp add notion https://mcp.notion.com/mcp
  surehand mcp add -H 'Authorization: Bearer ${TOKEN}' work https://mcp.example.com/mcp
  surehand mcp add hopper '/Applications/Hopper Disassembler.app/Contents/MacOS/HopperMCPServer'

${NAME} stays in the file as it is and is filled from the environment when the server starts.")]
struct AddArgs {
    /// The name it gets.
    name: String,
    /// A URL, or one command, which is never split at blanks.
    #[arg(value_name = "COMMAND|URL", num_args = 0..)]
    target: Vec<String>,
    /// The server's own command line, word by word.
    #[arg(last = true, value_name = "COMMAND LINE")]
    line: Vec<String>,
    /// How it is reached [default: http for a URL, stdio for a command].
    #[arg(short, long, value_enum, value_name = "TRANSPORT")]
    transport: Option<Transport>,
    /// A variable of its environment. May be given several times.
    #[arg(short, long = "env", value_name = "KEY=VALUE")]
    env: Vec<String>,
    /// A header sent with each request to its URL. May be given several times.
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    how: How,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Transport {
    // A child process on standard streams.
    Stdio,
    // Streamable HTTP.
    Http,
    // The older HTTP with server-sent events.
    Sse,
}

/// Add a server from its JSON entry, as a README shows it
#[derive(Debug, Args)]
struct AddJsonArgs {
    /// The name it gets.
    name: String,
    /// The entry, such as {"command":"npx","args":["-y","server"]}, or a whole mcpServers block that holds it.
    #[arg(value_name = "JSON")]
    entry: String,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    how: How,
}

/// List the configured servers. Starts nothing
#[derive(Debug, Args)]
struct ListArgs {}

/// Show one server: where it is written, how it is started, what is wrong with it
#[derive(Debug, Args)]
struct GetArgs {
    /// Which server.
    name: String,
}

// No doc comment: each command that takes these says itself what it does.
#[derive(Debug, Args)]
struct ChangeArgs {
    /// Which server.
    name: String,
    #[command(flatten)]
    place: Place,
    /// Only show what would change.
    #[arg(long)]
    dry_run: bool,
}

/// Trust this project's .mcp.json, so that its servers may start
#[derive(Debug, Args)]
struct TrustArgs {
    /// Take the trust back.
    #[arg(long)]
    forget: bool,
}

#[derive(Debug, Args)]
struct Place {
    /// Whose file: the user's, or the project's .mcp.json.
    #[arg(short, long, value_enum, value_name = "SCOPE")]
    scope: Option<FileScope>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FileScope {
    // The user's file.
    User,
    // The project's file.
    Project,
}

#[derive(Debug, Args)]
struct How {
    /// Replace an entry of the same name.
    #[arg(long)]
    force: bool,
    /// Only show what would change.
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: McpArgs, app: &App) -> Result<(), CommandError> {
    match args.command {
        McpCommand::Add(args) => {
            let entry = entry_of(&args)?;
            add(&args.name, entry, &args.place, &args.how, app)
        }
        McpCommand::AddJson(args) => {
            let entry = entry_in(&args.entry, &args.name)?;
            add(&args.name, entry, &args.place, &args.how, app)
        }
        McpCommand::List(ListArgs {}) => list(app),
        McpCommand::Get(args) => get(&args.name, app),
        McpCommand::Remove(args) => {
            let change = Change::Remove { name: args.name.clone() };
            alter(&args, change, "Removed", app)
        }
        McpCommand::Enable(args) => {
            let change = Change::Switch { name: args.name.clone(), enabled: true };
            alter(&args, change, "Switched on", app)
        }
        McpCommand::Disable(args) => {
            let change = Change::Switch { name: args.name.clone(), enabled: false };
            alter(&args, change, "Switched off", app)
        }
        McpCommand::Trust(args) => trust(&args, app),
        McpCommand::Login(args) => login::log_in(&args, app),
        McpCommand::Logout(args) => login::log_out(&args, app),
    }
}

/// The entry that `mcp add` describes.
fn entry_of(args: &AddArgs) -> Result<Json, CommandError> {
    let name = &args.name;
    let (target, more) = match (args.target.as_slice(), args.line.as_slice()) {
        ([], []) => {
            return Err(CommandError::usage(format!(
                "what is `{name}`? Neither a command nor a URL was given"
            ))
            .hint(format!("surehand mcp add {name} -- COMMAND ARGS, or surehand mcp add {name} URL")));
        }
        ([], [command, rest @ ..]) => (command, rest),
        ([target], rest) => (target, rest),
        (words, line) => {
            // What begins with a dash was taken for ours and is not among the words any more, so the line is not made up again.
            let command = words.iter().chain(line).next().map_or("COMMAND", String::as_str);
            return Err(CommandError::usage("a server's own arguments stand behind `--`")
                .hint(format!("surehand mcp add {name} -- {command} and the rest of its command line")));
        }
    };
    let is_url = ["http://", "https://"]
        .iter()
        .any(|scheme| target.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
    if let (false, Some((scheme, _))) = (is_url, target.split_once("://"))
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric())
    {
        return Err(CommandError::usage(format!("a server is not reached over `{scheme}`"))
            .hint("A URL begins with https:// or http://."));
    }
    match args.transport {
        Some(Transport::Http | Transport::Sse) if !is_url => {
            return Err(CommandError::usage(format!("`{target}` is not a URL"))
                .hint("It begins with https:// or http://."));
        }
        Some(Transport::Stdio) | None if !is_url => {}
        Some(Transport::Stdio) => {
            return Err(CommandError::usage("a URL is not reached over stdio")
                .hint("Leave --transport out, or say http."));
        }
        _ => {}
    }
    if is_url { url_entry(args, target, more) } else { command_entry(args, target, more) }
}

fn command_entry(args: &AddArgs, command: &str, more: &[String]) -> Result<Json, CommandError> {
    if !args.headers.is_empty() {
        return Err(CommandError::usage("only a URL takes --header").hint("A command takes --env."));
    }
    let mut entry = vec![("command".to_owned(), Json::from(command))];
    if !more.is_empty() {
        entry.push((
            "args".to_owned(),
            Json::Array(more.iter().map(|word| Json::from(word.as_str())).collect()),
        ));
    }
    let mut env = Vec::new();
    for pair in &args.env {
        let (key, value) = pair
            .split_once('=')
            .filter(|(key, _)| !key.is_empty())
            .ok_or_else(|| CommandError::usage(format!("`{pair}` is no variable")).hint("-e KEY=VALUE"))?;
        env.push((key.to_owned(), Json::from(value)));
    }
    if !env.is_empty() {
        entry.push(("env".to_owned(), Json::Object(env)));
    }
    Ok(Json::Object(entry))
}

fn url_entry(args: &AddArgs, url: &str, more: &[String]) -> Result<Json, CommandError> {
    if !more.is_empty() {
        return Err(CommandError::usage("a URL takes no arguments").hint("Nothing stands behind the URL."));
    }
    if !args.env.is_empty() {
        return Err(CommandError::usage("only a command takes --env").hint("A URL takes --header."));
    }
    let kind = if args.transport == Some(Transport::Sse) { "sse" } else { "http" };
    let mut entry = vec![("type".to_owned(), Json::from(kind)), ("url".to_owned(), Json::from(url))];
    let mut headers = Vec::new();
    for header in &args.headers {
        let (name, value) = header
            .split_once(':')
            .map(|(name, value)| (name.trim(), value.trim()))
            .filter(|(name, _)| !name.is_empty() && !name.contains(char::is_whitespace))
            .ok_or_else(|| {
                CommandError::usage(format!(
                    "`{}` is no header",
                    header.split(':').next().unwrap_or_default()
                ))
                .hint("-H 'NAME: VALUE'")
            })?;
        headers.push((name.to_owned(), Json::from(value)));
    }
    if !headers.is_empty() {
        entry.push(("headers".to_owned(), Json::Object(headers)));
    }
    Ok(Json::Object(entry))
}

/// The entry in a JSON text: the object itself, or the one of this name in a block as READMEs show it.
fn entry_in(text: &str, name: &str) -> Result<Json, CommandError> {
    let json = Json::parse(text).map_err(|fault| {
        CommandError::usage(format!("the entry cannot be read: {fault}")).hint("Put it in single quotes.")
    })?;
    let entry = match json
        .get("mcpServers")
        .or_else(|| json.get("servers"))
        .filter(|block| block.as_object().is_some())
    {
        None => json,
        Some(block) => block.get(name).cloned().ok_or_else(|| {
            let names = block
                .as_object()
                .unwrap_or_default()
                .iter()
                .map(|(name, _)| name.as_str())
                .collect::<Vec<_>>();
            CommandError::usage(format!("the block holds no server `{name}`"))
                .hint(format!("It holds: {}.", names.join(", ")))
        })?,
    };
    if entry.as_object().is_some() {
        Ok(entry)
    } else {
        Err(CommandError::usage("the entry must be a JSON object"))
    }
}

fn add(name: &str, entry: Json, place: &Place, how: &How, app: &App) -> Result<(), CommandError> {
    let settings = app.settings()?;
    let path = match place.scope {
        Some(FileScope::Project) => settings.paths.project_file.clone(),
        Some(FileScope::User) | None => settings.paths.user_file.clone(),
    };
    let change = Change::Add { name: name.to_owned(), entry, replace: how.force || app.common.yes };
    make(&settings, path, &change, how.dry_run, &format!("Added `{name}` to"), app)?;
    if !how.dry_run {
        warn_about(name, app)?;
    }
    Ok(())
}

/// Says at once what would only be noticed when the server is used.
fn warn_about(name: &str, app: &App) -> Result<(), CommandError> {
    let settings = app.settings()?;
    for problem in check(&settings).iter().filter(|problem| problem.server.as_deref() == Some(name)) {
        app.screen.warn(&problem_text(problem));
    }
    let entry = settings.server(name);
    if let Some(ServerSettings { launch: Launch::Child { command, args, .. }, .. }) = entry
        && args.is_empty()
        && command.contains(' ')
        && !std::path::Path::new(command).exists()
    {
        app.screen.warn(&format!("`{command}` is one command; a command line stands behind `--`: surehand mcp add {name} --force -- {command}"));
    }
    Ok(())
}

fn alter(args: &ChangeArgs, change: Change, done: &str, app: &App) -> Result<(), CommandError> {
    let settings = app.settings()?;
    let name = &args.name;
    let known = settings.server(name);
    if matches!(change, Change::Remove { .. }) && known.is_some_and(|server| server.scope == Scope::Bundled) {
        return Err(CommandError::usage(format!("`{name}` comes with the program and cannot be removed"))
            .hint(format!("surehand mcp disable {name}")));
    }
    let path = match (args.place.scope, known) {
        (Some(FileScope::User), _) => settings.paths.user_file.clone(),
        (Some(FileScope::Project), _) => settings.paths.project_file.clone(),
        (None, Some(server)) if server.scope == Scope::Bundled => settings.paths.user_file.clone(),
        (None, Some(server)) => server
            .file
            .clone()
            .ok_or_else(|| CommandError::usage(format!("`{name}` stands on the command line, in no file")))?,
        (None, None) => {
            let names = settings.servers.iter().map(|server| server.name.as_str());
            return Err(no_such_server(name, nearest(name, names).first().copied()));
        }
    };
    make(&settings, path, &change, args.dry_run, &format!("{done} `{name}` in"), app)
}

fn no_such_server(name: &str, near: Option<&str>) -> CommandError {
    let error = CommandError::new(Fault::Config, format!("there is no server `{name}`"));
    match near {
        Some(near) => error.hint(format!("Did you mean {near}?")),
        None => error.hint("`surehand mcp list` shows what there is."),
    }
}

/// Makes the change, or shows what it would be.
fn make(
    settings: &Settings,
    path: PathBuf,
    change: &Change,
    dry_run: bool,
    done: &str,
    app: &App,
) -> Result<(), CommandError> {
    let edited =
        config::edit(&settings.paths, &path, change, EditOptions { dry_run }).map_err(edit_failed)?;
    if app.screen.form().is_json() {
        #[derive(Serialize)]
        struct Shape<'a> {
            file: String,
            changed: bool,
            created: bool,
            dry_run: bool,
            #[serde(skip_serializing_if = "Option::is_none")]
            diff: Option<&'a str>,
        }
        let shape = Shape {
            file: edited.path.display().to_string(),
            changed: edited.changed,
            created: edited.created,
            dry_run,
            diff: dry_run.then_some(edited.diff.as_str()),
        };
        return Ok(app.screen.print(&format!("{}\n", RawJson::from_serialize(&shape)))?);
    }
    let text = match (dry_run, edited.changed) {
        (true, true) => edited.diff,
        (_, false) => format!("Nothing to change in {}.\n", edited.path.display()),
        (false, true) => format!("{done} {}.\n", edited.path.display()),
    };
    Ok(app.screen.print(&text)?)
}

fn edit_failed(failure: EditError) -> CommandError {
    let hint = match &failure {
        EditError::Change { source: ChangeError::Exists { .. }, .. } => Some("--force replaces it."),
        EditError::Change { source: ChangeError::Unreadable(_), .. } => Some("Mend the file by hand first."),
        _ => None,
    };
    let error = CommandError::new(Fault::Config, failure);
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

#[derive(Serialize)]
struct ServerShape<'a> {
    name: &'a str,
    scope: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    kind: &'a str,
    target: &'a str,
    env: RawJson,
    headers: RawJson,
    enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<&'a str>,
}

fn shape(server: &ServerSettings) -> RawJson {
    let pairs = |pairs: &[(String, String)]| {
        RawJson::from(&Json::Object(
            pairs.iter().map(|(key, value)| (key.clone(), Json::from(value.as_str()))).collect(),
        ))
    };
    RawJson::from_serialize(&ServerShape {
        name: &server.name,
        scope: server.scope.to_string(),
        file: server.file.as_ref().map(|file| file.display().to_string()),
        kind: &server.shown.kind,
        target: &server.shown.target,
        env: pairs(&server.shown.env),
        headers: pairs(&server.shown.headers),
        enabled: server.enabled,
        problem: server.problem.as_deref(),
    })
}

fn list(app: &App) -> Result<(), CommandError> {
    let settings = app.settings()?;
    if app.screen.form().is_json() {
        let servers: Vec<String> = settings.servers.iter().map(|server| shape(server).to_string()).collect();
        return Ok(app.screen.print(&format!("[{}]\n", servers.join(",\n ")))?);
    }
    for problem in settings.problems.iter().filter(|problem| problem.severity != config::Severity::Info) {
        app.screen.warn(&problem_text(problem));
    }
    let rows: Vec<[String; 4]> = settings
        .servers
        .iter()
        .map(|server| {
            let target = server.shown.target.clone();
            [server.name.clone(), server.scope.to_string(), state(server).to_owned(), target]
        })
        .collect();
    let width = app.screen.terminal().width.filter(|_| app.screen.terminal().stdout);
    Ok(app.screen.print(&table(&rows, width))?)
}

fn state(server: &ServerSettings) -> &'static str {
    match (server.enabled, &server.problem) {
        (false, _) => "off",
        (true, Some(_)) => "cannot start",
        (true, None) => "on",
    }
}

fn get(name: &str, app: &App) -> Result<(), CommandError> {
    let settings = app.settings()?;
    let Some(server) = settings.server(name) else {
        let names = settings.servers.iter().map(|server| server.name.as_str());
        return Err(no_such_server(name, nearest(name, names).first().copied()));
    };
    if app.screen.form().is_json() {
        return Ok(app.screen.print(&format!("{}\n", shape(server)))?);
    }
    let file = server.file.as_ref().map(|file| file.display().to_string());
    let pairs = |pairs: &[(String, String)], sign: &str| {
        pairs.iter().map(|(key, value)| format!("{key}{sign}{value}")).collect::<Vec<_>>().join(", ")
    };
    let facts = [
        ("Scope", server.scope.to_string()),
        ("File", file.unwrap_or_default()),
        ("Kind", server.shown.kind.clone()),
        ("Target", server.shown.target.clone()),
        ("Variables", pairs(&server.shown.env, "=")),
        ("Headers", pairs(&server.shown.headers, ": ")),
        ("State", state(server).to_owned()),
        ("Login", login::kept(server, &settings, app).unwrap_or_default().to_owned()),
        ("Problem", server.problem.clone().unwrap_or_default()),
    ];
    let rows: Vec<[String; 2]> = facts
        .into_iter()
        .filter(|(_, fact)| !fact.is_empty())
        .map(|(name, fact)| [name.to_owned(), fact])
        .collect();
    app.screen.print(&format!("{}\n{}", paint(app.screen.styled(), BOLD, name), table(&rows, None)))?;
    for problem in check(&settings).iter().filter(|problem| problem.server.as_deref() == Some(name)) {
        app.screen.warn(&problem_text(problem));
    }
    Ok(())
}

fn trust(args: &TrustArgs, app: &App) -> Result<(), CommandError> {
    let settings = app.settings()?;
    let failed = |fault| CommandError::new(Fault::Failed, fault);
    let Some(project) = &settings.project else {
        return Err(
            CommandError::usage("there is no .mcp.json here").hint("Go to the project's folder first.")
        );
    };
    let path = project.path.display();
    if args.forget {
        config::forget(&settings.paths, &project.path).map_err(failed)?;
        return Ok(app.screen.print(&format!("{path} is not trusted any more.\n"))?);
    }
    if project.trust == TrustStatus::Trusted {
        return Ok(app.screen.print(&format!("{path} is trusted already.\n"))?);
    }
    app.screen.say(&format!("{path} wants to start:"));
    for server in settings.servers.iter().filter(|server| server.scope == Scope::Project) {
        app.screen.say(&format!("  {}: {}", clean(&server.name), clean(&server.shown.target)));
    }
    if !app.common.yes {
        if !app.screen.terminal().has_person() {
            return Err(CommandError::new(Fault::Refused, "nobody is there to agree")
                .hint("--yes agrees without a question."));
        }
        app.screen.prompt("Trust this file? [y]es, [n]o: ");
        if !app.said_yes()? {
            return Err(CommandError::new(Fault::Refused, "not trusted"));
        }
    }
    config::trust(&settings.paths, &project.path, project.digest).map_err(failed)?;
    Ok(app.screen.print(&format!("{path} is trusted. A change to it asks again.\n"))?)
}
