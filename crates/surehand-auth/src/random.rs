use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::error::AuthError;

/// Bytes that nobody can guess.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], AuthError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| AuthError::Key(format!("no randomness: {error}")))?;
    Ok(bytes)
}

/// 22 characters that were never used before.
pub(crate) fn identifier() -> Result<String, AuthError> {
    Ok(URL_SAFE_NO_PAD.encode(random::<16>()?))
}
