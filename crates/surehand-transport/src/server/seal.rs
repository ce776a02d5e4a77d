//! State that a client carries for the server: nobody else can read, change or make it.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use surehand_mcp::StateSeal;
use thiserror::Error;

/// How long a sealed text may be, in characters, to be looked at.
const LONGEST: usize = 32 << 20;

/// The key under which a server seals what it gives to clients. Servers that share one take over each other's clients.
#[derive(Clone, PartialEq, Eq)]
pub struct SealKey([u8; 32]);

/// A text is no key.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("a key is 32 bytes, written as 64 hexadecimal digits or as base64")]
pub struct SealKeyError;

impl SealKey {
    /// A key of its own for this process.
    ///
    /// # Errors
    ///
    /// Where the system has no randomness to give.
    pub fn random() -> std::io::Result<Self> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(std::io::Error::other)?;
        Ok(Self(key))
    }

    /// Reads a key: 64 hexadecimal digits, or base64 of either alphabet, padded or not.
    ///
    /// # Errors
    ///
    /// [`SealKeyError`] where it is not 32 bytes.
    pub fn parse(text: &str) -> Result<Self, SealKeyError> {
        let text = text.trim();
        let bytes = from_hex(text).or_else(|| {
            [&STANDARD, &STANDARD_NO_PAD, &URL_SAFE, &URL_SAFE_NO_PAD]
                .iter()
                .find_map(|engine| engine.decode(text).ok())
        });
        bytes.and_then(|bytes| bytes.try_into().ok()).map(Self).ok_or(SealKeyError)
    }
}

impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealKey(hidden)")
    }
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    (0..32).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()).collect()
}

/// Seals and opens under one key with ChaCha20-Poly1305; what comes out is URL-safe base64.
///
/// A number that is used only once under a key is the count of what was sealed, begun at random, so servers that share a key do
/// not meet.
pub(crate) struct Seal {
    key: LessSafeKey,
    start: u128,
    count: AtomicU64,
    clock: fn() -> u64,
}

/// What was sealed, and the number that it alone has.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Opened {
    pub(crate) number: u128,
    pub(crate) plain: Vec<u8>,
}

impl Seal {
    /// # Errors
    ///
    /// Where the system has no randomness to give.
    pub(crate) fn new(key: &SealKey) -> std::io::Result<Self> {
        let mut start = [0; 16];
        getrandom::fill(&mut start).map_err(std::io::Error::other)?;
        // 32 bytes are a key of this cipher, always.
        let key = UnboundKey::new(&CHACHA20_POLY1305, &key.0)
            .map_err(|_| std::io::Error::other("the cipher takes another length of key"))?;
        Ok(Self {
            key: LessSafeKey::new(key),
            start: u128::from_le_bytes(start),
            count: AtomicU64::new(0),
            clock: unix_now,
        })
    }

    /// Under a key that nobody else has.
    ///
    /// # Errors
    ///
    /// Where the system has no randomness to give.
    pub(crate) fn of_this_process() -> std::io::Result<Self> {
        Self::new(&SealKey::random()?)
    }

    /// Seals for one purpose; for another it does not open. Gives the text and the number that it alone has.
    pub(crate) fn seal_for(&self, purpose: &str, plain: &[u8]) -> (u128, String) {
        let count = u128::from(self.count.fetch_add(1, Ordering::Relaxed));
        let number = self.start.wrapping_add(count) & NUMBERS;
        let mut nonce = [0; NONCE_LEN];
        nonce.copy_from_slice(&number.to_le_bytes()[..NONCE_LEN]);
        let mut bytes = Vec::with_capacity(NONCE_LEN + plain.len() + 16);
        bytes.extend_from_slice(&nonce);
        bytes.extend_from_slice(plain);
        let aad = Aad::from(purpose.as_bytes());
        let nonce = Nonce::assume_unique_for_key(nonce);
        let (_, text) = bytes.split_at_mut(NONCE_LEN);
        match self.key.seal_in_place_separate_tag(nonce, aad, text) {
            Ok(tag) => bytes.extend_from_slice(tag.as_ref()),
            // Only beyond 256 GiB. What comes out opens nowhere.
            Err(_) => bytes.clear(),
        }
        (number, URL_SAFE_NO_PAD.encode(bytes))
    }

    /// What was sealed for this purpose, under this key.
    pub(crate) fn open_for(&self, purpose: &str, text: &str) -> Option<Opened> {
        if text.len() > LONGEST {
            return None;
        }
        let mut bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (nonce, sealed) = bytes.split_at_mut_checked(NONCE_LEN)?;
        let mut number = [0; 16];
        number[..NONCE_LEN].copy_from_slice(nonce);
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let length = self.key.open_in_place(nonce, Aad::from(purpose.as_bytes()), sealed).ok()?.len();
        bytes.drain(..NONCE_LEN);
        bytes.truncate(length);
        Some(Opened { number: u128::from_le_bytes(number), plain: bytes })
    }

    /// Seconds since 1970.
    pub(crate) fn time(&self) -> u64 {
        (self.clock)()
    }
}

impl StateSeal for Seal {
    fn seal(&self, plain: &[u8]) -> String {
        self.seal_for("state", plain).1
    }

    fn open(&self, text: &str) -> Option<Vec<u8>> {
        self.open_for("state", text).map(|opened| opened.plain)
    }

    fn now(&self) -> u64 {
        self.time()
    }
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seal(hidden)")
    }
}

/// As many as a nonce has.
const NUMBERS: u128 = (1 << (8 * NONCE_LEN)) - 1;

/// Seconds since 1970.
pub(crate) fn unix_now() -> u64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "what a client carries must grow old, over restarts too; tests put another clock in"
    )]
    let now = std::time::SystemTime::now();
    now.duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
impl Seal {
    /// The same with another clock.
    pub(crate) fn at(mut self, clock: fn() -> u64) -> Self {
        self.clock = clock;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seal(key: &str) -> Seal {
        Seal::new(&SealKey::parse(key).unwrap()).unwrap()
    }

    const HEX: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F";

    #[test]
    fn what_was_sealed_opens_under_the_same_key_and_for_the_same_purpose_only() {
        let (here, there) = (seal(HEX), seal("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="));
        for plain in [&b""[..], b"x", &[7; 5_000]] {
            let (number, text) = here.seal_for("session", plain);
            assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')));
            let opened = Opened { number, plain: plain.to_vec() };
            assert_eq!(there.open_for("session", &text), Some(opened));
            assert_eq!(there.open_for("state", &text), None);
            assert_eq!(Seal::of_this_process().unwrap().open_for("session", &text), None);
        }
    }

    #[test]
    fn a_text_that_was_changed_anywhere_does_not_open() {
        let seal = seal(HEX);
        let (_, text) = seal.seal_for("state", b"who may what");
        for at in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            assert_eq!(seal.open_for("state", &String::from_utf8(changed).unwrap()), None, "{at}");
        }
        for odd in ["", "AAAA", &text[1..], &format!("{text}="), "not base64!", &"A".repeat(LONGEST + 4)] {
            assert_eq!(seal.open_for("state", odd), None);
        }
    }

    #[test]
    fn the_same_is_never_sealed_the_same_way_twice() {
        let seal = seal(HEX);
        let (first, second) = (seal.seal_for("state", b"same"), seal.seal_for("state", b"same"));
        assert_eq!((first.0 + 1) & NUMBERS, second.0);
        assert_ne!(first.1, second.1);
    }

    #[test]
    fn a_key_is_read_in_every_common_spelling_and_never_shown() {
        let key = SealKey::parse(HEX).unwrap();
        for text in [
            "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
            " AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8\n",
            &HEX.to_ascii_lowercase(),
        ] {
            assert_eq!(SealKey::parse(text).as_ref(), Ok(&key));
        }
        for odd in ["", "AAEC", &HEX[2..], &format!("{}é", &HEX[2..])] {
            assert_eq!(SealKey::parse(odd), Err(SealKeyError), "{odd}");
        }
        assert_eq!(format!("{key:?}"), "SealKey(hidden)");
    }
}
