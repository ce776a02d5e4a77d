//! What the matrix needs before it can be run: programs, folders, servers that listen.

use std::ffi::OsString;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build::target_folder;
use crate::conformance;
use crate::server::{RunningServer, free_address};
use crate::shell::{Fault, root, run_quietly};
use crate::tools;

use super::page;

/// The text in the folder of the files server.
pub(crate) const GREETING: &str = "Hello from the folder";
/// The message of the only commit in the repository of the git server.
pub(crate) const COMMIT: &str = "The first of one";

/// Programs, folders and addresses. Dropping it ends the servers.
pub(crate) struct Places {
    /// Ours: `interop-client`, `conformance-server`.
    pub(crate) programs: PathBuf,
    /// Of the foreign clients.
    pub(crate) scripts: PathBuf,
    pub(crate) npm: PathBuf,
    pub(crate) python: PathBuf,
    /// The tools first.
    pub(crate) search_path: OsString,
    /// Emptied before each run.
    pub(crate) work: PathBuf,
    pub(crate) page: SocketAddr,
    /// Our server, `/mcp` and `/sse`.
    pub(crate) own: RunningServer,
    /// `/mcp`
    pub(crate) everything: RunningServer,
    /// `/sse`
    pub(crate) everything_sse: RunningServer,
}

impl Places {
    pub(crate) fn prepare() -> Result<Self, Fault> {
        let tools = tools::for_tests()?;
        let target = target_folder()?;
        let programs = conformance::build(&target, true)?;
        let work = target.join("interop");
        conformance::clear(&work)?;
        let rest = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(tools.join("bin")).chain(std::env::split_paths(&rest));
        let search_path = std::env::join_paths(folders)
            .map_err(|error| Fault::new(format!("the search path cannot be used: {error}")))?;
        files(&work)?;
        repository(&work)?;

        let address = free_address()?;
        let mut command = Command::new(programs.join("conformance-server"));
        let own = RunningServer::start(command.args(["--listen", &address.to_string()]), address)?;
        let everything = |kind: &str| {
            let address = free_address()?;
            let mut command = Command::new("mcp-server-everything");
            let log = fs::File::create(work.join(format!("everything-{kind}.log")));
            let log = log.map_err(|error| Fault::new(error.to_string()))?;
            command.arg(kind).env("PATH", &search_path).env("PORT", address.port().to_string());
            command.stdout(std::process::Stdio::null()).stderr(log);
            RunningServer::start(&mut command, address)
        };
        let (streamable, sse) = (everything("streamableHttp")?, everything("sse")?);
        Ok(Self {
            programs,
            scripts: root().join("xtask/interop"),
            npm: tools.join("npm"),
            python: tools.join("venv/bin/python3"),
            search_path,
            page: page::serve().map_err(|error| Fault::new(format!("no page can be served: {error}")))?,
            own,
            everything: streamable,
            everything_sse: sse,
            work,
        })
    }
}

fn files(work: &Path) -> Result<(), Fault> {
    let folder = work.join("files");
    let written = fs::create_dir_all(&folder).and_then(|()| fs::write(folder.join("greeting.txt"), GREETING));
    written.map_err(|error| Fault::new(format!("{}: {error}", folder.display())))
}

fn repository(work: &Path) -> Result<(), Fault> {
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        // Nobody's own settings: no signing, no hooks, no other names.
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        run_quietly(command.args(arguments).current_dir(work))
    };
    git(&["init", "--quiet", "repository"])?;
    git(&[
        "-C",
        "repository",
        "-c",
        "user.name=Nobody",
        "-c",
        "user.email=nobody@example.com",
        "commit",
        "--quiet",
        "--allow-empty",
        "--message",
        COMMIT,
    ])
}
