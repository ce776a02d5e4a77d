use std::io::Read;
use std::sync::Arc;

use surehand_host::{Agent, Answer, Conversation, SYSTEM_PROMPT, Stop};
use tokio_util::sync::CancellationToken;

use crate::error::{CommandError, Fault};
use crate::models;
use crate::watch::Watch;
use crate::wiring::{App, on_interrupt};

/// The longest question that is read from stdin, in bytes.
const LONGEST_QUESTION: u64 = 16 * 1024 * 1024;

/// Ask one question; tools are used as needed
///
/// Without a question on the command line, it is read from stdin. The answer goes to stdout, everything else to stderr.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  surehand ask \"What time is it in Shanghai and in Paris?\"
  surehand ask --model ollama/qwen3 --output json \"今天北京天气怎么样？\"
  surehand ask --server everything=\"npx -y @modelcontextprotocol/server-everything\" \"Add 2 and 3\"
  echo \"What is in this folder?\" | surehand ask --approve always")]
pub(crate) struct AskArgs {
    /// The question. Several words need no quotes.
    #[arg(value_name = "PROMPT")]
    words: Vec<String>,
}

pub(crate) fn run(args: AskArgs, app: &App) -> Result<(), CommandError> {
    let question = question(args, app)?;
    let settings = app.settings_asking_for_trust()?;
    let choice = models::choose(app, &settings)?;
    app.block_on(async {
        models::fetch_if_needed(app, &settings, &choice, false).await?;
        let cancel = CancellationToken::new();
        let watch = Arc::new(Watch::new(Arc::clone(&app.screen), choice.id(), cancel.clone()));
        let work = async {
            // The model gets ready while the servers start.
            let (host, provider) = tokio::join!(
                app.open_host(settings.clone(), app.http(), watch.as_ref()),
                models::open(&choice, &settings.paths)
            );
            let provider = match provider {
                Ok(provider) => provider,
                Err(failure) => return (host, Err(failure)),
            };
            let agent = Agent {
                provider: provider.as_ref(),
                model: choice.model_name(),
                tools: Arc::clone(&host) as _,
                observer: Arc::clone(&watch) as _,
                limits: app.limits(&settings),
                system_prompt: Some(SYSTEM_PROMPT.to_owned()),
            };
            let answered = agent.answer(&mut Conversation::from_question(&question), &cancel).await;
            (host, answered.map_err(|failure| models::provider_failure(failure.source)))
        };
        let (host, answered) = watch.while_doing(on_interrupt(&cancel, work)).await?;
        // The answer comes first; that a server takes its time to end is nobody's business.
        let outcome = answered.and_then(|answer| {
            let skipped = host.skipped().iter().cloned().chain(answer.skipped.iter().cloned()).collect();
            let answer = Answer { servers: host.servers().to_vec(), skipped, ..answer };
            watch.finish(&answer)?;
            ended(&answer)
        });
        host.close().await;
        outcome
    })
}

fn question(args: AskArgs, app: &App) -> Result<String, CommandError> {
    let mut question = args.words.join(" ");
    if args.words.is_empty() {
        if app.screen.terminal().stdin {
            app.screen.say("Write your question, then press Ctrl-D on a line of its own.");
        }
        let mut bytes = Vec::new();
        std::io::stdin().lock().take(LONGEST_QUESTION).read_to_end(&mut bytes)?;
        question = String::from_utf8_lossy(&bytes).into_owned();
    }
    if question.trim().is_empty() {
        return Err(
            CommandError::usage("there is no question").hint("surehand ask \"What time is it in Shanghai?\"")
        );
    }
    Ok(question)
}

/// A run that ended before the model was done is a failure, and its exit code tells which.
pub(crate) fn ended(answer: &Answer) -> Result<(), CommandError> {
    let detail = answer.detail.as_ref().map(|detail| format!(": {detail}")).unwrap_or_default();
    let error = match answer.stop {
        Stop::Complete => return Ok(()),
        Stop::MaxTurns => CommandError::new(Fault::Limit, format!("the limit of turns was reached{detail}"))
            .hint("--max-turns N allows more."),
        Stop::Timeout => CommandError::new(Fault::Limit, format!("the time was up{detail}"))
            .hint("--timeout 30m allows more."),
        Stop::Budget => CommandError::new(Fault::Limit, format!("the tokens were used up{detail}"))
            .hint("`limits.budgetTokens` in the configuration allows more."),
        Stop::Cancelled => CommandError::new(Fault::Failed, "cancelled"),
    };
    Err(error)
}
