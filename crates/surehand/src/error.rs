use std::error::Error;
use std::fmt;
use std::io;

use serde::Serialize;

/// Whose fault it is that a command failed. It sets the exit code and the `code` of the JSON error line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Something went wrong while the command ran.
    Failed,
    /// The command line does not make sense.
    Usage,
    /// The configuration does not make sense.
    Config,
    /// A key or a login is missing or was refused.
    Login,
    /// A model or a server is not there.
    Unreachable,
    /// The tool reported an error.
    Tool,
    /// There is no such tool.
    UnknownTool,
    /// A policy or a person said no.
    Refused,
    /// Turns, time or budget ran out.
    Limit,
    /// Whoever read our output has gone. Nothing is said and nothing is wrong.
    BrokenPipe,
}

impl Fault {
    /// The exit code of the process.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::BrokenPipe => 0,
            Self::Failed => 1,
            Self::Usage | Self::Config => 2,
            Self::Login => 3,
            Self::Unreachable => 4,
            Self::Tool | Self::UnknownTool => 5,
            Self::Refused => 6,
            Self::Limit => 7,
        }
    }

    /// The word for it in the JSON error line. Stable.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::BrokenPipe => "broken_pipe",
            Self::Failed => "failed",
            Self::Usage => "usage",
            Self::Config => "config",
            Self::Login => "login_needed",
            Self::Unreachable => "unreachable",
            Self::Tool => "tool_error",
            Self::UnknownTool => "unknown_tool",
            Self::Refused => "refused",
            Self::Limit => "limit_reached",
        }
    }
}

/// Why a command failed, for a person: whose fault, what happened with its causes, and what to try.
#[derive(Debug)]
pub(crate) struct CommandError {
    /// Sets the exit code.
    pub(crate) fault: Fault,
    /// What happened. Its `Display` says one level; the chain of sources says the rest.
    pub(crate) source: Box<dyn Error + Send + Sync>,
    /// The server it is about.
    pub(crate) server: Option<String>,
    /// What to try, one sentence each.
    pub(crate) hints: Vec<String>,
}

impl CommandError {
    /// An error with its cause, or with a sentence in place of one.
    pub(crate) fn new(fault: Fault, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { fault, source: source.into(), server: None, hints: Vec::new() }
    }

    /// The command line does not make sense.
    pub(crate) fn usage(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::new(Fault::Usage, source)
    }

    /// Adds something to try.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Names the server it is about.
    #[must_use]
    pub(crate) fn about(mut self, server: impl Into<String>) -> Self {
        self.server = Some(server.into());
        self
    }

    /// What happened and why, outermost first. A cause that only repeats what was said already is left out.
    pub(crate) fn chain(&self) -> Vec<String> {
        let mut levels = vec![self.source.to_string()];
        let mut next = self.source.source();
        while let Some(cause) = next {
            let text = cause.to_string();
            if !levels.iter().any(|level| level.contains(&text)) {
                levels.push(text);
            }
            next = cause.source();
        }
        levels
    }

    /// The one line of JSON that a program reads on stderr.
    pub(crate) fn json_line(&self) -> String {
        let hint = (!self.hints.is_empty()).then(|| self.hints.join(" "));
        let message = self.chain().join(": ");
        let line = ErrorLine {
            error: ErrorBody {
                code: self.fault.code(),
                message: &message,
                server: self.server.as_deref(),
                hint: hint.as_deref(),
            },
        };
        serde_json::to_string(&line).unwrap_or_default()
    }
}

/// For people: `error:`, the causes, the hints, a line each.
impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (level, text) in self.chain().iter().enumerate() {
            let prefix = if level == 0 { "error: " } else { "  because: " };
            writeln!(f, "{prefix}{text}")?;
        }
        for hint in &self.hints {
            writeln!(f, "hint: {hint}")?;
        }
        Ok(())
    }
}

/// Writing to our own output failed.
impl From<io::Error> for CommandError {
    fn from(source: io::Error) -> Self {
        let fault =
            if source.kind() == io::ErrorKind::BrokenPipe { Fault::BrokenPipe } else { Fault::Failed };
        Self::new(fault, source)
    }
}

#[derive(Serialize)]
struct ErrorLine<'a> {
    error: ErrorBody<'a>,
}

#[derive(Serialize)]
struct ErrorBody<'a> {
    code: &'static str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("server `x` did not start")]
    struct Outer(#[source] io::Error);

    fn sample() -> CommandError {
        CommandError::new(Fault::Unreachable, Outer(io::Error::other("no such file")))
            .about("x")
            .hint("Install it.")
            .hint("Or remove it.")
    }

    #[test]
    fn people_read_the_causes_and_the_hints_line_by_line() {
        assert_eq!(
            sample().to_string(),
            "error: server `x` did not start\n  because: no such file\nhint: Install it.\nhint: Or remove it.\n"
        );
    }

    #[test]
    fn programs_read_one_line() {
        assert_eq!(
            sample().json_line(),
            r#"{"error":{"code":"unreachable","message":"server `x` did not start: no such file","server":"x","hint":"Install it. Or remove it."}}"#
        );
    }

    #[test]
    fn a_reader_who_left_is_no_failure() {
        let error = CommandError::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert_eq!((error.fault, error.fault.exit_code()), (Fault::BrokenPipe, 0));
    }
}
