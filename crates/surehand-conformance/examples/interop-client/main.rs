//! Our client as one of several that talk to a server: `interop-client ERA http|sse URL` or `interop-client ERA stdio COMMAND
//! ARGS...`, with the tool to call in the variable `CALL` (`{"name":..,"arguments":{..}}`). The era is `legacy`, `auto` or `modern`.
//! With the variable `ANSWERS` it also answers what the server asks on the way. Prints one line of JSON: the revision that was settled on, the names of the tools, the result.

mod answers;

use std::env;
use std::error::Error;
use std::io::{Write, stderr, stdout};
use std::process::ExitCode;
use std::sync::Arc;

use serde_json::{Value, json};
use surehand_model::RawJson;
use surehand_sandbox::ChildSpec;
use surehand_transport::{
    CallOptions, Client, ClientOptions, Era, HttpClient, HttpOptions, HttpTarget, Target,
};

use answers::Always;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(line) => match writeln!(stdout(), "{line}") {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        Err(error) => {
            let mut words = error.to_string();
            let mut source = error.source();
            while let Some(cause) = source {
                words = format!("{words}: {cause}");
                source = cause.source();
            }
            // Nobody is left to tell where stderr is closed.
            let _ = writeln!(stderr(), "{words}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<Value, Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [era, kind, target, rest @ ..] = arguments.as_slice() else {
        return Err("usage: interop-client ERA http|sse|stdio TARGET [ARGS...]".into());
    };
    let era = match era.as_str() {
        "legacy" => Era::Legacy,
        "auto" => Era::Auto,
        "modern" => Era::Modern,
        other => return Err(format!("`{other}` is no era").into()),
    };
    #[expect(clippy::disallowed_methods, reason = "a program of its own, told by whoever starts it")]
    let (call, answers, inherit) = (env::var("CALL")?, env::var("ANSWERS"), env::vars_os().collect());
    let call: Value = serde_json::from_str(&call)?;
    let address = || -> Result<HttpTarget, Box<dyn Error>> {
        Ok(HttpTarget { url: target.parse()?, headers: Vec::new() })
    };
    let target = match kind.as_str() {
        "http" => Target::Http(address()?),
        "sse" => Target::Sse(address()?),
        "stdio" => Target::Child(ChildSpec {
            command: target.clone(),
            args: rest.to_vec(),
            inherit,
            ..ChildSpec::default()
        }),
        other => return Err(format!("`{other}` is no transport").into()),
    };
    let mut options = ClientOptions { era, ..ClientOptions::default() };
    if answers.is_ok() {
        options.on_elicitation = Some(Arc::new(Always));
        options.on_sampling = Some(Arc::new(Always));
        options.roots = Some(Arc::new(Always));
    }
    let client = Client::open(target, options, &HttpClient::new(HttpOptions::default())).await?;
    let tools = client.list_tools().await?.items;
    let name = call["name"].as_str().unwrap_or_default();
    let arguments = RawJson::from(&call["arguments"]);
    let outcome = client.call_tool(name, &arguments, CallOptions::default()).await?;
    let seen = json!({
        "revision": client.server().revision.as_str(),
        "tools": tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(),
        "result": outcome.raw.to_type::<Value>()?
    });
    client.close().await;
    Ok(seen)
}
