use std::fmt;

/// A pattern of names: `*` stands for any run of characters, `?` for exactly one, everything else for itself.
///
/// The whole text must match, upper and lower case differ. Matching takes time proportional to pattern times text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(String);

impl Glob {
    /// A pattern; every text is one.
    pub fn new(pattern: impl Into<String>) -> Self {
        Self(pattern.into())
    }

    /// Whether the whole of `text` matches.
    pub fn matches(&self, text: &str) -> bool {
        let pattern: Vec<char> = self.0.chars().collect();
        let text: Vec<char> = text.chars().collect();
        let (mut p, mut t) = (0, 0);
        // Where to go on after the last `*`: the place behind it, and how much text it has taken so far.
        let mut star: Option<(usize, usize)> = None;
        while t < text.len() {
            if pattern.get(p) == Some(&'*') {
                star = Some((p + 1, t));
                p += 1;
            } else if pattern.get(p).is_some_and(|wanted| *wanted == '?' || *wanted == text[t]) {
                p += 1;
                t += 1;
            } else if let Some((behind, taken)) = star {
                star = Some((behind, taken + 1));
                p = behind;
                t = taken + 1;
            } else {
                return false;
            }
        }
        pattern[p..].iter().all(|rest| *rest == '*')
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_star_takes_any_run_and_a_question_mark_exactly_one() {
        let table = [
            ("*", "", true),
            ("*", "anything", true),
            ("read_*", "read_file", true),
            ("read_*", "read_", true),
            ("read_*", "reads", false),
            ("*_file", "read_file", true),
            ("*_file", "read_files", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
            ("?", "é", true),
            ("?", "", false),
            ("", "", true),
            ("", "a", false),
            ("a.c", "abc", false),
            ("[a]", "a", false),
            ("Read", "read", false),
        ];
        for (pattern, text, expected) in table {
            assert_eq!(Glob::new(pattern).matches(text), expected, "`{pattern}` against `{text}`");
        }
    }

    #[test]
    fn a_hostile_pattern_does_not_take_for_ever() {
        let pattern = Glob::new("*a".repeat(200));
        assert!(!pattern.matches(&format!("{}b", "a".repeat(5_000))));
    }

    /// The definition, without any thought for speed.
    fn by_definition(pattern: &[char], text: &[char]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some(('*', rest)) => (0..=text.len()).any(|taken| by_definition(rest, &text[taken..])),
            Some((wanted, rest)) => text.split_first().is_some_and(|(first, tail)| {
                (*wanted == '?' || wanted == first) && by_definition(rest, tail)
            }),
        }
    }

    proptest! {
        #[test]
        fn matching_is_what_the_definition_says(pattern in "[ab*?]{0,8}", text in "[ab]{0,10}") {
            let expected = by_definition(&pattern.chars().collect::<Vec<_>>(), &text.chars().collect::<Vec<_>>());
            prop_assert_eq!(Glob::new(pattern).matches(&text), expected);
        }
    }
}
