use clap_complete::Shell;

use crate::cli;
use crate::error::CommandError;
use crate::wiring::App;

/// Print a completion script for a shell
///
/// For example: surehand completions bash > ~/.local/share/bash-completion/completions/surehand
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// Which shell.
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, app: &App) -> Result<(), CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut cli::command(), "surehand", &mut script);
    Ok(app.screen.print(&String::from_utf8_lossy(&script))?)
}
