use std::path::Path;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde::Deserialize;
use surehand_local::{LocalOptions, LocalProvider};
use surehand_model::{Message, ModelEvent, ModelRequest, Role, Usage};
use surehand_provider::Provider;
use surehand_sandbox::{ChildSpec, RunLimits};
use tokio::time::Instant;

use crate::arguments::Arguments;
use crate::own::bundled_tools;
use crate::{Bar, Fault};

/// How many tokens are written to measure how fast.
const WRITTEN: u32 = 96;

/// How often both are measured.
const ROUNDS: usize = 3;

/// What was measured, in tokens per CPU-second.
#[derive(Deserialize)]
struct Anchor {
    read: f64,
    write: f64,
}

/// Tokens per CPU-second beside llama.cpp itself (one thread each, the same file and text), and how soon a second question is answered.
pub(crate) async fn bars(arguments: &Arguments) -> Result<Vec<Bar>, Fault> {
    let scratch = std::env::temp_dir().join(format!("surehand-bench-{}", std::process::id()));
    std::fs::create_dir_all(&scratch)?;
    let bars = measured(arguments, &scratch).await;
    std::fs::remove_dir_all(&scratch)?;
    bars
}

async fn measured(arguments: &Arguments, scratch: &Path) -> Result<Vec<Bar>, Fault> {
    let mut bars = first_tokens(arguments, scratch).await?;
    let python =
        arguments.python.as_deref().ok_or("--python is missing: an interpreter that has xllamacpp")?;
    let text = long_text();
    println!("tokens per CPU-second, one thread   {:>10} {:>10}", "reading", "writing");
    let (mut reading, mut writing) = (Vec::new(), Vec::new());
    // In turn, and the middle one counts: the machine's own speed drifts.
    for _ in 0..ROUNDS {
        let ours = ours(arguments, &text).await?;
        let anchor = anchor(python, &ours.path, &text, scratch).await?;
        println!("  ours                              {:>10.1} {:>10.1}", ours.speed.read, ours.speed.write);
        println!("  llama.cpp (xllamacpp)             {:>10.1} {:>10.1}", anchor.read, anchor.write);
        reading.push(ours.speed.read / anchor.read);
        writing.push(ours.speed.write / anchor.write);
    }
    bars.push(Bar::at_least("reading, ours to llama.cpp", middle(reading), 0.9));
    bars.push(Bar::at_least("writing, ours to llama.cpp", middle(writing), 0.9));
    Ok(bars)
}

/// Our own speed, and the file it was measured with.
struct Ours {
    speed: Anchor,
    path: String,
}

/// Measured with a model that has read nothing before.
async fn ours(arguments: &Arguments, text: &str) -> Result<Ours, Fault> {
    let model = LocalProvider::open(&arguments.model, &options(arguments, 1))?;
    model.load().await?;
    let (reading, read) = ask(&model, text, 1).await?;
    let (writing, written) = ask(&model, text, WRITTEN).await?;
    let speed = Anchor {
        read: read.input_tokens as f64 / reading.as_secs_f64(),
        write: written.output_tokens as f64 / writing.as_secs_f64(),
    };
    Ok(Ours { speed, path: model.path().display().to_string() })
}

fn middle(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Two questions over the same tools, with nothing kept from before.
async fn first_tokens(arguments: &Arguments, scratch: &Path) -> Result<Vec<Bar>, Fault> {
    let known = LocalProvider::open(&arguments.model, &options(arguments, 0))?;
    // Opened by its path from an empty folder, so that no prefix is found.
    let fresh = LocalOptions::new(scratch);
    let model = LocalProvider::open(&known.path().display().to_string(), &fresh)?;
    model.load().await?;
    let mut times = Vec::new();
    for city in ["北京", "武汉"] {
        let question = format!("{city}天气怎么样？");
        let request = ModelRequest::new("", vec![Message::text(Role::User, question)], bundled_tools());
        let began = Instant::now();
        let mut first = None;
        model
            .answer(&request, &mut |event| {
                if matches!(event, ModelEvent::CallStarted { .. } | ModelEvent::Text(_)) {
                    first.get_or_insert_with(|| began.elapsed());
                }
            })
            .await?;
        times.push(first.ok_or("the model said nothing")?.as_secs_f64());
    }
    println!("first token: first question {:.2} s, second {:.2} s", times[0], times[1]);
    Ok(vec![Bar::at_most("first token, second question to first", times[1] / times[0], 0.15)])
}

fn options(arguments: &Arguments, threads: usize) -> LocalOptions {
    LocalOptions { threads, ..LocalOptions::new(&arguments.models_dir) }
}

/// The CPU time that an answer of at most `limit` tokens takes.
async fn ask(model: &LocalProvider, text: &str, limit: u32) -> Result<(Duration, Usage), Fault> {
    let mut request = ModelRequest::new("", vec![Message::text(Role::User, text)], Vec::new());
    request.max_output_tokens = Some(limit);
    let before = cpu_time();
    let turn = model.answer(&request, &mut |_| ()).await?;
    Ok((cpu_time() - before, turn.usage))
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

async fn anchor(python: &Path, model: &str, text: &str, scratch: &Path) -> Result<Anchor, Fault> {
    let script = scratch.join("anchor.py");
    std::fs::write(&script, include_str!("../../tests/data/anchor.py"))?;
    let prompt = scratch.join("prompt.txt");
    std::fs::write(&prompt, text)?;
    let spec = ChildSpec {
        command: python.display().to_string(),
        args: vec![
            script.display().to_string(),
            model.to_owned(),
            prompt.display().to_string(),
            WRITTEN.to_string(),
        ],
        ..ChildSpec::default()
    };
    let limits = RunLimits { timeout: Duration::from_secs(600), max_output: 1 << 20 };
    let output = surehand_sandbox::run(&spec, b"", limits).await?;
    let said = String::from_utf8_lossy(&output.stdout);
    match said.lines().rev().find_map(|line| serde_json::from_str(line).ok()) {
        Some(anchor) => Ok(anchor),
        None => {
            Err(format!("the anchor {}: {}", output.ended, String::from_utf8_lossy(&output.stderr)).into())
        }
    }
}

/// Some 600 tokens, and a wish that takes long to fulfil.
fn long_text() -> String {
    let mut text = String::new();
    for number in 1..=40 {
        text.push_str(&format!(
            "Note {number}: the ship left the harbour early, and nobody on the pier waved.\n"
        ));
    }
    text.push_str("Write a very long story about this ship, with many details.");
    text
}
