//! One server: started or reached, asked for its tools, called, and started again when it died.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use surehand_mcp::{Implementation, Progress, ServerHandler};
use surehand_model::{Note, RawJson, Tool};
use surehand_policy::Effect;
use surehand_sandbox::ChildSpec;
use surehand_transport::{
    CallOptions, CallOutcome, Client, ClientError, ClientEvent, ClientOptions, HttpClient, HttpTarget,
    OpenError, ServerNotice, TASKS, Target,
};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::clock::WallClock;
use crate::config::{ChildEnvironment, Launch, ServerSettings};
use crate::elicitation::{Desk, Respondent};
use crate::login::{self, LoginParts};
use crate::runner::CallContext;
use crate::status::{ServerState, ServerStatus};

/// How many times its time a call may take that reports progress all along.
const LONGEST: u32 = 10;

/// How often a server that died is started again within one run of the program.
const RESTARTS: u32 = 3;

/// The most calls one server gets at once.
const PARALLEL_CALLS: usize = 64;

/// Makes a bundled server.
pub type MakeServer = Arc<dyn Fn(&BundledOptions) -> Arc<dyn ServerHandler> + Send + Sync>;

/// A server that comes with the product and runs inside it.
#[derive(Clone)]
pub struct BundledServer {
    /// The name in the configuration.
    pub name: String,
    /// Makes the server from its options in the configuration.
    pub make: MakeServer,
    /// What each of its tools does, by the tool's name: our own word for our own tools.
    pub effects: HashMap<String, Effect>,
}

/// What a bundled server is made from.
#[derive(Clone, Debug)]
pub struct BundledOptions {
    /// The object beside its name in the configuration; empty where nothing was set.
    pub options: surehand_model::Json,
    /// The folder in which we run.
    pub cwd: PathBuf,
}

/// A server as it came up.
pub(crate) struct Opened {
    pub(crate) connection: Connection,
    pub(crate) tools: Vec<Tool>,
    pub(crate) status: ServerStatus,
    pub(crate) notes: Vec<Note>,
}

/// A server that can be called.
pub(crate) struct Connection {
    settings: ServerSettings,
    plan: Plan,
    /// `None` once it was closed for good.
    client: Mutex<Option<Arc<Client>>>,
    /// One at a time starts it again.
    restart: Semaphore,
    restarts: Mutex<u32>,
    gate: Semaphore,
    aside: Arc<Mutex<Aside>>,
    desk: Arc<Desk>,
    pub(crate) effects: HashMap<String, Effect>,
    pub(crate) bundled: bool,
}

/// One call may be made while it lives.
pub(crate) struct Turn<'a>(#[expect(dead_code, reason = "held for its end")] SemaphorePermit<'a>);

/// What a server told beside its answers, until somebody takes it.
#[derive(Default)]
struct Aside {
    notes: Vec<Note>,
    last_words: String,
    /// Its tools may not be what they were when they were listed.
    has_other_tools: bool,
}

/// The most notes of one server that wait to be taken.
const NOTES_KEPT: usize = 64;

/// What it takes to open a connection, again and again.
#[derive(Clone)]
struct Plan {
    target: Target,
    options: ClientOptions,
    http: HttpClient,
}

impl Plan {
    async fn open(&self) -> Result<Client, OpenError> {
        Client::open(self.target.clone(), self.options.clone(), &self.http).await
    }
}

/// What connecting needs to know besides the server's own settings.
#[derive(Clone)]
pub(crate) struct Surroundings {
    pub(crate) bundled: Arc<Vec<BundledServer>>,
    pub(crate) children: ChildEnvironment,
    pub(crate) http: HttpClient,
    pub(crate) implementation: Implementation,
    pub(crate) cwd: PathBuf,
    /// The folder that holds our state.
    pub(crate) state: PathBuf,
    pub(crate) clock: WallClock,
    pub(crate) respondent: Option<Arc<dyn Respondent>>,
    /// One question at a time, whoever asks.
    pub(crate) asking: Arc<Semaphore>,
}

/// Opens a connection and asks for the tools. Whatever goes wrong is in the status; nothing is thrown.
pub(crate) async fn open(settings: ServerSettings, around: Surroundings) -> Result<Opened, ServerStatus> {
    let status = |state, note: String| ServerStatus {
        name: settings.name.clone(),
        status: state,
        version: None,
        tools: 0,
        notes: vec![note],
    };
    if !settings.enabled {
        return Err(status(ServerState::Disabled, "switched off in the configuration".to_owned()));
    }
    if let Some(problem) = &settings.problem {
        return Err(status(ServerState::NotStarted, problem.clone()));
    }
    let (target, effects) = match target_of(&settings, &around) {
        Ok(found) => found,
        Err(problem) => return Err(status(ServerState::NotStarted, problem)),
    };
    let aside = Arc::new(Mutex::new(Aside::default()));
    let told = listener(Arc::clone(&aside));
    let logins = LoginParts {
        state: &around.state,
        http: &around.http,
        clock: around.clock.clone(),
        implementation: around.implementation.clone(),
        // Nobody is taken to a login in the middle of something else.
        browser: None,
        scopes: Vec::new(),
        on_note: Some(Arc::new({
            let told = told.clone();
            move |note| told(ClientEvent::Note(note))
        })),
    };
    let desk = Desk::new(&settings.name, around.respondent.clone(), Arc::clone(&around.asking));
    let options = ClientOptions {
        startup_timeout: settings.startup_timeout,
        implementation: around.implementation.clone(),
        on_event: Some(told),
        on_elicitation: Some(desk.clone()),
        // A call that becomes a task is waited for like any other.
        extensions: vec![(TASKS.to_owned(), RawJson::empty_object())],
        authorizer: login::authorizer(&settings, logins),
        ..ClientOptions::default()
    };
    let bundled = matches!(target, Target::InProcess(_));
    let plan = Plan { target, options, http: around.http.clone() };
    let client = match plan.open().await {
        Ok(client) => client,
        Err(failure) => {
            let wants_login =
                matches!(failure, OpenError::LoginNeeded { .. } | OpenError::LoginFailed { .. });
            let state = if wants_login { ServerState::LoginNeeded } else { ServerState::Failed };
            return Err(status(state, chain(&failure)));
        }
    };
    let mut notes: Vec<Note> = client.opening_notes().to_vec();
    let mut tools = Vec::new();
    match tokio::time::timeout(settings.startup_timeout, client.list_tools()).await {
        Ok(Ok(listing)) => {
            tools = listing.items;
            notes.extend(listing.notes);
        }
        Ok(Err(failure)) => notes.push(Note::new(&settings.name, "tools not listed", chain(&failure))),
        Err(_) => {
            let why = format!("no answer within {} s", settings.startup_timeout.as_secs_f32());
            notes.push(Note::new(&settings.name, "tools not listed", why));
        }
    }
    notes.append(&mut aside.lock().unwrap_or_else(PoisonError::into_inner).notes);
    let hidden = tools.len();
    tools.retain(|tool| settings.tools.admits(&tool.name));
    if tools.len() < hidden {
        let why = "the server's entry in the configuration leaves them out";
        notes.push(Note::new(&settings.name, format!("{} tools hidden", hidden - tools.len()), why));
    }
    let status = ServerStatus {
        name: settings.name.clone(),
        status: ServerState::Connected,
        version: Some(client.server().version.clone()).filter(|version| !version.is_empty()),
        tools: tools.len(),
        notes: notes.iter().map(|note| words(&settings.name, note)).collect(),
    };
    let notes = notes.into_iter().map(|note| naming(&settings.name, note)).collect();
    let permits = if settings.parallel { PARALLEL_CALLS } else { 1 };
    let connection = Connection {
        settings,
        plan,
        client: Mutex::new(Some(Arc::new(client))),
        restart: Semaphore::new(1),
        restarts: Mutex::new(0),
        gate: Semaphore::new(permits),
        aside,
        desk,
        effects,
        bundled,
    };
    Ok(Opened { connection, tools, status, notes })
}

fn target_of(
    settings: &ServerSettings,
    around: &Surroundings,
) -> Result<(Target, HashMap<String, Effect>), String> {
    match &settings.launch {
        Launch::Child { command, args, env, cwd } => {
            let spec = ChildSpec {
                command: command.clone(),
                args: args.clone(),
                env: env.clone(),
                cwd: cwd.clone(),
                search_path: around.children.search_path.clone(),
                inherit: around.children.inherit.clone(),
            };
            Ok((Target::Child(spec), HashMap::new()))
        }
        Launch::Http { url, headers, sse } => {
            let target = HttpTarget { url: url.clone(), headers: headers.clone() };
            Ok((if *sse { Target::Sse(target) } else { Target::Http(target) }, HashMap::new()))
        }
        Launch::Bundled { name, options } => {
            let found = around.bundled.iter().find(|server| &server.name == name);
            let server = found.ok_or_else(|| format!("there is no bundled server `{name}`"))?;
            let made = (server.make)(&BundledOptions { options: options.clone(), cwd: around.cwd.clone() });
            Ok((Target::InProcess(made), server.effects.clone()))
        }
        Launch::Unusable => Err("its entry cannot be used".to_owned()),
    }
}

impl Connection {
    /// Whether the server takes one call at a time.
    pub(crate) fn is_one_at_a_time(&self) -> bool {
        !self.settings.parallel
    }

    pub(crate) fn call_timeout(&self) -> Duration {
        self.settings.call_timeout
    }

    /// The client, for what needs no restart: resources, prompts.
    pub(crate) fn client(&self) -> Option<Arc<Client>> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until the server may be called: one that takes one call at a time gets one at a time.
    pub(crate) async fn turn(&self) -> Result<Turn<'_>, ClientError> {
        let closed = |_| ClientError::Closed { why: "the connection was closed".to_owned() };
        self.gate.acquire().await.map(Turn).map_err(closed)
    }

    /// Calls a tool. A server that died before the call was sent is started again first; a call that was sent is never sent twice.
    pub(crate) async fn call(
        &self,
        _turn: Turn<'_>,
        tool: &str,
        arguments: &RawJson,
        context: &CallContext,
        on_progress: &(dyn Fn(Progress) + Send + Sync),
    ) -> Result<CallOutcome, ClientError> {
        let client = self.living_client().await?;
        let timeout = self.call_timeout();
        let longest = Some(timeout.saturating_mul(LONGEST));
        let options = CallOptions { timeout, longest, on_progress: Some(on_progress) };
        let mut outcome = self.desk.during(context, client.call_tool(tool, arguments, options)).await?;
        outcome.notes = outcome.notes.into_iter().map(|note| naming(&self.settings.name, note)).collect();
        Ok(outcome)
    }

    async fn living_client(&self) -> Result<Arc<Client>, ClientError> {
        let closed = || ClientError::Closed { why: "the connection was closed".to_owned() };
        let current = self.client().ok_or_else(closed)?;
        if !current.is_closed() {
            return Ok(current);
        }
        let _alone = self.restart.acquire().await.map_err(|_| closed())?;
        let current = self.client().ok_or_else(closed)?;
        if !current.is_closed() {
            return Ok(current);
        }
        {
            let mut restarts = self.restarts.lock().unwrap_or_else(PoisonError::into_inner);
            if *restarts >= RESTARTS {
                let why = format!("{}; it was started again {RESTARTS} times already", self.last_words());
                return Err(ClientError::Closed { why });
            }
            *restarts += 1;
        }
        let fresh = self.plan.open().await.map_err(|failure| ClientError::Closed {
            why: format!("{}; starting it again failed: {}", self.last_words(), chain(&failure)),
        })?;
        let fresh = Arc::new(fresh);
        let put_in_place = {
            let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
            let is_wanted = client.is_some();
            if is_wanted {
                *client = Some(Arc::clone(&fresh));
            }
            is_wanted
        };
        if !put_in_place {
            // The connection was closed for good meanwhile; dropping the last one ends the server.
            return Err(closed());
        }
        self.aside.lock().unwrap_or_else(PoisonError::into_inner).has_other_tools = true;
        Ok(fresh)
    }

    /// The tools as they are now, where the server has told that they changed or was started again since they were listed. An error
    /// is in words; the tools listed before stand then.
    pub(crate) async fn changed_tools(&self) -> Option<Result<Vec<Tool>, String>> {
        let client = {
            let mut aside = self.aside.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut aside.has_other_tools).then(|| self.client())??
        };
        let limit = self.settings.startup_timeout;
        Some(match tokio::time::timeout(limit, client.list_tools()).await {
            Ok(Ok(listing)) => {
                let mut tools = listing.items;
                tools.retain(|tool| self.settings.tools.admits(&tool.name));
                Ok(tools)
            }
            Ok(Err(failure)) => Err(chain(&failure)),
            Err(_) => Err(format!("no answer within {} s", limit.as_secs_f32())),
        })
    }

    fn last_words(&self) -> String {
        self.aside.lock().unwrap_or_else(PoisonError::into_inner).last_words.clone()
    }

    /// What the server told beside its answers since the last time.
    pub(crate) fn take_notes(&self) -> Vec<Note> {
        let notes = std::mem::take(&mut self.aside.lock().unwrap_or_else(PoisonError::into_inner).notes);
        notes.into_iter().map(|note| naming(&self.settings.name, note)).collect()
    }

    /// Ends the server and waits until it is gone. A server that is still being asked ends once the last answer is in.
    pub(crate) async fn close(&self) {
        let client = self.client.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(client) = client.and_then(Arc::into_inner) {
            client.close().await;
        }
    }
}

/// How the wire, which knows no names, calls the server it is about.
const THE_SERVER: &str = "server";

/// The same note, saying which of the servers it is about.
fn naming(server: &str, note: Note) -> Note {
    let place = match note.r#where.as_str() {
        THE_SERVER => server.to_owned(),
        place if place == server => server.to_owned(),
        place => format!("{server}: {place}"),
    };
    Note { r#where: place, ..note }
}

/// A note among those of its own server.
fn words(server: &str, note: &Note) -> String {
    let Note { r#where: place, what, why } = note;
    if place == THE_SERVER || place == server {
        format!("{what}: {why}")
    } else {
        format!("{place}: {what}: {why}")
    }
}

/// Keeps what a server tells beside its answers.
fn listener(aside: Arc<Mutex<Aside>>) -> Arc<dyn Fn(ClientEvent) + Send + Sync> {
    Arc::new(move |event| {
        let mut aside = aside.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            ClientEvent::Note(note) if aside.notes.len() < NOTES_KEPT => aside.notes.push(note),
            ClientEvent::Notice(ServerNotice::ToolsChanged) => aside.has_other_tools = true,
            ClientEvent::Note(_) | ClientEvent::Notice(_) => {}
            ClientEvent::Closed { why } => aside.last_words = why,
        }
    })
}

/// An error with everything behind it, each level once.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let words = cause.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        next = cause.source();
    }
    text
}
