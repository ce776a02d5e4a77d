//! Every command of the two READMEs, run by a shell as a reader would run it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::home::Home;
use crate::peers::search_path;

const ENGLISH: &str = include_str!("../../../../README.md");
/// The questions that a newcomer asks first; asked of the embedded model in `embedded.rs`.
pub(crate) const FIRST_QUESTION: &str = "What time is it in Tokyo?";
pub(crate) const SECOND_QUESTION: &str = "上海、北京、广州今天天气怎么样？";

const CHINESE: &str = include_str!("../../../../README.zh-CN.md");

/// The lines of all `sh` blocks.
fn commands(readme: &str) -> Vec<&str> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in readme.lines() {
        match line {
            "```sh" => inside = true,
            "```" => inside = false,
            line if inside && !line.trim().is_empty() => found.push(line),
            _ => {}
        }
    }
    found
}

#[test]
fn both_readmes_give_the_same_commands_in_the_same_order() {
    assert_eq!(commands(ENGLISH), commands(CHINESE));
    let tables = |readme: &str| readme.lines().filter(|line| line.starts_with('|')).count();
    assert_eq!(tables(ENGLISH), tables(CHINESE));
}

#[test]
fn the_commands_that_build_first_are_the_two_questions_and_the_tests() {
    let building: Vec<&str> =
        commands(ENGLISH).into_iter().filter(|line| line.starts_with("cargo ")).collect();
    let questions =
        [FIRST_QUESTION, SECOND_QUESTION].map(|question| format!("cargo xtask run -- ask \"{question}\""));
    assert_eq!(building, [&questions[0], &questions[1], "cargo xtask test"]);
}

/// A shell command in the home, with `surehand` and the peers on the search path.
fn shell(home: &Home, line: &str) -> Command {
    let mut command = home.command(&[], &[]);
    let environment: Vec<_> =
        command.get_envs().map(|(name, value)| (name.to_owned(), value.unwrap().to_owned())).collect();
    #[expect(clippy::disallowed_methods, reason = "runs the README's commands as a reader would")]
    let mut shell = Command::new("/bin/sh");
    let binary = Path::new(env!("CARGO_BIN_EXE_surehand")).parent().unwrap();
    shell
        .args(["-c", line])
        .current_dir(home.path("work"))
        .env_clear()
        .envs(environment)
        .env("PATH", format!("{}:{}", binary.display(), search_path()))
        .env("DOCS_TOKEN", "a-secret-token")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.stdin(Stdio::null());
    shell
}

/// A home where questions are answered by a script, so that no command waits for a model.
fn home() -> Home {
    let home = Home::with_script(&[r#"{"text":"It is noon."}"#]);
    home.write("work/demo.jsonl", r#"{"text":"It is noon."}"#);
    home.write(
        "config/surehand/surehand.json",
        &format!(r#"{{"model":"script:{}"}}"#, home.path("work/model.jsonl").display()),
    );
    home.write("work/.mcp.json", r#"{"mcpServers":{}}"#);
    home
}

#[test]
fn every_command_of_the_program_works_as_written_and_in_that_order() {
    let home = home();
    for line in commands(ENGLISH)
        .into_iter()
        .filter(|line| line.contains("surehand") && !line.contains("surehand server"))
    {
        // At a terminal this one asks; here nobody is there to say yes.
        let written = if line == "surehand mcp trust" { "surehand mcp trust --yes" } else { line };
        let output = shell(&home, written).output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "`{line}` printed:\n{out}\n{err}");
        assert!(
            !out.contains("a-secret-token") && !err.contains("a-secret-token"),
            "`{line}` shows a secret"
        );
    }
    let settings = fs::read_to_string(home.path("config/surehand/surehand.json")).unwrap();
    assert!(!settings.contains("a-secret-token"), "a secret is in the file: {settings}");
}

#[test]
fn the_servers_of_the_readme_serve() {
    let home = home();
    for line in commands(ENGLISH).into_iter().filter(|line| line.starts_with("surehand server")) {
        // Another port, since the one in the text may be in use.
        let line = format!("exec {}", line.replace(":8931", ":0"));
        let mut child = shell(&home, &line).spawn().unwrap();
        if line.contains("--listen") {
            let mut said = String::new();
            BufReader::new(child.stderr.take().unwrap()).read_line(&mut said).unwrap();
            assert!(said.contains("http://127.0.0.1:"), "`{line}` said {said:?}");
            child.kill().unwrap();
            child.wait().unwrap();
        } else {
            // Nothing on standard input: the server ends by itself, and well.
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "`{line}`: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
}
