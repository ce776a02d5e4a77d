use crate::words::is_cjk;

/// The most calls that one turn makes.
pub(crate) const MOST_CALLS: usize = 8;

/// What a question lists: `上海、北京、广州天气` gives three pieces, a question about one thing gives one, the whole.
///
/// A hint only: it bounds how many calls are tried, and each further call must prove itself. A single comma makes no list, because
/// `Paris, France` is one place.
pub(crate) fn listed(question: &str) -> Vec<&str> {
    let mut cuts = cuts(question, true);
    let commas = cuts.iter().filter(|(_, _, is_comma)| *is_comma).count();
    if commas == 1 && cuts.len() == 1 {
        cuts.clear();
    }
    let mut pieces = Vec::new();
    let mut from = 0;
    for (start, end, _) in cuts {
        pieces.push(question[from..start].trim());
        from = end;
    }
    pieces.push(question[from..].trim());
    pieces.retain(|piece| piece.chars().any(char::is_alphanumeric));
    pieces.truncate(MOST_CALLS);
    if pieces.is_empty() { vec![question] } else { pieces }
}

/// How often a question says that something is to be done after something else.
pub(crate) fn later_steps(question: &str) -> usize {
    let lower = question.to_lowercase();
    let english = lower
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| matches!(*word, "then" | "afterwards" | "after"))
        .count();
    let chinese: usize =
        ["然后", "接着", "之后", "再读", "再看", "再查"].iter().map(|cue| lower.matches(cue).count()).sum();
    (english + chinese).min(3)
}

/// Whether a value that a call uses is named in the text: a word of it, or for Chinese the whole of it.
pub(crate) fn names(text: &str, value: &str) -> bool {
    let text = text.to_lowercase();
    let value = value.to_lowercase();
    if !value.is_empty() && text.contains(&value) {
        return true;
    }
    if value.chars().any(is_cjk) {
        return false;
    }
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() || is_cjk(c)).collect();
    value
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() >= 2)
        .any(|word| words.contains(&word))
}

/// Where list separators stand, as byte ranges, and whether each is a comma.
fn cuts(question: &str, with_words: bool) -> Vec<(usize, usize, bool)> {
    const CHINESE: [&str; 7] = ["以及", "还有", "和", "与", "跟", "及", "、"];
    const ENGLISH: [&str; 5] = [" and ", " or ", " & ", " vs ", " plus "];
    let mut cuts: Vec<(usize, usize, bool)> = Vec::new();
    let mut at = 0;
    while at < question.len() {
        let rest = &question[at..];
        let lower: String = rest.chars().take(6).flat_map(char::to_lowercase).collect();
        let found = if let Some(separator) = CHINESE.iter().find(|separator| rest.starts_with(**separator)) {
            Some((separator.len(), false))
        } else if with_words
            && let Some(separator) = ENGLISH.iter().find(|separator| lower.starts_with(**separator))
        {
            // The blank after it belongs to whatever comes next, so that `, and ` is one cut.
            Some((separator.len() - 1, false))
        } else if rest.starts_with([',', '，', ';', '；']) {
            Some((rest.chars().next().map_or(1, char::len_utf8), true))
        } else {
            None
        };
        match found {
            Some((length, is_comma)) => {
                match cuts.last_mut() {
                    // Separators with nothing between are one.
                    Some(last) if question[last.1..at].trim().is_empty() => {
                        last.1 = at + length;
                        last.2 &= is_comma;
                    }
                    _ => cuts.push((at, at + length, is_comma)),
                }
                at += length;
            }
            None => at += rest.chars().next().map_or(1, char::len_utf8),
        }
    }
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_seen_in_both_languages() {
        assert_eq!(listed("上海、北京、广州天气"), ["上海", "北京", "广州天气"]);
        assert_eq!(listed("Weather in Lima, Quito, and Bogota?"), ["Weather in Lima", "Quito", "Bogota?"]);
        assert_eq!(listed("比较上海和北京"), ["比较上海", "北京"]);
        assert_eq!(listed("上海，北京，广州"), ["上海", "北京", "广州"]);
    }

    #[test]
    fn one_thing_is_no_list() {
        for question in ["北京天气怎么样？", "Weather in Paris, France?", "Is the sandy beach open", ""]
        {
            assert_eq!(listed(question), [question]);
        }
    }

    #[test]
    fn later_steps_are_counted() {
        assert_eq!(later_steps("List docs, then read the first file"), 1);
        assert_eq!(later_steps("列出 docs 然后读第一个，接着总结"), 2);
        assert_eq!(later_steps("Read a.txt and b.txt"), 0);
    }

    #[test]
    fn a_value_is_named_by_a_word_of_it() {
        assert!(names("time in Tokyo", "Asia/Tokyo"));
        assert!(names("上海、北京", "北京"));
        assert!(!names("上海、北京", "广州"));
        assert!(!names("What is the square root of 81?", "America/New_York"));
    }
}
