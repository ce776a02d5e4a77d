use std::collections::HashMap;

use surehand_model::Tool;

use crate::words::{expand, words};

/// The most tools that a small model is shown.
pub(crate) const MOST_TOOLS: usize = 5;

/// BM25's usual constants: how fast a repeated word stops counting, and how much a long text is held against it.
const SATURATION: f64 = 1.2;
const LENGTH_WEIGHT: f64 = 0.75;

/// How much worse than the best a tool may fit and still be called: less of its score than this, and only the others are.
const LIKELY: f64 = 0.5;

/// Which tools fit a question.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Picked {
    /// What the model is shown: at most [`MOST_TOOLS`] indices, rising, so that the same tools always stand in the same order.
    pub(crate) shown: Vec<usize>,
    /// What it may call, rising: those among the shown that fit well beside the best one, or all where none fits.
    pub(crate) likely: Vec<usize>,
    /// The best tool's score; 0 where no word of the question speaks of any tool.
    pub(crate) best: f64,
}

impl Picked {
    /// One tool, whatever the question says.
    pub(crate) fn one(index: Option<usize>) -> Self {
        Self { shown: index.into_iter().collect(), likely: index.into_iter().collect(), best: 0.0 }
    }
}

/// Picks the tools whose names, descriptions and parameters share most words with the question (BM25).
///
/// Words of the question are widened by a small table that leads from Chinese and from everyday English to the words tools use.
/// Where fewer than [`MOST_TOOLS`] fit well, the first ones of the list fill up: so most questions show the same few sets of tools,
/// and what the model has read of them can be kept.
pub(crate) fn pick_tools(question: &str, tools: &[Tool]) -> Picked {
    let scores = fit(question, tools);
    let best = scores.iter().copied().fold(0.0, f64::max);
    let fits = |index: &usize| best > 0.0 && scores[*index] >= LIKELY * best;
    let mut order: Vec<usize> = (0..tools.len()).collect();
    order.sort_by(|one, other| {
        let by_fit = fits(other).cmp(&fits(one));
        let by_score =
            if fits(one) && fits(other) { scores[*other].total_cmp(&scores[*one]) } else { one.cmp(other) };
        by_fit.then(by_score).then(one.cmp(other))
    });
    let mut shown: Vec<usize> = order.into_iter().take(MOST_TOOLS).collect();
    shown.sort_unstable();
    let mut likely: Vec<usize> = shown.iter().copied().filter(|index| fits(index)).collect();
    if likely.is_empty() {
        likely.clone_from(&shown);
    }
    Picked { shown, likely, best }
}

/// How well each tool's words fit a text, from 0.
pub(crate) fn fit(question: &str, tools: &[Tool]) -> Vec<f64> {
    let texts: Vec<HashMap<String, f64>> = tools.iter().map(weights).collect();
    let lengths: Vec<f64> = texts.iter().map(|text| text.values().sum()).collect();
    let mean = (lengths.iter().sum::<f64>() / tools.len().max(1) as f64).max(1.0);
    let asked = expand(question);
    let mut scores = vec![0.0; tools.len()];
    for (word, weight) in &asked {
        let holding = texts.iter().filter(|text| text.contains_key(word)).count() as f64;
        let rarity = (1.0 + (tools.len() as f64 - holding + 0.5) / (holding + 0.5)).ln();
        for ((score, text), length) in scores.iter_mut().zip(&texts).zip(&lengths) {
            let count = text.get(word).copied().unwrap_or(0.0);
            let damped = count + SATURATION * (1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * length / mean);
            *score += weight * rarity * count * (SATURATION + 1.0) / damped;
        }
    }
    scores
}

/// The words of a tool, each with how much it says: a name says more than a description, that more than a parameter.
fn weights(tool: &Tool) -> HashMap<String, f64> {
    let mut weights = HashMap::new();
    let mut add = |text: &str, weight: f64| {
        for word in words(text) {
            *weights.entry(word).or_insert(0.0) += weight;
        }
    };
    add(&tool.name, 3.0);
    add(tool.title.as_deref().unwrap_or_default(), 1.0);
    add(&tool.description, 1.0);
    if let Some(properties) =
        tool.input_schema.to_json().ok().as_ref().and_then(|schema| schema.get("properties"))
    {
        for (name, schema) in properties.as_object().unwrap_or_default() {
            add(name, 0.5);
            add(schema.get("description").and_then(|text| text.as_str()).unwrap_or_default(), 0.25);
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use surehand_model::RawJson;

    use super::*;

    fn tool(name: &str, description: &str) -> Tool {
        Tool::new(name, description, RawJson::empty_object())
    }

    fn catalog() -> Vec<Tool> {
        vec![
            tool("get_current_time", "Gives the current time in a time zone."),
            tool("convert_time", "Converts a time of day from one time zone to another."),
            tool("get_weather", "Gives current weather and a forecast for a city."),
            tool("read_text_file", "Reads a text file."),
            tool("list_directory", "Lists what is in a folder."),
            tool("search_files", "Finds files by name pattern."),
            tool("get_file_info", "Size and modification time of a file."),
            tool("send_mail", "Sends an e-mail message."),
        ]
    }

    #[test]
    fn a_question_finds_its_tool_among_many_in_either_language() {
        let tools = catalog();
        for (question, name) in [
            ("北京天气怎么样", "get_weather"),
            ("现在几点了", "get_current_time"),
            ("读一下文件 a.txt", "read_text_file"),
            ("发一封邮件给小王", "send_mail"),
            ("Do I need an umbrella today?", "get_weather"),
            ("What is in the folder src?", "list_directory"),
        ] {
            let best = {
                let scores = fit(question, &tools);
                (0..tools.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap()
            };
            assert_eq!(tools[best].name, name, "{question}");
        }
    }

    #[test]
    fn the_picked_tools_keep_the_order_of_the_list_and_are_five_at_most() {
        let picked = pick_tools("weather in Rome", &catalog());
        assert_eq!((picked.shown, picked.likely), (vec![0, 1, 2, 3, 4], vec![2]));
        let picked = pick_tools("mail the weather forecast", &catalog());
        assert_eq!((picked.shown, picked.likely), (vec![0, 1, 2, 3, 7], vec![2, 7]));
    }

    #[test]
    fn a_question_without_a_word_of_any_tool_scores_nothing() {
        assert_eq!(pick_tools("你好", &catalog()).best, 0.0);
        assert_eq!(pick_tools("Who wrote Hamlet?", &[]), Picked::default());
        assert_eq!(pick_tools("你好", &catalog()).likely, [0, 1, 2, 3, 4]);
    }
}
