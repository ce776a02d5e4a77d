use std::ffi::OsString;
use std::path::PathBuf;

use crate::Fault;

/// What is measured, and with what.
pub(crate) struct Arguments {
    pub(crate) model: String,
    pub(crate) models_dir: PathBuf,
    pub(crate) bfcl: Option<PathBuf>,
    pub(crate) python: Option<PathBuf>,
    pub(crate) count: usize,
    /// Threads that answer the questions; 0 takes as many as the machine offers. Speed has its own.
    pub(crate) threads: usize,
    only: Option<String>,
}

impl Arguments {
    /// From the command line, else from what `cargo xtask bench local` sets.
    pub(crate) fn read() -> Result<Self, Fault> {
        let mut read = Self {
            model: "local/qwen2.5-coder-0.5b".to_owned(),
            models_dir: models_dir(),
            bfcl: variable("SUREHAND_BENCH_QUESTIONS").map(PathBuf::from),
            python: variable("SUREHAND_BENCH_PYTHON").map(PathBuf::from),
            count: 50,
            threads: 0,
            only: None,
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
            match word.as_str() {
                "--model" => read.model = value,
                "--models" => read.models_dir = value.into(),
                "--bfcl" => read.bfcl = Some(value.into()),
                "--python" => read.python = Some(value.into()),
                "--n" => read.count = value.parse()?,
                "--threads" => read.threads = value.parse()?,
                "--only" => read.only = Some(value),
                _ => return Err(format!("unknown option {word}").into()),
            }
        }
        Ok(read)
    }

    pub(crate) fn wants(&self, part: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only == part)
    }

    /// Whether the large model is measured, which has higher bars.
    pub(crate) fn is_large(&self) -> bool {
        self.model.contains("1.5b")
    }
}

fn models_dir() -> PathBuf {
    let cache = variable("XDG_CACHE_HOME").filter(|dir| !dir.is_empty()).map(PathBuf::from);
    let cache = cache.unwrap_or_else(|| PathBuf::from(variable("HOME").unwrap_or_default()).join(".cache"));
    cache.join("surehand").join("models")
}

#[expect(clippy::disallowed_methods, reason = "a bench is started by hand and has no configuration")]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}
