//! The difference between two versions of a file, as a person reads it.

use std::fmt::Write as _;

/// How many unchanged lines are shown around a change.
const CONTEXT: usize = 3;

/// A unified difference with one hunk, from the first changed line to the last; empty where nothing changed.
pub(super) fn unified(name: &str, before: &str, after: &str) -> String {
    if before == after {
        return String::new();
    }
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let same_start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - same_start;
    let same_end = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();

    let from = same_start.saturating_sub(CONTEXT);
    let old_to = (old.len() - same_end + CONTEXT).min(old.len());
    let new_to = (new.len() - same_end + CONTEXT).min(new.len());
    let mut out = format!("--- {name}\n+++ {name}\n");
    let range = |from: usize, to: usize| {
        if from == to { format!("{from},0") } else { format!("{},{}", from + 1, to - from) }
    };
    // Writing to a string cannot fail.
    let _ = writeln!(out, "@@ -{} +{} @@", range(from, old_to), range(from, new_to));
    let mut lines = |mark: char, lines: &[&str]| {
        for line in lines {
            let _ = write!(out, "{mark}{line}");
            if !line.ends_with('\n') {
                out.push_str("\n\\ No newline at end of file\n");
            }
        }
    };
    lines(' ', &old[from..same_start]);
    lines('-', &old[same_start..old.len() - same_end]);
    lines('+', &new[same_start..new.len() - same_end]);
    lines(' ', &old[old.len() - same_end..old_to]);
    out
}

#[cfg(test)]
mod tests {
    use super::unified;

    #[test]
    fn a_change_is_shown_with_its_surroundings() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n9";
        assert_eq!(
            unified("f", before, &before.replace("5\n", "five\n5\n")),
            "--- f\n+++ f\n@@ -2,6 +2,7 @@\n 2\n 3\n 4\n+five\n 5\n 6\n 7\n"
        );
        assert_eq!(unified("f", "", "a\n"), "--- f\n+++ f\n@@ -0,0 +1,1 @@\n+a\n");
        assert_eq!(
            unified("f", "a", "b"),
            "--- f\n+++ f\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"
        );
        assert_eq!(unified("f", "a\n", "a\n"), "");
    }
}
