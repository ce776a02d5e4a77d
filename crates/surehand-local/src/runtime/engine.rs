use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, OnceLock};
use std::thread::JoinHandle;

use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;
use thiserror::Error;
use tokio::sync::oneshot;

use super::prefix::PrefixStore;
use super::session::Session;
use super::stop::Stop;

/// How a model file is loaded.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Threads that compute; 0 takes as many as the machine offers.
    pub threads: usize,
    /// The most tokens that prompt and answer may have together. Cut to what the model was trained for.
    pub context_tokens: u32,
    /// The folder in which read prefixes are kept between runs. `None` keeps them in memory only.
    pub prefix_dir: Option<PathBuf>,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self { threads: 0, context_tokens: 8192, prefix_dir: None }
    }
}

/// Why the model could not be loaded or did not finish.
#[derive(Debug, Error)]
pub enum EngineError {
    /// No file, or none that can be read.
    #[error("no model file at {path}")]
    NoFile {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The file is there and is not a model that can be run.
    #[error("{path} cannot be loaded as a GGUF model: {why}")]
    Load {
        /// The file.
        path: PathBuf,
        /// What the runtime says.
        why: String,
    },
    /// The runtime itself could not start.
    #[error("the model runtime did not start: {why}")]
    Start {
        /// What it says.
        why: String,
    },
    /// The prompt does not fit into the context.
    #[error("the prompt has {tokens} tokens and the context holds {limit}")]
    TooLong {
        /// Tokens of the prompt.
        tokens: usize,
        /// The most that fit.
        limit: usize,
    },
    /// Computing failed.
    #[error("the model failed while computing: {why}")]
    Compute {
        /// What the runtime says.
        why: String,
    },
    /// The grammar of a call could not be built.
    #[error("no grammar could be built for the tools: {why}")]
    Grammar {
        /// What the grammar library says.
        why: String,
    },
    /// Whoever asked went away.
    #[error("the request was dropped")]
    Stopped,
    /// The thread that owns the model is gone.
    #[error("the model's thread ended")]
    Gone,
}

type Job = Box<dyn for<'s, 'm> FnOnce(&'s mut Session<'m>) + Send>;

/// One loaded model, owned by a thread of its own, which does one piece of work after another.
///
/// The runtime's context borrows the model and blocks while it computes, so both live on that thread; dropping the engine ends it.
pub(crate) struct Engine {
    jobs: Option<SyncSender<Job>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    stop: Stop,
}

impl Engine {
    /// Loads the file and waits until it is ready. Blocks.
    pub(crate) fn load(path: &Path, options: &EngineOptions) -> Result<Self, EngineError> {
        if !path.is_file() {
            return Err(EngineError::NoFile { path: path.to_owned() });
        }
        let (jobs, inbox) = sync_channel::<Job>(16);
        let (ready, loaded) = sync_channel(1);
        let (path, options) = (path.to_owned(), options.clone());
        let thread = std::thread::Builder::new()
            .name("surehand-local".to_owned())
            .spawn(move || serve(&path, &options, &ready, &inbox))
            .map_err(|error| EngineError::Start { why: error.to_string() })?;
        loaded.recv().map_err(|_| EngineError::Gone)??;
        Ok(Self { jobs: Some(jobs), thread: Mutex::new(Some(thread)), stop: Stop::default() })
    }

    /// Runs `work` on the model's thread after whatever was asked before. Dropping the future stops it at the next token.
    pub(crate) async fn run<T, W>(&self, work: W) -> Result<T, EngineError>
    where
        T: Send + 'static,
        W: FnOnce(&mut Session<'_>, &Stop) -> Result<T, EngineError> + Send + 'static,
    {
        let stop = Stop::default();
        let _ends_with_us = stop.on_drop();
        let (answer, answered) = oneshot::channel();
        let everyone = self.stop.clone();
        let job: Job = Box::new(move |session| {
            let result = if stop.is_set() || everyone.is_set() {
                Err(EngineError::Stopped)
            } else {
                work(session, &stop)
            };
            let _ = answer.send(result);
        });
        let mut job = job;
        let jobs = self.jobs.as_ref().ok_or(EngineError::Gone)?;
        // The queue is short and an asker rare: a full one is waited out politely, without blocking this thread.
        while let Err(refused) = jobs.try_send(job) {
            match refused {
                std::sync::mpsc::TrySendError::Full(back) => job = back,
                std::sync::mpsc::TrySendError::Disconnected(_) => return Err(EngineError::Gone),
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        answered.await.map_err(|_| EngineError::Gone)?
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // Nobody can be waiting in `run` any more: it borrows the engine. What is still queued finds its stop set.
        drop(self.stop.on_drop());
        drop(self.jobs.take());
        if let Ok(mut thread) = self.thread.lock()
            && let Some(thread) = thread.take()
        {
            let _ = thread.join();
        }
    }
}

fn serve(
    path: &Path,
    options: &EngineOptions,
    ready: &SyncSender<Result<(), EngineError>>,
    inbox: &Receiver<Job>,
) {
    let load = |why: String| EngineError::Load { path: path.to_owned(), why };
    let backend = match backend() {
        Ok(backend) => backend,
        Err(why) => {
            let _ = ready.send(Err(EngineError::Start { why }));
            return;
        }
    };
    let model = match LlamaModel::load_from_file(backend, path, &LlamaModelParams::default()) {
        Ok(model) => model,
        Err(error) => {
            let _ = ready.send(Err(load(error.to_string())));
            return;
        }
    };
    let threads = match options.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        wanted => wanted,
    };
    let threads = i32::try_from(threads.min(64)).unwrap_or(1);
    let tokens = options.context_tokens.clamp(512, model.n_ctx_train().max(512));
    let params = LlamaContextParams::default()
        .with_n_ctx(NonZeroU32::new(tokens))
        .with_n_batch(Session::BATCH as u32)
        .with_n_ubatch(Session::BATCH as u32)
        .with_n_threads(threads)
        .with_n_threads_batch(threads);
    let context = match model.new_context(backend, params) {
        Ok(context) => context,
        Err(error) => {
            let _ = ready.send(Err(load(error.to_string())));
            return;
        }
    };
    let store = PrefixStore::new(options.prefix_dir.clone(), path);
    let mut session = Session::new(&model, context, store);
    if ready.send(Ok(())).is_err() {
        return;
    }
    while let Ok(job) = inbox.recv() {
        job(&mut session);
    }
}

/// The runtime's process-wide state, started once and silenced.
fn backend() -> Result<&'static LlamaBackend, String> {
    static BACKEND: OnceLock<Result<LlamaBackend, String>> = OnceLock::new();
    BACKEND
        .get_or_init(|| {
            let mut backend = LlamaBackend::init().map_err(|error| error.to_string())?;
            backend.void_logs();
            Ok(backend)
        })
        .as_ref()
        .map_err(Clone::clone)
}
