/// How many words are given at most.
const CAP: usize = 4;
/// Longer words are cut before they are compared.
const COMPARED: usize = 100;

/// The known words that `word` may be a slip of the pen for, best first, at most four.
///
/// Case, `_`, `-` and the difference between `listIssues` and `list_issues` do not count; what stands in front of the last `.`, `/`,
/// `:` or `__` is tried with and without, so that `functions.search` finds `search`. Words in another order (`issue_list`) and words
/// that contain one another are found too. Nothing is given where nothing is close.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = variants(word);
    let mut found: Vec<(usize, &str)> =
        known.filter_map(|name| Some((distance(&wanted, &variants(name))?, name))).collect();
    found.sort_by_key(|(distance, _)| *distance);
    found.into_iter().map(|(_, name)| name).take(CAP).collect()
}

/// A word taken apart into lower-case pieces.
struct Folded {
    joined: Vec<char>,
    pieces: Vec<String>,
}

/// The whole word, and its last part where it has several.
fn variants(word: &str) -> Vec<Folded> {
    let last = word.rsplit(['.', '/', ':']).next().unwrap_or(word);
    let last = last.rsplit("__").next().unwrap_or(last);
    let mut variants = vec![fold(word)];
    if last.len() < word.len() && !last.is_empty() {
        variants.push(fold(last));
    }
    variants
}

fn fold(word: &str) -> Folded {
    let mut pieces: Vec<String> = vec![String::new()];
    let mut after_lower = false;
    for character in word.chars().take(COMPARED) {
        if !character.is_alphanumeric() || (after_lower && character.is_uppercase()) {
            pieces.push(String::new());
        }
        if character.is_alphanumeric()
            && let Some(piece) = pieces.last_mut()
        {
            piece.extend(character.to_lowercase());
        }
        after_lower = character.is_lowercase() || character.is_numeric();
    }
    pieces.retain(|piece| !piece.is_empty());
    Folded { joined: pieces.concat().chars().collect(), pieces }
}

/// How far apart two words are, 0 for the same; `None` where they have nothing to do with each other.
fn distance(wanted: &[Folded], known: &[Folded]) -> Option<usize> {
    let pairs = wanted
        .iter()
        .enumerate()
        .flat_map(|(w, a)| known.iter().enumerate().map(move |(k, b)| (w + k, a, b)));
    // A match of the last parts only counts a little less than one of the whole words.
    pairs.filter_map(|(cut, a, b)| Some(2 * pair_distance(a, b)? + usize::from(cut > 0))).min()
}

fn pair_distance(a: &Folded, b: &Folded) -> Option<usize> {
    if a.joined.is_empty() || b.joined.is_empty() {
        return None;
    }
    let edits = edit_distance(&a.joined, &b.joined);
    let longer = a.joined.len().max(b.joined.len());
    let shorter = a.joined.len().min(b.joined.len());
    if edits <= (longer / 3).max(1) && edits < shorter {
        return Some(edits);
    }
    let sorted = |pieces: &[String]| {
        let mut pieces = pieces.to_vec();
        pieces.sort_unstable();
        pieces
    };
    let (a_pieces, b_pieces) = (sorted(&a.pieces), sorted(&b.pieces));
    if a_pieces == b_pieces {
        return Some(1);
    }
    let contained = a_pieces.iter().all(|piece| b_pieces.contains(piece))
        || b_pieces.iter().all(|piece| a_pieces.contains(piece));
    (contained && shorter >= 3).then_some(3 + a_pieces.len().abs_diff(b_pieces.len()))
}

/// How many letters must be put in, taken out, changed or swapped with their neighbour.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (previous[j] + 1).min(row[j - 1] + 1).min(previous[j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut previous, row);
    }
    previous[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    const TOOLS: &[&str] =
        &["search", "list_issues", "create_issue", "read_text_file", "mcp__files__write_file", "weather"];

    #[test]
    fn a_slip_of_the_pen_finds_what_was_meant() {
        let table: &[(&str, &[&str])] = &[
            ("search", &["search"]),
            ("functions.search", &["search"]),
            ("default_api:search", &["search"]),
            ("listIssues", &["list_issues"]),
            ("LIST-ISSUES", &["list_issues"]),
            ("issues_list", &["list_issues"]),
            ("serach", &["search"]),
            ("creat_issue", &["create_issue"]),
            ("write_file", &["mcp__files__write_file"]),
            ("files/write_file", &["mcp__files__write_file"]),
            ("get_weather", &["weather"]),
            ("read_file", &["read_text_file"]),
            ("execute_python", &[]),
            ("", &[]),
            ("({})", &[]),
            ("x", &[]),
        ];
        for (word, expected) in table {
            let found = nearest(word, TOOLS.iter().copied());
            assert_eq!(found.first(), expected.first(), "{word}: {found:?}");
        }
    }

    #[test]
    fn the_best_comes_first_and_no_more_than_four_come() {
        let known = ["color", "colour", "colors", "coloured", "kolor", "cooler"];
        assert_eq!(nearest("colour", known.into_iter()), ["colour", "color", "colors", "coloured"]);
    }

    #[test]
    fn a_very_long_word_is_no_burden() {
        assert_eq!(nearest(&"a".repeat(1_000_000), TOOLS.iter().copied()), Vec::<&str>::new());
    }
}
