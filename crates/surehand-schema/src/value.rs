//! Values as the validator sees them, and as people read them.

use serde_json::{Map, Number, Value};
use surehand_model::Json;

/// How many characters of a value are shown.
const SHOWN: usize = 60;

/// The value for the validator, which knows numbers of 64 bits only. Nothing but validation may use it.
///
/// What JSON Schema can tell about a number stays true: a whole number stays whole however many digits it has, one with a
/// fraction keeps one, and one beyond all bounds becomes the largest there is.
pub(crate) fn for_validation(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Number(text) => Value::Number(number(text, json.type_name() == "integer")),
        Json::String(text) => Value::String(text.clone()),
        Json::Array(items) => Value::Array(items.iter().map(for_validation).collect()),
        Json::Object(members) => {
            let members = members.iter().map(|(key, value)| (key.clone(), for_validation(value)));
            Value::Object(members.collect::<Map<_, _>>())
        }
    }
}

fn number(text: &str, is_whole: bool) -> Number {
    let float = text.parse::<f64>().unwrap_or(f64::MAX).clamp(f64::MIN, f64::MAX);
    if !is_whole && float.fract() == 0.0 && float.abs() < 4_503_599_627_370_496.0 {
        // The fraction is finer than a float can hold; any other fraction says the same about the kind of number.
        return Number::from_f64(float + 0.5).unwrap_or_else(|| Number::from(0));
    }
    text.parse::<Number>().ok().or_else(|| Number::from_f64(float)).unwrap_or_else(|| Number::from(0))
}

/// What a value is, in words: `integer 5`, `string "abc"`, `null`. Long values are cut.
pub(crate) fn describe(json: &Json) -> String {
    match json {
        Json::Null => "null".to_owned(),
        other => format!("{} {}", other.type_name(), cut(&other.to_string())),
    }
}

/// At most 60 characters of a text, with `...` where something is left out.
pub(crate) fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}...", &text[..at]),
    }
}

/// How many items of a list are named.
const NAMED: usize = 20;

/// A list in words: `a, b or c`.
pub(crate) fn listed(items: &[String], last: &str) -> String {
    match items {
        [first @ .., end] if !first.is_empty() && items.len() <= NAMED => {
            format!("{} {last} {end}", first.join(", "))
        }
        _ => named(items),
    }
}

/// A list as it is: `a, b, c`. At most 20 are named, the rest is counted.
pub(crate) fn named(items: &[String]) -> String {
    if items.len() > NAMED {
        return format!("{} and {} more", items[..NAMED].join(", "), items.len() - NAMED);
    }
    items.join(", ")
}

/// A whole number without point and exponent, for one that is written with them, such as `5.0` or `1e3`. `None` for a number
/// that is not whole, is written that way already, or would be longer than 40 digits.
pub(crate) fn whole_spelling(text: &str) -> Option<String> {
    const DIGITS: i64 = 40;
    if !text.contains(['.', 'e', 'E']) || Json::Number(text.to_owned()).type_name() != "integer" {
        return None;
    }
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], text[at + 1..].parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let digits = all.trim_start_matches('0');
    if digits.is_empty() {
        return Some("0".to_owned());
    }
    // The number is `digits` times ten to the power of this.
    let power = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?;
    if i64::try_from(digits.len()).ok()?.checked_add(power)? > DIGITS {
        return None;
    }
    if power >= 0 {
        return Some(format!("{sign}{digits}{}", "0".repeat(usize::try_from(power).ok()?)));
    }
    let kept = digits.len().checked_sub(usize::try_from(power.unsigned_abs()).ok()?)?;
    Some(format!("{sign}{}", &digits[..kept]))
}

/// Whether no two items are the same, digit for digit where numbers are written alike.
pub(crate) fn all_differ(items: &[Json]) -> bool {
    let mut seen: Vec<String> = items.iter().map(Json::to_string).collect();
    seen.sort_unstable();
    seen.windows(2).all(|pair| pair[0] != pair[1])
}

/// A JSON Pointer one step further down.
pub(crate) fn join(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_is_spelled_without_point_and_exponent() {
        let table = [
            ("5.0", Some("5")),
            ("-5.00", Some("-5")),
            ("1e3", Some("1000")),
            ("1.5e1", Some("15")),
            ("1500e-2", Some("15")),
            ("0.0", Some("0")),
            ("-0.0", Some("0")),
            ("0.5e1", Some("5")),
            ("12345678901234567890.0", Some("12345678901234567890")),
            ("5", None),
            ("5.5", None),
            ("1e400", None),
            ("1e99999999999999999999", None),
        ];
        for (text, expected) in table {
            assert_eq!(whole_spelling(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn numbers_keep_for_validation_what_json_schema_can_tell_about_them() {
        let table = [
            ("123456789012345678901234567890", true),
            ("-123456789012345678901234567890", true),
            ("1e400", true),
            ("-0", true),
            ("1.0000000000000000000000001", false),
            ("0.1", false),
        ];
        for (text, whole) in table {
            let value = for_validation(&Json::Number(text.to_owned()));
            let float = value.as_f64().unwrap();
            assert_eq!(float.fract() == 0.0, whole, "{text} became {value}");
            assert_eq!(float < 0.0, text.starts_with("-1"), "{text} became {value}");
        }
    }

    #[test]
    fn a_description_names_kind_and_value_and_cuts_what_is_long() {
        let table = [
            ("5", "integer 5"),
            ("5.5", "number 5.5"),
            ("null", "null"),
            ("true", "boolean true"),
            ("\"a\\nb\"", "string \"a\\nb\""),
            ("[1,{\"a\":2}]", "array [1,{\"a\":2}]"),
        ];
        for (text, expected) in table {
            assert_eq!(describe(&Json::parse(text).unwrap()), expected);
        }
        let long = describe(&Json::String("é".repeat(100)));
        assert_eq!(long, format!("string \"{}...", "é".repeat(59)));
    }
}
