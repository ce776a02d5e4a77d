use std::time::Duration;

/// A size for people: `512 B`, `1.2 kB`, `34 MB`. Decimal units, two figures.
pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    if count < 1000 {
        return format!("{count} B");
    }
    let mut value = count as f64;
    let mut unit = "B";
    for next in UNITS {
        if value < 999.5 {
            break;
        }
        value /= 1000.0;
        unit = next;
    }
    if value < 9.95 { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}

/// A number of things: `1 tool`, `3 tools`.
pub(crate) fn count(number: usize, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

/// A duration for people: `350 ms`, `1.2 s`, `34 s`, `2 min 5 s`, `1 h 3 min`.
pub(crate) fn duration(time: Duration) -> String {
    let milliseconds = time.as_millis();
    let seconds = (milliseconds + 500) / 1000;
    match milliseconds {
        0..1000 => format!("{milliseconds} ms"),
        1000..9950 => format!("{:.1} s", time.as_secs_f64()),
        _ if seconds < 60 => format!("{seconds} s"),
        _ if seconds < 3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_two_figures() {
        assert_eq!(
            [0, 999, 1000, 1234, 9_960, 34_200_000, 999_500, 1_117_320_768].map(bytes),
            ["0 B", "999 B", "1.0 kB", "1.2 kB", "10 kB", "34 MB", "1.0 MB", "1.1 GB"]
        );
    }

    #[test]
    fn durations_use_the_unit_a_person_would() {
        assert_eq!(
            [0, 999, 1_000, 1_234, 9_960, 34_000, 59_700, 125_000, 3_780_000]
                .map(|milliseconds| duration(Duration::from_millis(milliseconds))),
            ["0 ms", "999 ms", "1.0 s", "1.2 s", "10 s", "34 s", "1 min 0 s", "2 min 5 s", "1 h 3 min"]
        );
    }
}
