//! `cargo xtask vectors`: what our two sides say, against the official schemas.

use crate::shell::{Fault, cargo, root, run};

/// Every message of our client and our server in every revision. The schemas are not part of the workspace: `--data` names the
/// folder that has them under `mcp-schema`.
pub(crate) fn vectors(args: &[String]) -> Result<(), Fault> {
    let [flag, folder] = args else { return Err(usage()) };
    if flag != "--data" {
        return Err(usage());
    }
    let folder = root().join(folder);
    if !folder.join("mcp-schema").is_dir() {
        return Err(Fault::new(format!("{} has no folder `mcp-schema`", folder.display())));
    }
    let mut command = cargo();
    command.args([
        "run",
        "--locked",
        "--quiet",
        "--package",
        "surehand-conformance",
        "--example",
        "vectors",
        "--",
    ]);
    run(command.arg(folder))
}

fn usage() -> Fault {
    Fault::usage(
        "usage: cargo xtask vectors --data DIR, a folder whose `mcp-schema` has the schema of each revision",
    )
}
