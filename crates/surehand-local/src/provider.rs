use std::path::{Path, PathBuf};
use std::sync::Arc;

use surehand_model::{ModelEvent, ModelRequest, ModelTurn, Note};
use surehand_provider::{BoxFuture, EventSink, Provider, ProviderError};
use tokio::sync::{OnceCell, mpsc};

use crate::models::EngineKind;
use crate::needle::Needle;
use crate::runtime::Engine;
use crate::{EngineError, EngineOptions, LocalModel, work};

/// How the embedded model is opened.
#[derive(Clone, Debug)]
pub struct LocalOptions {
    /// The folder of the models; prefixes are kept in a folder below it.
    pub models_dir: PathBuf,
    /// Threads that compute; 0 takes as many as the machine offers.
    pub threads: usize,
    /// The most tokens that prompt and answer may have together.
    pub context_tokens: u32,
}

impl LocalOptions {
    /// All threads, and a context of 8192 tokens.
    pub fn new(models_dir: impl Into<PathBuf>) -> Self {
        Self { models_dir: models_dir.into(), threads: 0, context_tokens: 8192 }
    }
}

/// A model that runs inside this process.
///
/// The file is loaded by the first request. Requests are answered one after another; dropping a request's future stops the model at the
/// next token. A call it makes is valid against the schema of its tool.
pub struct LocalProvider {
    id: String,
    path: PathBuf,
    kind: EngineKind,
    options: EngineOptions,
    loaded: OnceCell<Loaded>,
}

#[derive(Clone)]
enum Loaded {
    Gguf(Arc<Engine>),
    Needle(Arc<Needle>),
}

impl LocalProvider {
    /// A model by name (`local/qwen2.5-coder-1.5b`, with or without `local/`) or by the path of its file (`local/PATH.gguf`).
    ///
    /// # Errors
    ///
    /// [`ProviderError::Local`] where no such model is known or its file is not there; it says what to do.
    pub fn open(model: &str, options: &LocalOptions) -> Result<Self, ProviderError> {
        let bare = model.strip_prefix("local/").unwrap_or(model);
        let (id, path, kind) = match LocalModel::find(bare) {
            Some(known) => {
                if !known.is_fetched(&options.models_dir) {
                    return Err(local(format!(
                        "{} is not on this machine; fetch it with `surehand models pull {}`",
                        known.name, known.name
                    )));
                }
                (known.name.to_owned(), known.path(&options.models_dir), known.engine)
            }
            None => {
                let path = PathBuf::from(bare);
                let kind = match path.extension().and_then(|extension| extension.to_str()) {
                    Some("gguf") => EngineKind::Gguf,
                    Some("cact") => EngineKind::Needle,
                    _ => {
                        let known: Vec<&str> = LocalModel::all().iter().map(|model| model.name).collect();
                        return Err(local(format!(
                            "`{model}` names no embedded model; known are {}, or give the path of a .gguf file",
                            known.join(", ")
                        )));
                    }
                };
                if !path.is_file() {
                    return Err(local(format!("there is no model file at {}", path.display())));
                }
                (format!("local/{bare}"), path, kind)
            }
        };
        let options = EngineOptions {
            threads: options.threads,
            context_tokens: options.context_tokens,
            prefix_dir: Some(options.models_dir.join("prefixes")),
        };
        Ok(Self { id, path, kind, options, loaded: OnceCell::new() })
    }

    /// The file that is run.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Loads the file now instead of at the first request.
    ///
    /// # Errors
    ///
    /// [`ProviderError::Local`] where the file cannot be loaded.
    pub async fn load(&self) -> Result<(), ProviderError> {
        self.loaded().await.map(|_| ())
    }

    async fn loaded(&self) -> Result<Loaded, ProviderError> {
        let loaded = self
            .loaded
            .get_or_try_init(|| async {
                let (path, kind, options) = (self.path.clone(), self.kind, self.options.clone());
                let work = move || match kind {
                    EngineKind::Gguf => {
                        Engine::load(&path, &options).map(|engine| Loaded::Gguf(Arc::new(engine)))
                    }
                    EngineKind::Needle => Needle::load(&path).map(|needle| Loaded::Needle(Arc::new(needle))),
                };
                tokio::task::spawn_blocking(work).await.map_err(|_| EngineError::Gone)?
            })
            .await
            .map_err(explain)?;
        Ok(loaded.clone())
    }

    async fn answer_now(
        &self,
        request: &ModelRequest,
        sink: EventSink<'_>,
    ) -> Result<ModelTurn, ProviderError> {
        if !self.loaded.initialized() {
            sink(ModelEvent::Note(Note::new(&*self.id, "loading the model", "first question of this run")));
        }
        let loaded = self.loaded().await?;
        let request = Arc::new(request.clone());
        // Unbounded is bounded here: the model stops at its token limit, and an event is a few bytes.
        let (events, mut told) = mpsc::unbounded_channel();
        let work = async {
            match loaded {
                Loaded::Gguf(engine) => {
                    let job = move |session: &mut crate::runtime::Session<'_>,
                                    stop: &crate::runtime::Stop| {
                        let mut tell = |event| {
                            let _ = events.send(event);
                        };
                        work::answer(session, &request, stop, &mut tell)
                    };
                    engine.run(job).await
                }
                Loaded::Needle(needle) => {
                    let job = move || {
                        needle.answer(&request, &mut |event| {
                            let _ = events.send(event);
                        })
                    };
                    tokio::task::spawn_blocking(job).await.map_err(|_| EngineError::Gone)
                }
            }
        };
        tokio::pin!(work);
        let mut outcome = None;
        let mut is_telling = true;
        while outcome.is_none() || is_telling {
            tokio::select! {
                biased;
                event = told.recv(), if is_telling => match event {
                    Some(event) => sink(event),
                    None => is_telling = false,
                },
                result = &mut work, if outcome.is_none() => outcome = Some(result),
            }
        }
        let mut turn = outcome.unwrap_or(Err(EngineError::Gone)).map_err(explain)?;
        turn.model = Some(self.id.clone());
        Ok(turn)
    }
}

impl Provider for LocalProvider {
    fn id(&self) -> &str {
        &self.id
    }

    fn answer<'a>(
        &'a self,
        request: &'a ModelRequest,
        sink: EventSink<'a>,
    ) -> BoxFuture<'a, Result<ModelTurn, ProviderError>> {
        Box::pin(self.answer_now(request, sink))
    }
}

fn local(message: String) -> ProviderError {
    ProviderError::Local { message }
}

/// An engine's error with what can be done about it.
fn explain(error: EngineError) -> ProviderError {
    let advice = match &error {
        EngineError::NoFile { .. } => "; fetch it with `surehand models pull`",
        EngineError::Load { .. } => {
            "; the file may be broken or too new: fetch it again, or free some memory"
        }
        EngineError::TooLong { .. } => {
            "; ask a shorter question, use fewer tools or start a new conversation"
        }
        EngineError::Start { .. }
        | EngineError::Compute { .. }
        | EngineError::Grammar { .. }
        | EngineError::Stopped
        | EngineError::Gone => "",
    };
    local(format!("{error}{advice}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(model: &str, dir: &Path) -> String {
        match LocalProvider::open(model, &LocalOptions::new(dir)) {
            Ok(_) => panic!("{model} opened"),
            Err(error) => error.to_string().replace(&dir.display().to_string(), "DIR"),
        }
    }

    #[test]
    fn a_model_that_is_not_there_is_told_with_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(
            error("local/needle-3", dir.path()),
            "the embedded model failed: local/needle-3 is not on this machine; fetch it with `surehand models pull local/needle-3`"
        );
        assert_eq!(
            error("local/gpt-9", dir.path()),
            "the embedded model failed: `local/gpt-9` names no embedded model; known are local/qwen2.5-coder-1.5b, \
             local/qwen2.5-coder-0.5b, local/needle-3, or give the path of a .gguf file"
        );
        let path = format!("local/{}/x.gguf", dir.path().display());
        assert_eq!(
            error(&path, dir.path()),
            "the embedded model failed: there is no model file at DIR/x.gguf"
        );
    }

    #[tokio::test]
    async fn a_file_that_is_no_model_is_an_error_and_not_a_crash() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.gguf");
        std::fs::write(&path, b"GGUF and then nothing").unwrap();
        let provider =
            LocalProvider::open(&path.display().to_string(), &LocalOptions::new(dir.path())).unwrap();
        let error = provider.load().await.unwrap_err().to_string();
        assert!(error.contains("cannot be loaded as a GGUF model"), "{error}");
    }
}
