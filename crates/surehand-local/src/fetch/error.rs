use std::fmt;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a model's file could not be brought here.
#[derive(Debug, Error)]
pub enum FetchError {
    /// The disk has too little room; nothing was downloaded.
    #[error("{} has {} free and {} are needed; free some room or set another cache folder", dir.display(), Size(*free), Size(*needed))]
    Disk {
        /// Where the models lie.
        dir: PathBuf,
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        free: u64,
    },
    /// The machine has too little memory to run the model; nothing was downloaded.
    #[error("{name} needs {} of free memory and {} are free; use local/qwen2.5-coder-0.5b or a model over the network", Size(*needed), Size(*free))]
    Memory {
        /// Which model.
        name: String,
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        free: u64,
    },
    /// Another process is fetching the same file.
    #[error("another process is fetching {}; wait for it to finish", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// A file could not be written or renamed.
    #[error("{} cannot be written", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// The system's words.
        source: io::Error,
    },
    /// No source gave the file.
    #[error("{name} could not be fetched from any source:{}\nput the file at {} by hand, or try again", Failures(failures), path.display())]
    Sources {
        /// Which model.
        name: String,
        /// Where the file belongs.
        path: PathBuf,
        /// Every source that was tried, in order, and why it did not give the file.
        failures: Vec<(String, String)>,
    },
}

struct Failures<'a>(&'a [(String, String)]);

impl fmt::Display for Failures<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("\n  - none was allowed");
        }
        self.0.iter().try_for_each(|(source, why)| write!(f, "\n  - {source}: {why}"))
    }
}

/// Bytes as people say them.
struct Size(u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bytes if bytes >= 1_000_000_000 => write!(f, "{:.1} GB", bytes as f64 / 1e9),
            bytes => write!(f, "{} MB", bytes.div_ceil(1_000_000)),
        }
    }
}
