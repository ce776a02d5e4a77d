//! Changes to files on disk: whole or not at all, one after the other, and nothing but the entry.

use std::fs;
use std::path::{Path, PathBuf};

use surehand_host::config::{
    Change, EditOptions, Environment, LoadOptions, Overrides, Paths, TrustStatus, edit, load, trust,
};
use surehand_model::Json;
use tempfile::TempDir;

const TEAM: &str = "{\n  // team file\n  \"mcpServers\": {\n    \"docs\": {\"command\": \"docs\", \"futureKey\": 1}\n  },\n  \"other\": true\n}\n";

fn place() -> (TempDir, Paths) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().canonicalize().unwrap();
    let paths = Environment::from_pairs([("HOME", &path)]).paths(&path).unwrap();
    (home, paths)
}

fn add(name: &str) -> Change {
    let entry = Json::parse(r#"{"command":"srv"}"#).unwrap();
    Change::Add { name: name.to_owned(), entry, replace: false }
}

fn names(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let tree = Json::parse(&text.replace("// team file", "")).unwrap();
    let servers = tree.get("mcpServers").unwrap().as_object().unwrap().to_vec();
    servers.into_iter().map(|(name, _)| name).collect()
}

/// Files beside the one at `path`.
fn beside(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path.parent().unwrap()).unwrap();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    found.retain(|other| other != path && other.is_file());
    found
}

#[test]
fn twenty_writers_at_once_lose_nothing() {
    let (_home, paths) = place();
    fs::create_dir_all(&paths.config).unwrap();
    fs::write(&paths.user_file, TEAM).unwrap();
    std::thread::scope(|scope| {
        for number in 0..20 {
            let paths = &paths;
            scope.spawn(move || {
                edit(paths, &paths.user_file, &add(&format!("s{number}")), EditOptions::default()).unwrap()
            });
        }
    });
    let mut found = names(&paths.user_file);
    found.sort();
    let mut expected: Vec<String> =
        (0..20).map(|number| format!("s{number}")).chain(["docs".to_owned()]).collect();
    expected.sort();
    assert_eq!(found, expected);
    assert!(fs::read_to_string(&paths.user_file).unwrap().contains("// team file"));
    assert_eq!(beside(&paths.user_file), Vec::<PathBuf>::new());
}

#[test]
fn a_missing_file_is_made_once_even_by_many() {
    let (_home, paths) = place();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let paths = &paths;
            scope.spawn(move || {
                edit(paths, &paths.user_file, &add(&format!("s{number}")), EditOptions::default()).unwrap()
            });
        }
    });
    assert_eq!(names(&paths.user_file).len(), 8);
}

#[test]
fn a_dry_run_shows_the_difference_and_writes_nothing() {
    let (_home, paths) = place();
    fs::write(&paths.project_file, TEAM).unwrap();
    let edited = edit(&paths, &paths.project_file, &add("my server"), EditOptions { dry_run: true }).unwrap();
    assert_eq!(fs::read_to_string(&paths.project_file).unwrap(), TEAM);
    assert!(edited.changed && !edited.created);
    let diff = edited.diff.replace(paths.project_file.to_str().unwrap(), "FILE");
    expect_test::expect![[r#"
        --- FILE
        +++ FILE
        @@ -1,7 +1,8 @@
         {
           // team file
           "mcpServers": {
        -    "docs": {"command": "docs", "futureKey": 1}
        +    "docs": {"command": "docs", "futureKey": 1},
        +    "my server": {"command": "srv"}
           },
           "other": true
         }
    "#]]
    .assert_eq(&diff);
    let edited = edit(&paths, &paths.user_file, &add("x"), EditOptions { dry_run: true }).unwrap();
    assert!(edited.created && !paths.user_file.exists() && !paths.state.exists());
}

#[test]
fn what_cannot_be_changed_stays_as_it_is() {
    let (_home, paths) = place();
    let path = &paths.project_file;
    for text in ["{oops", "[]", TEAM] {
        fs::write(path, text).unwrap();
        let error = edit(&paths, path, &add("docs"), EditOptions::default()).unwrap_err();
        assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
        assert_eq!(fs::read_to_string(path).unwrap(), text);
    }
    fs::write(path, b"{\"a\": \"\xff\"}").unwrap();
    assert!(edit(&paths, path, &add("x"), EditOptions::default()).is_err());
    assert_eq!(fs::read(path).unwrap(), b"{\"a\": \"\xff\"}");
    assert_eq!(beside(path), Vec::<PathBuf>::new());
}

#[cfg(unix)]
#[test]
fn a_read_only_file_is_left_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    let (_home, paths) = place();
    let path = &paths.project_file;
    fs::write(path, TEAM).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o444)).unwrap();
    let error = edit(&paths, path, &add("x"), EditOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), format!("{} is read-only; nothing was written", path.display()));
    assert_eq!(fs::read_to_string(path).unwrap(), TEAM);
    assert_eq!(beside(path), Vec::<PathBuf>::new());
}

#[cfg(unix)]
#[test]
fn the_mode_is_kept_and_a_link_s_target_is_written() {
    use std::os::unix::fs::PermissionsExt as _;

    let (home, paths) = place();
    let real = home.path().canonicalize().unwrap().join("dotfiles/servers.json");
    fs::create_dir_all(real.parent().unwrap()).unwrap();
    fs::create_dir_all(&paths.config).unwrap();
    fs::write(&real, TEAM).unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("../../dotfiles/servers.json", &paths.user_file).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;

    let edited = edit(&paths, &paths.user_file, &add("x"), EditOptions::default()).unwrap();
    assert_eq!(edited.path, real);
    assert!(fs::symlink_metadata(&paths.user_file).unwrap().is_symlink());
    assert_eq!((names(&real), mode(&real)), (vec!["docs".to_owned(), "x".to_owned()], 0o640));

    // A link that points at nothing yet is followed too, and what is made in our own folder is private.
    fs::remove_file(&real).unwrap();
    edit(&paths, &paths.user_file, &add("y"), EditOptions::default()).unwrap();
    assert_eq!(names(&real), ["y"]);
    fs::remove_file(&paths.user_file).unwrap();
    edit(&paths, &paths.user_file, &add("z"), EditOptions::default()).unwrap();
    assert_eq!(mode(&paths.user_file), 0o600);
}

#[test]
fn the_user_s_own_change_keeps_a_trusted_project_trusted_and_trusts_no_other() {
    let (_home, paths) = place();
    let status = || {
        let options = LoadOptions {
            environment: Environment::from_pairs([("HOME", &paths.home)]),
            cwd: paths.cwd.clone(),
            config_file: None,
            servers: Vec::new(),
            overrides: Overrides::default(),
        };
        load(&options).unwrap().project.unwrap()
    };
    fs::write(&paths.project_file, TEAM).unwrap();
    edit(&paths, &paths.project_file, &add("a"), EditOptions::default()).unwrap();
    assert_eq!(status().trust, TrustStatus::Untrusted);
    let project = status();
    trust(&paths, &project.path, project.digest).unwrap();
    edit(&paths, &paths.project_file, &add("b"), EditOptions::default()).unwrap();
    assert_eq!(status().trust, TrustStatus::Trusted);
    // A file that the user's own command made holds nothing but what the user wrote.
    fs::remove_file(&paths.project_file).unwrap();
    edit(&paths, &paths.project_file, &add("c"), EditOptions::default()).unwrap();
    assert_eq!(status().trust, TrustStatus::Trusted);
}
