//! Where questions come from: a person at a line editor, or lines of a pipe.

use std::path::PathBuf;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Cmd, CompletionType, Config, Context, Editor, Helper, KeyCode, KeyEvent, Modifiers};

use super::COMMANDS;

/// Where questions come from.
pub(super) enum Lines {
    /// A person at a line editor with a history.
    Editor { editor: Box<Editor<Words, DefaultHistory>>, history: PathBuf, prompt: String },
    /// Lines of stdin.
    Plain,
}

impl Lines {
    /// A line editor that keeps its history in this file and completes the names of these servers.
    ///
    /// # Errors
    ///
    /// When the terminal cannot be used.
    pub(super) fn editor(history: PathBuf, servers: Vec<String>) -> Result<Self, ReadlineError> {
        let config = Config::builder().completion_type(CompletionType::List).auto_add_history(false).build();
        let mut editor = Editor::with_config(config)?;
        editor.set_helper(Some(Words { servers }));
        editor.bind_sequence(KeyEvent(KeyCode::Enter, Modifiers::ALT), Cmd::Newline);
        // The first conversation has no history yet.
        let _missing = editor.load_history(&history);
        Ok(Self::Editor { editor: Box::new(editor), history, prompt: "› ".to_owned() })
    }

    /// The next question, continued lines joined; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<String>, ReadlineError> {
        let (editor, history, prompt) = match self {
            Self::Editor { editor, history, prompt } => (editor, history, prompt),
            Self::Plain => return plain_line().map_err(ReadlineError::Io),
        };
        loop {
            match editor.readline(prompt) {
                Ok(line) if line.trim().is_empty() => {}
                Ok(line) => {
                    let _full = editor.add_history_entry(&line);
                    // A history that cannot be kept is no reason to stop talking.
                    let _unwritten = editor.append_history(history);
                    return Ok(Some(line.replace("\\\n", "\n")));
                }
                // Ctrl-C empties the line.
                Err(ReadlineError::Interrupted) => {}
                Err(ReadlineError::Eof) => return Ok(None),
                Err(fault) => return Err(fault),
            }
        }
    }
}

fn plain_line() -> std::io::Result<Option<String>> {
    let mut whole = String::new();
    let stdin = std::io::stdin();
    loop {
        let mut line = String::new();
        if stdin.read_line(&mut line)? == 0 {
            return Ok(Some(whole).filter(|whole| !whole.is_empty()));
        }
        let line = line.trim_end_matches(['\n', '\r']);
        match line.strip_suffix('\\') {
            Some(part) => {
                whole.push_str(part);
                whole.push('\n');
            }
            None => {
                whole.push_str(line);
                return Ok(Some(whole));
            }
        }
    }
}

/// Completes commands and server names; a trailing backslash asks for one more line.
pub(super) struct Words {
    servers: Vec<String>,
}

impl Completer for Words {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let typed = &line[..at];
        if let Some(part) = typed.strip_prefix("/tools ") {
            let servers = self.servers.iter().filter(|server| server.starts_with(part)).cloned();
            return Ok((at - part.len(), servers.collect()));
        }
        let commands = COMMANDS.iter().map(|(name, _)| (*name).to_owned());
        Ok((0, commands.filter(|name| typed.starts_with('/') && name.starts_with(typed)).collect()))
    }
}

impl Validator for Words {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(if context.input().ends_with('\\') {
            ValidationResult::Incomplete
        } else {
            ValidationResult::Valid(None)
        })
    }
}

impl Hinter for Words {
    type Hint = String;
}

impl Highlighter for Words {}

impl Helper for Words {}
