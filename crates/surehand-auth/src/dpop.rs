//! Tokens tied to a key: whoever shows one proves for each request to have the key (RFC 9449).

mod check;
mod nonces;
mod own_nonces;
mod proof;

pub use self::check::{DpopCheck, DpopFault, DpopProven, check_dpop};
pub use self::nonces::DpopNonces;
pub(crate) use self::own_nonces::OwnNonces;
pub use self::proof::{DpopKey, DpopRequest, dpop_id};

use url::Url;

/// The `typ` of a proof.
const PROOF_TYPE: &str = "dpop+jwt";

/// The address that a proof names: without query and fragment.
fn proven_address(url: &Url) -> Url {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    url
}

#[cfg(test)]
mod tests;
