use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::{ChildSpec, SpawnError};

/// Finds the file that [`spawn`](crate::spawn) would start, without starting it.
///
/// Looks at the file system only: for a path as it is, for a bare name into each absolute folder of the search path, in order.
///
/// # Errors
///
/// [`SpawnError::EmptyCommand`], [`SpawnError::CommandNotFound`] or [`SpawnError::NotExecutable`].
pub fn find_command(spec: &ChildSpec) -> Result<PathBuf, SpawnError> {
    let command = spec.command.as_str();
    if command.trim().is_empty() {
        return Err(SpawnError::EmptyCommand);
    }
    if command.contains('/') {
        let path = match &spec.cwd {
            Some(folder) => folder.join(command),
            None => PathBuf::from(command),
        };
        return match kind_of(&path) {
            Kind::Executable => absolute(path),
            Kind::Other => Err(SpawnError::NotExecutable { hint: not_executable_hint(&path), path }),
            Kind::Missing => Err(not_found(spec, Vec::new())),
        };
    }

    let search_path = spec.lookup_path();
    let folders: Vec<PathBuf> =
        std::env::split_paths(&search_path).filter(|folder| folder.is_absolute()).collect();
    let mut not_executable = None;
    for folder in &folders {
        let path = folder.join(command);
        match kind_of(&path) {
            Kind::Executable => return Ok(path),
            Kind::Other if path.is_file() => {
                not_executable.get_or_insert(path);
            }
            Kind::Other | Kind::Missing => {}
        }
    }
    match not_executable {
        Some(path) => Err(SpawnError::NotExecutable { hint: not_executable_hint(&path), path }),
        None => Err(not_found(spec, folders)),
    }
}

/// The interpreter that the first line of a script names, where that file is missing.
pub(crate) fn missing_interpreter(script: &Path) -> Option<PathBuf> {
    let mut start = Vec::new();
    fs::File::open(script).ok()?.take(256).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    let interpreter = PathBuf::from(line.split_whitespace().next()?);
    // A carriage return at the end of the line belongs to the name for the kernel, so it is kept for the reader to see.
    let as_the_kernel_reads =
        if line.ends_with('\r') { PathBuf::from(line.trim_start()) } else { interpreter };
    (!as_the_kernel_reads.exists()).then_some(as_the_kernel_reads)
}

enum Kind {
    Executable,
    Other,
    Missing,
}

fn kind_of(path: &Path) -> Kind {
    match fs::metadata(path) {
        Ok(facts) if facts.is_file() && facts.permissions().mode() & 0o111 != 0 => Kind::Executable,
        Ok(_) => Kind::Other,
        Err(_) => Kind::Missing,
    }
}

/// The child changes its folder before it looks, so a path that was judged against another folder must not stay relative.
fn absolute(path: PathBuf) -> Result<PathBuf, SpawnError> {
    std::path::absolute(&path)
        .map_err(|source| SpawnError::Start { command: path.display().to_string(), source })
}

fn not_executable_hint(path: &Path) -> String {
    if path.is_dir() {
        return "it is a folder; name the program inside it".into();
    }
    format!("allow it with: chmod +x {}", path.display())
}

fn not_found(spec: &ChildSpec, searched: Vec<PathBuf>) -> SpawnError {
    SpawnError::CommandNotFound { command: spec.command.clone(), hint: not_found_hint(spec), searched }
}

fn not_found_hint(spec: &ChildSpec) -> String {
    let command = spec.command.as_str();
    if let Some((program, _)) =
        command.split_once(char::is_whitespace).filter(|(program, _)| !program.contains('/'))
    {
        return format!(
            "`command` is one program, without a shell; write \"command\": \"{program}\" and put the rest into `args`"
        );
    }
    if command.starts_with('~') || command.contains('$') {
        return "no shell reads `command`, so `~` and `$NAME` stand for themselves; write the absolute path"
            .into();
    }
    if command.contains('/') {
        return "check the path; a relative one starts at the server's working directory".into();
    }
    if let Some(path) = elsewhere(spec) {
        return format!(
            "a login shell would find it at {path}; set \"command\": \"{path}\", or add that folder to PATH in the server's `env`",
            path = path.display()
        );
    }
    let package = match command {
        "npx" | "npm" | "node" => "install Node.js",
        "uvx" | "uv" => "install uv (for instance: pip install uv)",
        "python" => "try \"command\": \"python3\", or install Python",
        "python3" | "pip" | "pipx" => "install Python",
        "docker" | "podman" => "install it and start its service",
        "deno" | "bun" | "bunx" => "install it",
        _ => "install it",
    };
    format!("{package}, or set `command` to the absolute path of the program")
}

/// Looks where installers put programs that a login shell adds to the path and a desktop or service start does not.
fn elsewhere(spec: &ChildSpec) -> Option<PathBuf> {
    const IN_HOME: &[&str] = &[
        ".local/bin",
        ".cargo/bin",
        ".local/share/mise/shims",
        ".asdf/shims",
        ".volta/bin",
        ".local/share/pnpm",
        ".bun/bin",
        ".deno/bin",
        ".pyenv/shims",
        ".local/share/fnm/aliases/default/bin",
        ".npm-global/bin",
        "go/bin",
        "bin",
    ];
    const ANYWHERE: &[&str] =
        &["/usr/local/bin", "/opt/homebrew/bin", "/home/linuxbrew/.linuxbrew/bin", "/snap/bin"];

    let mut folders: Vec<PathBuf> = Vec::new();
    if let Some(home) = spec.inherited("HOME").map(PathBuf::from) {
        folders.extend(versions_of_node(&home));
        folders.extend(IN_HOME.iter().map(|folder| home.join(folder)));
    }
    folders.extend(ANYWHERE.iter().map(PathBuf::from));
    folders
        .into_iter()
        .map(|folder| folder.join(&spec.command))
        .find(|path| matches!(kind_of(path), Kind::Executable))
}

/// The folders of nvm's Node.js versions, newest first.
fn versions_of_node(home: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(home.join(".nvm/versions/node")) else { return Vec::new() };
    let mut versions: Vec<(Vec<u64>, PathBuf)> = entries
        .flatten()
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let numbers =
                name.trim_start_matches('v').split('.').map(|part| part.parse().unwrap_or(0)).collect();
            (numbers, entry.path().join("bin"))
        })
        .collect();
    versions.sort_by(|left, right| right.cmp(left));
    versions.into_iter().map(|(_, path)| path).collect()
}

#[cfg(test)]
mod tests;
