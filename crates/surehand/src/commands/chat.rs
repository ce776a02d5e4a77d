mod lines;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use surehand_host::config::Settings;
use surehand_host::{
    Agent, Conversation, Host, SYSTEM_PROMPT, ServerState, SessionError, SessionLog, load_session,
    reference_of,
};
use surehand_provider::Provider;
use surehand_schema::nearest;
use tokio_util::sync::CancellationToken;

use self::lines::Lines;
use super::ask::ended;
use crate::error::{CommandError, Fault};
use crate::models::{self, Choice};
use crate::render::{BOLD, clean, count, note_line, paint, table};
use crate::watch::Watch;
use crate::wiring::{App, on_interrupt, wall_clock};

/// Talk with a model; tools are used as needed
///
/// Ctrl-C cancels what is being answered, Ctrl-D or /quit ends the conversation. A line that ends in a backslash goes on in the
/// next one. Conversations are kept; --continue takes up the last one.
#[derive(Debug, clap::Args)]
pub(crate) struct ChatArgs {
    /// Go on with the last conversation.
    #[arg(short, long = "continue")]
    resume: bool,
}

const COMMANDS: [(&str, &str); 6] = [
    ("/tools", "the tools that can be called; /tools SERVER for one server's"),
    ("/mcp", "the servers and how they are doing"),
    ("/model", "who answers; /model PROVIDER/MODEL for another one"),
    ("/clear", "forget what was said"),
    ("/help", "this list"),
    ("/quit", "end (Ctrl-D too)"),
];

pub(crate) fn run(args: &ChatArgs, app: &App) -> Result<(), CommandError> {
    let settings = app.settings_asking_for_trust()?;
    let choice = models::choose(app, &settings)?;
    app.block_on(async {
        models::fetch_if_needed(app, &settings, &choice, false).await?;
        let cancel = CancellationToken::new();
        let watch = Arc::new(Watch::new(Arc::clone(&app.screen), choice.id(), cancel.clone()));
        let opening = async {
            tokio::join!(
                app.open_host(settings.clone(), app.http(), watch.as_ref()),
                models::open(&choice, &settings.paths)
            )
        };
        let (host, provider) = watch.while_doing(on_interrupt(&cancel, opening)).await?;
        let mut chat = Chat {
            app,
            settings: &settings,
            host: Arc::clone(&host),
            choice,
            provider: provider?,
            conversation: Conversation::default(),
            log: None,
        };
        let resumed = if args.resume { chat.take_up_last() } else { Ok(()) };
        let outcome = match resumed {
            Ok(()) => chat.talk().await,
            Err(failure) => Err(failure),
        };
        host.close().await;
        outcome
    })
}

struct Chat<'a> {
    app: &'a App,
    settings: &'a Settings,
    host: Arc<Host>,
    choice: Choice,
    provider: Arc<dyn Provider>,
    conversation: Conversation,
    log: Option<SessionLog>,
}

/// What a line asks for.
enum Next {
    Go,
    End,
}

impl Chat<'_> {
    /// Takes up the last conversation.
    fn take_up_last(&mut self) -> Result<(), CommandError> {
        let failed = |fault| CommandError::new(Fault::Failed, fault);
        let path = last_session(&self.sessions())
            .ok_or_else(|| CommandError::usage("there is no conversation to go on with"))?;
        let (conversation, notes) = load_session(&path).map_err(failed)?;
        for note in &notes {
            self.app.screen.say(&note_line(note, self.app.screen.styled_err()));
        }
        self.log = Some(SessionLog::open(&path, conversation.messages.len()).map_err(failed)?);
        self.conversation = conversation;
        Ok(())
    }

    /// Where conversations are kept.
    fn sessions(&self) -> PathBuf {
        self.settings.paths.state.join("sessions")
    }

    /// Writes down what was said since the last time; a new conversation gets its file with its first words.
    fn keep(&mut self) -> Result<(), SessionError> {
        let fresh = new_session(&self.sessions());
        let log = match &mut self.log {
            Some(log) => log,
            None => self.log.insert(SessionLog::open(&fresh, 0)?),
        };
        log.save(&self.conversation)
    }

    async fn talk(&mut self) -> Result<(), CommandError> {
        let screen = &self.app.screen;
        let is_person = screen.terminal().stdin && screen.terminal().stdout;
        if is_person {
            let tools = self.host.offered().len();
            let servers =
                self.host.servers().iter().filter(|server| server.status == ServerState::Connected).count();
            let facts = format!("{} from {}, /help for help", count(tools, "tool"), count(servers, "server"));
            screen.say(&format!("{}, {facts}", paint(screen.styled_err(), BOLD, &self.choice.id())));
        }
        let mut lines = if is_person {
            let servers = self.host.servers().iter().map(|server| server.name.clone()).collect();
            Lines::editor(self.settings.paths.state.join("history"), servers)
                .map_err(|fault| CommandError::new(Fault::Failed, fault))?
        } else {
            Lines::Plain
        };
        loop {
            let (back, read) = tokio::task::spawn_blocking(move || {
                let read = lines.next();
                (lines, read)
            })
            .await
            .map_err(|fault| CommandError::new(Fault::Failed, fault))?;
            lines = back;
            let line = match read {
                Ok(Some(line)) => line,
                Ok(None) => return Ok(()),
                Err(fault) => return Err(CommandError::new(Fault::Failed, fault)),
            };
            let line = line.trim();
            let next = match line.strip_prefix('/') {
                _ if line.is_empty() => Next::Go,
                Some(command) if is_command(line) => self.command(command).await?,
                Some(command) if looks_like_command(command) => {
                    self.app.screen.error(&no_such_command(command));
                    Next::Go
                }
                _ => {
                    self.answer(line, is_person).await?;
                    Next::Go
                }
            };
            if matches!(next, Next::End) {
                return Ok(());
            }
        }
    }

    /// Answers one question. What goes wrong with it does not end the conversation of a person; a script stops there.
    async fn answer(&mut self, question: &str, is_person: bool) -> Result<(), CommandError> {
        let cancel = CancellationToken::new();
        let watch = Arc::new(Watch::new(Arc::clone(&self.app.screen), self.choice.id(), cancel.clone()));
        self.conversation.say(question);
        let agent = Agent {
            provider: self.provider.as_ref(),
            model: self.choice.model_name(),
            tools: Arc::clone(&self.host) as _,
            observer: Arc::clone(&watch) as _,
            limits: self.app.limits(self.settings),
            system_prompt: Some(SYSTEM_PROMPT.to_owned()),
        };
        let answered =
            watch.while_doing(on_interrupt(&cancel, agent.answer(&mut self.conversation, &cancel))).await;
        if let Err(fault) = self.keep() {
            let why = CommandError::new(Fault::Failed, fault).chain().join(": ");
            self.app.screen.warn(&format!("this conversation is not kept: {why}"));
        }
        let outcome = match answered {
            Ok(Ok(answer)) => {
                watch.finish(&answer)?;
                ended(&answer)
            }
            Ok(Err(failure)) => Err(models::provider_failure(failure.source)),
            Err(interrupted) => Err(interrupted),
        };
        match outcome {
            Err(error) if is_person && error.fault != Fault::BrokenPipe => {
                self.app.screen.end_answer()?;
                self.app.screen.error(&error);
                Ok(())
            }
            other => other,
        }
    }

    async fn command(&mut self, command: &str) -> Result<Next, CommandError> {
        let screen = &self.app.screen;
        let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        let rest = rest.trim();
        match name {
            "quit" | "exit" => return Ok(Next::End),
            "clear" => {
                self.conversation = Conversation::default();
                self.log = None;
                screen.say("Forgotten.");
            }
            "tools" => screen.print(&self.tools(rest))?,
            "mcp" => screen.print(&self.servers())?,
            "model" if rest.is_empty() => screen.print(&format!("{}\n", self.choice.id()))?,
            "model" => match self.other_model(rest).await {
                Ok(()) => screen.say(&format!("{} answers from here on.", self.choice.id())),
                Err(error) => screen.error(&error),
            },
            _ => screen
                .print(&table(&COMMANDS.map(|(name, what)| [name.to_owned(), what.to_owned()]), None))?,
        }
        Ok(Next::Go)
    }

    async fn other_model(&mut self, id: &str) -> Result<(), CommandError> {
        let choice = models::named(self.app, self.settings, id)?;
        models::fetch_if_needed(self.app, self.settings, &choice, false).await?;
        self.provider = models::open(&choice, &self.settings.paths).await?;
        self.choice = choice;
        Ok(())
    }

    fn tools(&self, server: &str) -> String {
        let rows: Vec<[String; 2]> = self
            .host
            .catalog()
            .entries()
            .iter()
            .filter(|entry| server.is_empty() || entry.server == server)
            .map(|entry| {
                [reference_of(entry), entry.tool.description.lines().next().unwrap_or_default().to_owned()]
            })
            .collect();
        if rows.is_empty() {
            "No tools.\n".to_owned()
        } else {
            table(&rows, self.app.screen.terminal().width)
        }
    }

    fn servers(&self) -> String {
        let rows: Vec<[String; 3]> = self
            .host
            .servers()
            .iter()
            .map(|server| {
                let state = match server.status {
                    ServerState::Connected => count(server.tools, "tool"),
                    ServerState::Failed => "not available".to_owned(),
                    ServerState::LoginNeeded => "login needed".to_owned(),
                    ServerState::Disabled => "switched off".to_owned(),
                    ServerState::NotStarted => "not started".to_owned(),
                };
                [server.name.clone(), state, clean(&server.notes.join("; ")).into_owned()]
            })
            .collect();
        if rows.is_empty() {
            "No servers.\n".to_owned()
        } else {
            table(&rows, self.app.screen.terminal().width)
        }
    }
}

/// Whether it begins with one of the commands. A path may begin with a slash too.
fn is_command(line: &str) -> bool {
    line.strip_prefix('/').and_then(|rest| rest.split_whitespace().next()).is_some_and(|word| {
        COMMANDS.iter().any(|(name, _)| name[1..] == *word) || word == "exit" || word == "?"
    })
}

/// A word of letters behind the slash, and no such file or folder: a command with a slip in it. `command` begins behind the slash.
fn looks_like_command(command: &str) -> bool {
    command.split_whitespace().next().is_some_and(|word| {
        word.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-')
            && !Path::new("/").join(word).exists()
    })
}

fn no_such_command(command: &str) -> CommandError {
    let word = command.split_whitespace().next().unwrap_or_default();
    let error = CommandError::usage(format!("there is no command `/{word}`"));
    match nearest(word, COMMANDS.iter().map(|(name, _)| &name[1..])).first() {
        Some(near) => error.hint(format!("Did you mean /{near}?")),
        None => error.hint("/help lists them."),
    }
}

/// A name that no other session has, later in the order of names than all before it.
fn new_session(folder: &Path) -> PathBuf {
    let now = wall_clock()();
    let name = |number: u32| folder.join(format!("{now:013}-{number:03}-{}.jsonl", std::process::id()));
    (0..).map(name).find(|path| !path.exists()).unwrap_or_else(|| name(0))
}

/// The newest session: names begin with the time they were made.
fn last_session(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl")).max()
}
