//! What the tests run beside Surehand, kept under `target/test-tools`.
//!
//! `bin` holds links to everything by its plain name; with that folder first on the search path, the right Node.js is found too.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shell::{Fault, find_program, output_of, root, run_quietly, step};
use crate::system;

const PYTHON_PACKAGES: &str = include_str!("../tools/requirements.txt");
const NPM_PACKAGE: &str = include_str!("../tools/package.json");
const NPM_LOCK: &str = include_str!("../tools/package-lock.json");

/// The newest major version of Node.js that the packages ask for.
const NODE_MAJOR: u32 = 22;

/// The names under which tests call the tools, and where they come from.
const PROGRAMS: &[(&str, &str)] = &[
    ("fastmcp", "venv/bin/fastmcp"),
    ("mcp-server-fetch", "venv/bin/mcp-server-fetch"),
    ("mcp-server-git", "venv/bin/mcp-server-git"),
    ("mcp-server-time", "venv/bin/mcp-server-time"),
    ("conformance", "npm/node_modules/.bin/conformance"),
    ("mcp-inspector", "npm/node_modules/.bin/mcp-inspector"),
    ("mcp-remote", "npm/node_modules/.bin/mcp-remote"),
    ("mcp-server-everything", "npm/node_modules/.bin/mcp-server-everything"),
    ("mcp-server-filesystem", "npm/node_modules/.bin/mcp-server-filesystem"),
    ("mcp-server-memory", "npm/node_modules/.bin/mcp-server-memory"),
    ("mcp-server-sequential-thinking", "npm/node_modules/.bin/mcp-server-sequential-thinking"),
    ("aimock", "npm/node_modules/.bin/aimock"),
    ("llmock", "npm/node_modules/.bin/llmock"),
];

/// Where everything is kept. Several worktrees may share one folder by a link, and what is installed knows the folder by its name:
/// so the name is the real one.
pub(crate) fn folder() -> PathBuf {
    let folder = root().join("target/test-tools");
    fs::canonicalize(&folder).unwrap_or(folder)
}

/// Installs what is missing or of another version; gives the folder.
pub(crate) fn for_tests() -> Result<PathBuf, Fault> {
    let folder = folder();
    let python_ready = is_ready(&folder.join("venv"), PYTHON_PACKAGES);
    let npm_ready = is_ready(&folder.join("npm"), NPM_LOCK);
    if !(python_ready && npm_ready && PROGRAMS.iter().all(|(name, _)| folder.join("bin").join(name).exists()))
    {
        system::for_tests()?;
        if !python_ready {
            install_python(&folder.join("venv"))?;
        }
        if !npm_ready {
            install_npm(&folder.join("npm"))?;
        }
        link_programs(&folder)?;
    }
    Ok(folder)
}

/// A virtual environment with the packages of a requirements text; made anew where the text has changed.
pub(crate) fn virtual_environment(folder: &Path, requirements: &str, options: &[&str]) -> Result<(), Fault> {
    if is_ready(folder, requirements) {
        return Ok(());
    }
    let python = system::python().ok_or_else(|| Fault::new("missing: Python 3.10 or newer with venv"))?;
    clear(folder)?;
    run_quietly(Command::new(python).args(["-m", "venv"]).arg(folder))?;
    let list = folder.join("requirements.txt");
    write(&list, requirements)?;
    run_quietly(
        Command::new(folder.join("bin/python3"))
            .args(["-m", "pip", "install", "--disable-pip-version-check", "--no-deps", "--requirement"])
            .arg(&list)
            .args(options),
    )?;
    mark_ready(folder, requirements)
}

/// The files of one Python package, unpacked and not installed; nothing of it runs.
pub(crate) fn unpacked_package(folder: &Path, python: &Path, requirement: &str) -> Result<(), Fault> {
    if is_ready(folder, requirement) {
        return Ok(());
    }
    clear(folder)?;
    run_quietly(
        Command::new(python)
            .args([
                "-m",
                "pip",
                "install",
                "--disable-pip-version-check",
                "--no-deps",
                "--no-compile",
                "--target",
            ])
            .arg(folder)
            .args(["--only-binary=:all:", requirement]),
    )?;
    mark_ready(folder, requirement)
}

fn install_python(folder: &Path) -> Result<(), Fault> {
    step("Installing the Python packages of the tests");
    virtual_environment(folder, PYTHON_PACKAGES, &[])
}

fn install_npm(folder: &Path) -> Result<(), Fault> {
    step("Installing the npm packages of the tests");
    clear(folder)?;
    write(&folder.join("package.json"), NPM_PACKAGE)?;
    write(&folder.join("package-lock.json"), NPM_LOCK)?;
    // No install scripts: everything needed comes inside the packages.
    run_quietly(
        Command::new("npm").args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(folder),
    )?;
    mark_ready(folder, NPM_LOCK)
}

fn link_programs(folder: &Path) -> Result<(), Fault> {
    let bin = folder.join("bin");
    clear(&bin)?;
    for (name, target) in PROGRAMS {
        link(&folder.join(target), &bin.join(name))?;
    }
    let bundled = folder.join("npm/node_modules/.bin/node");
    let node = if bundled.exists() { bundled } else { own_node()? };
    link(&node, &bin.join("node"))
}

/// For systems without a Node.js package on npm: the one that is installed, where it is new enough.
fn own_node() -> Result<PathBuf, Fault> {
    let node =
        find_program("node").ok_or_else(|| Fault::new(format!("missing: Node.js {NODE_MAJOR} or newer")))?;
    let version = output_of(&node, &["--version"]).unwrap_or_default();
    let major: u32 =
        version.trim_start_matches('v').split('.').next().and_then(|number| number.parse().ok()).unwrap_or(0);
    if major >= NODE_MAJOR {
        Ok(node)
    } else {
        Err(Fault::new(format!("Node.js {version} is too old: {NODE_MAJOR} or newer is needed")))
    }
}

/// Whether the folder was finished for exactly these versions, at this place.
fn is_ready(folder: &Path, versions: &str) -> bool {
    fs::read_to_string(folder.join("ready")).is_ok_and(|text| text == stamp(folder, versions))
}

fn mark_ready(folder: &Path, versions: &str) -> Result<(), Fault> {
    write(&folder.join("ready"), &stamp(folder, versions))
}

/// Scripts name their interpreter by its full path, so a folder that was moved is made anew.
fn stamp(folder: &Path, versions: &str) -> String {
    format!("{}\n{versions}", folder.display())
}

fn clear(folder: &Path) -> Result<(), Fault> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(at(folder, &error)),
        _ => {}
    }
    fs::create_dir_all(folder).map_err(|error| at(folder, &error))
}

fn write(file: &Path, text: &str) -> Result<(), Fault> {
    fs::write(file, text).map_err(|error| at(file, &error))
}

fn link(target: &Path, name: &Path) -> Result<(), Fault> {
    if !target.exists() {
        return Err(Fault::new(format!("the installation did not bring {}", target.display())));
    }
    std::os::unix::fs::symlink(target, name).map_err(|error| at(name, &error))
}

fn at(path: &Path, error: &io::Error) -> Fault {
    Fault::new(format!("{}: {error}", path.display()))
}
