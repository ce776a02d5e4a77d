//! The folders that a client works in. Source: MCP specification, "Client features: Roots".

use serde::Serialize;
use surehand_model::RawJson;

/// A folder or file that the client works in. It tells servers where to look; it is no wall.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Root {
    /// A `file://` address.
    pub uri: String,
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// The result of `roots/list`.
pub fn write_roots(roots: &[Root]) -> RawJson {
    #[derive(Serialize)]
    struct Written<'a> {
        roots: &'a [Root],
    }
    RawJson::from_serialize(&Written { roots })
}
