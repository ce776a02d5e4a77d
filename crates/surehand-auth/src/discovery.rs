use surehand_model::Note;
use url::Url;

use crate::challenge::Demand;
use crate::error::AuthError;
use crate::metadata::{
    ResourceMatch, ResourceMetadata, ServerMetadata, is_same_issuer, match_resource, origin_text,
    resource_metadata_places, server_metadata_places,
};
use crate::reach::{Reach, shown};

const RESOURCE_METADATA: &str = "address of its metadata";
const SERVER_METADATA: &str = "authorization server's address";

/// Who gives tokens for a server, and what for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discovery {
    /// What tokens are asked for (RFC 8707), byte for byte as published. `None` for servers of the time before that.
    pub resource: Option<String>,
    /// The scopes that the server lists.
    pub scopes: Option<Vec<String>>,
    /// Whether the server takes only tokens that are bound to a key.
    pub wants_bound_tokens: bool,
    /// Who gives tokens: the key for everything that is kept.
    pub issuer: String,
    /// What it says about itself.
    pub server: ServerMetadata,
    /// Each address asked in vain. Where `is_guessed`, this is all there is to tell a person.
    pub tried: Vec<String>,
    /// Whether there are no metadata anywhere, and the endpoints are only where the oldest revision puts them.
    pub is_guessed: bool,
    /// What is odd and was survived.
    pub notes: Vec<Note>,
}

/// What was asked in vain.
#[derive(Default)]
struct Tried {
    places: Vec<String>,
    /// Somebody was in trouble, and may have what was not found.
    trouble: Option<AuthError>,
}

/// Finds out who gives tokens for the server. `preferred` are the issuers that are taken first where it names several.
///
/// # Errors
///
/// [`AuthError`], in particular where the metadata are about another resource or another issuer.
///
/// Sources: MCP 2025-11-25, "Authorization server discovery"; for servers that know nothing of it, MCP 2025-03-26.
pub async fn discover(
    reach: &Reach,
    demand: Option<&Demand>,
    preferred: &[String],
) -> Result<Discovery, AuthError> {
    let mut tried = Tried::default();
    let mut notes = Vec::new();
    let Some(metadata) = resource_metadata(reach, demand, &mut tried, &mut notes).await? else {
        return without_metadata(reach, tried, notes).await;
    };
    let mut issuers = metadata.authorization_servers;
    if issuers.is_empty() {
        notes.push(note(
            reach,
            "its metadata name no authorization server",
            "its own origin is taken for one",
        ));
        issuers.push(origin_text(&reach.server));
    }
    // A stable sort: among equals the order of the server holds.
    issuers.sort_by_key(|issuer| !preferred.contains(issuer));
    let mut failure = None;
    for issuer in issuers {
        match server_metadata(reach, &issuer, &mut tried).await {
            Ok(Some(server)) => {
                let issuer = server.issuer.clone().unwrap_or(issuer);
                return Ok(Discovery {
                    resource: metadata.resource,
                    scopes: metadata.scopes_supported,
                    wants_bound_tokens: metadata.dpop_bound_access_tokens_required,
                    issuer,
                    server,
                    tried: tried.places,
                    is_guessed: false,
                    notes,
                });
            }
            Ok(None) => {}
            Err(error) => failure = Some(error),
        }
    }
    Err(failure.unwrap_or(AuthError::NoMetadata { tried: tried.places }))
}

async fn resource_metadata(
    reach: &Reach,
    demand: Option<&Demand>,
    tried: &mut Tried,
    notes: &mut Vec<Note>,
) -> Result<Option<ResourceMetadata>, AuthError> {
    let named = demand.and_then(|demand| demand.get("resource_metadata"));
    let mut places: Vec<Url> = named.and_then(|named| Url::parse(named).ok()).into_iter().collect();
    for place in resource_metadata_places(&reach.server) {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    for place in places {
        let Some(body) = document(reach, RESOURCE_METADATA, &place, tried).await? else { continue };
        let Some(mut metadata) = ResourceMetadata::parse(&body) else {
            tried.places.push(format!("{} (no JSON)", shown(&place)));
            continue;
        };
        let resource = metadata.resource.get_or_insert_with(|| without_fragment(&reach.server));
        match match_resource(&reach.server, resource) {
            ResourceMatch::Same => {}
            ResourceMatch::Covers => {
                if resource.trim_end_matches('/') != origin_text(&reach.server) {
                    let what = format!("its metadata are about `{resource}`");
                    notes.push(note(reach, &what, "this address lies within it, so tokens are asked for it"));
                }
            }
            ResourceMatch::Other => {
                let server = shown(&reach.server);
                return Err(AuthError::ResourceMismatch { server, resource: resource.clone() });
            }
        }
        return Ok(Some(metadata));
    }
    tried.trouble.take().map_or(Ok(None), Err)
}

/// The metadata of an issuer; `None` where there are none. Only documents that say that they are of this issuer count.
async fn server_metadata(
    reach: &Reach,
    issuer: &str,
    tried: &mut Tried,
) -> Result<Option<ServerMetadata>, AuthError> {
    let url = Url::parse(issuer).map_err(|_| AuthError::Insecure {
        what: SERVER_METADATA,
        url: issuer.chars().take(200).collect(),
    })?;
    let mut mismatch = None;
    for place in server_metadata_places(&url) {
        let Some(body) = document(reach, SERVER_METADATA, &place, tried).await? else { continue };
        let Some(metadata) = ServerMetadata::parse(&body) else {
            tried.places.push(format!("{} (no JSON)", shown(&place)));
            continue;
        };
        let found = metadata.issuer.as_deref().unwrap_or_default();
        if is_same_issuer(issuer, found) {
            return Ok(Some(metadata));
        }
        tried.places.push(format!("{} (is of `{found}`)", shown(&place)));
        mismatch = Some(AuthError::IssuerMismatch { expected: issuer.to_owned(), found: found.to_owned() });
    }
    mismatch.or(tried.trouble.take()).map_or(Ok(None), Err)
}

/// The server itself gives the tokens. Source: MCP 2025-03-26, "Authorization base URL".
async fn without_metadata(reach: &Reach, mut tried: Tried, notes: Vec<Note>) -> Result<Discovery, AuthError> {
    let issuer = origin_text(&reach.server);
    let found = server_metadata(reach, &issuer, &mut tried).await?;
    let is_guessed = found.is_none();
    let server = found.unwrap_or_else(|| ServerMetadata::default_endpoints(&reach.server));
    let issuer = server.issuer.clone().unwrap_or(issuer);
    Ok(Discovery {
        resource: None,
        scopes: None,
        wants_bound_tokens: false,
        issuer,
        server,
        tried: tried.places,
        is_guessed,
        notes,
    })
}

/// The document at a place; `None` where there is none.
async fn document(
    reach: &Reach,
    what: &'static str,
    place: &Url,
    tried: &mut Tried,
) -> Result<Option<Vec<u8>>, AuthError> {
    let answer = reach.get(what, place).await?;
    if answer.status == 200 {
        return Ok(Some(answer.body));
    }
    let why = format!("HTTP {}", answer.status);
    tried.places.push(format!("{} ({why})", shown(place)));
    if matches!(answer.status, 429 | 500..) {
        tried.trouble = Some(AuthError::Busy { what: "place of metadata", issuer: shown(place), why });
    }
    Ok(None)
}

fn without_fragment(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    url.into()
}

fn note(reach: &Reach, what: &str, why: &str) -> Note {
    Note::new(shown(&reach.server), what, why)
}
