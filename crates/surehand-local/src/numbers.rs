use std::collections::BTreeSet;

/// The numbers that stand in the data, which are the only ones an answer may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Numbers(BTreeSet<String>);

impl Numbers {
    /// Every number in the texts, also without leading zeros and without a fraction of zeros: `09` gives `9`, `12.0` gives `12`.
    pub(crate) fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut known = BTreeSet::new();
        for number in texts.into_iter().flat_map(runs) {
            let plain = number.trim_start_matches('0');
            if !plain.is_empty() && !plain.starts_with('.') {
                known.insert(plain.to_owned());
            }
            if let Some((whole, fraction)) = number.split_once('.')
                && fraction.chars().all(|digit| digit == '0')
            {
                known.insert(whole.to_owned());
            }
            known.insert(number.to_owned());
        }
        Self(known)
    }

    /// Whether `piece` may follow what is `written`: it begins, continues or ends no other number than a known one.
    pub(crate) fn allow(&self, written: &str, piece: &str) -> bool {
        let tail_start = written
            .rfind(|c: char| !c.is_ascii_digit() && c != '.')
            .map_or(0, |at| at + written[at..].chars().next().map_or(1, char::len_utf8));
        let tail = &written[tail_start..];
        let has_digit = |text: &str| text.contains(|c: char| c.is_ascii_digit());
        if !has_digit(piece) && !has_digit(tail) {
            return true;
        }
        let text = format!("{tail}{piece}");
        let is_known = |number: &str| self.0.contains(number);
        // What stands at the very end may still grow, by digits or by a fraction.
        let last = text
            .rsplit(|c: char| !c.is_ascii_digit() && c != '.')
            .next()
            .unwrap_or_default()
            .trim_start_matches('.');
        let may_grow = !last.is_empty() && self.0.iter().any(|known| known.starts_with(last));
        let before = &text[..text.len() - last.len()];
        runs(before).all(is_known) && (may_grow || runs(last).all(is_known))
    }
}

/// The numbers in a text: digits, with a point between digits.
fn runs(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_digit() && c != '.')
        .map(|run| run.trim_matches('.'))
        .filter(|run| !run.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a text character by character, as the smallest pieces would come.
    fn passes(numbers: &Numbers, text: &str) -> bool {
        text.char_indices()
            .all(|(at, character)| numbers.allow(&text[..at], &text[at..at + character.len_utf8()]))
    }

    #[test]
    fn only_numbers_of_the_data_pass() {
        let numbers = Numbers::of(["temperature: -3.5\ntime: 09:30\nwind: 12.0"]);
        for text in ["-3.5°C.", "9:30", "09:30", "12 km/h", "no number", "3.5, then 12.0."] {
            assert!(passes(&numbers, text), "{text}");
        }
        for text in ["4", "3.7", "35", "13", "9:31", "120"] {
            assert!(!passes(&numbers, text), "{text}");
        }
    }

    #[test]
    fn a_number_that_is_only_the_beginning_of_a_known_one_cannot_end() {
        let numbers = Numbers::of(["2026"]);
        assert!(numbers.allow("in ", "20"));
        assert!(numbers.allow("in 20", "26"));
        assert!(!numbers.allow("in 20", " years"));
    }
}
