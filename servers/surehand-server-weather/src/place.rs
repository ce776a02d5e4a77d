use serde::Deserialize;
use surehand_mcp::ToolFailure;

use crate::service::{Service, ServiceError};

/// How many places of a name are looked at.
const CANDIDATES: &str = "20";
/// How many other places are named.
const OTHERS: usize = 4;

/// A place on earth.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub(crate) struct Place {
    pub(crate) name: String,
    pub(crate) latitude: f64,
    pub(crate) longitude: f64,
    #[serde(default)]
    pub(crate) country: Option<String>,
    #[serde(default)]
    country_code: Option<String>,
    /// State or province.
    #[serde(default, rename = "admin1")]
    pub(crate) region: Option<String>,
    #[serde(default)]
    population: Option<u64>,
}

/// The place that was chosen, and others of the same name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoundPlace {
    pub(crate) place: Place,
    pub(crate) others: Vec<String>,
}

#[derive(Deserialize)]
struct Answer {
    /// Absent where nothing was found.
    #[serde(default)]
    results: Vec<Place>,
}

/// Finds the largest place of a name. What follows a comma (`Paris, France`, `Portland, OR`) must fit country or region.
pub(crate) async fn find_place(service: &Service, city: &str) -> Result<FoundPlace, ToolFailure> {
    let mut parts = city.split([',', '，', '、']).map(str::trim).filter(|part| !part.is_empty());
    let name = parts.next().unwrap_or_default();
    let within: Vec<&str> = parts.collect();

    let mut candidates = search(service, name).await?;
    // The gazetteer knows 北京 and not 北京市.
    if let Some(short) = name.strip_suffix(['市', '县', '區', '区']).filter(|short| !short.is_empty())
        && candidates.is_empty()
    {
        candidates = search(service, short).await?;
    }
    if candidates.is_empty() {
        let suggestion = if name.is_ascii() {
            "Check the spelling, or name a larger city nearby."
        } else {
            "Check the spelling, or write the city's name in English."
        };
        return Err(ToolFailure::not_found(format!("No place is known as `{city}`.")).suggest(suggestion));
    }

    // Stable, so places of equal rank keep the service's own order.
    candidates.sort_by_key(|place| std::cmp::Reverse((same_name(&place.name, name), place.population)));
    let (fitting, rest): (Vec<Place>, Vec<Place>) =
        candidates.into_iter().partition(|place| within.iter().all(|part| place.lies_in(part)));
    let mut fitting = fitting.into_iter();
    let Some(place) = fitting.next() else {
        let known = rest.iter().take(OTHERS).map(Place::full_name);
        return Err(ToolFailure::not_found(format!(
            "No place called `{name}` is known in `{}`.",
            within.join(", ")
        ))
        .did_you_mean(known));
    };
    let mut others: Vec<String> = Vec::new();
    for other in fitting.filter(|other| same_name(&other.name, &place.name)).map(|other| other.full_name()) {
        if other != place.full_name() && !others.contains(&other) && others.len() < OTHERS {
            others.push(other);
        }
    }
    Ok(FoundPlace { place, others })
}

async fn search(service: &Service, name: &str) -> Result<Vec<Place>, ServiceError> {
    let query = [("name", name), ("count", CANDIDATES), ("language", language(name)), ("format", "json")];
    Ok(service.ask::<Answer>(&service.geocoding, &query).await?.results)
}

impl Place {
    /// `Springfield, Illinois, United States`.
    pub(crate) fn full_name(&self) -> String {
        let mut parts = vec![self.name.as_str()];
        for part in [&self.region, &self.country].into_iter().flatten() {
            if !parts.contains(&part.as_str()) {
                parts.push(part);
            }
        }
        parts.join(", ")
    }

    fn lies_in(&self, part: &str) -> bool {
        let state =
            STATES.iter().find(|(short, _)| short.eq_ignore_ascii_case(part)).map(|(_, state)| *state);
        let code = match part.to_ascii_lowercase().as_str() {
            "usa" | "u.s." | "u.s.a." | "america" | "美国" => "us".to_owned(),
            "uk" | "england" | "scotland" | "wales" | "britain" | "英国" => "gb".to_owned(),
            other => other.to_owned(),
        };
        let is = |value: &Option<String>, wanted: &str| {
            value.as_deref().is_some_and(|value| same_name(value, wanted))
        };
        is(&self.country, part)
            || is(&self.region, part)
            || is(&self.country_code, &code)
            || state.is_some_and(|state| is(&self.region, state))
    }
}

fn same_name(a: &str, b: &str) -> bool {
    a.to_lowercase() == b.to_lowercase()
}

/// In which language the gazetteer is asked: it finds a name only in the language that it answers in.
fn language(name: &str) -> &'static str {
    let has = |ranges: &[std::ops::RangeInclusive<char>]| {
        name.chars().any(|character| ranges.iter().any(|range| range.contains(&character)))
    };
    if has(&['\u{3040}'..='\u{30ff}']) {
        "ja"
    } else if has(&['\u{4e00}'..='\u{9fff}', '\u{3400}'..='\u{4dbf}']) {
        "zh"
    } else if has(&['\u{ac00}'..='\u{d7af}', '\u{1100}'..='\u{11ff}']) {
        "ko"
    } else if has(&['\u{0400}'..='\u{04ff}']) {
        "ru"
    } else if has(&['\u{0600}'..='\u{06ff}']) {
        "ar"
    } else {
        "en"
    }
}

/// How addresses in the United States shorten a state.
const STATES: [(&str, &str); 51] = [
    ("AL", "Alabama"),
    ("AK", "Alaska"),
    ("AZ", "Arizona"),
    ("AR", "Arkansas"),
    ("CA", "California"),
    ("CO", "Colorado"),
    ("CT", "Connecticut"),
    ("DE", "Delaware"),
    ("DC", "District of Columbia"),
    ("FL", "Florida"),
    ("GA", "Georgia"),
    ("HI", "Hawaii"),
    ("ID", "Idaho"),
    ("IL", "Illinois"),
    ("IN", "Indiana"),
    ("IA", "Iowa"),
    ("KS", "Kansas"),
    ("KY", "Kentucky"),
    ("LA", "Louisiana"),
    ("ME", "Maine"),
    ("MD", "Maryland"),
    ("MA", "Massachusetts"),
    ("MI", "Michigan"),
    ("MN", "Minnesota"),
    ("MS", "Mississippi"),
    ("MO", "Missouri"),
    ("MT", "Montana"),
    ("NE", "Nebraska"),
    ("NV", "Nevada"),
    ("NH", "New Hampshire"),
    ("NJ", "New Jersey"),
    ("NM", "New Mexico"),
    ("NY", "New York"),
    ("NC", "North Carolina"),
    ("ND", "North Dakota"),
    ("OH", "Ohio"),
    ("OK", "Oklahoma"),
    ("OR", "Oregon"),
    ("PA", "Pennsylvania"),
    ("RI", "Rhode Island"),
    ("SC", "South Carolina"),
    ("SD", "South Dakota"),
    ("TN", "Tennessee"),
    ("TX", "Texas"),
    ("UT", "Utah"),
    ("VT", "Vermont"),
    ("VA", "Virginia"),
    ("WA", "Washington"),
    ("WV", "West Virginia"),
    ("WI", "Wisconsin"),
    ("WY", "Wyoming"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_looked_up_in_the_language_it_is_written_in() {
        let languages =
            ["Beijing", "北京", "とうきょう", "서울", "Москва", "القاهرة", "Zürich"].map(language);
        assert_eq!(languages, ["en", "zh", "ja", "ko", "ru", "ar", "en"]);
    }
}
