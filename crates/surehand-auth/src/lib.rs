//! OAuth 2.1 as MCP uses it: a client that gets tokens for a server behind an address, and a resource server that checks them.
//!
//! The one decision that shapes this crate: what is said and what may be believed is pure (metadata, challenges, requests,
//! answers), and beside it stands the little that waits, asks and keeps.

mod assertion;
mod authorization;
mod browser;
mod challenge;
mod discovery;
mod dpop;
mod error;
mod exchange;
mod grant;
mod held;
mod identity;
mod jose;
mod loopback;
mod metadata;
mod oauth;
mod pkce;
mod random;
mod reach;
mod registration;
mod resource;
mod scopes;
mod store;
mod tokens;

pub use assertion::{ClientAssertion, assertion_fields, client_credentials_form};
pub use authorization::{AuthorizationRequest, Expected, read_redirect};
pub use browser::{Browser, Visit};
pub use challenge::{Demand, parse_challenges, token_demand};
pub use discovery::{Discovery, discover};
pub use dpop::{DpopCheck, DpopFault, DpopKey, DpopNonces, DpopProven, DpopRequest, check_dpop, dpop_id};
pub use error::AuthError;
pub use exchange::{GrantWish, SubjectToken, grant_form, jwt_bearer_form, parse_grant};
pub use grant::{Grant, IdentityProvider, TokenSource};
pub use identity::{ClientAuthentication, ClientIdentity, Form};
pub use jose::{
    Algorithm, ClaimFault, ClaimRules, Claims, JoseError, Jwk, JwkSet, Jws, PublicKey, SigningKey, sign_jws,
};
pub use loopback::{LoopbackBrowser, Paste};
pub use metadata::{
    ResourceMatch, ResourceMetadata, ServerMetadata, is_same_issuer, match_resource, origin_text,
    resource_metadata_places, server_metadata_places,
};
pub use oauth::{OAuth, OAuthOptions, PreRegistered};
pub use pkce::Pkce;
pub use reach::{Answer, Reach};
pub use registration::{parse_registration, registration_body};
pub use resource::{
    Clock, DpopPolicy, ResourceFault, ResourceOptions, ResourceServer, ScopeNeed, TrustedIssuer,
};
pub use scopes::{ScopeWish, choose_scopes};
pub use store::CredentialStore;
pub use tokens::{TokenRefusal, Tokens, code_form, encode_form, parse_tokens, refresh_form};
