//! Reads members that providers fill with more than one type, so that one odd member never costs the answer.

use serde::{Deserialize, Deserializer};
use surehand_model::RawJson;

/// A count: any whole JSON number that fits, else `None`.
pub(crate) fn count<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    let raw = Option::<RawJson>::deserialize(from)?;
    Ok(raw.and_then(|raw| {
        let text = raw.as_str();
        text.parse()
            .ok()
            .or_else(|| text.parse::<f64>().ok().filter(|number| *number >= 0.0).map(|number| number as u64))
    }))
}

/// A text: a JSON string, or a number as it was written, else `None`. The empty text is `None` too.
pub(crate) fn text<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let raw = Option::<RawJson>::deserialize(from)?;
    Ok(raw.and_then(|raw| {
        let text = raw.as_str();
        match text.as_bytes().first() {
            Some(b'"') => raw.to_type::<String>().ok(),
            Some(b'-' | b'0'..=b'9') => Some(text.to_owned()),
            _ => None,
        }
        .filter(|text| !text.is_empty())
    }))
}

/// A list, where one element of another shape is left out; anything but a list is an empty one.
pub(crate) fn list<'de, D: Deserializer<'de>, T: serde::de::DeserializeOwned>(
    from: D,
) -> Result<Vec<T>, D::Error> {
    let raw = Option::<RawJson>::deserialize(from)?;
    let items: Vec<RawJson> = raw.and_then(|raw| raw.to_type().ok()).unwrap_or_default();
    Ok(items.iter().filter_map(|item| item.to_type().ok()).collect())
}
