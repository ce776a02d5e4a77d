/// The formats of texts that a form knows, and what a person is told they are.
pub(super) const FORMATS: [(&str, &str); 4] = [
    ("email", "an address such as name@example.org"),
    ("uri", "an address such as https://example.org/page"),
    ("date", "a date such as 2026-07-28"),
    ("date-time", "a date and time such as 2026-07-28T09:30:00Z"),
];

/// Whether a text is of a format. Formats that are not known fit every text.
///
/// Source: RFC 3339 for dates; RFC 3986 and RFC 5321 only as far as a slip of the pen is concerned.
pub(super) fn is_of_format(text: &str, format: &str) -> bool {
    match format {
        "email" => text.rsplit_once('@').is_some_and(|(name, host)| is_word(name) && is_word(host)),
        "uri" => text.split_once(':').is_some_and(|(scheme, rest)| {
            scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
                && is_word(rest)
        }),
        "date" => is_date(text),
        "date-time" => is_date_time(text),
        _ => true,
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control())
}

fn is_date(text: &str) -> bool {
    let mut parts = text.split('-');
    let (Some(year), Some(month), Some(day), None) =
        (digits(parts.next(), 4), digits(parts.next(), 2), digits(parts.next(), 2), parts.next())
    else {
        return false;
    };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 0,
    };
    (1..=days).contains(&day)
}

fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't', ' ']) else { return false };
    let Some(zone) = time.find(['Z', 'z', '+', '-']) else { return false };
    let (clock, zone) = time.split_at(zone);
    let zone_fits = match zone.strip_prefix(['+', '-']) {
        Some(offset) => offset.len() == 5 && is_clock(offset.split(':'), &[23, 59]),
        None => zone.len() == 1,
    };
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let fraction_fits = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    // A leap second is the 60th.
    is_date(date) && zone_fits && fraction_fits && is_clock(clock.split(':'), &[23, 59, 60])
}

fn is_clock<'a>(mut parts: impl Iterator<Item = &'a str>, most: &[u32]) -> bool {
    most.iter().all(|most| digits(parts.next(), 2).is_some_and(|value| value <= *most))
        && parts.next().is_none()
}

/// A number of exactly so many digits.
fn digits(text: Option<&str>, count: usize) -> Option<u32> {
    let text = text.filter(|text| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit()))?;
    text.parse().ok()
}
