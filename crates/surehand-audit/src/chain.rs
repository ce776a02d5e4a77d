use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// Where a chain stands: its last record. Kept elsewhere, it shows later that nothing was cut off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The number of the last record; 0 for an empty log.
    pub seq: u64,
    /// Its hash: SHA-256 in 64 lower-case hexadecimal digits.
    pub hash: String,
}

impl Head {
    /// The head of an empty log.
    pub fn start() -> Self {
        Self { seq: 0, hash: "0".repeat(64) }
    }
}

/// What stands between the sealed part of a line and the seal.
const SEAL: &str = ",\"hash\":\"";

/// Puts the seal on a record: `{...}` becomes `{...,"hash":"..."}`, where the hash is over all bytes in front of `,"hash"`.
///
/// The hash of the predecessor is a member of the record, so it is sealed as well.
pub(crate) fn seal(record: &str) -> (String, String) {
    let body = record.strip_suffix('}').unwrap_or(record);
    let hash = sha256_hex(body.as_bytes());
    (format!("{body}{SEAL}{hash}\"}}"), hash)
}

/// The hash a sealed line carries, if that is the hash of the rest.
pub(crate) fn check_seal(line: &str) -> Option<&str> {
    let (body, rest) = line.rsplit_once(SEAL)?;
    let hash = rest.strip_suffix("\"}")?;
    (sha256_hex(body.as_bytes()) == hash).then_some(hash)
}

/// SHA-256 in lower-case hexadecimal digits.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_the_one_the_standard_gives() {
        // FIPS 180-4, the example of one block.
        assert_eq!(sha256_hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn a_sealed_line_holds_and_any_flipped_byte_breaks_it() {
        let (line, hash) = seal("{\"seq\":1,\"tool\":\"a\"}");
        assert_eq!(check_seal(&line), Some(hash.as_str()));
        for at in 0..line.len() {
            let mut bytes = line.clone().into_bytes();
            bytes[at] ^= 1;
            let changed = String::from_utf8(bytes).unwrap();
            assert_eq!(check_seal(&changed), None, "byte {at} flipped: {changed}");
        }
    }

    #[test]
    fn a_seal_inside_the_record_is_not_taken_for_the_seal() {
        let (line, hash) = seal("{\"a\":{\"x\":1,\"hash\":\"no\"}}");
        assert_eq!(check_seal(&line), Some(hash.as_str()));
    }
}
