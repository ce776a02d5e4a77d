//! The host: all servers, their catalog, the policy and the audit log, behind one door.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use surehand_audit::AuditLog;
use surehand_mcp::Implementation;
use surehand_model::{Json, Note, Tool};
use surehand_policy::{CallFacts, Policy};
use surehand_transport::{Client, HttpClient};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::approval::Approver;
use crate::audit::{Audit, AuditTarget};
use crate::catalog::{Catalog, CatalogEntry};
use crate::clock::WallClock;
use crate::config::Settings;
use crate::connection::{self, BundledServer, Connection, Surroundings};
use crate::difference::Difference;
use crate::elicitation::Respondent;
use crate::event::{HostEvent, Observer};
use crate::status::{ServerState, ServerStatus};

/// What the host is given by the program around it.
pub struct HostParts {
    /// The servers that come with the program.
    pub bundled: Vec<BundledServer>,
    /// Who is asked before something runs.
    pub approver: Arc<dyn Approver>,
    /// Who answers what servers ask the person; with nobody they are told no.
    pub respondent: Option<Arc<dyn Respondent>>,
    /// The one HTTP client.
    pub http: HttpClient,
    /// The time of day.
    pub clock: WallClock,
    /// Who we are towards servers.
    pub implementation: Implementation,
    /// Names this run of the program in every audit record.
    pub run: String,
}

/// All servers, and the one way to call their tools.
pub struct Host {
    pub(crate) connections: Vec<(String, Connection)>,
    shelf: RwLock<Shelf>,
    pub(crate) policy: Policy,
    pub(crate) approver: Arc<dyn Approver>,
    /// One question at a time, whoever asks.
    pub(crate) asking: Arc<Semaphore>,
    /// Tools that a person agreed to until the program ends, as (server, tool).
    pub(crate) agreed: Mutex<HashSet<(String, String)>>,
    pub(crate) audit: Audit,
    pub(crate) clock: WallClock,
    pub(crate) max_result_bytes: usize,
    pub(crate) repairs_arguments: bool,
    statuses: Vec<ServerStatus>,
    skipped: Vec<Note>,
}

/// The tools of all servers as they were last listed.
struct Shelf {
    lists: Vec<(String, Vec<Tool>)>,
    catalog: Arc<Catalog>,
    /// What a model is shown of them.
    offered: Arc<Vec<Tool>>,
}

impl Host {
    /// Starts every configured server at once and waits until each is ready or has failed. A server that fails costs only itself.
    pub async fn open(settings: Settings, parts: HostParts, observer: &dyn Observer) -> Arc<Self> {
        let mut skipped = settings.notes.clone();
        let (policy, policy_notes) = Policy::from_json(settings.policy.as_ref().unwrap_or(&Json::Null));
        skipped.extend(policy_notes);
        let audit = Audit { run: parts.run.into(), log: open_audit(&settings, &mut skipped) };

        let asking = Arc::new(Semaphore::new(1));
        let around = Surroundings {
            respondent: parts.respondent,
            asking: Arc::clone(&asking),
            bundled: Arc::new(parts.bundled),
            children: settings.children.clone(),
            http: parts.http,
            implementation: parts.implementation,
            cwd: settings.paths.cwd.clone(),
            state: settings.paths.state.clone(),
            clock: parts.clock.clone(),
        };
        let mut opening = JoinSet::new();
        for (place, server) in settings.servers.iter().cloned().enumerate() {
            let around = around.clone();
            opening.spawn(async move { (place, connection::open(server, around).await) });
        }
        let mut opened = Vec::new();
        while let Some(joined) = opening.join_next().await {
            if let Ok((place, result)) = joined {
                opened.push((place, result));
            }
        }
        opened.sort_by_key(|(place, _)| *place);

        let mut connections = Vec::new();
        let mut lists: Vec<(String, Vec<Tool>)> = Vec::new();
        let mut statuses = Vec::new();
        for (_, result) in opened {
            match result {
                Ok(opened) => {
                    skipped.extend(opened.notes);
                    lists.push((opened.status.name.clone(), opened.tools));
                    connections.push((opened.status.name.clone(), opened.connection));
                    statuses.push(opened.status);
                }
                Err(status) => {
                    if status.status != ServerState::Disabled {
                        let why = status.notes.join("; ");
                        let note = Note::new(&status.name, "server not available", why);
                        if !skipped.iter().any(|known| {
                            note.why.contains(&known.what) && known.r#where.contains(&status.name)
                        }) {
                            skipped.push(note);
                        }
                    }
                    statuses.push(status);
                }
            }
        }
        let (catalog, catalog_notes) =
            Catalog::build(lists.iter().map(|(server, tools)| (server.as_str(), tools.as_slice())));
        for status in &mut statuses {
            status.tools = catalog.entries().iter().filter(|entry| entry.server == status.name).count();
            let about_it = catalog_notes.iter().filter(|note| note.r#where == status.name);
            status.notes.extend(about_it.map(|note| format!("{}: {}", note.what, note.why)));
        }
        skipped.extend(catalog_notes);
        observer.event(HostEvent::Init { servers: statuses.clone(), skipped: skipped.clone() });
        let shelf = Shelf { lists, catalog: Arc::new(catalog), offered: Arc::default() };
        let host = Self {
            connections,
            shelf: RwLock::new(shelf),
            policy,
            approver: parts.approver,
            asking,
            agreed: Mutex::default(),
            audit,
            clock: parts.clock,
            max_result_bytes: settings.limits.max_result_bytes,
            repairs_arguments: settings.limits.repair_arguments,
            statuses,
            skipped,
        };
        let offered = host.visible_tools(&host.catalog());
        host.write_shelf().offered = Arc::new(offered);
        Arc::new(host)
    }

    /// How every configured server is doing, in the order of the configuration.
    pub fn servers(&self) -> &[ServerStatus] {
        &self.statuses
    }

    /// Everything that was left out while starting.
    pub fn skipped(&self) -> &[Note] {
        &self.skipped
    }

    /// Every tool of every server, as they were last listed.
    pub fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.shelf.read().unwrap_or_else(PoisonError::into_inner).catalog)
    }

    /// Lists the tools of those servers anew that have told of changes or were started again. What came of it, server by server;
    /// nothing where all is as it was. What a person has agreed to counts no longer for a tool that is another now.
    pub async fn refresh(&self) -> Vec<Note> {
        let asked = self.connections.iter().map(|(name, connection)| async move {
            connection.changed_tools().await.map(|outcome| (name.clone(), outcome))
        });
        let mut notes = Vec::new();
        for (server, outcome) in futures_util::future::join_all(asked).await.into_iter().flatten() {
            match outcome {
                Ok(tools) => notes.extend(self.put_on_shelf(&server, tools)),
                Err(why) => notes.push(Note::new(&server, "tools not listed anew", why)),
            }
        }
        notes
    }

    /// Takes the tools of one server as they are now, and says what is different.
    fn put_on_shelf(&self, server: &str, tools: Vec<Tool>) -> Option<Note> {
        let (lists, change) = {
            let shelf = self.shelf.read().unwrap_or_else(PoisonError::into_inner);
            let mut lists = shelf.lists.clone();
            let list = lists.iter_mut().find(|(name, _)| name == server)?;
            let change = Difference::between(&list.1, &tools)?;
            list.1 = tools;
            (lists, change)
        };
        {
            let mut agreed = self.agreed.lock().unwrap_or_else(PoisonError::into_inner);
            agreed.retain(|(of, tool)| of != server || !change.touches(tool));
        }
        let (catalog, _) =
            Catalog::build(lists.iter().map(|(server, tools)| (server.as_str(), tools.as_slice())));
        let offered = self.visible_tools(&catalog);
        *self.write_shelf() = Shelf { lists, catalog: Arc::new(catalog), offered: Arc::new(offered) };
        Some(Note::new(server, "tools are not what they were", change.to_string()))
    }

    fn write_shelf(&self) -> std::sync::RwLockWriteGuard<'_, Shelf> {
        self.shelf.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// What policy would say to a call of this tool, arguments left aside.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The connection to one server, for resources and prompts. Tools are called through [`Host::run_call`] only.
    pub fn client(&self, server: &str) -> Option<Arc<Client>> {
        self.connection(server).and_then(Connection::client)
    }

    pub(crate) fn connection(&self, server: &str) -> Option<&Connection> {
        self.connections.iter().find(|(name, _)| name == server).map(|(_, connection)| connection)
    }

    /// What is known about a tool before there is a call.
    pub fn facts<'a>(&'a self, entry: &'a CatalogEntry) -> CallFacts<'a> {
        let connection = self.connection(&entry.server);
        CallFacts {
            server: &entry.server,
            tool: &entry.tool.name,
            bundled: connection.is_some_and(|connection| connection.bundled),
            effect: connection.and_then(|connection| connection.effects.get(&entry.tool.name).copied()),
            annotations: entry.tool.annotations,
            arguments: None,
            label: None,
        }
    }

    /// The tools a model is shown, under the names it must use: all but those that policy would deny anyway.
    pub fn offered(&self) -> Vec<Tool> {
        self.shelf.read().unwrap_or_else(PoisonError::into_inner).offered.to_vec()
    }

    fn visible_tools(&self, catalog: &Catalog) -> Vec<Tool> {
        catalog
            .entries()
            .iter()
            .filter(|entry| !self.policy.hides(&self.facts(entry)))
            .map(|entry| Tool { name: entry.model_name.clone(), ..entry.tool.clone() })
            .collect()
    }

    pub(crate) fn has_agreed(&self, server: &str, tool: &str) -> bool {
        let agreed = self.agreed.lock().unwrap_or_else(PoisonError::into_inner);
        agreed.contains(&(server.to_owned(), tool.to_owned()))
    }

    pub(crate) fn agree(&self, entry: &CatalogEntry) {
        let mut agreed = self.agreed.lock().unwrap_or_else(PoisonError::into_inner);
        agreed.insert((entry.server.clone(), entry.tool.name.clone()));
    }

    /// Ends every server, all at once, and waits until each is gone.
    pub async fn close(&self) {
        futures_util::future::join_all(self.connections.iter().map(|(_, connection)| connection.close()))
            .await;
    }
}

fn open_audit(settings: &Settings, skipped: &mut Vec<Note>) -> AuditTarget {
    if !settings.audit.enabled {
        skipped.push(Note::new(
            "audit",
            "calls are not recorded",
            "audit.enabled is false in the configuration",
        ));
        return AuditTarget::Off;
    }
    match AuditLog::open(&settings.audit.file) {
        Ok(log) => AuditTarget::Log(Arc::new(log)),
        Err(fault) => {
            let why = connection::chain(&fault);
            skipped.push(Note::new("audit", "no call will run, since none can be recorded", &why));
            AuditTarget::Broken(why)
        }
    }
}
