//! Everything that is printed, and the only place that prints.

mod calls;
mod json;
mod markdown;
mod notes;
#[cfg(feature = "local")]
mod progress;
mod screen;
mod style;
mod table;
mod terminal;
mod units;

pub(crate) use calls::{call_line, content_text, running_line};
pub(crate) use json::{
    approval_line, init_line, question_line, record_line, result_line, started_line, text_line,
};
pub(crate) use notes::{note_line, problem_text};
#[cfg(feature = "local")]
pub(crate) use progress::{HowFar, Progress};
pub(crate) use screen::Screen;
pub(crate) use style::{BOLD, DIM, GREEN, RED, YELLOW, clean, paint};
pub(crate) use table::table;
pub(crate) use terminal::Terminal;
#[cfg(feature = "local")]
pub(crate) use units::bytes;
pub(crate) use units::{count, duration};
