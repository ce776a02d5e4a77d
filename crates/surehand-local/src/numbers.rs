use std::collections::BTreeSet;

/// The numbers that stand in the data, which are the only ones an answer may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Numbers(BTreeSet<String>);

impl Numbers {
    /// Every number in the texts, also without leading zeros and without a fraction of zeros: `09` gives `9`, `12.0` gives `12`.
    /// A time such as `12:11:39` is one number; its beginnings (`12:11`) and its parts are known too.
    pub(crate) fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut known = BTreeSet::new();
        for number in texts.into_iter().flat_map(runs).flat_map(readings) {
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
            .rfind(|c: char| !is_of_number(c))
            .map_or(0, |at| at + written[at..].chars().next().map_or(1, char::len_utf8));
        let tail = &written[tail_start..];
        let has_digit = |text: &str| text.contains(|c: char| c.is_ascii_digit());
        if !has_digit(piece) && !has_digit(tail) {
            return true;
        }
        let text = format!("{tail}{piece}");
        let is_known = |number: &str| self.0.contains(number);
        // What stands at the very end may still grow, by digits or by a fraction.
        let last =
            text.rsplit(|c: char| !is_of_number(c)).next().unwrap_or_default().trim_start_matches(['.', ':']);
        let may_grow = !last.is_empty() && self.0.iter().any(|known| known.starts_with(last));
        let before = &text[..text.len() - last.len()];
        runs(before).all(is_known) && (may_grow || runs(last).all(is_known))
    }
}

fn is_of_number(c: char) -> bool {
    c.is_ascii_digit() || c == '.' || c == ':'
}

/// The numbers in a text: digits, with a point or a colon between digits.
fn runs(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !is_of_number(c))
        .map(|run| run.trim_matches(['.', ':']))
        .filter(|run| !run.is_empty())
}

/// A number, and where it has colons also its beginnings and its parts.
fn readings(number: &str) -> impl Iterator<Item = &str> {
    let beginnings = number.match_indices(':').map(|(at, _)| &number[..at]);
    let parts = number.split(':');
    std::iter::once(number).chain(beginnings).chain(parts)
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
        for text in ["4", "3.7", "35", "13", "9:31", "30:09", "120"] {
            assert!(!passes(&numbers, text), "{text}");
        }
    }

    #[test]
    fn a_time_is_not_put_together_from_parts_of_the_data() {
        let numbers = Numbers::of(["12:11:39 on 2026-11-30 (UTC+09:00)"]);
        for text in ["12:11:39.", "at 12:11", "12点11分", "2026-11-30 (UTC+9)"] {
            assert!(passes(&numbers, text), "{text}");
        }
        for text in ["11:11:39", "11:39", "09:30 "] {
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
