//! The layers of the workspace hold: a crate uses crates of lower lines of `layers.txt` only.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Crates that stand outside the layers.
const OUTSIDE: [&str; 3] = ["surehand-bench", "surehand-testkit", "xtask"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The line of `layers.txt` on which each crate stands.
fn layers(text: &str) -> BTreeMap<String, usize> {
    let lines = text.lines().filter(|line| !line.starts_with('#')).enumerate();
    lines
        .flat_map(|(line, names)| names.split_whitespace().map(move |name| (name.to_owned(), line)))
        .collect()
}

/// The name and the workspace's own crates among the dependencies of a manifest; development ones do not count.
fn read_manifest(text: &str) -> (String, Vec<String>) {
    let (mut section, mut name, mut uses) = ("", String::new(), Vec::new());
    for line in text.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_end_matches(']');
            let (table, crate_name) = section.rsplit_once('.').unwrap_or((section, ""));
            if is_dependencies(table) && crate_name.starts_with("surehand") {
                uses.push(crate_name.to_owned());
            }
            continue;
        }
        let key = line.split(['=', '.', ' ']).next().unwrap_or_default();
        if section == "package" && key == "name" {
            name = line.split('"').nth(1).unwrap_or_default().to_owned();
        }
        if is_dependencies(section) && key.starts_with("surehand") {
            uses.push(key.to_owned());
        }
    }
    (name, uses)
}

fn is_dependencies(section: &str) -> bool {
    let kind = section.rsplit_once('.').map_or(section, |(_, kind)| kind);
    matches!(kind, "dependencies" | "build-dependencies") && !section.starts_with("workspace")
}

/// What breaks the layers.
fn faults(layers: &BTreeMap<String, usize>, manifests: &[String]) -> Vec<String> {
    let mut faults = Vec::new();
    for manifest in manifests {
        let (name, uses) = read_manifest(manifest);
        if OUTSIDE.contains(&name.as_str()) {
            continue;
        }
        let Some(line) = layers.get(&name) else {
            faults.push(format!("{name} stands on no line of layers.txt"));
            continue;
        };
        for used in uses {
            match layers.get(&used) {
                Some(below) if below < line => {}
                Some(_) => faults.push(format!("{name} uses {used}, which does not stand below it")),
                None => faults.push(format!("{name} uses {used}, which stands on no line of layers.txt")),
            }
        }
    }
    faults
}

#[test]
fn a_crate_uses_crates_of_lower_layers_only() {
    let layers = layers(&fs::read_to_string(root().join("layers.txt")).unwrap());
    let mut manifests = Vec::new();
    for folder in ["crates", "servers"] {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            if let Ok(manifest) = fs::read_to_string(entry.unwrap().path().join("Cargo.toml")) {
                manifests.push(manifest);
            }
        }
    }
    assert!(manifests.len() >= layers.len(), "only {} manifests were found", manifests.len());
    assert_eq!(faults(&layers, &manifests), Vec::<String>::new());
}

#[test]
fn a_crate_that_reaches_up_or_sideways_is_found() {
    let layers = layers("# comment\na-model\nsurehand-low surehand-side\nsurehand-high\n");
    let manifests = [
        "[package]\nname = \"surehand-low\"\n[dependencies]\nsurehand-high.workspace = true\n[dev-dependencies]\nsurehand-high.workspace = true",
        "[package]\nname = \"surehand-side\"\n[target.'cfg(unix)'.dependencies]\nsurehand-low = { workspace = true }",
        "[package]\nname = \"surehand-high\"\n[dependencies.surehand-low]\nworkspace = true\n[build-dependencies]\nsurehand-new.workspace = true",
        "[package]\nname = \"surehand-lost\"",
    ]
    .map(str::to_owned);
    assert_eq!(
        faults(&layers, &manifests),
        [
            "surehand-low uses surehand-high, which does not stand below it",
            "surehand-side uses surehand-low, which does not stand below it",
            "surehand-high uses surehand-new, which stands on no line of layers.txt",
            "surehand-lost stands on no line of layers.txt",
        ]
    );
}
