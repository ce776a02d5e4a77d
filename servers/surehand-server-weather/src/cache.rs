use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// Answers that are still fresh, oldest first. Few enough that looking through them costs nothing.
pub(crate) struct Cache<K, V> {
    entries: VecDeque<(K, V, Instant)>,
    capacity: usize,
    fresh: Duration,
}

impl<K: PartialEq, V: Clone> Cache<K, V> {
    /// Keeps at most `capacity` answers, each for as long as `fresh`.
    pub(crate) fn new(capacity: usize, fresh: Duration) -> Self {
        Self { entries: VecDeque::new(), capacity, fresh }
    }

    pub(crate) fn get(&mut self, key: &K, now: Instant) -> Option<V> {
        let fresh = self.fresh;
        self.entries.retain(|(_, _, since)| now.duration_since(*since) < fresh);
        self.entries.iter().find(|(known, ..)| known == key).map(|(_, value, _)| value.clone())
    }

    pub(crate) fn put(&mut self, key: K, value: V, now: Instant) {
        self.entries.retain(|(known, ..)| *known != key);
        if self.entries.len() >= self.capacity {
            self.entries.pop_front();
        }
        self.entries.push_back((key, value, now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_kept_for_its_time_and_the_oldest_goes_first() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut cache = Cache::new(2, Duration::from_secs(10));
        cache.put("a", 1, at(0));
        cache.put("b", 2, at(1));
        assert_eq!((cache.get(&"a", at(9)), cache.get(&"b", at(9))), (Some(1), Some(2)));
        assert_eq!((cache.get(&"a", at(10)), cache.get(&"b", at(10))), (None, Some(2)));
        cache.put("c", 3, at(10));
        cache.put("d", 4, at(10));
        assert_eq!([&"b", &"c", &"d"].map(|key| cache.get(key, at(10))), [None, Some(3), Some(4)]);
        cache.put("c", 5, at(10));
        assert_eq!([&"c", &"d"].map(|key| cache.get(key, at(10))), [Some(5), Some(4)]);
    }
}
