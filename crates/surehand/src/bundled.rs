//! The servers that come with the program.

use std::path::PathBuf;
use std::sync::Arc;

use surehand_host::{BundledOptions, BundledServer};
use surehand_mcp::{ServerHandler, ToolCard};
use surehand_model::Json;
use surehand_transport::HttpClient;
use url::Url;

/// Their names, in the order in which they are listed.
pub(crate) const NAMES: [&str; 3] = ["files", "time", "weather"];

/// All of them, ready to be made when one is configured.
pub(crate) fn servers(http: &HttpClient) -> Vec<BundledServer> {
    let http = http.clone();
    vec![
        bundled("files", surehand_server_files::cards(), |options| {
            surehand_server_files::server(files_options(options))
        }),
        bundled("time", surehand_server_time::cards(), |options| {
            let mut settings = surehand_server_time::Options::default();
            if let Some(zone) = options.options.get("timezone").and_then(Json::as_str) {
                zone.clone_into(&mut settings.local);
            }
            surehand_server_time::server(settings)
        }),
        bundled("weather", surehand_server_weather::cards(), move |options| {
            surehand_server_weather::server(weather_options(options, http.clone()))
        }),
    ]
}

fn bundled(
    name: &str,
    cards: Vec<ToolCard>,
    make: impl Fn(&BundledOptions) -> Arc<dyn ServerHandler> + Send + Sync + 'static,
) -> BundledServer {
    BundledServer {
        name: name.to_owned(),
        make: Arc::new(make),
        effects: cards.into_iter().map(|card| (card.tool, card.effect)).collect(),
    }
}

/// `roots` names the folders that may be read; without it, it is the folder in which we run.
fn files_options(options: &BundledOptions) -> surehand_server_files::Options {
    let named = options.options.get("roots").and_then(Json::as_array).unwrap_or_default();
    let mut roots: Vec<PathBuf> =
        named.iter().filter_map(Json::as_str).map(|root| options.cwd.join(root)).collect();
    if options.options.get("roots").is_none() {
        roots.push(options.cwd.clone());
    }
    surehand_server_files::Options { roots, limits: surehand_server_files::Limits::default() }
}

/// `geocodingUrl` and `forecastUrl` lead to services that answer like Open-Meteo, such as one of one's own.
fn weather_options(options: &BundledOptions, http: HttpClient) -> surehand_server_weather::Options {
    let mut settings = surehand_server_weather::Options::new(http);
    for (key, url) in [("geocodingUrl", &mut settings.geocoding), ("forecastUrl", &mut settings.forecast)] {
        // Nobody is asked in place of an address that cannot be read.
        if let Some(text) = options.options.get(key).and_then(Json::as_str)
            && let Ok(parsed) = Url::parse(text).or_else(|_| Url::parse("about:invalid"))
        {
            *url = parsed;
        }
    }
    settings
}
