//! What a person sees and types at a terminal.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::home::Home;

/// A program on a terminal of its own. `script` makes the terminal; it is part of every Debian.
pub(crate) struct Terminal {
    child: Child,
    keyboard: Option<ChildStdin>,
    screen: ChildStdout,
    seen: Vec<u8>,
    /// How much of it has been waited for.
    passed: usize,
}

impl Terminal {
    pub(crate) fn run(home: &Home, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let plain = home.command(arguments, variables);
        let words: Vec<String> = [plain.get_program()]
            .into_iter()
            .chain(plain.get_args())
            .map(|word| format!("'{}'", word.to_str().unwrap()))
            .collect();
        #[expect(clippy::disallowed_methods, reason = "starts the program under test, on a terminal")]
        let mut command = Command::new("script");
        let mut child = command
            .args(["-q", "-e", "-c", &format!("exec {}", words.join(" ")), "/dev/null"])
            .current_dir(plain.get_current_dir().unwrap())
            .env_clear()
            .envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))))
            .env("TERM", "xterm")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let keyboard = child.stdin.take();
        let screen = child.stdout.take().unwrap();
        Self { child, keyboard, screen, seen: Vec::new(), passed: 0 }
    }

    /// Waits until the text appears behind what was waited for before, and types.
    pub(crate) fn at(&mut self, text: &str, keys: &str) {
        let mut buffer = [0; 1024];
        let place = loop {
            let found =
                self.seen[self.passed..].windows(text.len()).position(|window| window == text.as_bytes());
            if let Some(place) = found {
                break place;
            }
            let count = self.screen.read(&mut buffer).unwrap();
            assert!(count > 0, "`{text}` never appeared in {}", String::from_utf8_lossy(&self.seen));
            self.seen.extend_from_slice(&buffer[..count]);
        };
        self.passed += place + text.len();
        self.keyboard.as_mut().unwrap().write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for the end; gives everything that was seen and the exit code.
    pub(crate) fn end(mut self) -> (String, i32) {
        self.screen.read_to_end(&mut self.seen).unwrap();
        drop(self.keyboard.take());
        let code = self.child.wait().unwrap().code().unwrap();
        (String::from_utf8_lossy(&self.seen).into_owned(), code)
    }
}

const MODEL: [&str; 2] = ["--model", "script:model.jsonl"];

/// Two calls to a server from outside at once, and one more.
fn asking() -> (Home, String) {
    let call = |id: &str| {
        format!(r#"{{"id":"{id}","name":"get_current_time","arguments":{{"timezone":"Asia/Shanghai"}}}}"#)
    };
    let home = Home::with_script(&[
        &format!(r#"{{"text":"One **moment**.","tool_calls":[{},{}]}}"#, call("a"), call("b")),
        &format!(r#"{{"tool_calls":[{}]}}"#, call("c")),
        r#"{"text":"Done."}"#,
    ]);
    (home, format!("clock={} server time", env!("CARGO_BIN_EXE_surehand")))
}

#[test]
fn a_person_sees_what_would_run_and_agrees_once() {
    let (home, server) = asking();
    let mut terminal = Terminal::run(&home, &["ask", "hello", "--server", &server, MODEL[0], MODEL[1]], &[]);
    terminal.at("Run it?", "what?\n");
    terminal.at("Run it?", "y\n");
    terminal.at("Run it?", "n\n");
    terminal.at("Run it?", "y\n");
    let (seen, code) = terminal.end();
    assert_eq!(code, 0, "{seen}");
    assert_eq!(seen.matches("wants to run with\r\n  timezone: \"Asia/Shanghai\"").count(), 3, "{seen}");
    assert_eq!((seen.matches('✓').count(), seen.matches('⊘').count()), (2, 1), "{seen}");
}

#[test]
fn a_person_agrees_for_the_session() {
    let (home, server) = asking();
    let mut terminal = Terminal::run(&home, &["ask", "hello", "--server", &server, MODEL[0], MODEL[1]], &[]);
    terminal.at("Run it?", "a\n");
    let (seen, code) = terminal.end();
    assert_eq!((code, seen.matches("Run it?").count(), seen.matches('✓').count()), (0, 1, 3), "{seen}");
    assert!(seen.contains("One \u{1b}[1mmoment\u{1b}[0m."), "{seen}");
}

#[test]
fn ctrl_c_at_a_question_ends_the_run() {
    let (home, server) = asking();
    let mut terminal = Terminal::run(&home, &["ask", "hello", "--server", &server, MODEL[0], MODEL[1]], &[]);
    terminal.at("Run it?", "\u{3}");
    let (seen, code) = terminal.end();
    assert_eq!(code, 1, "{seen}");
    assert!(seen.ends_with("cancelled\r\n"), "{seen}");
}

#[test]
fn without_colour_the_answer_is_as_the_model_wrote_it() {
    let home = Home::with_script(&[r#"{"text":"One **moment**."}"#]);
    let (seen, code) =
        Terminal::run(&home, &["ask", "hello", MODEL[0], MODEL[1]], &[("NO_COLOR", "1")]).end();
    assert_eq!(code, 0);
    assert!(seen.contains("One **moment**.\r\n") && !seen.contains("\u{1b}[0m"), "{seen}");
}

#[test]
fn ctrl_c_cancels_the_turn_and_not_the_conversation() {
    let home = Home::with_script(&[r#"{"text":"late","delay_ms":60000}"#, r#"{"text":"still here"}"#]);
    let mut terminal = Terminal::run(&home, &["chat", MODEL[0], MODEL[1]], &[]);
    terminal.at("› ", "hello\r");
    terminal.at("thinking", "\u{3}");
    terminal.at("› ", "again\r");
    terminal.at("still here", "");
    terminal.at("› ", "\u{4}");
    let (seen, code) = terminal.end();
    assert_eq!(code, 0, "{seen}");
    assert!(seen.contains("cancelled"), "{seen}");
    assert!(home.read("state/surehand/history").contains("hello"));
}

#[test]
fn a_project_is_asked_about_and_trusted() {
    let home = Home::with_script(&[r#"{"text":"ok"}"#, r#"{"text":"ok"}"#]);
    let program = env!("CARGO_BIN_EXE_surehand");
    home.write(
        "work/.mcp.json",
        &format!(r#"{{"mcpServers":{{"theirs":{{"command":"{program}","args":["server","weather"]}}}}}}"#),
    );
    let mut terminal = Terminal::run(&home, &["ask", "hello", "-v", MODEL[0], MODEL[1]], &[]);
    terminal.at("Trust this file?", "y\n");
    let (seen, code) = terminal.end();
    assert_eq!(code, 0, "{seen}");
    assert!(
        seen.contains("theirs: ") && seen.contains("server weather") && seen.contains("1 tool"),
        "{seen}"
    );
    let ran = home.run(&["mcp", "get", "theirs"]);
    assert!(ran.stdout.contains("State   on"), "{ran}");
}

#[cfg(feature = "local")]
#[test]
fn a_large_download_is_asked_about_and_can_be_declined() {
    let home = Home::new();
    let mut terminal = Terminal::run(&home, &["ask", "hello"], &[]);
    terminal.at("are not on this machine yet", "");
    terminal.at("Fetch it?", "n\n");
    let (seen, code) = terminal.end();
    assert_eq!(code, 6, "{seen}");
    assert!(!home.path("cache/surehand/models").exists());
}
