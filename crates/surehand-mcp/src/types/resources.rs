//! Source: MCP specification, "Server features: Resources".

use serde::{Deserialize, Serialize};
use surehand_model::{Note, RawJson, ResourceContents};

use super::content::read_contents;
use super::{Page, ReadResult, Reporter, ShapeFault};
use crate::members::Members;
use crate::method::{ListResourceTemplates, ListResources, Method, ReadResource};

/// Something that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Under which it is read.
    pub uri: String,
    /// Its name; the URI where the server gave none.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// For the model.
    pub description: Option<String>,
    /// What it holds, where known.
    pub mime_type: Option<String>,
    /// In bytes, before any encoding.
    pub size: Option<u64>,
    /// The whole entry as it came.
    pub raw: RawJson,
}

/// A family of resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceTemplate {
    /// As of RFC 6570.
    pub uri_template: String,
    /// Its name; the template where the server gave none.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// For the model.
    pub description: Option<String>,
    /// What they hold, where all hold the same.
    pub mime_type: Option<String>,
    /// The whole entry as it came.
    pub raw: RawJson,
}

/// What `resources/read` asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadResourceParams {
    /// Which.
    pub uri: String,
}

/// What `resources/read` answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadResourceResult {
    /// One resource may consist of several.
    pub contents: Vec<ResourceContents>,
    /// What was left out, and why.
    pub notes: Vec<Note>,
    /// The whole answer as it came.
    pub raw: RawJson,
}

impl ReadResult for Page<Resource> {
    fn read(result: &RawJson) -> Result<Self, ShapeFault> {
        Self::read_items(result, (ListResources::NAME, "resources"), |raw, reporter| {
            let members = Members::of(raw).ok_or("it is not an object")?;
            let uri = members.string("uri").ok_or("it has no `uri`")?;
            Ok(Resource {
                name: reporter.string(&members, "name").unwrap_or_else(|| uri.clone()),
                title: reporter.string(&members, "title"),
                description: reporter.string(&members, "description"),
                mime_type: reporter.string(&members, "mimeType"),
                size: members.number("size").filter(|size| *size >= 0.0).map(|size| size as u64),
                raw: RawJson::from(raw),
                uri,
            })
        })
    }
}

impl ReadResult for Page<ResourceTemplate> {
    fn read(result: &RawJson) -> Result<Self, ShapeFault> {
        Self::read_items(result, (ListResourceTemplates::NAME, "resourceTemplates"), |raw, reporter| {
            let members = Members::of(raw).ok_or("it is not an object")?;
            let uri_template = members.string("uriTemplate").ok_or("it has no `uriTemplate`")?;
            Ok(ResourceTemplate {
                name: reporter.string(&members, "name").unwrap_or_else(|| uri_template.clone()),
                title: reporter.string(&members, "title"),
                description: reporter.string(&members, "description"),
                mime_type: reporter.string(&members, "mimeType"),
                raw: RawJson::from(raw),
                uri_template,
            })
        })
    }
}

impl ReadResult for ReadResourceResult {
    fn read(result: &RawJson) -> Result<Self, ShapeFault> {
        let items = Members::parse(result.as_str()).and_then(|members| members.array("contents"));
        let Some(items) = items else {
            let what = "it has no array `contents`".to_owned();
            return Err(ShapeFault { method: ReadResource::NAME, what });
        };
        let mut notes = Vec::new();
        let mut contents = Vec::with_capacity(items.len());
        for (index, raw) in items.into_iter().enumerate() {
            let place = format!("{} /contents/{index}", ReadResource::NAME);
            match read_contents(raw) {
                Ok(item) => contents.push(item),
                Err(why) => Reporter { place, notes: &mut notes }.note("left out", why),
            }
        }
        Ok(Self { contents, notes, raw: result.clone() })
    }
}
