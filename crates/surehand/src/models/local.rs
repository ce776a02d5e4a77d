//! The embedded models: which there are, fetching one, loading one.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use surehand_host::config::{Paths, Settings};
use surehand_local::{FetchEvent, FetchOptions, LocalOptions, LocalProvider, fetch, free_memory};
use surehand_provider::Provider;

use super::provider_failure;
use crate::error::{CommandError, Fault};
use crate::render::{HowFar, Progress, bytes};
use crate::wiring::App;

/// Downloads larger than this are asked about first, in bytes.
const WORTH_ASKING: u64 = 100_000_000;

/// An embedded model: a known one, or a file of the user's own.
pub(crate) enum LocalModel {
    /// One that can be fetched by name.
    Known { model: &'static surehand_local::LocalModel, folder: PathBuf },
    /// A GGUF file, or a Needle container.
    File(PathBuf),
}

/// The best known model for the memory that is free.
pub(crate) fn default_model(paths: &Paths) -> Result<LocalModel, CommandError> {
    Ok(known(surehand_local::LocalModel::default_for(free_memory()), paths))
}

/// The model behind `local/NAME` or `local/PATH.gguf`.
pub(crate) fn named(name: &str, paths: &Paths) -> Result<LocalModel, CommandError> {
    if let Some(model) = surehand_local::LocalModel::find(name) {
        return Ok(known(model, paths));
    }
    if Path::new(name).extension().is_some_and(|extension| extension == "gguf" || extension == "cact") {
        let path = paths.cwd.join(name);
        return if path.is_file() {
            Ok(LocalModel::File(path))
        } else {
            Err(CommandError::usage(format!("there is no file {}", path.display())))
        };
    }
    let names: Vec<&str> = surehand_local::LocalModel::all().iter().map(|model| model.name).collect();
    Err(CommandError::usage(format!("there is no embedded model `{name}`"))
        .hint(format!("There are {}, and any GGUF file as local/PATH.gguf.", names.join(", "))))
}

/// Every model that can be fetched by name, the best first.
pub(crate) fn known_models(paths: &Paths) -> Vec<LocalModel> {
    surehand_local::LocalModel::all().iter().map(|model| known(model, paths)).collect()
}

fn known(model: &'static surehand_local::LocalModel, paths: &Paths) -> LocalModel {
    LocalModel::Known { model, folder: paths.models() }
}

impl LocalModel {
    /// `local/NAME`, or `local/PATH`.
    pub(crate) fn id(&self) -> String {
        match self {
            Self::Known { model, .. } => model.name.to_owned(),
            Self::File(path) => format!("local/{}", path.display()),
        }
    }

    /// Whether it is on this machine.
    pub(crate) fn readiness(&self) -> Result<String, CommandError> {
        match self {
            Self::File(path) => Ok(format!("the file {}", path.display())),
            Self::Known { model, folder } => {
                let status = model.show(folder);
                if status.is_fetched {
                    return Ok(format!("here, {}, {}", bytes(model.size), model.licence));
                }
                let partial = match status.partial {
                    0 => String::new(),
                    partial => format!(", {} of it are here", bytes(partial)),
                };
                Ok(format!(
                    "not fetched yet, {}{partial}, {}; fetched when first asked",
                    bytes(model.size),
                    model.licence
                ))
            }
        }
    }

    /// Whether a first question would have to fetch it.
    fn is_missing(&self) -> Option<&'static surehand_local::LocalModel> {
        match self {
            Self::Known { model, folder } if !model.is_fetched(folder) => Some(model),
            _ => None,
        }
    }

    /// Asks first where it is large and a person is there, unless the person asked for just this.
    pub(crate) async fn fetch_if_needed(
        &self,
        app: &App,
        settings: &Settings,
        asked_for: bool,
    ) -> Result<(), CommandError> {
        let Some(model) = self.is_missing() else { return Ok(()) };
        let person = app.screen.terminal().has_person();
        if model.size > WORTH_ASKING && person && !asked_for && !app.common.yes {
            app.screen.say(&format!(
                "{} answers, and its {} are not on this machine yet.",
                model.name,
                bytes(model.size)
            ));
            app.screen.say("With a key (ANTHROPIC_API_KEY, OPENAI_API_KEY, …) or --model, another model answers instead.");
            app.screen.prompt("Fetch it? [y]es, [n]o: ");
            if !app.said_yes()? {
                return Err(CommandError::new(Fault::Refused, "not fetched, so there is no model to ask")
                    .hint("--model PROVIDER/MODEL names another."));
            }
        } else if !person && !app.screen.form().is_json() {
            app.screen.say(&format!("fetching {} ({})", model.name, bytes(model.size)));
        }
        let options = FetchOptions {
            models_dir: settings.paths.models(),
            local_file: None,
            http: Some(app.http()),
            environment: environment(app, settings),
            without_packages: false,
            ignore_memory: false,
        };
        let mut progress = Progress::new(&app.screen, model.name);
        let mut watcher = |event: FetchEvent| match event {
            FetchEvent::Progress(far) => {
                progress.update(HowFar { done: far.bytes, total: far.total, rate: far.rate, left: far.left })
            }
            FetchEvent::Trying { source } if app.screen.verbose() > 0 => {
                app.screen.say(&format!("trying {source}"))
            }
            FetchEvent::SourceFailed { source, why } if app.screen.verbose() > 0 => {
                app.screen.say(&format!("{source}: {why}"));
            }
            FetchEvent::Checking => app.screen.show_live("checking what was fetched"),
            FetchEvent::Trying { .. } | FetchEvent::SourceFailed { .. } => {}
        };
        tokio::select! {
            fetched = fetch(model, &options, &mut watcher) => fetched.map(drop).map_err(|failure| {
                CommandError::new(Fault::Unreachable, failure)
                    .hint("--model PROVIDER/MODEL asks another model; `-v` tells what is tried.")
            }),
            signal = tokio::signal::ctrl_c() => {
                signal?;
                Err(CommandError::new(Fault::Failed, "interrupted").hint("What was fetched is kept; the next try goes on from there."))
            }
        }
    }

    /// Loads it.
    pub(crate) async fn open(&self, paths: &Paths) -> Result<Arc<dyn Provider>, CommandError> {
        let provider =
            LocalProvider::open(&self.id(), &LocalOptions::new(paths.models())).map_err(provider_failure)?;
        provider.load().await.map_err(provider_failure)?;
        Ok(Arc::new(provider))
    }
}

/// Settings of the package installer that lead it to another index, a proxy or a certificate.
const INSTALLER_SETTINGS: [&str; 10] = [
    "PIP_CERT",
    "PIP_CLIENT_CERT",
    "PIP_CONFIG_FILE",
    "PIP_DEFAULT_TIMEOUT",
    "PIP_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS",
    "PIP_INDEX_URL",
    "PIP_NO_INDEX",
    "PIP_PROXY",
    "PIP_TRUSTED_HOST",
];

/// What the package installer may see of our environment.
fn environment(app: &App, settings: &Settings) -> Vec<(OsString, OsString)> {
    let own = INSTALLER_SETTINGS
        .iter()
        .filter_map(|name| Some((OsString::from(name), app.environment.get_os(name)?.to_owned())));
    settings.children.inherit.iter().cloned().chain(own).collect()
}
