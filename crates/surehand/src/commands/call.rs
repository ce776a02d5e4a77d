use std::sync::Arc;

use surehand_host::{CallContext, CallRecord, RunClock, Unresolved, Verdict, reference_of};
use surehand_model::{Integrity, Json, Label, RawJson, ToolCall};
use surehand_policy::{CallFacts, Decision};
use tokio_util::sync::CancellationToken;

use crate::cli::OutputForm;
use crate::coerce;
use crate::error::{CommandError, Fault};
use crate::render::content_text;
use crate::watch::Watch;
use crate::wiring::{App, on_interrupt, only_server_of, server_trouble};

/// Call one tool
///
/// The result is printed as the tool gave it. A tool that reports an error makes the exit code 5.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  surehand call time/get_current_time timezone=Asia/Shanghai
  surehand call files/read_text_file path=README.md head=5
  surehand call weather/get_forecast --args '{\"city\":\"Paris\",\"days\":3}'")]
pub(crate) struct CallArgs {
    /// SERVER/TOOL, or the tool's name alone where only one server has it.
    tool: String,
    /// Arguments, read by the tool's schema: numbers become numbers. A list is JSON or one item a word (tag=a tag=b).
    #[arg(value_name = "KEY=VALUE", conflicts_with = "exact")]
    arguments: Vec<String>,
    /// All arguments as one JSON object, sent as it is.
    #[arg(long = "args", value_name = "JSON")]
    exact: Option<String>,
}

pub(crate) fn run(args: &CallArgs, app: &App) -> Result<(), CommandError> {
    let exact = args.exact.as_deref().map(exact_arguments).transpose()?;
    let mut settings = app.settings()?;
    if let Some(timeout) = app.common.timeout {
        for server in &mut settings.servers {
            server.call_timeout = timeout;
        }
    }
    only_server_of(&mut settings, &args.tool);
    app.block_on(async {
        let cancel = CancellationToken::new();
        let watch = Arc::new(Watch::of_one_call(Arc::clone(&app.screen), cancel.clone()));
        let http = app.http();
        let opening = app.open_host(settings, http, watch.as_ref());
        let host = watch.while_doing(on_interrupt(&cancel, opening)).await?;
        let outcome = async {
            let entry = host.catalog().find(&args.tool).map_err(|unresolved| {
                server_trouble(&host, &args.tool).unwrap_or_else(|| unknown_tool(&args.tool, unresolved))
            })?;
            let arguments = match exact {
                Some(exact) => exact,
                None => coerce::arguments(&args.arguments, &entry.tool.input_schema).map_err(|fault| {
                    CommandError::usage(fault).hint(format!(
                        "Arguments are KEY=VALUE; see `surehand tools {}`.",
                        reference_of(&entry)
                    ))
                })?,
            };
            let context = CallContext {
                clock: Arc::new(RunClock::start()),
                cancel: cancel.clone(),
                observer: Arc::clone(&watch) as _,
                max_output_tokens: None,
                label: Label::user(),
            };
            let call = ToolCall::new("call_1", &entry.model_name, arguments.as_str());
            let record = watch.while_doing(on_interrupt(&cancel, host.run_call(call, &context))).await?;
            if cancel.is_cancelled() && record.result.is_error {
                return Err(interrupted(&record));
            }
            let sent = record.arguments.to_json().ok();
            let facts = CallFacts { arguments: sent.as_ref(), ..host.facts(&entry) };
            let asks = host.policy().decide(&facts).decision == Decision::Ask;
            print(&record, asks, app)
        }
        .await;
        host.close().await;
        outcome
    })
}

fn exact_arguments(text: &str) -> Result<RawJson, CommandError> {
    let raw = RawJson::parse(text).map_err(|fault| {
        CommandError::usage(format!("--args is not JSON: {fault}")).hint("Quote it: --args '{\"key\":1}'.")
    })?;
    if raw.is_object() { Ok(raw) } else { Err(CommandError::usage("--args must be a JSON object")) }
}

fn unknown_tool(name: &str, unresolved: Unresolved) -> CommandError {
    match unresolved {
        Unresolved::Unknown(near) => {
            let error = CommandError::new(Fault::UnknownTool, format!("there is no tool `{name}`"));
            match near.as_slice() {
                [] => error.hint("`surehand tools` lists what there is."),
                near => error.hint(format!("Did you mean {}?", near.join(" or "))),
            }
        }
        Unresolved::Ambiguous(all) => CommandError::usage(format!("several servers have a tool `{name}`"))
            .hint(format!("Say which: {}.", all.join(" or "))),
    }
}

/// Prints the result, or says why there is none. `asks` is whether the policy left it to a person.
fn print(record: &CallRecord, asks: bool, app: &App) -> Result<(), CommandError> {
    let name = format!("{}/{}", record.server, record.tool);
    let ours = record.result.label.integrity == Integrity::Trusted && record.result.is_error;
    match app.screen.form() {
        OutputForm::Text if ours => {}
        OutputForm::Text => app.screen.print(&content_text(&record.result, app.screen.terminal().stdout))?,
        OutputForm::Json => app.screen.print(&format!("{}\n", result_json(record)))?,
        OutputForm::StreamJson => {
            app.screen.print(&format!("{{\"type\":\"result\",\"result\":{}}}\n", result_json(record)))?
        }
    }
    if !record.result.is_error {
        return Ok(());
    }
    if !ours {
        return Err(CommandError::new(Fault::Tool, format!("the tool `{name}` reported an error"))
            .about(&record.server));
    }
    let told = Json::parse(&record.result.joined_text()).unwrap_or(Json::Null);
    Err(failure(record, asks, &name, &told).about(&record.server))
}

/// The person pressed Ctrl-C while the tool ran, or before it was allowed to.
fn interrupted(record: &CallRecord) -> CommandError {
    let error = CommandError::new(Fault::Failed, "cancelled").about(&record.server);
    match record.decided.verdict {
        Verdict::Allowed | Verdict::Approved => error.hint("Whether the call had an effect is not known."),
        Verdict::Denied | Verdict::Invalid => error,
    }
}

/// What went wrong on our side of the wire, from what a model would have been told. `asks` is whether the policy left it to a
/// person.
fn failure(record: &CallRecord, asks: bool, name: &str, told: &Json) -> CommandError {
    let word = |key: &str| told.get(key).and_then(Json::as_str).unwrap_or_default();
    match (record.decided.verdict, word("error")) {
        (Verdict::Denied, _) => {
            let error =
                CommandError::new(Fault::Refused, format!("`{name}` was not run: {}", word("reason")));
            if asks && record.decided.by != "person" {
                error.hint("--approve always runs it without asking.")
            } else {
                error
            }
        }
        (Verdict::Invalid, _) => {
            let details: Vec<String> =
                told.get("details").and_then(Json::as_array).into_iter().flatten().map(detail).collect();
            let what =
                if details.is_empty() { "they break its schema".to_owned() } else { details.join("\n  ") };
            CommandError::usage(format!("the arguments of `{name}` do not fit:\n  {what}"))
                .hint(format!("`surehand tools {name}` shows what it takes."))
        }
        (_, "timeout") => CommandError::new(Fault::Limit, format!("`{name}` gave no answer in time"))
            .hint("--timeout 5m waits longer. Whether the call had an effect is not known."),
        _ => {
            let fault = if told.get("code").is_some() { Fault::Tool } else { Fault::Unreachable };
            CommandError::new(fault, format!("`{name}` failed: {}", word("message")))
        }
    }
}

fn detail(detail: &Json) -> String {
    detail.get("message").and_then(Json::as_str).unwrap_or_default().to_owned()
}

/// The result in the shape every MCP revision has for it.
fn result_json(record: &CallRecord) -> String {
    let whole = RawJson::from_serialize(record).to_json().unwrap_or(Json::Null);
    whole.get("result").map(Json::to_string).unwrap_or_default()
}
