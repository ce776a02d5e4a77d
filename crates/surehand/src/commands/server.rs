use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::builder::PossibleValuesParser;
use surehand_auth::{Clock, DpopPolicy, ResourceOptions, ResourceServer, TrustedIssuer};
use surehand_host::BundledOptions;
use surehand_model::Json;
use surehand_transport::{Gate, HttpClient, HttpServerOptions, serve_http, serve_stdio};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::bundled;
use crate::error::{CommandError, Fault};
use crate::wiring::{App, on_interrupt, wall_clock};

/// Be one of the bundled MCP servers, on stdio or at an address
///
/// Any MCP application can use it: its command is `surehand server NAME`.
#[derive(Debug, clap::Args)]
pub(crate) struct ServerArgs {
    /// Which one.
    #[arg(value_parser = PossibleValuesParser::new(bundled::NAMES))]
    name: String,
    /// Serve Streamable HTTP here instead of stdio, for example 127.0.0.1:8000.
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,
    /// A folder that the files server may read [default: the current folder]. May be given several times.
    #[arg(long = "root", value_name = "FOLDER")]
    roots: Vec<PathBuf>,
    /// The server's options as in the configuration, one JSON object.
    #[arg(long, value_name = "JSON", conflicts_with = "roots")]
    options: Option<String>,
    #[command(flatten)]
    tokens: TokenArgs,
}

#[derive(Debug, clap::Args)]
struct TokenArgs {
    /// Let in only who shows a token that this OAuth authorization server made for --public-url. May be given several times.
    #[arg(long = "issuer", value_name = "URL", requires = "listen", requires = "public_url")]
    issuers: Vec<String>,
    /// The endpoint's whole address as clients know it, in front of any proxy.
    #[arg(long, value_name = "URL", requires = "listen")]
    public_url: Option<Url>,
    /// A scope that tokens must be good for. May be given several times.
    #[arg(long = "scope", value_name = "SCOPE", requires = "issuers")]
    scopes: Vec<String>,
    /// Take only tokens that are bound to a key (DPoP), which are of no use to whoever steals them.
    #[arg(long, requires = "issuers")]
    bound_tokens: bool,
}

impl TokenArgs {
    /// What checks tokens; none where everybody is let in.
    fn gate(&self, http: &HttpClient, clock: Clock) -> Result<Option<Arc<dyn Gate>>, CommandError> {
        let (false, Some(resource)) = (self.issuers.is_empty(), &self.public_url) else { return Ok(None) };
        let trusted = |issuer: &String| TrustedIssuer { issuer: issuer.clone(), keys: None };
        let options = ResourceOptions {
            scopes: self.scopes.clone(),
            dpop: if self.bound_tokens { DpopPolicy::Required } else { DpopPolicy::Accepted },
            ..ResourceOptions::new(resource.clone(), self.issuers.iter().map(trusted).collect())
        };
        let server = ResourceServer::new(options, http, clock)
            .map_err(|fault| CommandError::usage(fault.to_string()))?;
        Ok(Some(Arc::new(server)))
    }
}

pub(crate) fn run(args: &ServerArgs, app: &App) -> Result<(), CommandError> {
    let options = options(args)?;
    let cwd = std::env::current_dir()?;
    let server = bundled::servers(&app.http())
        .into_iter()
        .find(|server| server.name == args.name)
        .ok_or_else(|| CommandError::usage(format!("there is no bundled server `{}`", args.name)))?;
    let handler = (server.make)(&BundledOptions { options, cwd });
    app.block_on(async {
        let stop = CancellationToken::new();
        let Some(listen) = args.listen else {
            return serve_stdio(handler, stop).await.map_err(|fault| CommandError::new(Fault::Failed, fault));
        };
        let clock = wall_clock();
        let gate = args.tokens.gate(&app.http(), Arc::new(move || clock() / 1_000))?;
        let is_open = gate.is_none();
        let public_name = args.tokens.public_url.as_ref().and_then(Url::host_str);
        let options = HttpServerOptions {
            listen,
            gate,
            allowed_hosts: public_name.map(str::to_owned).into_iter().collect(),
            ..HttpServerOptions::default()
        };
        let serving = serve_http(handler, options, stop.clone())
            .await
            .map_err(|fault| CommandError::new(Fault::Failed, fault))?;
        app.screen.say(&format!("serving {} at http://{}/mcp, Ctrl-C ends", args.name, serving.address));
        if let Some(warning) = warning_about(serving.address).filter(|_| is_open) {
            app.screen.warn(warning);
        }
        Ok(on_interrupt(&stop, serving.finished()).await??)
    })
}

fn options(args: &ServerArgs) -> Result<Json, CommandError> {
    if let Some(text) = &args.options {
        let options = Json::parse(text)
            .map_err(|fault| CommandError::usage(format!("--options is not JSON: {fault}")))?;
        return if options.as_object().is_some() {
            Ok(options)
        } else {
            Err(CommandError::usage("--options must be a JSON object"))
        };
    }
    if args.roots.is_empty() {
        return Ok(Json::Object(Vec::new()));
    }
    if args.name != "files" {
        return Err(CommandError::usage(format!("the server `{}` has no --root", args.name)));
    }
    let roots = args.roots.iter().map(|root| Json::String(root.to_string_lossy().into_owned())).collect();
    Ok(Json::Object(vec![("roots".to_owned(), Json::Array(roots))]))
}

/// What a person should know who lets others in.
fn warning_about(address: SocketAddr) -> Option<&'static str> {
    let warning = "whoever reaches this address can use the server, without a login; 127.0.0.1 is for this machine alone";
    (!address.ip().is_loopback()).then_some(warning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_this_machine_are_without_a_warning() {
        let warned = |address: &str| warning_about(address.parse().unwrap()).is_some();
        assert_eq!(["127.0.0.1:1", "127.8.8.8:1", "[::1]:1"].map(warned), [false; 3]);
        assert_eq!(["0.0.0.0:1", "192.168.1.2:1", "[::]:1"].map(warned), [true; 3]);
    }
}
