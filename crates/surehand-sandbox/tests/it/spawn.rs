use std::time::Duration;

use surehand_model::Secret;
use surehand_sandbox::{ChildSpec, Ended, SpawnError, spawn};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

use crate::shell;

const GRACE: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_child_talks_over_its_pipes_and_ends_when_its_input_closes() {
    let mut child =
        spawn(&shell("while read -r line; do echo \"got $line\"; done; echo done >&2; exit 3")).unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for word in ["one", "two"] {
        child.stdin.as_mut().unwrap().write_all(format!("{word}\n").as_bytes()).await.unwrap();
        assert_eq!(lines.next_line().await.unwrap(), Some(format!("got {word}")));
    }
    let ended = child.stop(GRACE).await;
    assert_eq!(ended, Ended { code: Some(3), signal: None });
    assert_eq!(ended.to_string(), "exited with code 3");
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).await.unwrap();
    assert_eq!(errors, "done\n");
}

#[tokio::test]
async fn a_child_that_ignores_its_inputs_end_is_asked_and_one_that_ignores_that_is_killed() {
    let short = Duration::from_millis(50);
    let mut polite = spawn(&shell("exec sleep 1000")).unwrap();
    assert_eq!(polite.stop(short).await.to_string(), "was ended by signal 15 (TERM)");

    let mut deaf = spawn(&shell("trap '' TERM; echo ready; while :; do sleep 1000; done")).unwrap();
    let mut ready = String::new();
    BufReader::new(deaf.stdout.as_mut().unwrap()).read_line(&mut ready).await.unwrap();
    assert_eq!(deaf.stop(short).await.to_string(), "was ended by signal 9 (KILL)");
}

#[tokio::test]
async fn a_child_sees_its_own_environment_and_folder_only() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = shell("pwd; /usr/bin/env | grep -v -e ^PWD= -e ^OLDPWD= -e ^_= -e ^SHLVL= | sort");
    spec.cwd = Some(folder.path().to_owned());
    spec.env = vec![("TOKEN".into(), Secret::new("a b\n  $c".into()))];
    spec.inherit = vec![("HOME".into(), "/h".into()), ("AWS_SECRET_ACCESS_KEY".into(), "k".into())];
    let mut child = spawn(&spec).unwrap();
    let mut seen = String::new();
    child.stdout.take().unwrap().read_to_string(&mut seen).await.unwrap();
    let folder = folder.path().canonicalize().unwrap();
    assert_eq!(seen, format!("{}\n  $c\nHOME=/h\nPATH=/usr/bin:/bin\nTOKEN=a b\n", folder.display()));
}

#[tokio::test]
async fn what_cannot_start_says_why_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script");
    std::fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();

    let say = |spec: ChildSpec| {
        let error = spawn(&spec).unwrap_err();
        let source =
            std::error::Error::source(&error).map(|source| format!(": {source}")).unwrap_or_default();
        format!("{error}{source}").replace(&folder.path().display().to_string(), "FOLDER")
    };
    let base = || ChildSpec { search_path: "/usr/bin:/bin".into(), ..ChildSpec::default() };
    let command = |command: &str| ChildSpec { command: command.into(), ..base() };
    let said = [
        say(command("")),
        say(command("surehand-no-such-command")),
        say(command("/no/such/file")),
        say(command("~/bin/server")),
        say(command("/usr")),
        say(command(&script.display().to_string())),
        say(ChildSpec { cwd: Some("/no/such/folder".into()), ..command("sh") }),
        say(ChildSpec { args: vec!["a\0b".into()], ..command("sh") }),
    ];
    expect_test::expect![[r#"
        no command is given
        command `surehand-no-such-command` was not found (install it, or set `command` to the absolute path of the program)
        command `/no/such/file` was not found (check the path; a relative one starts at the server's working directory)
        command `~/bin/server` was not found (no shell reads `command`, so `~` and `$NAME` stand for themselves; write the absolute path)
        `/usr` cannot be run (it is a folder; name the program inside it)
        `FOLDER/script` needs `/no/such/interpreter`, which is missing
        the working directory `/no/such/folder` does not exist
        `sh` could not be started: nul byte found in provided data"#]]
    .assert_eq(&said.join("\n"));
}

#[test]
fn the_error_of_a_spec_never_shows_a_secret() {
    let spec = ChildSpec { env: vec![("TOKEN".into(), Secret::new("hush".into()))], ..shell("true") };
    assert!(!format!("{spec:?}").contains("hush"));
    assert!(matches!(spawn(&spec), Err(SpawnError::Start { .. })), "there is no runtime here");
}
