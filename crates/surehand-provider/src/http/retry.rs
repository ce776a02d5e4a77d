use std::time::Duration;

/// How often and when a failed request is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The first try included; at least 1.
    pub max_attempts: u32,
    /// The wait before the second try; each later one is twice as long.
    pub first_wait: Duration,
    /// No wait of our own is longer.
    pub longest_wait: Duration,
    /// A provider that asks for a longer wait than this is not waited for.
    pub longest_asked: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: 4,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(16),
            longest_asked: Duration::from_secs(60),
        }
    }
}

impl RetryPolicy {
    /// How long to wait after the failure of try number `attempt`, counted from 1; `None` where it was the last.
    /// What the provider asked for is kept to, never cut short.
    pub(super) fn wait_after(&self, attempt: u32, asked: Option<Duration>) -> Option<Duration> {
        if attempt >= self.max_attempts {
            return None;
        }
        match asked {
            Some(asked) => (asked <= self.longest_asked).then_some(asked),
            None => {
                let doubled = self.first_wait.saturating_mul(1 << (attempt - 1).min(20));
                Some(doubled.min(self.longest_wait))
            }
        }
    }
}

/// How long an answer asks to wait: `retry-after-ms`, else `retry-after` in seconds or as a date. A date counts from the answer's own
/// `date`, so that no clock here needs to agree with the provider's.
///
/// Source: RFC 9110, section 10.2.3.
pub(super) fn asked_wait(header: impl Fn(&str) -> Option<String>) -> Option<Duration> {
    let seconds = |text: &str| {
        let number: f64 = text.trim().parse().ok()?;
        Duration::try_from_secs_f64(number.max(0.0)).ok()
    };
    if let Some(wait) = header("retry-after-ms").and_then(|text| seconds(&text)) {
        return Some(wait / 1000);
    }
    let text = header("retry-after")?;
    if let Some(wait) = seconds(&text) {
        return Some(wait);
    }
    let then = httpdate::parse_http_date(text.trim()).ok()?;
    let now = httpdate::parse_http_date(header("date")?.trim()).ok()?;
    Some(then.duration_since(now).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(headers: &[(&str, &str)]) -> Option<Duration> {
        asked_wait(|name| {
            headers.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn every_form_of_retry_after_is_understood() {
        assert_eq!(asked(&[("retry-after", "7")]), Some(Duration::from_secs(7)));
        assert_eq!(asked(&[("retry-after", "0.25")]), Some(Duration::from_millis(250)));
        assert_eq!(
            asked(&[("retry-after-ms", "1500"), ("retry-after", "2")]),
            Some(Duration::from_millis(1500))
        );
        let date = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(
            asked(&[("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT"), date]),
            Some(Duration::from_secs(30))
        );
        assert_eq!(asked(&[("retry-after", "Sun, 06 Nov 1994 08:40:07 GMT"), date]), Some(Duration::ZERO));
        assert_eq!(asked(&[("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT")]), None);
        assert_eq!(asked(&[("retry-after", "soon")]), None);
        assert_eq!(asked(&[("retry-after", "1e400")]), None);
    }

    #[test]
    fn waits_double_up_to_the_longest_and_end() {
        let policy =
            RetryPolicy { max_attempts: 6, longest_wait: Duration::from_secs(3), ..RetryPolicy::default() };
        let waits: Vec<Option<u128>> =
            (1..=6).map(|attempt| policy.wait_after(attempt, None).map(|wait| wait.as_millis())).collect();
        assert_eq!(waits, [Some(500), Some(1000), Some(2000), Some(3000), Some(3000), None]);
        assert_eq!(policy.wait_after(1, Some(Duration::from_secs(59))), Some(Duration::from_secs(59)));
        assert_eq!(policy.wait_after(1, Some(Duration::from_secs(61))), None);
    }
}
