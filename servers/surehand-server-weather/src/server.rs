use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_macros::tools;
use surehand_mcp::{ServerHandler, Structured, ToolCard, ToolFailure, Toolset};
use surehand_transport::{HttpClient, HttpOptions};
use tokio::time::{Instant, timeout};
use url::Url;

use crate::cache::Cache;
use crate::forecast::{Weather, forecast};
use crate::place::find_place;
use crate::service::Service;

/// How long an answer is given again without asking. The service itself computes anew every 15 minutes.
const FRESH: Duration = Duration::from_secs(600);
/// How many answers are kept.
const KEPT: usize = 128;
/// How long both requests together may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Where the weather comes from.
#[derive(Clone, Debug)]
pub struct Options {
    /// The client for outgoing HTTP.
    pub http: HttpClient,
    /// Finds places: Open-Meteo's geocoding search, or something that answers like it.
    pub geocoding: Url,
    /// Knows the weather: Open-Meteo's forecast, or something that answers like it.
    pub forecast: Url,
}

impl Options {
    /// The public service at open-meteo.com.
    pub fn new(http: HttpClient) -> Self {
        #[expect(clippy::unwrap_used, reason = "both are constants that a test parses too")]
        let [geocoding, forecast] = [GEOCODING, FORECAST].map(|url| Url::parse(url).unwrap());
        Self { http, geocoding, forecast }
    }
}

const GEOCODING: &str = "https://geocoding-api.open-meteo.com/v1/search";
const FORECAST: &str = "https://api.open-meteo.com/v1/forecast";

/// The weather server.
pub fn server(options: Options) -> Arc<dyn ServerHandler> {
    toolset(options).into_handler()
}

/// What the operator may know about its tools.
pub fn cards() -> Vec<ToolCard> {
    toolset(Options::new(HttpClient::new(HttpOptions::default()))).cards()
}

fn toolset(options: Options) -> Toolset {
    let Options { http, geocoding, forecast } = options;
    let service = Service { http, geocoding, forecast };
    Toolset::new("surehand-weather", env!("CARGO_PKG_VERSION"))
        .title("Weather")
        .with(WeatherServer { service, cache: Mutex::new(Cache::new(KEPT, FRESH)) })
}

struct WeatherServer {
    service: Service,
    cache: Mutex<Cache<Question, Structured<Weather>>>,
}

/// What makes two calls the same.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Question {
    city: String,
    days: u8,
    units: Units,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetWeather {
    /// City name in any language, for example "Beijing", "北京" or "Paris, France".
    city: String,
    /// How many days of forecast, today included. 1 if left out.
    #[schemars(range(min = 1, max = 7))]
    days: Option<u8>,
    /// For temperatures; celsius if left out.
    units: Option<Units>,
}

// Plain comments here: doc comments would go into the schema, and make more of it than two words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Units {
    #[default]
    Celsius,
    Fahrenheit,
}

#[tools]
impl WeatherServer {
    /// Current weather and forecast for a city (天气).
    #[tool(effect = "reads", open_world, idempotent)]
    async fn get_weather(&self, args: GetWeather) -> Result<Structured<Weather>, ToolFailure> {
        let question = Question {
            city: args.city.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase(),
            days: args.days.unwrap_or(1).clamp(1, 7),
            units: args.units.unwrap_or_default(),
        };
        if question.city.is_empty() {
            return Err(
                ToolFailure::not_found("`city` is empty.").suggest("Name a city, for example \"Beijing\".")
            );
        }
        if let Some(known) = self.cache().get(&question, Instant::now()) {
            return Ok(known);
        }
        let weather = timeout(PATIENCE, self.ask(&args.city, &question)).await.map_err(|_| {
            ToolFailure::new(format!("The weather service gave no answer within {} s.", PATIENCE.as_secs()))
                .code("timeout")
                .retryable()
        })??;
        self.cache().put(question, weather.clone(), Instant::now());
        Ok(weather)
    }

    async fn ask(&self, city: &str, question: &Question) -> Result<Structured<Weather>, ToolFailure> {
        let found = find_place(&self.service, city).await?;
        let weather = forecast(&self.service, found, question.days, question.units).await?;
        let text = weather.in_words();
        Ok(Structured::new(weather).with_text(text))
    }

    fn cache(&self) -> std::sync::MutexGuard<'_, Cache<Question, Structured<Weather>>> {
        // What a panicking holder may leave behind is at worst an entry less.
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
