//! A host with fake servers and a scripted model.
#![allow(clippy::unwrap_used, reason = "test helpers fail by panicking")]

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use surehand_host::config::{
    AuditSettings, ChildEnvironment, Launch, LimitSettings, LoginSettings, Paths, ProxySettings, Scope,
    ServerSettings, Settings, ShownLaunch, ToolFilter,
};
use surehand_host::{
    Agent, AgentError, Answer, Approval, ApprovalRequest, Approver, BundledServer, Conversation, Host,
    HostEvent, HostParts, NobodyToAsk, Observer, Respondent, RunLimits, ToolRunner,
};
use surehand_mcp::{Implementation, ServerHandler};
use surehand_model::Json;
use surehand_policy::Effect;
use surehand_provider::BoxFuture;
use surehand_testkit::{FakeServer, ScriptedModel};
use surehand_transport::HttpClient;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// A host in the making.
pub(crate) struct Setup {
    pub(crate) folder: TempDir,
    pub(crate) settings: Settings,
    pub(crate) limits: RunLimits,
    approver: Arc<dyn Approver>,
    respondent: Option<Arc<dyn Respondent>>,
    bundled: Vec<BundledServer>,
}

impl Setup {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().to_path_buf();
        let settings = Settings {
            servers: Vec::new(),
            model: None,
            providers: Vec::new(),
            policy: None,
            limits: LimitSettings::default(),
            audit: AuditSettings { enabled: true, file: home.join("state/audit.jsonl") },
            sandbox: None,
            gateway: None,
            paths: Paths {
                config: home.join("config"),
                state: home.join("state"),
                cache: home.join("cache"),
                user_file: home.join("config/surehand.json"),
                project_file: home.join(".mcp.json"),
                cwd: home.clone(),
                home,
            },
            children: ChildEnvironment { search_path: "/usr/bin:/bin".into(), inherit: Vec::new() },
            proxy: ProxySettings { http: None, https: None, all: None, no_proxy: String::new() },
            project: None,
            problems: Vec::new(),
            notes: Vec::new(),
        };
        Self {
            folder,
            settings,
            limits: RunLimits::default(),
            approver: Arc::new(NobodyToAsk),
            respondent: None,
            bundled: Vec::new(),
        }
    }

    /// Adds a server all of whose tools only read.
    pub(crate) fn reading(self, name: &str, server: &Arc<FakeServer>) -> Self {
        let effects = server.tools().into_iter().map(|tool| (tool.name, Effect::Read)).collect();
        self.with(name, server, effects)
    }

    /// Adds a server of whose tools nothing is known.
    pub(crate) fn unknown(self, name: &str, server: &Arc<FakeServer>) -> Self {
        self.with(name, server, HashMap::new())
    }

    fn with(mut self, name: &str, server: &Arc<FakeServer>, effects: HashMap<String, Effect>) -> Self {
        let server = Arc::clone(server);
        let make = Arc::new(move |_: &_| -> Arc<dyn ServerHandler> { server.clone() });
        self.bundled.push(BundledServer { name: name.to_owned(), make, effects });
        let launch = Launch::Bundled { name: name.to_owned(), options: Json::Object(Vec::new()) };
        self.settings.servers.push(server_settings(name, launch));
        self
    }

    pub(crate) fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = approver;
        self
    }

    pub(crate) fn respondent(mut self, respondent: Arc<dyn Respondent>) -> Self {
        self.respondent = Some(respondent);
        self
    }

    pub(crate) fn limits(mut self, change: impl FnOnce(&mut RunLimits)) -> Self {
        change(&mut self.limits);
        self
    }

    pub(crate) async fn open(self) -> Ready {
        let seen = Arc::new(Seen::default());
        let parts = HostParts {
            bundled: self.bundled,
            approver: self.approver,
            respondent: self.respondent,
            http: HttpClient::new(Default::default()),
            clock: Arc::new(|| 1_700_000_000_000),
            implementation: Implementation { name: "test".into(), title: None, version: "1".into() },
            run: "run-1".into(),
        };
        let host = Host::open(self.settings, parts, seen.as_ref()).await;
        Ready { host, seen, limits: self.limits, folder: self.folder }
    }
}

pub(crate) fn server_settings(name: &str, launch: Launch) -> ServerSettings {
    ServerSettings {
        name: name.to_owned(),
        launch,
        shown: ShownLaunch::default(),
        scope: Scope::Bundled,
        file: None,
        enabled: true,
        startup_timeout: Duration::from_secs(10),
        call_timeout: Duration::from_secs(30),
        parallel: true,
        tools: ToolFilter::default(),
        login: LoginSettings::default(),
        problem: None,
        entry: Json::Null,
    }
}

/// A host that is open.
pub(crate) struct Ready {
    pub(crate) host: Arc<Host>,
    pub(crate) seen: Arc<Seen>,
    pub(crate) limits: RunLimits,
    pub(crate) folder: TempDir,
}

impl Ready {
    pub(crate) async fn ask(&self, model: &ScriptedModel, question: &str) -> Result<Answer, AgentError> {
        let mut conversation = Conversation::from_question(question);
        self.go_on(model, &mut conversation, &CancellationToken::new()).await
    }

    pub(crate) async fn go_on(
        &self,
        model: &ScriptedModel,
        conversation: &mut Conversation,
        cancel: &CancellationToken,
    ) -> Result<Answer, AgentError> {
        let agent = Agent {
            provider: model,
            model: "model".into(),
            tools: Arc::clone(&self.host) as Arc<dyn ToolRunner>,
            observer: Arc::clone(&self.seen) as Arc<dyn Observer>,
            limits: self.limits.clone(),
            system_prompt: Some("Use the tools.".into()),
        };
        agent.answer(conversation, cancel).await
    }
}

/// Remembers every event.
#[derive(Default)]
pub(crate) struct Seen(Mutex<Vec<HostEvent>>);

impl Seen {
    pub(crate) fn events(&self) -> Vec<HostEvent> {
        self.0.lock().unwrap().clone()
    }
}

impl Observer for Seen {
    fn event(&self, event: HostEvent) {
        self.0.lock().unwrap().push(event);
    }
}

/// A person who says what the test wrote down, and remembers what was asked.
pub(crate) struct Person {
    says: Approval,
    thinks: Duration,
    asked: Mutex<Vec<ApprovalRequest>>,
}

impl Person {
    pub(crate) fn who_says(says: Approval) -> Arc<Self> {
        Self::who_thinks(Duration::ZERO, says)
    }

    pub(crate) fn who_thinks(thinks: Duration, says: Approval) -> Arc<Self> {
        Arc::new(Self { says, thinks, asked: Mutex::default() })
    }

    pub(crate) fn asked(&self) -> Vec<ApprovalRequest> {
        self.asked.lock().unwrap().clone()
    }
}

impl Approver for Person {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        Box::pin(async move {
            self.asked.lock().unwrap().push(request.clone());
            if !self.thinks.is_zero() {
                tokio::time::sleep(self.thinks).await;
            }
            self.says.clone()
        })
    }
}
