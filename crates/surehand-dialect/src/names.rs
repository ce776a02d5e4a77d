use std::collections::{BTreeMap, BTreeSet};

/// How long a tool's name may be everywhere that matters, in characters.
pub(crate) const DEFAULT_NAME_MAX: usize = 64;

/// Length of the hash that tells two names apart once they had to be changed.
const HASH_LENGTH: usize = 8;

/// What a provider takes as the name of a tool. Letters and digits of ASCII, `_` and `-` are taken everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameRule {
    /// In characters; at least 16.
    pub max: usize,
    /// Taken besides.
    pub also: &'static str,
    /// The first one must be a letter or `_`.
    pub starts_with_letter: bool,
}

impl NameRule {
    /// Whether the provider takes `name` as it is.
    pub fn takes(&self, name: &str) -> bool {
        let starts = name
            .chars()
            .next()
            .is_some_and(|first| !self.starts_with_letter || first.is_ascii_alphabetic() || first == '_');
        starts && name.len() <= self.max && name.chars().all(|character| self.takes_character(character))
    }

    fn takes_character(&self, character: char) -> bool {
        character.is_ascii_alphanumeric() || matches!(character, '_' | '-') || self.also.contains(character)
    }

    /// The name as this provider can take it: itself, or else its tail with the rest replaced and a hash of the whole added.
    /// The same name always gives the same result, whatever else is offered.
    fn fit(&self, name: &str, salt: u32) -> String {
        if salt == 0 && self.takes(name) {
            return name.to_owned();
        }
        let kept: String = name
            .chars()
            .map(|character| if self.takes_character(character) { character } else { '_' })
            .collect();
        // The tail tells tools apart; servers tend to share the head.
        let room = self.max.max(16) - HASH_LENGTH - 1;
        let tail = kept[kept.len().saturating_sub(room)..].trim_start_matches(['_', '-', '.', ':']);
        let tail = if tail.is_empty() { "tool" } else { tail };
        let starts = tail.chars().next().is_some_and(|first| first.is_ascii_alphabetic());
        let hash = short_hash(name, salt);
        if self.starts_with_letter && !starts {
            let tail = &tail[tail.len().saturating_sub(room - 1)..];
            return format!("_{tail}_{hash}");
        }
        format!("{tail}_{hash}")
    }
}

/// What each tool is called on the wire, both ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameTable {
    rule: NameRule,
    to_wire: BTreeMap<String, String>,
    to_name: BTreeMap<String, String>,
}

impl NameTable {
    /// An empty table.
    pub fn new(rule: NameRule) -> Self {
        Self { rule, to_wire: BTreeMap::new(), to_name: BTreeMap::new() }
    }

    /// A table of these names. Names that the provider takes as they are come first, so that no changed name takes one's place.
    pub fn of<'a>(rule: NameRule, names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut table = Self::new(rule);
        let names: BTreeSet<&str> = names.into_iter().collect();
        let (fine, rest): (Vec<&str>, Vec<&str>) = names.into_iter().partition(|name| rule.takes(name));
        for name in fine.into_iter().chain(rest) {
            table.add(name);
        }
        table
    }

    fn add(&mut self, name: &str) {
        let mut salt = 0;
        let wire = loop {
            let wire = self.rule.fit(name, salt);
            if !self.to_name.contains_key(&wire) {
                break wire;
            }
            salt += 1;
        };
        self.to_wire.insert(name.to_owned(), wire.clone());
        self.to_name.insert(wire, name.to_owned());
    }

    /// What `name` is called on the wire. A name that is not in the table (a call to a tool that is gone) is made to fit.
    pub fn wire(&self, name: &str) -> String {
        self.to_wire.get(name).cloned().unwrap_or_else(|| self.rule.fit(name, 0))
    }

    /// Whose name `wire` is; itself where nobody's.
    pub fn name(&self, wire: &str) -> String {
        self.to_name.get(wire).map_or_else(|| wire.to_owned(), Clone::clone)
    }

    /// Whether a tool has this name on the wire.
    pub fn knows(&self, wire: &str) -> bool {
        self.to_name.contains_key(wire)
    }

    /// Whether a tool's name on the wire begins with this and goes on.
    pub(crate) fn knows_longer(&self, start: &str) -> bool {
        self.to_name
            .range(start.to_owned()..)
            .take_while(|(wire, _)| wire.starts_with(start))
            .any(|(wire, _)| wire.len() > start.len())
    }
}

/// Eight letters and digits that stand for a text, the same on every machine and in every version.
fn short_hash(text: &str, salt: u32) -> String {
    base36(stable_hash(text, salt), HASH_LENGTH)
}

/// FNV-1a with 64 bits, its bits mixed once more at the end.
pub(crate) fn stable_hash(text: &str, salt: u32) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in text.bytes().chain(salt.to_le_bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ (hash >> 29)
}

/// The lowest `length` digits of a number in base 36.
pub(crate) fn base36(mut number: u64, length: usize) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    (0..length)
        .map(|_| {
            let digit = DIGITS[(number % 36) as usize];
            number /= 36;
            char::from(digit)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PLAIN: NameRule = NameRule { max: 64, also: "", starts_with_letter: false };
    const STRICT: NameRule = NameRule { max: 64, also: "_.:-", starts_with_letter: true };

    #[test]
    fn a_name_that_fits_stays_as_it_is() {
        assert_eq!(
            NameTable::of(PLAIN, ["mcp__weather__get-weather"]).wire("mcp__weather__get-weather"),
            "mcp__weather__get-weather"
        );
        assert_eq!(NameTable::of(STRICT, ["a.b:c"]).wire("a.b:c"), "a.b:c");
    }

    #[test]
    fn names_that_differ_only_in_what_is_not_taken_stay_apart() {
        let table = NameTable::of(PLAIN, ["fs.read", "fs/read", "fs_read", "文件", "天气"]);
        for name in ["fs.read", "fs/read", "fs_read", "文件", "天气"] {
            assert_eq!(table.name(&table.wire(name)), name);
        }
        assert_eq!(table.wire("fs_read"), "fs_read");
    }

    #[test]
    fn a_long_name_keeps_its_tail_and_two_with_the_same_tail_stay_apart() {
        let (first, second) =
            (format!("{}a__list_files", "x".repeat(90)), format!("{}b__list_files", "x".repeat(90)));
        let table = NameTable::of(PLAIN, [first.as_str(), second.as_str()]);
        assert!(table.wire(&first).contains("a__list_files_"), "{}", table.wire(&first));
        assert_ne!(table.wire(&first), table.wire(&second));
    }

    #[test]
    fn what_a_name_becomes_never_changes_between_versions() {
        assert_eq!(NameTable::new(PLAIN).wire("files.read file"), "files_read_file_iv8x9hh8");
    }

    proptest! {
        #[test]
        fn every_name_becomes_one_that_is_taken_and_comes_back(names in proptest::collection::vec("\\PC{0,100}", 1..8)) {
            for rule in [PLAIN, STRICT, NameRule { max: 16, ..PLAIN }] {
                let table = NameTable::of(rule, names.iter().map(String::as_str));
                for name in &names {
                    let wire = table.wire(name);
                    prop_assert!(rule.takes(&wire), "{wire:?}");
                    prop_assert_eq!(&table.name(&wire), name);
                }
            }
        }
    }
}
