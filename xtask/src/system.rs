//! What the system must bring along: a C++ compiler, cmake and libclang for the embedded model, Python and npm for the tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shell::{Fault, find_program, output_of, run_quietly, say, step};

/// Something that must be there, and the Debian packages that bring it.
struct Need {
    what: &'static str,
    packages: &'static [&'static str],
    is_there: fn() -> bool,
}

const BUILD: &[Need] = &[
    Need { what: "a C++ compiler", packages: &["g++"], is_there: has_compiler },
    Need {
        what: "make",
        packages: &["make"],
        is_there: || find_program("make").is_some() || find_program("ninja").is_some(),
    },
    Need { what: "cmake", packages: &["cmake"], is_there: || find_program("cmake").is_some() },
    Need { what: "libclang", packages: &["libclang-dev"], is_there: has_libclang },
];

const TESTS: &[Need] = &[
    Need {
        what: "Python 3.10 or newer with venv",
        packages: &["python3", "python3-venv"],
        is_there: || python().is_some(),
    },
    Need { what: "git", packages: &["git"], is_there: || find_program("git").is_some() },
    Need { what: "npm", packages: &["npm"], is_there: || find_program("npm").is_some() },
];

/// Sees to what the build needs.
pub(crate) fn for_build() -> Result<(), Fault> {
    ensure(
        BUILD,
        "To build without the embedded model, which needs none of this: cargo xtask run --no-local -- ARGS",
    )
}

/// Sees to what the tests need beside the build.
pub(crate) fn for_tests() -> Result<(), Fault> {
    ensure(TESTS, "")
}

/// The Python to make virtual environments with.
pub(crate) fn python() -> Option<PathBuf> {
    const PROBE: &str = "import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 10))";
    ["python3", "python"]
        .iter()
        .filter_map(|name| find_program(name))
        .find(|path| output_of(path, &["-c", PROBE]).is_some())
}

fn ensure(needs: &[Need], otherwise: &str) -> Result<(), Fault> {
    let missing: Vec<&Need> = needs.iter().filter(|need| !(need.is_there)()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let packages: Vec<&str> = missing.iter().flat_map(|need| need.packages.iter().copied()).collect();
    let names: Vec<&str> = missing.iter().map(|need| need.what).collect();
    let names = names.join(", ");
    let Some(apt) = apt() else {
        return Err(Fault::new(
            format!(
                "missing: {names}\n{}\n{otherwise}",
                advice(&packages, |name| find_program(name).is_some())
            )
            .trim_end()
            .to_owned(),
        ));
    };

    step(&format!("Installing {names} through apt ({})", packages.join(" ")));
    // The lists may be missing or old; where they cannot be fetched, the old ones may still do.
    if let Err(fault) = run_quietly(apt.command().arg("update")) {
        say(&fault.message);
    }
    run_quietly(apt.command().args(["install", "--yes", "--no-install-recommends"]).args(&packages))
        .map_err(|fault| Fault::new(format!("{}\n{otherwise}", fault.message).trim_end()))?;

    let still: Vec<&str> = missing.iter().filter(|need| !(need.is_there)()).map(|need| need.what).collect();
    if still.is_empty() {
        return Ok(());
    }
    Err(Fault::new(
        format!("still missing after the installation: {}\n{otherwise}", still.join(", "))
            .trim_end()
            .to_owned(),
    ))
}

/// How apt may be used here.
enum Apt {
    Directly,
    ThroughSudo,
}

impl Apt {
    fn command(&self) -> Command {
        let mut command = match self {
            Self::Directly => Command::new("apt-get"),
            Self::ThroughSudo => {
                let mut command = Command::new("sudo");
                command.args(["-n", "DEBIAN_FRONTEND=noninteractive", "apt-get"]);
                command
            }
        };
        command.env("DEBIAN_FRONTEND", "noninteractive");
        command
    }
}

/// Whether we may install packages without asking for a password.
fn apt() -> Option<Apt> {
    find_program("apt-get")?;
    if output_of("id", &["-u"]).as_deref() == Some("0") {
        return Some(Apt::Directly);
    }
    output_of("sudo", &["-n", "true"]).map(|_| Apt::ThroughSudo)
}

/// The command that brings the packages, in the words of the system at hand.
fn advice(packages: &[&str], has_program: impl Fn(&str) -> bool) -> String {
    // Debian's name, then those of Fedora, Arch, Alpine, openSUSE and Homebrew.
    const NAMES: &[[&str; 6]] = &[
        ["g++", "gcc-c++", "gcc", "g++", "gcc-c++", "gcc"],
        ["make", "make", "make", "make", "make", "make"],
        ["cmake", "cmake", "cmake", "cmake", "cmake", "cmake"],
        ["libclang-dev", "clang-devel", "clang", "clang-dev", "clang-devel", "llvm"],
        ["python3", "python3", "python", "python3", "python3", "python3"],
        ["python3-venv", "python3", "python", "python3", "python3", "python3"],
        ["git", "git", "git", "git", "git", "git"],
        ["npm", "nodejs-npm", "npm", "npm", "npm", "node"],
    ];
    const MANAGERS: &[(&str, usize, &str)] = &[
        ("apt-get", 0, "sudo apt-get install"),
        ("dnf", 1, "sudo dnf install"),
        ("pacman", 2, "sudo pacman -S"),
        ("apk", 3, "sudo apk add"),
        ("zypper", 4, "sudo zypper install"),
        ("brew", 5, "brew install"),
    ];
    let Some((_, column, command)) = MANAGERS.iter().find(|(program, ..)| has_program(program)) else {
        return format!("Install what Debian calls {}, then try again.", packages.join(" "));
    };
    let mut names: Vec<&str> = packages
        .iter()
        .map(|package| NAMES.iter().find(|row| row[0] == *package).map_or(*package, |row| row[*column]))
        .collect();
    names.dedup();
    format!("Install it with\n\n    {command} {}\n\nand try again.", names.join(" "))
}

fn has_compiler() -> bool {
    let named = std::env::var("CXX").ok();
    named
        .iter()
        .map(String::as_str)
        .chain(["c++", "g++", "clang++"])
        .any(|name| find_program(name).is_some() || Path::new(name).is_file())
}

/// Looks where the generator of bindings will look.
fn has_libclang() -> bool {
    let mut folders: Vec<PathBuf> = Vec::new();
    if let Some(path) = std::env::var_os("LIBCLANG_PATH").map(PathBuf::from) {
        folders.push(path.clone());
        folders.extend(path.parent().map(Path::to_owned));
    }
    folders.extend(output_of("llvm-config", &["--libdir"]).map(PathBuf::from));
    for fixed in [
        "/usr/lib",
        "/usr/lib64",
        "/usr/local/lib",
        "/usr/local/lib64",
        "/Library/Developer/CommandLineTools/usr/lib",
    ] {
        folders.push(fixed.into());
    }
    folders.push("/opt/homebrew/opt/llvm/lib".into());
    for entry in fs::read_dir("/usr/lib").into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("llvm") {
            folders.push(entry.path().join("lib"));
            folders.push(entry.path().join("lib64"));
        } else if name.ends_with("-linux-gnu") || name.ends_with("-linux-musl") {
            folders.push(entry.path());
        }
    }
    folders.iter().any(|folder| {
        fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_libclang = name.starts_with("libclang.") || name.starts_with("libclang-");
            is_libclang && (name.contains(".so") || name.ends_with(".dylib")) && !name.contains("-cpp")
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_in_the_words_of_the_system() {
        let packages = ["libclang-dev", "python3", "python3-venv"];
        let said = |manager: &'static str| advice(&packages, move |name| name == manager);
        assert_eq!(
            said("apt-get"),
            "Install it with\n\n    sudo apt-get install libclang-dev python3 python3-venv\n\nand try again."
        );
        assert_eq!(
            said("dnf"),
            "Install it with\n\n    sudo dnf install clang-devel python3\n\nand try again."
        );
        assert_eq!(
            said("none"),
            "Install what Debian calls libclang-dev python3 python3-venv, then try again."
        );
    }
}
