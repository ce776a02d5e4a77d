//! The server that the conformance suite drives: every tool, resource and prompt that the suite asks for by name, written as any
//! author of a server would write it. What the suite judges is the library.
//!
//! `conformance-server --listen 127.0.0.1:PORT` serves `/mcp` until it is ended; without an address it serves standard streams.

mod asking;
mod changing;
mod content;
mod fixture;
mod long;
mod media;
mod prompts;
mod resources;
mod skills;
mod stateless;

use std::env;
use std::error::Error;
use std::io::{Write, stderr};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use surehand_mcp::ServerHandler;
use surehand_transport::{HttpServerOptions, serve_http, serve_stdio};
use tokio_util::sync::CancellationToken;

use fixture::Fixture;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to tell where stderr is closed.
            let _ = writeln!(stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let handler: Arc<dyn ServerHandler> = Arc::new(Fixture::new()?);
    let stop = CancellationToken::new();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => serve_stdio(handler, stop).await?,
        ["--listen", address] => {
            let listen: SocketAddr = address.parse()?;
            let options = HttpServerOptions { listen, ..HttpServerOptions::default() };
            serve_http(handler, options, stop).await?.finished().await?;
        }
        _ => return Err("usage: conformance-server [--listen ADDRESS:PORT]".into()),
    }
    Ok(())
}
