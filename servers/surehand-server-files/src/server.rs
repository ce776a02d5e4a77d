use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_macros::tools;
use surehand_mcp::{ServerHandler, Structured, ToolCard, ToolFailure, ToolOutput, Toolset};

use crate::info::{FileInfo, file_info};
use crate::list::{Listing, list_directory};
use crate::read::{Part, read_text};
use crate::roots::Roots;
use crate::search::{Found, search};

/// What the server may reach, and how much of it at once.
#[derive(Clone, Debug)]
pub struct Options {
    /// The allowed directories, most important first: a relative path is meant beneath the first one that has it. Absolute paths.
    /// One that cannot be opened now is tried again by each call.
    pub roots: Vec<PathBuf>,
    /// How much is given at once.
    pub limits: Limits,
}

/// How much is given at once. What goes beyond is left out, and the result says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Of a text file, in bytes.
    pub text_bytes: usize,
    /// Of a folder, in entries.
    pub entries: usize,
    /// Of a search, in files found.
    pub matches: usize,
    /// That a search looks at, in entries.
    pub visited: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { text_bytes: 256 << 10, entries: 500, matches: 200, visited: 200_000 }
    }
}

/// The files server.
pub fn server(options: Options) -> Arc<dyn ServerHandler> {
    toolset(options).into_handler()
}

/// What the operator may know about its tools.
pub fn cards() -> Vec<ToolCard> {
    toolset(Options { roots: Vec::new(), limits: Limits::default() }).cards()
}

fn toolset(options: Options) -> Toolset {
    let roots = Arc::new(Roots::open(options.roots));
    Toolset::new("surehand-files", env!("CARGO_PKG_VERSION"))
        .title("Files")
        .with(FilesServer { roots, limits: options.limits })
}

struct FilesServer {
    roots: Arc<Roots>,
    limits: Limits,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadTextFile {
    /// The file, absolute or relative to the first allowed directory.
    path: String,
    /// Only the first lines, this many.
    #[schemars(range(min = 1))]
    head: Option<u32>,
    /// Only the last lines, this many. Not together with `head`.
    #[schemars(range(min = 1))]
    tail: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListDirectory {
    /// The folder, absolute or relative to the first allowed directory; "." for that directory itself.
    path: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchFiles {
    /// The folder to start in, with all folders below; "." for the first allowed directory.
    path: String,
    /// A glob such as "*.md" or "src/**/*.rs". A word without wildcards finds every name that contains it.
    pattern: String,
    /// Globs of what to leave out, for example "node_modules".
    #[serde(default)]
    exclude: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetFileInfo {
    /// The file or folder, absolute or relative to the first allowed directory.
    path: String,
}

#[derive(Serialize, JsonSchema)]
struct AllowedDirectories {
    /// Absolute paths.
    directories: Vec<String>,
}

#[tools]
impl FilesServer {
    /// Reads a text file (读取文件).
    #[tool(effect = "reads", idempotent)]
    async fn read_text_file(&self, args: ReadTextFile) -> Result<ToolOutput, ToolFailure> {
        let part = match (args.head, args.tail) {
            (None, None) => Part::Whole,
            (Some(lines), None) => Part::Head(lines as usize),
            (None, Some(lines)) => Part::Tail(lines as usize),
            (Some(_), Some(_)) => {
                return Err(
                    ToolFailure::new("`head` and `tail` cannot be given together.").code("invalid_arguments")
                );
            }
        };
        let (roots, limit) = (Arc::clone(&self.roots), self.limits.text_bytes);
        on_a_thread(move |_| read_text(&roots, &args.path, part, limit)).await
    }

    /// Lists the files and folders in a folder (列出目录).
    #[tool(effect = "reads", idempotent)]
    async fn list_directory(&self, args: ListDirectory) -> Result<Structured<Listing>, ToolFailure> {
        let (roots, limit) = (Arc::clone(&self.roots), self.limits.entries);
        on_a_thread(move |_| list_directory(&roots, &args.path, limit)).await
    }

    /// Finds files and folders by name, in a folder and all folders below (查找文件).
    #[tool(effect = "reads", idempotent)]
    async fn search_files(&self, args: SearchFiles) -> Result<Structured<Found>, ToolFailure> {
        let (roots, limits) = (Arc::clone(&self.roots), self.limits);
        on_a_thread(move |stop| search(&roots, &args.path, &args.pattern, &args.exclude, limits, stop)).await
    }

    /// Tells size, kind, times and permissions of a file or folder (文件信息).
    #[tool(effect = "reads", idempotent)]
    async fn get_file_info(&self, args: GetFileInfo) -> Result<Structured<FileInfo>, ToolFailure> {
        let roots = Arc::clone(&self.roots);
        on_a_thread(move |_| file_info(&roots, &args.path)).await
    }

    /// Names the directories that may be read.
    #[tool(effect = "reads", idempotent)]
    async fn list_allowed_directories(&self) -> Structured<AllowedDirectories> {
        let directories = self.roots.names();
        let text = if directories.is_empty() {
            "No directory may be read.".to_owned()
        } else {
            format!("May be read, with everything below:\n{}", directories.join("\n"))
        };
        Structured::new(AllowedDirectories { directories }).with_text(text)
    }
}

/// Runs file access where it may block. When the call is dropped, `work` sees its flag rise and stops.
async fn on_a_thread<T: Send + 'static>(
    work: impl FnOnce(&AtomicBool) -> Result<T, ToolFailure> + Send + 'static,
) -> Result<T, ToolFailure> {
    struct RaiseOnDrop(Arc<AtomicBool>);
    impl Drop for RaiseOnDrop {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let stop = Arc::new(AtomicBool::new(false));
    let _raise = RaiseOnDrop(Arc::clone(&stop));
    match tokio::task::spawn_blocking(move || work(&stop)).await {
        Ok(result) => result,
        Err(broken) => std::panic::resume_unwind(broken.into_panic()),
    }
}

#[cfg(test)]
mod tests;
