use clap::{Args, Subcommand};
use serde::Serialize;
use surehand_host::config::{ProviderSettings, Settings};
use surehand_model::RawJson;

use crate::error::CommandError;
use crate::models::{self, Choice, LocalModel, known_models};
use crate::render::table;
use crate::wiring::App;

/// See what can answer; fetch an embedded model
#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {
    #[command(subcommand)]
    command: ModelsCommand,
}

#[derive(Debug, Subcommand)]
enum ModelsCommand {
    /// List the embedded models, and the providers that have a key or an address. Asks nobody
    List,
    /// Fetch an embedded model, such as local/qwen2.5-coder-0.5b
    Pull {
        /// Which one.
        model: String,
    },
    /// Show who would answer, or what is known about one model
    Show {
        /// Which one [default: the one that would answer].
        model: Option<String>,
    },
}

pub(crate) fn run(args: ModelsArgs, app: &App) -> Result<(), CommandError> {
    let settings = app.settings()?;
    match args.command {
        ModelsCommand::List => list(&settings, app),
        ModelsCommand::Pull { model } => pull(&model, &settings, app),
        ModelsCommand::Show { model } => show(model.as_deref(), &settings, app),
    }
}

#[derive(Serialize)]
struct Row {
    id: String,
    usable: bool,
    why: String,
}

fn list(settings: &Settings, app: &App) -> Result<(), CommandError> {
    let embedded = known_models(&settings.paths).into_iter().map(|model| row_of(&model));
    let rows: Vec<Row> = embedded.chain(settings.providers.iter().map(provider_row)).collect();
    if app.screen.form().is_json() {
        return Ok(app.screen.print(&format!("{}\n", RawJson::from_serialize(&rows)))?);
    }
    if rows.is_empty() {
        return Ok(app
            .screen
            .print("No embedded models in this program, and no provider has a key or an address.\n")?);
    }
    let rows: Vec<[String; 2]> = rows.into_iter().map(|row| [row.id, row.why]).collect();
    Ok(app
        .screen
        .print(&table(&rows, app.screen.terminal().width.filter(|_| app.screen.terminal().stdout)))?)
}

fn row_of(model: &LocalModel) -> Row {
    match model.readiness() {
        Ok(why) => Row { id: model.id(), usable: true, why },
        Err(fault) => Row { id: model.id(), usable: false, why: fault.chain().join(": ") },
    }
}

fn provider_row(provider: &ProviderSettings) -> Row {
    let id = format!("{}/…", provider.name);
    if let Some(problem) = &provider.problem {
        return Row { id, usable: false, why: problem.clone() };
    }
    Row { id, usable: true, why: models::provider_facts(provider) }
}

fn pull(id: &str, settings: &Settings, app: &App) -> Result<(), CommandError> {
    let id = if id.starts_with("local/") { id.to_owned() } else { format!("local/{id}") };
    let choice = models::named(app, settings, &id)?;
    app.block_on(models::fetch_if_needed(app, settings, &choice, true))?;
    report(&choice, settings, app)
}

fn show(id: Option<&str>, settings: &Settings, app: &App) -> Result<(), CommandError> {
    let choice = match id {
        Some(id) => models::named(app, settings, id)?,
        None => models::choose(app, settings)?,
    };
    report(&choice, settings, app)
}

fn report(choice: &Choice, settings: &Settings, app: &App) -> Result<(), CommandError> {
    let row = match models::readiness(choice, settings) {
        Ok(why) => Row { id: choice.id(), usable: true, why },
        Err(fault) => Row { id: choice.id(), usable: false, why: fault.chain().join(": ") },
    };
    if app.screen.form().is_json() {
        return Ok(app.screen.print(&format!("{}\n", RawJson::from_serialize(&row)))?);
    }
    Ok(app.screen.print(&format!("{}: {}\n", row.id, row.why))?)
}
