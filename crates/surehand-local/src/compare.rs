use std::cmp::Ordering;

use surehand_model::{ContentBlock, Json, ToolResult};

use crate::prompt::Language;
use crate::words::{expand, words};

/// The most lines that a comparison has.
const MOST_LINES: usize = 4;

/// Whether a question wants its things held against each other.
pub(crate) fn compares(question: &str) -> bool {
    const CHINESE: [&str; 8] = ["比较", "对比", "哪个", "哪里", "哪边", "更", "相差", "差多少"];
    const ENGLISH: [&str; 12] = [
        "compare",
        "which",
        "than",
        "difference",
        "warmer",
        "hotter",
        "colder",
        "cooler",
        "larger",
        "bigger",
        "smaller",
        "newer",
    ];
    let lower = question.to_lowercase();
    CHINESE.iter().any(|word| lower.contains(word))
        || lower.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| ENGLISH.contains(&word))
}

/// Which of the things has most and which least of the numbers that all results have: of those that the question speaks of, else of the
/// first few. One line for each number in which they differ, in the order of the first result.
pub(crate) fn compared(
    question: &str,
    labels: &[String],
    results: &[ToolResult],
    language: Language,
) -> String {
    let all: Vec<Vec<(String, String)>> = results.iter().map(numbers).collect();
    let Some((first, others)) = all.split_first() else { return String::new() };
    let mut lines = Vec::new();
    for (name, value) in first {
        let rest: Option<Vec<&String>> = others
            .iter()
            .map(|one| one.iter().find(|(other, _)| other == name).map(|(_, value)| value))
            .collect();
        let Some(rest) = rest else { continue };
        let mut values: Vec<(&String, &String)> =
            labels.iter().zip(std::iter::once(value).chain(rest)).collect();
        values.sort_by(|one, other| by_worth(other.1, one.1));
        let (Some(most), Some(least)) = (values.first(), values.last()) else { continue };
        if by_worth(most.1, least.1) == Ordering::Equal {
            continue;
        }
        let line = match language {
            Language::Chinese => {
                format!("{name}：{}最高（{}），{}最低（{}）", most.0, most.1, least.0, least.1)
            }
            Language::Other => {
                format!("{name}: {} highest ({}), {} lowest ({})", most.0, most.1, least.0, least.1)
            }
        };
        lines.push((words(name), line));
    }
    let asked = expand(question);
    let is_asked = |name: &[String]| name.iter().any(|word| asked.iter().any(|(asked, _)| asked == word));
    if lines.iter().any(|(name, _)| is_asked(name)) {
        lines.retain(|(name, _)| is_asked(name));
    }
    let lines: Vec<String> = lines.into_iter().take(MOST_LINES).map(|(_, line)| line).collect();
    lines.join("\n")
}

fn by_worth(one: &str, other: &str) -> Ordering {
    let worth = |text: &str| text.parse::<f64>().unwrap_or(f64::NAN);
    worth(one).total_cmp(&worth(other))
}

/// The numbers of a result by their names, those inside objects but not those in lists.
fn numbers(result: &ToolResult) -> Vec<(String, String)> {
    let text = result.content.iter().find_map(|block| match block {
        ContentBlock::Text(text) => Json::parse(text).ok(),
        _ => None,
    });
    let json = text.or_else(|| result.structured.as_ref().and_then(|structured| structured.to_json().ok()));
    let mut found = Vec::new();
    if let Some(json) = json {
        collect("", &json, &mut found);
    }
    found
}

fn collect(path: &str, value: &Json, found: &mut Vec<(String, String)>) {
    match value {
        Json::Object(members) => {
            for (name, value) in members {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                collect(&path, value, found);
            }
        }
        Json::Number(number) => found.push((path.to_owned(), number.clone())),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use surehand_model::CallId;

    use super::*;

    #[test]
    fn most_and_least_are_found_among_numbers_that_all_have() {
        let results = [
            r#"{"temperature":9.5,"w":{"speed":3},"same":1,"own":2}"#,
            r#"{"w":{"speed":12},"temperature":18.90,"same":1.0}"#,
        ]
        .map(|text| ToolResult::text(CallId::from("1"), "w", text));
        let labels = ["Lisbon".to_owned(), "Athens".to_owned()];
        let compared = |question: &str, language| compared(question, &labels, &results, language);
        assert_eq!(
            compared("Compare them", Language::Other),
            "temperature: Athens highest (18.90), Lisbon lowest (9.5)\nw.speed: Athens highest (12), Lisbon lowest (3)"
        );
        assert_eq!(
            compared("哪个热？", Language::Chinese),
            "temperature：Athens最高（18.90），Lisbon最低（9.5）"
        );
    }

    #[test]
    fn a_comparison_is_heard_in_both_languages() {
        assert!(compares("杭州和苏州今天哪个更热？") && compares("Is it warmer in Lisbon or in Athens?"));
        assert!(!compares("上海、北京、广州天气") && !compares("Weather in Lima and Quito"));
    }
}
