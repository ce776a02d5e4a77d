use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use surehand_mcp::ToolFailure;

/// What a time means before a place is known.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// It has an offset of its own, so no place can change it.
    Moment(Timestamp),
    /// On a clock; today where there is no date.
    Local(Option<Date>, Time),
}

/// Reads `16:30`, `4:30 pm`, `4pm`, `noon`, `2026-03-01T16:30`, `2026-03-01 16:30:15`, `2026-03-01` (midnight) and anything with
/// an offset or `Z`.
pub(crate) fn read_time(text: &str) -> Result<Asked, ToolFailure> {
    let text = text.trim();
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Ok(Asked::Moment(moment));
    }
    if let Some(time) = clock_time(text) {
        return Ok(Asked::Local(None, time));
    }
    if let Some((date, time)) = text.split_once(['T', 't', ' '])
        && let (Ok(date), Some(time)) = (date.parse::<Date>(), clock_time(time))
    {
        return Ok(Asked::Local(Some(date), time));
    }
    if let Ok(local) = text.parse::<DateTime>() {
        return Ok(Asked::Local(Some(local.date()), local.time()));
    }
    Err(ToolFailure::new(format!("`{text}` is not a time."))
        .code("invalid_time")
        .suggest("Write \"HH:MM\" in 24 hours, for example \"16:30\", or a date and time, for example \"2026-03-01T16:30\"."))
}

fn clock_time(text: &str) -> Option<Time> {
    let text = text.trim().to_ascii_lowercase();
    match text.as_str() {
        "noon" | "midday" => return Time::new(12, 0, 0, 0).ok(),
        "midnight" => return Some(Time::midnight()),
        _ => {}
    }
    let dotless = text.replace("a.m.", "am").replace("p.m.", "pm");
    let (digits, half) = match (dotless.strip_suffix("am"), dotless.strip_suffix("pm")) {
        (Some(digits), _) => (digits.trim_end(), Some(0)),
        (_, Some(digits)) => (digits.trim_end(), Some(12)),
        _ => (dotless.as_str(), None),
    };
    let mut fields = digits.split([':', '：']);
    let mut number =
        || fields.next().map(|field| field.trim().parse::<i8>().ok().filter(|number| *number >= 0));
    let (hour, minute, second) = (number()??, number(), number());
    if fields.next().is_some() {
        return None;
    }
    let (minute, second) = match (minute, second, half) {
        // A bare number is an hour only where `am` or `pm` says so.
        (None, _, None) => return None,
        (minute, second, _) => (minute.unwrap_or(Some(0))?, second.unwrap_or(Some(0))?),
    };
    let hour = match half {
        Some(half) if (1..=12).contains(&hour) => hour % 12 + half,
        Some(_) => return None,
        None => hour,
    };
    Time::new(hour, minute, second, 0).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_and_models_write_them() {
        let at = |hour, minute| Some(Asked::Local(None, Time::constant(hour, minute, 0, 0)));
        for (text, want) in [
            ("16:30", at(16, 30)),
            ("9:05", at(9, 5)),
            ("16:30:00", at(16, 30)),
            ("4:30 PM", at(16, 30)),
            ("4 p.m.", at(16, 0)),
            ("12am", at(0, 0)),
            ("12pm", at(12, 0)),
            ("noon", at(12, 0)),
            ("16：30", at(16, 30)),
            ("25:00", None),
            ("16", None),
            ("13pm", None),
            ("-1:30", None),
            ("16:30:00:00", None),
            ("half past four", None),
            ("", None),
        ] {
            assert_eq!(read_time(text).ok(), want, "{text}");
        }
    }

    #[test]
    fn a_date_or_an_offset_is_kept() {
        let date = Some(Date::constant(2026, 3, 1));
        let local = |hour, minute, second| Some(Asked::Local(date, Time::constant(hour, minute, second, 0)));
        assert_eq!(read_time("2026-03-01T16:30").ok(), local(16, 30, 0));
        assert_eq!(read_time("2026-03-01 16:30:15").ok(), local(16, 30, 15));
        assert_eq!(read_time("2026-03-01 4:30 pm").ok(), local(16, 30, 0));
        assert_eq!(read_time("2026-03-01").ok(), local(0, 0, 0));
        let moment = Asked::Moment("2026-03-01T14:30:00Z".parse().unwrap());
        assert_eq!(read_time("2026-03-01T16:30:00+02:00").ok(), Some(moment));
    }
}
