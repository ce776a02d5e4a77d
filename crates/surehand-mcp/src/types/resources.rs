//! Source: MCP specification, "Server features: Resources".

use serde::{Deserialize, Serialize};
use surehand_model::{Note, RawJson, ResourceContents};

use super::content::{contents_value, read_contents};
use super::{Page, ReadResult, Reporter, ShapeFault, extra_members};
use crate::members::Members;
use crate::method::{ListResourceTemplates, ListResources, Method, ReadResource};
use crate::revision::{Feature, Revision};

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
    /// The whole entry as it came. Of a server's own: what is to be said beside the members above, such as `icons`.
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
    /// The whole entry as it came. Of a server's own: what is to be said beside the members above, such as `icons`.
    pub raw: RawJson,
}

impl Resource {
    /// A resource with a name and a description; the rest unknown.
    pub fn new(uri: impl Into<String>, name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: Some(description.into()),
            mime_type: None,
            size: None,
            raw: RawJson::empty_object(),
        }
    }

    /// Says what it holds, for example `text/plain`.
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }
}

impl ResourceTemplate {
    /// A family of resources with a name and a description; the rest unknown.
    pub fn new(
        uri_template: impl Into<String>,
        name: impl Into<String>,
        description: impl Into<String>,
    ) -> Self {
        Self {
            uri_template: uri_template.into(),
            name: name.into(),
            title: None,
            description: Some(description.into()),
            mime_type: None,
            raw: RawJson::empty_object(),
        }
    }

    /// Says what all of them hold, for example `text/plain`.
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }
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

/// A resource as a revision knows it.
pub(crate) fn write_resource(resource: &Resource, revision: Revision) -> String {
    let Resource { uri, name, title, description, mime_type, size, raw } = resource;
    let written = write(&[("uri", uri), ("name", name)], title, description, mime_type, *size, revision);
    extra_members(&written, raw, &["title", "size"], revision)
}

/// A family of resources as a revision knows it.
pub(crate) fn write_template(template: &ResourceTemplate, revision: Revision) -> String {
    let ResourceTemplate { uri_template, name, title, description, mime_type, raw } = template;
    let named = [("uriTemplate", uri_template), ("name", name)];
    let written = write(&named, title, description, mime_type, None, revision);
    extra_members(&written, raw, &["title"], revision)
}

fn write(
    named: &[(&str, &String); 2],
    title: &Option<String>,
    description: &Option<String>,
    mime_type: &Option<String>,
    size: Option<u64>,
    revision: Revision,
) -> RawJson {
    let mut members = serde_json::Map::new();
    let optional = [
        ("title", title.as_ref().filter(|_| revision.has(Feature::Titles))),
        ("description", description.as_ref()),
        ("mimeType", mime_type.as_ref()),
    ];
    let given = optional.into_iter().filter_map(|(key, value)| Some((key, value?)));
    for (key, value) in named.iter().copied().chain(given) {
        members.insert(key.to_owned(), value.as_str().into());
    }
    if let Some(size) = size {
        members.insert("size".to_owned(), size.into());
    }
    RawJson::from(&serde_json::Value::Object(members))
}

/// `"contents":[..]`.
pub(crate) fn write_contents(contents: &[ResourceContents]) -> String {
    let all: Vec<serde_json::Value> = contents.iter().map(contents_value).collect();
    format!("\"contents\":{}", RawJson::from_serialize(&all))
}
