use std::fmt::Write as _;
use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{Timestamp, ZonedDateTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_macros::tools;
use surehand_mcp::{ServerHandler, Structured, ToolCard, ToolFailure, Toolset};

use crate::time_of_day::{Asked, read_time};
use crate::zone::{Zone, find_zone};

/// Says what time it is. Handed in, so that tests can hold time still.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// What the server needs to know about its surroundings.
#[derive(Clone)]
pub struct Options {
    /// Says what time it is.
    pub clock: Clock,
    /// The zone that is meant where none is named: anything that the tools understand, for example `Europe/Berlin`.
    pub local: String,
}

impl Default for Options {
    /// The system's clock, and the system's time zone (UTC where it has none).
    fn default() -> Self {
        let local = TimeZone::try_system().ok().and_then(|zone| zone.iana_name().map(str::to_owned));
        Self { clock: Arc::new(Timestamp::now), local: local.unwrap_or_else(|| "UTC".to_owned()) }
    }
}

/// The time server.
pub fn server(options: Options) -> Arc<dyn ServerHandler> {
    toolset(options).into_handler()
}

/// What the operator may know about its tools.
pub fn cards() -> Vec<ToolCard> {
    toolset(Options::default()).cards()
}

fn toolset(options: Options) -> Toolset {
    Toolset::new("surehand-time", env!("CARGO_PKG_VERSION")).title("Time").with(TimeServer { options })
}

/// How models say that they mean the user's own zone.
const OWN: [&str; 6] = ["", "local", "here", "current", "本地", "当地"];

struct TimeServer {
    options: Options,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetCurrentTime {
    /// Where: an IANA time zone ("Asia/Tokyo"), a city or country ("Tokyo", "东京"), or an offset ("UTC+8"). Leave out for the
    /// user's own time zone.
    timezone: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ConvertTime {
    /// Where the time is known: an IANA time zone ("America/New_York"), a city or country, or an offset.
    source_timezone: String,
    /// The time there: "HH:MM" for today, or a date and time such as "2026-03-01T16:30".
    time: String,
    /// Where the time is wanted: an IANA time zone ("Asia/Tokyo"), a city or country, or an offset.
    target_timezone: String,
}

/// One moment as a place sees it.
#[derive(Serialize, JsonSchema)]
struct LocalTime {
    /// IANA name, or the offset.
    timezone: String,
    /// ISO 8601 with offset.
    datetime: String,
    /// In English.
    day_of_week: String,
    /// Whether daylight saving time holds.
    is_dst: bool,
}

#[derive(Serialize, JsonSchema)]
struct Conversion {
    source: LocalTime,
    target: LocalTime,
    /// Target minus source, for example "+9.0h".
    time_difference: String,
}

#[tools]
impl TimeServer {
    /// Current time and date in a time zone, city or country (时间, 日期).
    #[tool(effect = "reads", idempotent)]
    async fn get_current_time(&self, args: GetCurrentTime) -> Result<Structured<LocalTime>, ToolFailure> {
        let zone = self.zone(args.timezone.as_deref().unwrap_or_default())?;
        let now = self.now(&zone);
        Ok(Structured::new(local_time(&zone, &now)).with_text(format!("It is {}.", in_words(&zone, &now))))
    }

    /// Converts a time from one time zone, city or country to another (时区换算).
    #[tool(effect = "reads", idempotent)]
    async fn convert_time(&self, args: ConvertTime) -> Result<Structured<Conversion>, ToolFailure> {
        let source_zone = self.zone(&args.source_timezone)?;
        let target_zone = self.zone(&args.target_timezone)?;
        let mut remark = "";
        let source = match read_time(&args.time)? {
            Asked::Moment(moment) => moment.to_zoned_datetime(source_zone.rules.clone()),
            Asked::Local(date, time) => {
                let date = date.unwrap_or_else(|| self.now(&source_zone).date());
                let local = source_zone.rules.to_ambiguous_zoned_datetime(date.to_datetime(time));
                if local.is_ambiguous() {
                    remark = " The clocks are changed around that time: it exists twice or not at all, and the \
                              usual reading was taken.";
                }
                local.compatible().map_err(|_| out_of_range(&args.time))?
            }
        };
        let target = source.with_time_zone(target_zone.rules.clone());
        let conversion = Conversion {
            source: local_time(&source_zone, &source),
            target: local_time(&target_zone, &target),
            time_difference: difference(&source, &target),
        };
        let mut text = in_words(&source_zone, &source);
        let _ = write!(
            text,
            " is {} ({} from there).{remark}",
            in_words(&target_zone, &target),
            conversion.time_difference
        );
        Ok(Structured::new(conversion).with_text(text))
    }

    /// The zone of a place; of the user's own where none is named.
    fn zone(&self, asked: &str) -> Result<Zone, ToolFailure> {
        let own = OWN.iter().any(|word| word.eq_ignore_ascii_case(asked.trim()));
        find_zone(if own { &self.options.local } else { asked })
    }

    fn now(&self, zone: &Zone) -> ZonedDateTime {
        (self.options.clock)().to_zoned_datetime(zone.rules.clone())
    }
}

fn local_time(zone: &Zone, moment: &ZonedDateTime) -> LocalTime {
    LocalTime {
        timezone: zone.name.clone(),
        datetime: moment.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        day_of_week: moment.strftime("%A").to_string(),
        is_dst: zone.rules.to_offset_info(moment.timestamp()).dst().is_dst(),
    }
}

fn in_words(zone: &Zone, moment: &ZonedDateTime) -> String {
    let summer = if zone.rules.to_offset_info(moment.timestamp()).dst().is_dst() {
        ", daylight saving time"
    } else {
        ""
    };
    let when = moment.strftime("%H:%M:%S on %A, %Y-%m-%d");
    format!("{when} in {} (UTC{}{summer})", zone.name, moment.strftime("%:z"))
}

/// As the protocol's example server writes it: one digit after the point, two where a quarter of an hour needs them.
fn difference(source: &ZonedDateTime, target: &ZonedDateTime) -> String {
    let minutes = (target.offset().seconds() - source.offset().seconds()) / 60;
    let sign = if minutes < 0 { '-' } else { '+' };
    let (hours, minutes) = (minutes.abs() / 60, minutes.abs() % 60);
    let hundredths = minutes * 100 / 60;
    if hundredths % 10 == 0 {
        format!("{sign}{hours}.{}h", hundredths / 10)
    } else {
        format!("{sign}{hours}.{hundredths:02}h")
    }
}

fn out_of_range(time: &str) -> ToolFailure {
    ToolFailure::new(format!("`{time}` lies outside of the years that can be computed.")).code("invalid_time")
}

#[cfg(test)]
mod tests;
