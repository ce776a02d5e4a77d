//! OAuth 2.1 as MCP uses it: a client that gets tokens for a server behind an address, and a resource server that checks them.

mod dpop;
mod jose;

pub use dpop::{DpopCheck, DpopFault, DpopKey, DpopNonces, DpopProven, DpopRequest, check_dpop, dpop_id};
pub use jose::{
    Algorithm, ClaimFault, ClaimRules, Claims, JoseError, Jwk, JwkSet, Jws, PublicKey, SigningKey, sign_jws,
};
