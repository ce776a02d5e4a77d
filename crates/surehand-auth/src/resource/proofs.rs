use std::collections::HashSet;
use std::mem;
use std::sync::{Mutex, PoisonError};

/// How many proofs are remembered in each half.
const LIMIT: usize = 50_000;

/// The proofs that have been used, so that none serves twice. They are kept in two halves that change places each time a proof
/// of the older half could no longer be fresh.
#[derive(Debug)]
pub(super) struct UsedProofs {
    /// How long a proof can be fresh, in seconds.
    lifetime: u64,
    halves: Mutex<Halves>,
}

#[derive(Debug, Default)]
struct Halves {
    since: u64,
    newer: HashSet<String>,
    older: HashSet<String>,
}

/// What came of using a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProofUse {
    /// It was new.
    First,
    /// It had been used.
    Again,
    /// There is no room to remember it.
    Full,
}

impl UsedProofs {
    pub(super) fn new(lifetime: u64) -> Self {
        Self { lifetime, halves: Mutex::default() }
    }

    /// Uses a proof of a key at a time.
    pub(super) fn take(&self, thumbprint: &str, id: &str, now: u64) -> ProofUse {
        let mut halves = self.halves.lock().unwrap_or_else(PoisonError::into_inner);
        let age = now.saturating_sub(halves.since);
        if age > self.lifetime {
            halves.older = mem::take(&mut halves.newer);
            halves.since = now;
        }
        if age > 2 * self.lifetime {
            halves.older.clear();
        }
        let name = format!("{thumbprint}.{id}");
        if halves.older.contains(&name) || halves.newer.contains(&name) {
            return ProofUse::Again;
        }
        if halves.newer.len() >= LIMIT {
            return ProofUse::Full;
        }
        halves.newer.insert(name);
        ProofUse::First
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_serves_once_while_it_could_be_fresh() {
        let used = UsedProofs::new(60);
        assert_eq!(used.take("k", "1", 1_000), ProofUse::First);
        assert_eq!(used.take("k", "1", 1_000), ProofUse::Again);
        assert_eq!(used.take("other", "1", 1_000), ProofUse::First);
        assert_eq!(used.take("k", "2", 1_061), ProofUse::First);
        assert_eq!(used.take("k", "1", 1_061), ProofUse::Again);
        assert_eq!(used.take("k", "2", 1_122), ProofUse::Again);
        assert_eq!(used.take("k", "1", 1_122), ProofUse::First);
        assert_eq!(used.take("k", "2", 9_999), ProofUse::First);
    }

    #[test]
    fn memory_has_an_end_and_what_cannot_be_remembered_is_not_taken() {
        let used = UsedProofs::new(60);
        for id in 0..LIMIT {
            assert_eq!(used.take("k", &id.to_string(), 1_000), ProofUse::First);
        }
        assert_eq!(used.take("k", "one more", 1_000), ProofUse::Full);
        assert_eq!(used.take("k", "one more", 1_061), ProofUse::First);
    }
}
