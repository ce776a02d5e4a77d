use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::json::error_line;
use super::markdown::Markdown;
use super::style::{RED, YELLOW, one_line, paint};
use super::terminal::Terminal;
use crate::cli::OutputForm;
use crate::error::CommandError;

/// Takes the cursor to the start of its line and empties the line.
const ERASE_LINE: &str = "\r\u{1b}[2K";

/// Where everything is printed: results on stdout, the rest on stderr.
///
/// On a terminal both are the same sheet of paper, so one owner keeps them apart: a line of an answer that is still being written
/// is ended before anything else is said, and the live line (what is being waited for) gives way to both.
#[derive(Debug)]
pub(crate) struct Screen {
    terminal: Terminal,
    form: OutputForm,
    verbose: u8,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    markdown: Markdown,
    /// The cursor of stdout stands inside a line.
    mid_line: bool,
    /// The live line is on the screen.
    live_drawn: bool,
    /// How many questions wait for an answer. Meanwhile nothing is written over what is being typed.
    asking: u32,
    /// What was to be said meanwhile.
    deferred: Vec<String>,
    /// A question is on the screen, and the cursor still behind it.
    prompt_open: bool,
}

impl Screen {
    /// A screen on the streams of this process.
    pub(crate) fn new(terminal: Terminal, form: OutputForm, verbose: u8) -> Self {
        let markdown = Markdown::new(terminal.stdout && terminal.styles && !form.is_json());
        Self {
            terminal,
            form,
            verbose,
            state: Mutex::new(State {
                markdown,
                mid_line: false,
                live_drawn: false,
                asking: 0,
                deferred: Vec::new(),
                prompt_open: false,
            }),
        }
    }

    /// What the streams are connected to.
    pub(crate) fn terminal(&self) -> Terminal {
        self.terminal
    }

    /// The form of the results.
    pub(crate) fn form(&self) -> OutputForm {
        self.form
    }

    /// How often `-v` was given.
    pub(crate) fn verbose(&self) -> u8 {
        self.verbose
    }

    /// Whether stdout takes styles.
    pub(crate) fn styled(&self) -> bool {
        self.terminal.stdout && self.terminal.styles
    }

    /// Whether stderr takes styles.
    pub(crate) fn styled_err(&self) -> bool {
        self.terminal.stderr && self.terminal.styles
    }

    /// Prints a result as it is.
    ///
    /// # Errors
    ///
    /// When stdout cannot be written, above all because its reader has gone.
    pub(crate) fn print(&self, text: &str) -> io::Result<()> {
        let mut state = self.state();
        state.make_way(self.terminal);
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    /// Prints the next piece of an answer, as Markdown where the terminal takes styles.
    ///
    /// # Errors
    ///
    /// As [`Screen::print`].
    pub(crate) fn print_answer(&self, piece: &str) -> io::Result<()> {
        let mut state = self.state();
        let text = state.markdown.push(piece);
        state.write_out(&text)
    }

    /// Ends the answer: what was held back is printed and the last line ended.
    ///
    /// # Errors
    ///
    /// As [`Screen::print`].
    pub(crate) fn end_answer(&self) -> io::Result<()> {
        let mut state = self.state();
        let text = state.markdown.finish();
        state.write_out(&text)
    }

    /// Says something on stderr, on a line of its own; once the question that is open has been answered.
    pub(crate) fn say(&self, text: &str) {
        let mut state = self.state();
        if state.asking > 0 {
            state.deferred.push(text.to_owned());
            return;
        }
        state.make_way(self.terminal);
        write_err(&format!("{text}\n"));
    }

    /// Asks something on stderr and leaves the cursor behind the question.
    pub(crate) fn prompt(&self, text: &str) {
        let mut state = self.state();
        state.make_way(self.terminal);
        state.prompt_open = true;
        write_err(text);
    }

    /// The question was answered with a line of its own.
    pub(crate) fn answered(&self) {
        self.state().prompt_open = false;
    }

    /// Says a warning on stderr; in the JSON forms warnings are part of the result instead.
    pub(crate) fn warn(&self, text: &str) {
        if !self.form.is_json() {
            self.say(&format!("{} {text}", paint(self.styled_err(), YELLOW, "warning:")));
        }
    }

    /// Says why the command failed: in words, or as one JSON line for programs.
    pub(crate) fn error(&self, error: &CommandError) {
        if self.form == OutputForm::StreamJson && self.print(&error_line(error)).is_err() {
            // Nobody reads stdout any more; stderr still tells.
        }
        if self.form.is_json() {
            self.say(&error.json_line());
            return;
        }
        let text = error.to_string();
        let text = text.trim_end();
        match text.strip_prefix("error:") {
            Some(rest) => self.say(&format!("{}{rest}", paint(self.styled_err(), RED, "error:"))),
            None => self.say(text),
        }
    }

    /// Shows on the terminal what is being waited for, in place of what it showed before. Nothing off a terminal, and nothing
    /// while a line of the answer is open.
    pub(crate) fn show_live(&self, text: &str) {
        if !self.terminal.stderr {
            return;
        }
        let mut state = self.state();
        if state.asking > 0 || (state.mid_line && self.terminal.stdout) {
            return;
        }
        state.live_drawn = true;
        let width = self.terminal.width.unwrap_or(80).saturating_sub(1);
        write_err(&format!("{ERASE_LINE}{}", one_line(text, width)));
    }

    /// Takes the live line away.
    pub(crate) fn clear_live(&self) {
        self.state().erase_live();
    }

    /// Keeps everything but questions off the screen while a person types.
    pub(crate) fn hold(&self) -> Hold<'_> {
        self.state().asking += 1;
        Hold { screen: self }
    }

    /// Ends a command that went well.
    ///
    /// # Errors
    ///
    /// As [`Screen::print`].
    pub(crate) fn flush(&self) -> io::Result<()> {
        self.clear_live();
        io::stdout().lock().flush()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// While it lives, only questions are shown; what was to be said meanwhile is said then.
#[derive(Debug)]
pub(crate) struct Hold<'a> {
    screen: &'a Screen,
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        let mut state = self.screen.state();
        state.asking -= 1;
        let deferred = if state.asking == 0 { std::mem::take(&mut state.deferred) } else { Vec::new() };
        drop(state);
        for text in deferred {
            self.screen.say(&text);
        }
    }
}

impl State {
    fn write_out(&mut self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.erase_live();
        self.mid_line = !text.ends_with('\n');
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    /// Leaves the cursor of the terminal at the start of an empty line.
    fn make_way(&mut self, terminal: Terminal) {
        self.erase_live();
        if std::mem::take(&mut self.prompt_open) {
            write_err("\n");
        }
        if self.mid_line && terminal.stdout && terminal.stderr {
            // Where nobody reads any more there is no line to end.
            let _gone = io::stdout().lock().write_all(b"\n");
            self.mid_line = false;
        }
    }

    fn erase_live(&mut self) {
        if self.live_drawn {
            self.live_drawn = false;
            write_err(ERASE_LINE);
        }
    }
}

/// Where even stderr cannot be written there is nobody left to tell.
fn write_err(text: &str) {
    let mut err = io::stderr().lock();
    let _gone = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}
