use std::time::Duration;

use tokio::time::Instant;

use super::screen::Screen;
use super::units::{bytes, duration};

/// How often the bar is drawn anew.
const EVERY: Duration = Duration::from_millis(100);
/// In columns.
const BAR: u64 = 24;

/// A bar with rate and time left for something that is counted in bytes. Shown on a terminal only.
#[derive(Debug)]
pub(crate) struct Progress<'a> {
    screen: &'a Screen,
    what: String,
    drawn: Option<Instant>,
}

/// How far something is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct HowFar {
    /// Bytes that are there.
    pub(crate) done: u64,
    /// Bytes of the whole.
    pub(crate) total: u64,
    /// Bytes a second.
    pub(crate) rate: f64,
    /// How long the rest takes, where that is known.
    pub(crate) left: Option<Duration>,
}

impl<'a> Progress<'a> {
    /// A bar for `what`.
    pub(crate) fn new(screen: &'a Screen, what: impl Into<String>) -> Self {
        Self { screen, what: what.into(), drawn: None }
    }

    /// Draws the bar, unless it was drawn just now.
    pub(crate) fn update(&mut self, far: HowFar) {
        let now = Instant::now();
        if self.drawn.is_some_and(|drawn| now - drawn < EVERY) && far.done < far.total {
            return;
        }
        self.drawn = Some(now);
        self.screen.show_live(&bar(&self.what, far));
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        self.screen.clear_live();
    }
}

fn bar(what: &str, far: HowFar) -> String {
    let HowFar { done, total, rate, left } = far;
    let share = if total == 0 { 0 } else { (u128::from(done) * 100 / u128::from(total)).min(100) as u64 };
    let filled = (share * BAR / 100) as usize;
    let mut line = format!(
        "{what} {}{} {share} % of {}",
        "█".repeat(filled),
        "░".repeat(BAR as usize - filled),
        bytes(total)
    );
    if rate >= 1.0 {
        line.push_str(&format!(", {}/s", bytes(rate as u64)));
    }
    if let Some(left) = left {
        line.push_str(&format!(", {} left", duration(left)));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_tells_share_size_rate_and_time_left() {
        let far =
            HowFar { done: 245_700_032, total: 491_400_064, rate: 10e6, left: Some(Duration::from_secs(25)) };
        assert_eq!(bar("qwen", far), "qwen ████████████░░░░░░░░░░░░ 50 % of 491 MB, 10 MB/s, 25 s left");
        let nothing = HowFar { done: 0, total: 0, rate: 0.0, left: None };
        assert_eq!(bar("x", nothing), "x ░░░░░░░░░░░░░░░░░░░░░░░░ 0 % of 0 B");
    }
}
