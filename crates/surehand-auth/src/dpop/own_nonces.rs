use ring::hmac;
use surehand_model::Secret;

use crate::jose::{from_base64, to_base64};

/// How long one nonce is given out, in seconds; it is taken as long again.
const GIVEN_FOR: u64 = 300;

/// The nonces that a server gives out so that no proof can be made ahead of its time (RFC 9449, section 9). Nothing is kept: a
/// nonce is the number of its five minutes, signed. Servers with the same key take each other's.
pub(crate) struct OwnNonces {
    key: hmac::Key,
}

impl OwnNonces {
    pub(crate) fn new(key: &Secret<[u8; 32]>) -> Self {
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, key.expose()) }
    }

    /// The nonce of the moment.
    pub(crate) fn give(&self, now: u64) -> String {
        let period = (now / GIVEN_FOR).to_be_bytes();
        to_base64([&period[..], hmac::sign(&self.key, &period).as_ref()].concat())
    }

    /// Whether a nonce is ours, and of now or just before.
    pub(crate) fn takes(&self, nonce: &str, now: u64) -> bool {
        let Some(bytes) = from_base64(nonce) else { return false };
        let Some((period, tag)) = bytes.split_first_chunk::<8>() else { return false };
        let age = (now / GIVEN_FOR).checked_sub(u64::from_be_bytes(*period));
        age.is_some_and(|age| age <= 1) && hmac::verify(&self.key, period, tag).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nonce_is_taken_for_its_time_by_whoever_has_the_key() {
        let [ours, same, other] = [1, 1, 2].map(|byte| OwnNonces::new(&Secret::new([byte; 32])));
        let nonce = ours.give(3_000);
        assert_eq!(same.give(3_299), nonce);
        assert_ne!(ours.give(3_300), nonce);
        assert!(same.takes(&nonce, 3_000) && same.takes(&nonce, 3_599));
        assert!(!ours.takes(&nonce, 3_600) && !ours.takes(&nonce, 2_999));
        assert!(!other.takes(&nonce, 3_000));
        for odd in ["", "AAAA", &nonce[1..], &to_base64([0; 40])] {
            assert!(!ours.takes(odd, 3_000), "{odd}");
        }
    }
}
