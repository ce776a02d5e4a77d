use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_mcp::ToolFailure;

use crate::condition::condition;
use crate::place::FoundPlace;
use crate::server::Units;
use crate::service::Service;

const CURRENT: &str =
    "temperature_2m,apparent_temperature,relative_humidity_2m,precipitation,wind_speed_10m,weather_code";
const DAILY: &str =
    "weather_code,temperature_2m_max,temperature_2m_min,precipitation_sum,precipitation_probability_max";

/// The weather at a place.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Weather {
    city: String,
    /// State or province.
    region: Option<String>,
    country: Option<String>,
    latitude: f64,
    longitude: f64,
    /// When it was so, in the place's own time.
    local_time: String,
    /// Of all temperatures here; wind is in km/h with Celsius, in mph with Fahrenheit.
    units: Units,
    temperature: Option<f64>,
    feels_like: Option<f64>,
    /// In percent.
    humidity: Option<f64>,
    wind: Option<f64>,
    /// In mm, over the last quarter of an hour.
    precipitation: Option<f64>,
    condition: String,
    /// The same in Chinese.
    condition_zh: String,
    /// From today on.
    daily: Vec<Day>,
    /// Other places of the same name.
    other_places: Vec<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Day {
    date: String,
    condition: String,
    /// The same in Chinese.
    condition_zh: String,
    high: Option<f64>,
    low: Option<f64>,
    /// In mm.
    precipitation: Option<f64>,
    /// In percent.
    precipitation_chance: Option<f64>,
}

#[derive(Deserialize)]
struct Answer {
    current: Current,
    #[serde(default)]
    daily: Daily,
}

#[derive(Deserialize)]
struct Current {
    time: String,
    temperature_2m: Option<f64>,
    apparent_temperature: Option<f64>,
    relative_humidity_2m: Option<f64>,
    precipitation: Option<f64>,
    wind_speed_10m: Option<f64>,
    weather_code: Option<u8>,
}

/// One column a fact, one row a day.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Daily {
    time: Vec<String>,
    weather_code: Vec<Option<u8>>,
    temperature_2m_max: Vec<Option<f64>>,
    temperature_2m_min: Vec<Option<f64>>,
    precipitation_sum: Vec<Option<f64>>,
    precipitation_probability_max: Vec<Option<f64>>,
}

/// Asks for the weather at a place, today and the days after.
pub(crate) async fn forecast(
    service: &Service,
    found: FoundPlace,
    days: u8,
    units: Units,
) -> Result<Weather, ToolFailure> {
    let FoundPlace { place, others } = found;
    let (latitude, longitude, days) =
        (place.latitude.to_string(), place.longitude.to_string(), days.to_string());
    let (temperature, wind) = match units {
        Units::Celsius => ("celsius", "kmh"),
        Units::Fahrenheit => ("fahrenheit", "mph"),
    };
    let query = [
        ("latitude", latitude.as_str()),
        ("longitude", longitude.as_str()),
        ("current", CURRENT),
        ("daily", DAILY),
        ("timezone", "auto"),
        ("forecast_days", days.as_str()),
        ("temperature_unit", temperature),
        ("wind_speed_unit", wind),
    ];
    let answer: Answer = service.ask(&service.forecast, &query).await?;
    let (english, chinese) = condition(answer.current.weather_code);
    Ok(Weather {
        city: place.name,
        region: place.region,
        country: place.country,
        latitude: place.latitude,
        longitude: place.longitude,
        local_time: answer.current.time,
        units,
        temperature: answer.current.temperature_2m,
        feels_like: answer.current.apparent_temperature,
        humidity: answer.current.relative_humidity_2m,
        wind: answer.current.wind_speed_10m,
        precipitation: answer.current.precipitation,
        condition: english.to_owned(),
        condition_zh: chinese.to_owned(),
        daily: answer.daily.rows(),
        other_places: others,
    })
}

impl Daily {
    fn rows(self) -> Vec<Day> {
        let value = |column: &[Option<f64>], row: usize| column.get(row).copied().flatten();
        let day = |(row, date): (usize, &String)| {
            let (english, chinese) = condition(self.weather_code.get(row).copied().flatten());
            Day {
                date: date.clone(),
                condition: english.to_owned(),
                condition_zh: chinese.to_owned(),
                high: value(&self.temperature_2m_max, row),
                low: value(&self.temperature_2m_min, row),
                precipitation: value(&self.precipitation_sum, row),
                precipitation_chance: value(&self.precipitation_probability_max, row),
            }
        };
        self.time.iter().enumerate().map(day).collect()
    }
}

impl Weather {
    /// Everything, for a model to read.
    pub(crate) fn in_words(&self) -> String {
        let (degrees, speed) = match self.units {
            Units::Celsius => ("°C", "km/h"),
            Units::Fahrenheit => ("°F", "mph"),
        };
        let mut place = vec![self.city.as_str()];
        for part in [&self.region, &self.country].into_iter().flatten() {
            if !place.contains(&part.as_str()) {
                place.push(part);
            }
        }
        let mut text = format!("{}: {} ({})", place.join(", "), self.condition, self.condition_zh);
        let facts = [
            ("temperature", self.temperature, degrees),
            ("feels like", self.feels_like, degrees),
            ("humidity", self.humidity, "%"),
            ("wind", self.wind, speed),
            ("precipitation", self.precipitation, "mm"),
        ];
        for (name, value, unit) in facts {
            if let Some(value) = value {
                let _ = write!(text, ", {name} {value} {unit}");
            }
        }
        let _ = write!(text, ", at {} local time.", self.local_time);
        for day in &self.daily {
            let _ = write!(text, "\n{}: {} ({})", day.date, day.condition, day.condition_zh);
            let facts = [
                ("high", day.high, degrees),
                ("low", day.low, degrees),
                ("precipitation", day.precipitation, "mm"),
                ("chance of precipitation", day.precipitation_chance, "%"),
            ];
            for (name, value, unit) in facts {
                if let Some(value) = value {
                    let _ = write!(text, ", {name} {value} {unit}");
                }
            }
        }
        if !self.other_places.is_empty() {
            let _ = write!(
                text,
                "\nOther places of that name: {}. Add the region or country to choose one.",
                self.other_places.join("; ")
            );
        }
        text.push_str("\nWeather data by Open-Meteo.com.");
        text
    }
}
