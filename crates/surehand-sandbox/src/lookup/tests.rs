use super::*;

fn program(path: &Path, mode: u32) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "#!/bin/sh\n").unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn spec(command: &str, root: &Path) -> ChildSpec {
    ChildSpec {
        command: command.into(),
        search_path: std::env::join_paths([root.join("a"), root.join("b")]).unwrap(),
        inherit: vec![("HOME".into(), root.join("home").into())],
        ..ChildSpec::default()
    }
}

fn hint_of(error: SpawnError) -> String {
    match error {
        SpawnError::CommandNotFound { hint, .. } | SpawnError::NotExecutable { hint, .. } => hint,
        other => panic!("another error: {other:?}"),
    }
}

#[test]
fn a_bare_name_is_the_first_executable_file_of_the_search_path() {
    let root = tempfile::tempdir().unwrap();
    program(&root.path().join("a/tool"), 0o644);
    program(&root.path().join("b/tool"), 0o755);
    assert_eq!(find_command(&spec("tool", root.path())).unwrap(), root.path().join("b/tool"));
}

#[test]
fn a_path_of_the_servers_own_wins_over_the_search_path() {
    let root = tempfile::tempdir().unwrap();
    program(&root.path().join("a/tool"), 0o755);
    program(&root.path().join("own/tool"), 0o755);
    let mut spec = spec("tool", root.path());
    spec.env =
        vec![("PATH".into(), surehand_model::Secret::new(root.path().join("own").display().to_string()))];
    assert_eq!(find_command(&spec).unwrap(), root.path().join("own/tool"));
}

#[test]
fn relative_folders_of_the_search_path_are_skipped() {
    let root = tempfile::tempdir().unwrap();
    let mut spec = spec("Cargo.toml", root.path());
    spec.search_path = "::.:src".into();
    let error = find_command(&spec).unwrap_err();
    assert!(matches!(error, SpawnError::CommandNotFound { searched, .. } if searched.is_empty()));
}

#[test]
fn a_path_with_a_slash_starts_at_the_working_directory() {
    let root = tempfile::tempdir().unwrap();
    program(&root.path().join("bin/tool"), 0o755);
    let mut spec = spec("./bin/tool", root.path());
    spec.cwd = Some(root.path().to_owned());
    assert_eq!(find_command(&spec).unwrap(), root.path().join("bin/tool"));
}

#[test]
fn a_missing_command_tells_where_it_was_looked_for() {
    let root = tempfile::tempdir().unwrap();
    let error = find_command(&spec("no-such-tool", root.path())).unwrap_err();
    let SpawnError::CommandNotFound { command, searched, hint } = error else {
        panic!("another error: {error:?}")
    };
    assert_eq!(command, "no-such-tool");
    assert_eq!(searched, [root.path().join("a"), root.path().join("b")]);
    assert_eq!(hint, "install it, or set `command` to the absolute path of the program");
}

#[test]
fn a_command_that_only_a_login_shell_finds_is_pointed_at_newest_version_first() {
    let root = tempfile::tempdir().unwrap();
    let nvm = root.path().join("home/.nvm/versions/node");
    for version in ["v9.11.2", "v22.19.0", "v20.1.0"] {
        program(&nvm.join(version).join("bin/surehand-npx"), 0o755);
    }
    let newest = nvm.join("v22.19.0/bin/surehand-npx").display().to_string();
    let hint = hint_of(find_command(&spec("surehand-npx", root.path())).unwrap_err());
    assert!(hint.starts_with(&format!("a login shell would find it at {newest};")), "{hint}");
}

#[test]
fn a_whole_command_line_in_command_is_explained() {
    let root = tempfile::tempdir().unwrap();
    let hint = hint_of(find_command(&spec("npx -y server", root.path())).unwrap_err());
    assert_eq!(
        hint,
        "`command` is one program, without a shell; write \"command\": \"npx\" and put the rest into `args`"
    );
    // A folder may have blanks in its name, so a path with blanks is a path that is missing.
    let hint = hint_of(find_command(&spec("/opt/my tools/server", root.path())).unwrap_err());
    assert_eq!(hint, "check the path; a relative one starts at the server's working directory");
}

#[test]
fn a_file_that_may_not_run_is_told_with_the_cure() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a/tool");
    program(&path, 0o644);
    assert_eq!(
        hint_of(find_command(&spec("tool", root.path())).unwrap_err()),
        format!("allow it with: chmod +x {}", path.display())
    );
}

#[test]
fn a_script_whose_interpreter_is_missing_is_seen() {
    let root = tempfile::tempdir().unwrap();
    let script = root.path().join("script");
    fs::write(&script, "#!/no/such/python3 -u\nprint(1)\n").unwrap();
    assert_eq!(missing_interpreter(&script), Some("/no/such/python3".into()));
    fs::write(&script, "#!/bin/sh\n").unwrap();
    assert_eq!(missing_interpreter(&script), None);
    fs::write(&script, "#!/bin/sh\r\n").unwrap();
    assert_eq!(missing_interpreter(&script), Some("/bin/sh\r".into()));
    fs::write(&script, "\x7fELF").unwrap();
    assert_eq!(missing_interpreter(&script), None);
}
