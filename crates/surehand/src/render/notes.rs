use surehand_host::config::Problem;
use surehand_model::Note;

use super::style::{YELLOW, clean, paint};

/// A note as one line for people.
pub(crate) fn note_line(note: &Note, styled: bool) -> String {
    let text = note.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{} {}", paint(styled, YELLOW, "note:"), clean(text.trim_end_matches(':')))
}

/// A problem of the configuration as one line for people, its gravity left out.
pub(crate) fn problem_text(problem: &Problem) -> String {
    let hint = if problem.hint.is_empty() { String::new() } else { format!(" ({})", problem.hint) };
    clean(&format!("{}: {}{hint}", problem.r#where, problem.what)).into_owned()
}
