use std::fmt;

use surehand_model::Tool;

/// How the tools of a server differ from what they were.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Difference {
    added: Vec<String>,
    removed: Vec<String>,
    /// Of the same name, and another description, schema or hint.
    changed: Vec<String>,
}

impl Difference {
    /// None where nothing differs but the order.
    pub(crate) fn between(before: &[Tool], now: &[Tool]) -> Option<Self> {
        let mut difference = Self::default();
        for tool in now {
            match before.iter().find(|other| other.name == tool.name) {
                None => difference.added.push(tool.name.clone()),
                Some(other) if other != tool => difference.changed.push(tool.name.clone()),
                Some(_) => {}
            }
        }
        let gone = before.iter().filter(|tool| !now.iter().any(|other| other.name == tool.name));
        difference.removed.extend(gone.map(|tool| tool.name.clone()));
        (difference != Self::default()).then_some(difference)
    }

    /// Whether a tool is another now, or gone, or new.
    pub(crate) fn touches(&self, tool: &str) -> bool {
        [&self.added, &self.removed, &self.changed].iter().any(|names| names.iter().any(|name| name == tool))
    }
}

/// `added a, b; removed c; changed d`.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = [("added", &self.added), ("removed", &self.removed), ("changed", &self.changed)];
        let words: Vec<String> = kinds
            .iter()
            .filter(|(_, names)| !names.is_empty())
            .map(|(kind, names)| format!("{kind} {}", names.join(", ")))
            .collect();
        f.write_str(&words.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use surehand_model::RawJson;

    use super::*;

    #[test]
    fn what_is_new_gone_or_other_is_named_and_order_alone_is_no_difference() {
        let tool = |name: &str, what: &str| Tool::new(name, what, RawJson::empty_object());
        let before = [tool("a", "1"), tool("b", "1"), tool("c", "1")];
        let now = [tool("d", "1"), tool("b", "2"), tool("a", "1")];
        let difference = Difference::between(&before, &now).unwrap();
        assert_eq!(difference.to_string(), "added d; removed c; changed b");
        assert_eq!(["a", "b", "c", "d"].map(|name| difference.touches(name)), [false, true, true, true]);
        let turned = [tool("c", "1"), tool("b", "1"), tool("a", "1")];
        assert_eq!(Difference::between(&before, &turned), None);
    }
}
