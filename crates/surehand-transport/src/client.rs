//! A connection to one server, whatever lies between.

mod ask;
mod authorize;
mod child;
mod error;
mod heard;
mod in_process;
mod kept;
mod options;
mod prompts;
mod questions;
mod resources;
mod skills;
mod streamable;
mod subscriptions;
mod tasks;
mod tools;
mod utilities;
mod waiting;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use surehand_mcp::{LogLevel, OutputSchemas, Progress, ServerFacts, TaskSupport, Wanted};
use surehand_model::{Note, RawJson};

pub use self::authorize::{Authorizer, Challenge, Credentials, Retry};
use self::child::ChildWire;
pub use self::error::{ClientError, OpenError};
use self::heard::Heard;
use self::in_process::InProcess;
use self::kept::Watched;
use self::options::shown;
pub use self::options::{CallOptions, CallOutcome, ClientEvent, ClientOptions, HttpTarget, Target};
pub use self::questions::{Elicitor, Roots, Sampler};
use self::questions::{EndTasks, Questions};
pub use self::skills::SkillError;
use self::streamable::HttpWire;
use self::subscriptions::Subscriptions;
pub use self::tasks::Started;
use crate::http::HttpClient;

/// A connection to one server.
///
/// All methods take `&self` and may be called side by side. Dropping it ends the server's process at once; [`Client::close`]
/// ends it kindly.
pub struct Client {
    server: ServerFacts,
    opening_notes: Vec<Note>,
    request_timeout: Duration,
    address_wait: Duration,
    questions: Arc<Questions>,
    _tasks: EndTasks,
    heard: Arc<Heard>,
    /// What tools promise of their results.
    promises: RwLock<OutputSchemas>,
    /// Whose calls may become tasks, as they were listed.
    task_supports: RwLock<HashMap<String, TaskSupport>>,
    /// What is listened for.
    subscriptions: Arc<Subscriptions>,
    /// The least level of log messages that each stateless request asks for.
    log_level: Mutex<Option<LogLevel>>,
    wire: Wire,
}

enum Wire {
    Child(ChildWire),
    Http(HttpWire),
    InProcess(InProcess),
}

/// One request on its way to a wire.
#[derive(Clone)]
pub(crate) struct WireRequest<'a> {
    pub(crate) method: &'static str,
    pub(crate) params: Option<RawJson>,
    /// What the request is about, for the header that repeats it.
    pub(crate) subject: Option<&'a str>,
    /// The tool's `Mcp-Param-*` come from these.
    pub(crate) arguments: Option<&'a RawJson>,
    pub(crate) timeout: Duration,
    pub(crate) on_progress: Option<&'a (dyn Fn(Progress) + Send + Sync)>,
    /// Doing it twice does no harm.
    pub(crate) is_read: bool,
}

impl Client {
    /// Opens a connection: starts the process where there is one, finds out what both sides speak.
    ///
    /// # Errors
    ///
    /// [`OpenError`]; nothing is left running then.
    pub async fn open(
        target: Target,
        mut options: ClientOptions,
        http: &HttpClient,
    ) -> Result<Self, OpenError> {
        let (request_timeout, address_wait) = (options.request_timeout, options.address_wait);
        let heard = Heard::new();
        options.on_event = Some(heard.before(options.on_event.take()));
        options.authorizer = options.authorizer.take().map(|authorizer| Watched::over(authorizer, &heard));
        let questions = Questions::new(&options);
        let on_event = options.on_event.clone();
        let (mut wire, server, opening_notes) = match target {
            Target::Child(spec) => {
                let (wire, opened) = ChildWire::open(&spec, options, questions.clone()).await?;
                (Wire::Child(wire), opened.server, opened.notes)
            }
            Target::Http(target) => {
                let (wire, opened) =
                    HttpWire::open(target, false, options, http.clone(), questions.clone()).await?;
                (Wire::Http(wire), opened.server, opened.notes)
            }
            Target::Sse(target) => {
                let (wire, opened) =
                    HttpWire::open(target, true, options, http.clone(), questions.clone()).await?;
                (Wire::Http(wire), opened.server, opened.notes)
            }
            Target::InProcess(handler) => {
                let (wire, server) = InProcess::open(handler, options, questions.clone())?;
                (Wire::InProcess(wire), server, Vec::new())
            }
        };
        let subscriptions = Subscriptions::new(Wanted::of(&server), on_event);
        match &mut wire {
            Wire::Child(wire) => wire.keep(subscriptions.clone()),
            Wire::Http(wire) => wire.keep(subscriptions.clone()),
            // It hears of everything as it is.
            Wire::InProcess(_) => {}
        }
        Ok(Self {
            subscriptions,
            server,
            opening_notes,
            request_timeout,
            address_wait,
            _tasks: EndTasks(questions.clone()),
            questions,
            heard,
            promises: RwLock::default(),
            task_supports: RwLock::default(),
            log_level: Mutex::default(),
            wire,
        })
    }

    /// Who answers.
    pub fn server(&self) -> &ServerFacts {
        &self.server
    }

    /// What was odd while the connection was opened.
    pub fn opening_notes(&self) -> &[Note] {
        &self.opening_notes
    }

    /// Whether the connection is known to be gone. A server behind an address never is.
    pub fn is_closed(&self) -> bool {
        match &self.wire {
            Wire::Child(wire) => wire.is_closed(),
            Wire::Http(_) | Wire::InProcess(_) => false,
        }
    }

    /// Ends the connection: a process is asked to end, and killed when it does not; a session is given back.
    pub async fn close(self) {
        match self.wire {
            Wire::Child(wire) => wire.close().await,
            Wire::Http(wire) => wire.close().await,
            Wire::InProcess(wire) => wire.close().await,
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("server", &self.server).finish_non_exhaustive()
    }
}
