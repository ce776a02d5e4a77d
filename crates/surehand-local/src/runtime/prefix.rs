use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::session::{LlamaStateSeqFlags, SeqState};
use llama_cpp_2::token::LlamaToken;
use sha2::{Digest, Sha256};

/// How many prefixes are kept in memory; the one used longest ago goes first.
const IN_MEMORY: usize = 4;
/// How many files are kept on disk for all models together.
const FILES: usize = 12;
/// How many bytes these files may have together.
const FILE_BYTES: u64 = 400 << 20;

/// What the model has computed for beginnings of prompts that come again: the same instructions and tools.
///
/// In memory between questions, in files between runs. A file that cannot be used is as good as none.
pub(crate) struct PrefixStore {
    dir: Option<PathBuf>,
    model: String,
    kept: VecDeque<(Vec<LlamaToken>, SeqState)>,
}

impl PrefixStore {
    pub(crate) fn new(dir: Option<PathBuf>, model: &Path) -> Self {
        Self { dir, model: fingerprint(model), kept: VecDeque::new() }
    }

    /// Whether it seems worth emptying the context for [`PrefixStore::load`].
    pub(crate) fn knows(&self, prefix: &[LlamaToken]) -> bool {
        self.kept.iter().any(|(tokens, _)| tokens == prefix)
            || self.file(prefix).is_some_and(|file| file.is_file())
    }

    /// Puts the computed `prefix` into the context, which must be empty. Tells whether it did.
    pub(crate) fn load(&mut self, prefix: &[LlamaToken], context: &mut LlamaContext<'_>) -> bool {
        if let Some(at) = self.kept.iter().position(|(tokens, _)| tokens == prefix)
            && let Some(entry) = self.kept.remove(at)
        {
            let loaded = context.state_seq_set(&entry.1, 0).is_ok();
            if loaded {
                self.kept.push_back(entry);
            }
            return loaded;
        }
        let Some(file) = self.file(prefix).filter(|file| file.is_file()) else { return false };
        match context.state_seq_load_file(&file, 0, prefix.len()) {
            Ok((tokens, _)) if tokens == prefix => {
                self.keep(prefix, context);
                true
            }
            _ => {
                let _ = fs::remove_file(&file);
                false
            }
        }
    }

    /// Keeps what the context has computed, which must be exactly `prefix`.
    pub(crate) fn save(&mut self, prefix: &[LlamaToken], context: &LlamaContext<'_>) {
        self.keep(prefix, context);
        let Some(file) = self.file(prefix) else { return };
        let Some(dir) = self.dir.as_deref() else { return };
        let part = file.with_extension(format!("{}.part", std::process::id()));
        // A prefix that cannot be kept costs time at the next start and nothing else.
        let written =
            fs::create_dir_all(dir).is_ok() && context.state_seq_save_file(&part, 0, prefix).is_ok();
        if !written || fs::rename(&part, &file).is_err() {
            let _ = fs::remove_file(&part);
            return;
        }
        drop_oldest(dir);
    }

    fn keep(&mut self, prefix: &[LlamaToken], context: &LlamaContext<'_>) {
        if let Ok(state) = context.state_seq_get(0, LlamaStateSeqFlags::empty()) {
            if self.kept.len() == IN_MEMORY {
                self.kept.pop_front();
            }
            self.kept.push_back((prefix.to_vec(), state));
        }
    }

    fn file(&self, prefix: &[LlamaToken]) -> Option<PathBuf> {
        let mut hash = Sha256::new();
        hash.update(self.model.as_bytes());
        for token in prefix {
            hash.update(token.0.to_le_bytes());
        }
        let name: String = hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        Some(self.dir.as_ref()?.join(format!("{name}.kv")))
    }
}

/// What tells one model file from another, and one runtime's state format from the next.
fn fingerprint(model: &Path) -> String {
    let facts = fs::metadata(model).ok();
    let size = facts.as_ref().map_or(0, fs::Metadata::len);
    let changed = facts
        .and_then(|facts| facts.modified().ok())
        .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
        .map_or(0, |age| age.as_nanos());
    let name = model.file_name().unwrap_or_default().to_string_lossy();
    format!("llama-cpp-2 0.1.160\n{name}\n{size}\n{changed}\n")
}

/// Removes the files used longest ago until number and size are within bounds.
fn drop_oldest(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    let mut files: Vec<_> = entries
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "kv"))
        .filter_map(|entry| {
            let facts = entry.metadata().ok()?;
            Some((facts.modified().ok()?, facts.len(), entry.path()))
        })
        .collect();
    files.sort_by_key(|(changed, ..)| std::cmp::Reverse(*changed));
    let mut bytes = 0;
    for (index, (_, size, path)) in files.iter().enumerate() {
        bytes += size;
        if index >= FILES || bytes > FILE_BYTES {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_prefix_files_stay() {
        let dir = tempfile::tempdir().unwrap();
        for number in 0..FILES + 3 {
            fs::write(dir.path().join(format!("{number:02}.kv")), b"x").unwrap();
            let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1000 + number as u64);
            fs::File::options()
                .write(true)
                .open(dir.path().join(format!("{number:02}.kv")))
                .unwrap()
                .set_modified(time)
                .unwrap();
        }
        fs::write(dir.path().join("other.gguf"), b"x").unwrap();
        drop_oldest(dir.path());
        let mut left: Vec<String> = fs::read_dir(dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        left.sort();
        let mut expected: Vec<String> = (3..FILES + 3).map(|number| format!("{number:02}.kv")).collect();
        expected.push("other.gguf".to_owned());
        assert_eq!(left, expected);
    }
}
