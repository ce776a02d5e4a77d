//! One cell: run, read what it saw, hold it against what is right.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::shell::Fault;
use crate::waiting::{Ended, run_within};

use super::matrix::{Cell, Tools, own};
use super::places::Places;

/// Within what time a peer must have started, listed and called.
const LIMIT: Duration = Duration::from_secs(90);

/// What came of a cell.
pub(crate) struct Outcome {
    pub(crate) cell: Cell,
    pub(crate) seen: Option<Seen>,
    /// Why it is not as it must be.
    pub(crate) fault: Option<String>,
}

/// What a client says it saw.
pub(crate) struct Seen {
    /// None where the client does not tell.
    pub(crate) revision: Option<String>,
    pub(crate) tools: Vec<String>,
    /// All texts of the result.
    pub(crate) text: String,
    is_error: bool,
}

/// Runs one cell; `own` are the tools of our server.
pub(crate) fn run(places: &Places, cell: Cell, own: &[String]) -> Outcome {
    match look(places, &cell) {
        Ok(seen) => {
            let fault = judge(&cell, &seen, own);
            Outcome { cell, seen: Some(seen), fault }
        }
        Err(fault) => Outcome { cell, seen: None, fault: Some(fault) },
    }
}

/// The tools that our own client sees of our server.
pub(crate) fn own_tools(places: &Places) -> Result<Vec<String>, Fault> {
    match look(places, &own(places)) {
        Ok(seen) if !seen.tools.is_empty() => Ok(seen.tools),
        Ok(_) => Err(Fault::new("our own client sees no tools of our server")),
        Err(words) => Err(Fault::new(format!("our own client does not reach our server: {words}"))),
    }
}

fn look(places: &Places, cell: &Cell) -> Result<Seen, String> {
    let name =
        format!("{}-{}-{}-{}", cell.peer, cell.transport, cell.era, cell.call.0).replace([' ', '/'], "-");
    let (out, err) = (places.work.join(format!("{name}.out")), places.work.join(format!("{name}.err")));
    let open = |file: &Path| File::create(file).map_err(|error| format!("{}: {error}", file.display()));
    let [program, arguments @ ..] = cell.command.as_slice() else { return Err("nothing to run".to_owned()) };
    let mut command = Command::new(program);
    command.args(arguments).env("PATH", &places.search_path).env("PACKAGES", &places.npm);
    command.env("CALL", json!({"name": cell.call.0, "arguments": cell.call.1}).to_string());
    if cell.asked {
        command.env("ANSWERS", "yes");
    }
    command.stdin(Stdio::null()).stdout(open(&out)?).stderr(open(&err)?);
    match run_within(&mut command, LIMIT).map_err(|error| format!("{program}: {error}"))? {
        Ended::With(status) if status.success() => {}
        Ended::With(status) => return Err(format!("ended with {status}\n{}", last_lines(&err))),
        Ended::Late => return Err(format!("not done after {} s\n{}", LIMIT.as_secs(), last_lines(&err))),
    }
    let text = fs::read_to_string(&out).map_err(|error: io::Error| error.to_string())?;
    read(text.lines().last().unwrap_or_default())
}

/// Reads the one line that every client prints.
fn read(line: &str) -> Result<Seen, String> {
    let line: Value = serde_json::from_str(line).map_err(|error| format!("no line of JSON: {error}"))?;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let word = |value: &Value| value.as_str().map(str::to_owned);
    let texts = list(&line["result"]["content"]);
    let texts: Vec<String> = texts.iter().filter_map(|block| word(&block["text"])).collect();
    Ok(Seen {
        revision: word(&line["revision"]),
        tools: list(&line["tools"]).iter().filter_map(word).collect(),
        text: texts.join("\n"),
        is_error: line["result"]["isError"].as_bool().unwrap_or(false),
    })
}

/// What is wrong with it, all at once.
fn judge(cell: &Cell, seen: &Seen, own: &[String]) -> Option<String> {
    let mut faults = Vec::new();
    if seen.revision.as_deref() != cell.revision {
        faults.push(format!("spoke {:?}, must be {:?}", seen.revision, cell.revision));
    }
    match cell.tools {
        Tools::Number(number) if seen.tools.len() != number => {
            faults.push(format!("listed {} tools, must be {number}", seen.tools.len()));
        }
        Tools::Own if seen.tools != own => {
            faults.push(format!("listed {:?}, must be {own:?}", seen.tools));
        }
        _ => {}
    }
    if !seen.tools.iter().any(|tool| tool == cell.call.0) {
        faults.push(format!("did not list `{}`", cell.call.0));
    }
    if seen.is_error || !cell.answer.iter().all(|words| seen.text.contains(words)) {
        faults.push(format!("answered {:?}, must hold {:?}", seen.text, cell.answer));
    }
    (!faults.is_empty()).then(|| faults.join("\n"))
}

fn last_lines(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap_or_default();
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(6)..].join("\n")
}
