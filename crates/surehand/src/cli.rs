use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use surehand_host::config::Environment;

use crate::commands::{ask, call, chat, completions, doctor, mcp, models, server, tools};
use crate::error::{CommandError, Fault};
use crate::render::{Screen, Terminal};
use crate::wiring::App;

/// Gives any model a sure pair of hands: tools over MCP, called by whatever model answers.
#[derive(Debug, Parser)]
#[command(
    name = "surehand",
    version,
    before_help = THREE_THINGS,
    after_help = EXIT_CODES,
    disable_help_subcommand = true,
    max_term_width = 100
)]
struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Option<Command>,
}

const THREE_THINGS: &str = "\
Ask something:     surehand ask \"What time is it in Shanghai and in Paris?\"
Talk:              surehand chat
Add a tool server: surehand mcp add files -- npx -y @modelcontextprotocol/server-filesystem .";

const EXIT_CODES: &str = "\
Exit codes: 0 done, 1 failed, 2 usage or configuration, 3 login needed, 4 model or server unreachable, \
5 the tool reported an error or does not exist, 6 refused by policy or by a person, 7 a limit was reached.";

/// What every command takes.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Common options")]
pub(crate) struct Common {
    /// Read this configuration file instead of the user's.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Use this server too, for this run only. May be given several times.
    #[arg(long = "server", global = true, value_name = "NAME=COMMAND|URL")]
    pub(crate) servers: Vec<String>,
    /// Who answers, for example anthropic/claude-sonnet-5, ollama/qwen3, local/qwen2.5-coder-1.5b, script:FILE.
    #[arg(long, global = true, value_name = "PROVIDER/MODEL")]
    pub(crate) model: Option<String>,
    /// The form of the results.
    #[arg(long, global = true, value_enum, value_name = "FORM", default_value_t = OutputForm::Text)]
    pub(crate) output: OutputForm,
    /// The same as --output json.
    #[arg(long, global = true, conflicts_with = "output")]
    json: bool,
    /// What happens to calls that need a person's approval; always does not touch what policy denies [default: ask on a
    /// terminal, never elsewhere]
    #[arg(long, global = true, value_enum, value_name = "HOW")]
    pub(crate) approve: Option<ApproveMode>,
    /// Ask the model at most this often for one question.
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_turns: Option<u32>,
    /// Stop after this long, for example 30s, 5m, 500ms. A bare number is seconds.
    #[arg(long, global = true, value_name = "DURATION", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,
    /// Say more on stderr.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Answer yes to questions about downloads and overwriting; approvals of calls are --approve's part.
    #[arg(short, long, global = true)]
    pub(crate) yes: bool,
}

/// The form of what is printed on stdout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputForm {
    // For people.
    #[default]
    Text,
    // One JSON object at the end.
    Json,
    // A JSON object a line, as things happen.
    StreamJson,
}

impl OutputForm {
    /// Whether a program reads it.
    pub(crate) fn is_json(self) -> bool {
        self != Self::Text
    }
}

/// What happens to a call that policy wants a person to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ApproveMode {
    // Ask on the terminal.
    Ask,
    // Refuse it.
    Never,
    // Run it. What policy denies stays denied.
    Always,
}

#[derive(Debug, Subcommand)]
enum Command {
    Ask(ask::AskArgs),
    Chat(chat::ChatArgs),
    Tools(tools::ToolsArgs),
    Call(call::CallArgs),
    Mcp(mcp::McpArgs),
    Server(server::ServerArgs),
    Models(models::ModelsArgs),
    Doctor(doctor::DoctorArgs),
    #[command(alias = "completion")]
    Completions(completions::CompletionsArgs),
}

/// Runs the command that the process was started with and gives its exit code.
pub(crate) fn run() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    let environment = Environment::from_process();
    let terminal = Terminal::detect(&environment);
    match parse(&words) {
        Ok(Parsed::Run(parsed)) => {
            let (mut common, command) = *parsed;
            if common.json {
                common.output = OutputForm::Json;
            }
            let screen = Arc::new(Screen::new(terminal, common.output, common.verbose));
            let app = App { environment, common, screen };
            let outcome = dispatch(command, &app).and_then(|()| Ok(app.screen.flush()?));
            finish(outcome, &app.screen)
        }
        Ok(Parsed::Print(text)) => {
            let screen = Screen::new(terminal, OutputForm::Text, 0);
            finish(screen.print(&text).map_err(CommandError::from), &screen)
        }
        Err(error) => finish(Err(error), &Screen::new(terminal, form_wanted(&words), 0)),
    }
}

fn finish(outcome: Result<(), CommandError>, screen: &Screen) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if error.fault != Fault::BrokenPipe {
                screen.error(&error);
            }
            ExitCode::from(error.fault.exit_code())
        }
    }
}

enum Parsed {
    Run(Box<(Common, Command)>),
    /// Help or the version: printed as a result.
    Print(String),
}

fn parse(words: &[OsString]) -> Result<Parsed, CommandError> {
    let parsed = command()
        .try_get_matches_from(asking_for_help(words))
        .and_then(|matches| Cli::from_arg_matches(&matches));
    match parsed {
        Ok(Cli { common, command: Some(command) }) => Ok(Parsed::Run(Box::new((common, command)))),
        Ok(Cli { command: None, .. }) => Ok(Parsed::Print(short_help())),
        Err(error) if !error.use_stderr() => Ok(Parsed::Print(error.render().to_string())),
        Err(error) => Err(usage_error(&error)),
    }
}

/// `help`, `help COMMAND` and `GROUP help` as the flag says them: a command `help` would stand among the real ones in every list.
fn asking_for_help(words: &[OsString]) -> Vec<OsString> {
    let mut words = words.to_vec();
    let is_group = |word: &OsString| {
        let command = command();
        command.get_subcommands().any(|known| known.get_name() == word && known.has_subcommands())
    };
    let at = if words.get(1).is_some_and(is_group) { 2 } else { 1 };
    if words.get(at).is_some_and(|word| word == "help") {
        words.remove(at);
        words.push("--help".into());
    }
    words
}

/// The whole command line as clap knows it.
pub(crate) fn command() -> clap::Command {
    Cli::command()
}

fn short_help() -> String {
    let commands: Vec<String> = command()
        .get_subcommands()
        .map(|command| {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            format!("  {:<13}{about}", command.get_name())
        })
        .collect();
    format!(
        "{THREE_THINGS}\n\nCommands:\n{}\n\nMore: surehand --help, surehand COMMAND --help\n",
        commands.join("\n")
    )
}

/// clap's message with our own heading: its `tip:` lines become hints, its usage line stays.
fn usage_error(error: &clap::Error) -> CommandError {
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return missing_command(text);
    }
    let mut message = Vec::new();
    let mut hints = Vec::new();
    for line in text.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
        match line.trim_start().strip_prefix("tip: ") {
            Some(tip) => hints.push(capitalised(tip)),
            None if line.starts_with("For more information") => {}
            None => message.push(line),
        }
    }
    let mut fault = CommandError::usage(message.join("\n"));
    if hints.is_empty() {
        hints.push("Try --help.".to_owned());
    }
    fault.hints = hints;
    fault
}

/// What a group of commands says when none of them was named: its usage and what there is, out of the whole help.
fn missing_command(help: &str) -> CommandError {
    let lines = help.lines().skip_while(|line| !line.starts_with("Usage: "));
    let lines =
        lines.take_while(|line| *line != "Options:").map(str::trim_end).filter(|line| !line.is_empty());
    let mut message = vec!["a command is missing"];
    message.extend(lines);
    CommandError::usage(message.join("\n")).hint("Try --help.")
}

/// A sentence from clap's half of one.
fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let end = if text.ends_with(['.', '?', '!']) { "" } else { "." };
    format!("{first}{}{end}", characters.as_str())
}

/// The output form of a command line that cannot be read as a whole.
fn form_wanted(words: &[OsString]) -> OutputForm {
    let words: Vec<&str> =
        words.iter().filter_map(|word| word.to_str()).take_while(|word| *word != "--").collect();
    let value = words.iter().enumerate().find_map(|(at, word)| match word.strip_prefix("--output") {
        Some("") => words.get(at + 1).copied(),
        Some(rest) => rest.strip_prefix('='),
        None => None,
    });
    match value {
        None if words.contains(&"--json") => OutputForm::Json,
        Some("json") => OutputForm::Json,
        Some("stream-json") => OutputForm::StreamJson,
        _ => OutputForm::Text,
    }
}

fn dispatch(command: Command, app: &App) -> Result<(), CommandError> {
    match command {
        Command::Ask(args) => ask::run(args, app),
        Command::Chat(args) => chat::run(&args, app),
        Command::Tools(args) => tools::run(&args, app),
        Command::Call(args) => call::run(&args, app),
        Command::Mcp(args) => mcp::run(args, app),
        Command::Server(args) => server::run(&args, app),
        Command::Models(args) => models::run(args, app),
        Command::Doctor(args) => doctor::run(&args, app),
        Command::Completions(args) => completions::run(&args, app),
    }
}

/// `30s`, `5m`, `1h`, `500ms`, `1.5s`, or a bare number of seconds. More than zero, at most a year.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a duration; write 30s, 5m, 1h or 500ms");
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..split].parse().map_err(|_| wrong())?;
    let seconds = match text[split..].trim() {
        "ms" => number / 1000.0,
        "" | "s" => number,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        _ => return Err(wrong()),
    };
    const YEAR: f64 = 365.0 * 24.0 * 3600.0;
    if seconds > 0.0 && seconds <= YEAR { Ok(Duration::from_secs_f64(seconds)) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn durations_are_read_with_and_without_a_unit() {
        let read = |text: &str| parse_duration(text).map(|duration| duration.as_millis());
        assert_eq!(
            ["30", "30s", "1.5s", "500ms", "5m", "2h"].map(|text| read(text).unwrap()),
            [30_000, 30_000, 1_500, 500, 300_000, 7_200_000]
        );
        for text in ["", "0", "-1s", "5x", "s", "1e99", "99999h", "1.2.3"] {
            assert_eq!(read(text), Err(format!("`{text}` is not a duration; write 30s, 5m, 1h or 500ms")));
        }
    }

    #[test]
    fn a_program_gets_its_error_form_even_when_the_rest_is_wrong() {
        let form = |words: &[&str]| form_wanted(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(form(&["surehand", "--output", "json", "nope"]), OutputForm::Json);
        assert_eq!(form(&["surehand", "nope", "--output=stream-json"]), OutputForm::StreamJson);
        assert_eq!(form(&["surehand", "nope", "--json"]), OutputForm::Json);
        assert_eq!(form(&["surehand", "mcp", "add", "x", "--", "--output", "json"]), OutputForm::Text);
    }
}
