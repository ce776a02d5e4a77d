use std::io::IsTerminal;

use surehand_host::config::Environment;

/// What our three streams are connected to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Terminal {
    /// A person types.
    pub(crate) stdin: bool,
    /// A person reads the results.
    pub(crate) stdout: bool,
    /// A person reads the rest.
    pub(crate) stderr: bool,
    /// The terminal takes styles and the person has not declined them (`NO_COLOR`, `TERM=dumb`).
    pub(crate) styles: bool,
    /// In columns; `None` off a terminal.
    pub(crate) width: Option<usize>,
}

impl Terminal {
    /// Looks at the streams of this process.
    pub(crate) fn detect(environment: &Environment) -> Self {
        let (stdout, stderr) = (std::io::stdout().is_terminal(), std::io::stderr().is_terminal());
        let size = |is_terminal: bool, size: rustix::io::Result<rustix::termios::Winsize>| {
            size.ok().filter(|size| is_terminal && size.ws_col > 0).map(|size| usize::from(size.ws_col))
        };
        Self {
            stdin: std::io::stdin().is_terminal(),
            stdout,
            stderr,
            styles: !environment.no_color() && environment.get("TERM") != Some("dumb"),
            width: size(stdout, rustix::termios::tcgetwinsize(std::io::stdout()))
                .or_else(|| size(stderr, rustix::termios::tcgetwinsize(std::io::stderr()))),
        }
    }

    /// Whether somebody is there who can be asked: reads what we say and types an answer.
    pub(crate) fn has_person(self) -> bool {
        self.stdin && self.stderr
    }
}
