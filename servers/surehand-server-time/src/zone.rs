use std::sync::LazyLock;

use jiff::tz::{Offset, TimeZone, TimeZoneDatabase};
use surehand_mcp::ToolFailure;
use surehand_schema::nearest;

use crate::places::{PLACES, SEVERAL};

/// The rules that came with the program: the same answer on every machine.
static RULES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// Where a clock hangs.
#[derive(Clone, Debug)]
pub(crate) struct Zone {
    /// IANA name, or the offset as `UTC+08:00`.
    pub(crate) name: String,
    /// What the clock shows when.
    pub(crate) rules: TimeZone,
}

/// Finds a zone by IANA name, offset, or the name of a place.
pub(crate) fn find_zone(asked: &str) -> Result<Zone, ToolFailure> {
    let plain = plain(asked);
    if plain.is_empty() {
        return Err(unknown(asked, &plain));
    }
    if let Some((_, zones)) = SEVERAL.iter().find(|(names, _)| names.contains(&plain.as_str())) {
        return Err(ToolFailure::new(format!("{} has several time zones.", asked.trim()))
            .code("ambiguous_timezone")
            .suggest("Name a city, or one of these time zones.")
            .did_you_mean(zones.iter().copied()));
    }
    // Places first: to the database "Georgia" and "PST" mean nothing, and "Japan" is only an old name of Asia/Tokyo.
    let name = place(&plain)
        .map(str::to_owned)
        .or_else(|| known_name(asked).filter(|name| name.contains('/')))
        .or_else(|| city_in_name(&plain))
        .or_else(|| known_name(asked));
    if let Some(zone) = name.and_then(|name| named(&name)) {
        return Ok(zone);
    }
    if let Some(offset) = read_offset(&plain) {
        return Ok(offset);
    }
    // "Paris, France": the city says it all.
    match asked.split_once([',', '，']) {
        Some((city, _)) if !city.trim().is_empty() => find_zone(city).map_err(|_| unknown(asked, &plain)),
        _ => Err(unknown(asked, &plain)),
    }
}

fn named(name: &str) -> Option<Zone> {
    let rules = RULES.get(name).ok()?;
    Some(Zone { name: rules.iana_name().unwrap_or(name).to_owned(), rules })
}

/// The database's own name, whatever its case, with blanks for underscores.
fn known_name(asked: &str) -> Option<String> {
    let name = asked.trim().replace(' ', "_");
    RULES.get(&name).ok().and_then(|rules| rules.iana_name().map(str::to_owned))
}

fn place(plain: &str) -> Option<&'static str> {
    PLACES.iter().find(|(_, names)| names.contains(&plain)).map(|(zone, _)| *zone)
}

/// "buenos aires" is the end of `America/Argentina/Buenos_Aires`.
fn city_in_name(plain: &str) -> Option<String> {
    RULES.available().map(|name| name.to_string()).find(|name| {
        let city = name.rsplit('/').next().unwrap_or_default();
        name.contains('/') && !name.starts_with("Etc/") && self::plain(city) == plain
    })
}

/// `UTC+8`, `GMT-3:30`, `+08:00`, `utc`.
fn read_offset(plain: &str) -> Option<Zone> {
    let rest = plain.strip_prefix("utc").or_else(|| plain.strip_prefix("gmt")).unwrap_or(plain).trim();
    let (sign, digits) = match rest.chars().next()? {
        '+' | '＋' => (1, rest.trim_start_matches(['+', '＋'])),
        '-' | '−' => (-1, rest.trim_start_matches(['-', '−'])),
        _ => return None,
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some(fields) => fields,
        None if digits.len() == 4 && digits.is_ascii() => digits.split_at(2),
        None => (digits, "0"),
    };
    let part = |text: &str| text.parse::<u8>().ok().map(i32::from);
    let (hours, minutes) = (part(hours)?, part(minutes)?);
    if hours > 14 || minutes > 59 {
        return None;
    }
    let offset = Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok()?;
    let name = format!("UTC{}{hours:02}:{minutes:02}", if sign < 0 { '-' } else { '+' });
    Some(Zone { name, rules: TimeZone::fixed(offset) })
}

/// Lower case, without accents, underscores and the words that only say what kind of thing it is.
fn plain(text: &str) -> String {
    let folded: String = text.chars().flat_map(char::to_lowercase).filter_map(fold).collect();
    let words = folded.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut words = words.as_str();
    for kind in [" city", " time", "市", "时间", "時間"] {
        words = words.strip_suffix(kind).filter(|rest| !rest.is_empty()).unwrap_or(words);
    }
    words.to_owned()
}

fn fold(character: char) -> Option<char> {
    Some(match character {
        'à'..='å' | 'ā' | 'ă' => 'a',
        'ç' | 'č' => 'c',
        'è'..='ë' | 'ē' => 'e',
        'ì'..='ï' | 'ı' => 'i',
        'ñ' => 'n',
        'ò'..='ö' | 'ø' => 'o',
        'ş' | 'š' => 's',
        'ù'..='ü' => 'u',
        'ý' | 'ÿ' => 'y',
        'ł' => 'l',
        '_' => ' ',
        // The dot that is left over when `İ` becomes small.
        '\'' | '’' | '.' | '\u{307}' => return None,
        other => other,
    })
}

fn unknown(asked: &str, plain: &str) -> ToolFailure {
    let failure = ToolFailure::new(format!("No time zone, city or country is known as `{}`.", asked.trim()))
        .code("unknown_timezone")
        .suggest("Use an IANA time zone such as \"Asia/Tokyo\", a large city in the same time zone, or an offset such as \"UTC+8\".");
    let zones: Vec<String> = RULES.available().map(|name| name.to_string()).collect();
    let places = PLACES.iter().flat_map(|(_, names)| names.iter().copied());
    let close = nearest(plain, places);
    let close =
        if close.is_empty() { nearest(asked.trim(), zones.iter().map(String::as_str)) } else { close };
    let close = if close.is_empty() {
        let cities: Vec<(String, &String)> =
            zones.iter().map(|zone| (self::plain(zone.rsplit('/').next().unwrap_or(zone)), zone)).collect();
        nearest(plain, cities.iter().map(|(city, _)| city.as_str()))
            .into_iter()
            .filter_map(|found| cities.iter().find(|(city, _)| city == found).map(|(_, zone)| zone.as_str()))
            .collect()
    } else {
        close
    };
    failure.did_you_mean(close)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn name(asked: &str) -> Result<String, String> {
        find_zone(asked).map(|zone| zone.name).map_err(|failure| failure.code)
    }

    #[test]
    fn places_are_found_as_models_write_them() {
        for (asked, zone) in [
            ("Asia/Tokyo", "Asia/Tokyo"),
            ("asia/tokyo", "Asia/Tokyo"),
            ("america/new york", "America/New_York"),
            ("Tokyo", "Asia/Tokyo"),
            ("东京", "Asia/Tokyo"),
            ("東京", "Asia/Tokyo"),
            ("北京", "Asia/Shanghai"),
            ("北京市", "Asia/Shanghai"),
            ("北京时间", "Asia/Shanghai"),
            ("Beijing", "Asia/Shanghai"),
            ("Beijing time", "Asia/Shanghai"),
            ("new york city", "America/New_York"),
            ("New_York", "America/New_York"),
            ("Paris, France", "Europe/Paris"),
            ("São Paulo", "America/Sao_Paulo"),
            ("Zürich", "Europe/Zurich"),
            ("İstanbul", "Europe/Istanbul"),
            ("buenos aires", "America/Argentina/Buenos_Aires"),
            ("San Francisco", "America/Los_Angeles"),
            ("Germany", "Europe/Berlin"),
            ("india", "Asia/Kolkata"),
            ("PST", "America/Los_Angeles"),
            ("Singapore", "Asia/Singapore"),
            ("Jamaica", "America/Jamaica"),
            ("EST", "EST"),
            ("UTC", "UTC"),
            ("z", "UTC"),
            ("UTC+8", "UTC+08:00"),
            ("GMT-3:30", "UTC-03:30"),
            ("+0545", "UTC+05:45"),
        ] {
            assert_eq!(name(asked).as_deref(), Ok(zone), "{asked}");
        }
    }

    #[test]
    fn what_cannot_be_known_is_asked_back() {
        for asked in ["USA", "美国", "CST", "Russia"] {
            assert_eq!(name(asked), Err("ambiguous_timezone".to_owned()), "{asked}");
        }
        for asked in ["", " ", "Atlantis", "UTC+99", ",", "Mars/Olympus"] {
            assert_eq!(name(asked), Err("unknown_timezone".to_owned()), "{asked}");
        }
    }

    #[test]
    fn a_slip_of_the_pen_is_answered_with_the_nearest_names() {
        let best = |asked| find_zone(asked).unwrap_err().did_you_mean.into_iter().next().unwrap_or_default();
        assert_eq!(best("Asia/Tokio"), "Asia/Tokyo");
        assert_eq!(best("Bejing"), "beijing");
        assert_eq!(best("Melborne"), "Australia/Melbourne");
    }

    #[test]
    fn every_place_leads_to_a_zone_and_stands_once() {
        let mut seen = HashSet::new();
        for (zone, names) in PLACES {
            assert!(RULES.get(zone).is_ok(), "{zone}");
            for name in *names {
                assert_eq!(&plain(name), name, "not in plain spelling");
                assert!(seen.insert(*name), "{name} stands twice");
            }
        }
        for (names, zones) in SEVERAL {
            assert!(zones.iter().all(|zone| RULES.get(zone).is_ok()), "{zones:?}");
            assert!(names.iter().all(|name| seen.insert(*name)), "{names:?} stands twice");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_text_is_a_zone_or_an_explained_error(text in ".{0,24}") {
            if let Err(failure) = find_zone(&text) {
                prop_assert!(failure.suggestion.is_some());
            }
        }
    }
}
