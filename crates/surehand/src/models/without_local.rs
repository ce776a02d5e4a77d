//! Built without the embedded model: it is named, and never there.

use std::sync::Arc;

use surehand_host::config::{Paths, Settings};
use surehand_provider::Provider;

use crate::error::{CommandError, Fault};
use crate::wiring::App;

/// Never made in this build.
pub(crate) enum LocalModel {}

impl LocalModel {
    pub(crate) fn id(&self) -> String {
        match *self {}
    }

    pub(crate) fn readiness(&self) -> Result<String, CommandError> {
        match *self {}
    }

    pub(crate) async fn fetch_if_needed(&self, _: &App, _: &Settings, _: bool) -> Result<(), CommandError> {
        match *self {}
    }

    pub(crate) async fn open(&self, _: &Paths) -> Result<Arc<dyn Provider>, CommandError> {
        match *self {}
    }
}

pub(crate) fn default_model(_: &Paths) -> Result<LocalModel, CommandError> {
    Err(CommandError::new(Fault::Config, "there is no model to ask: none is named and no key is set")
        .hint("--model PROVIDER/MODEL names one; ANTHROPIC_API_KEY, OPENAI_API_KEY and the like bring a key.")
        .hint("This program was built without the embedded model."))
}

pub(crate) fn named(name: &str, _: &Paths) -> Result<LocalModel, CommandError> {
    Err(CommandError::new(Fault::Config, format!("there is no embedded model `{name}` in this program"))
        .hint("It was built without the feature `local`."))
}

/// Embedded models: none.
pub(crate) fn known_models(_: &Paths) -> Vec<LocalModel> {
    Vec::new()
}
