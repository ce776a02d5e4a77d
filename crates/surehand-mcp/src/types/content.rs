//! Source: MCP specification, `ContentBlock`.

use serde_json::json;
use serde_json::value::RawValue;
use surehand_model::{ContentBlock, RawJson, ResourceContents};

use crate::members::{Members, string_of};
use crate::revision::{Feature, Revision};

/// Reads one block. An unknown kind is [`ContentBlock::Unknown`], whole.
///
/// # Errors
///
/// Says what is missing in a block of a known kind; the caller keeps it as it came.
pub(crate) fn read_block(raw: &RawValue) -> Result<ContentBlock, String> {
    let members = Members::of(raw).ok_or("it is not an object")?;
    let kind = members.string("type").ok_or("it has no `type`")?;
    let need =
        |key: &str| members.string(key).ok_or_else(|| format!("a block of type `{kind}` has no `{key}`"));
    let or_default = |key: &str, default: &str| members.string(key).unwrap_or_else(|| default.to_owned());
    Ok(match kind.as_str() {
        "text" => ContentBlock::Text(need("text")?),
        "image" => ContentBlock::Image {
            data: need("data")?,
            mime_type: or_default("mimeType", "application/octet-stream"),
        },
        "audio" => ContentBlock::Audio {
            data: need("data")?,
            mime_type: or_default("mimeType", "application/octet-stream"),
        },
        "resource" => {
            let inner = members.get("resource").ok_or("a block of type `resource` has no `resource`")?;
            ContentBlock::Resource(read_contents(inner)?)
        }
        "resource_link" => {
            let uri = need("uri")?;
            let name = members.string("name").unwrap_or_else(|| uri.clone());
            ContentBlock::ResourceLink {
                uri,
                name,
                mime_type: members.string("mimeType"),
                description: members.string("description"),
            }
        }
        _ => ContentBlock::Unknown(RawJson::from(raw)),
    })
}

/// Reads the contents of one resource.
pub(crate) fn read_contents(raw: &RawValue) -> Result<ResourceContents, String> {
    let members = Members::of(raw).ok_or("it is not an object")?;
    let text = members.get("text").and_then(string_of);
    let blob = members.get("blob").and_then(string_of);
    if text.is_none() && blob.is_none() {
        return Err("the contents have neither `text` nor `blob`".to_owned());
    }
    let uri = members.string("uri").ok_or("the contents have no `uri`")?;
    Ok(ResourceContents { uri, mime_type: members.string("mimeType"), text, blob })
}

/// A block as a revision knows it. A kind that came later is told as text.
pub(crate) fn write_block(block: &ContentBlock, revision: Revision) -> RawJson {
    let text = |text: &str| json!({"type": "text", "text": text});
    let value = match block {
        ContentBlock::Text(words) => text(words),
        ContentBlock::Image { data, mime_type } => {
            json!({"type": "image", "data": data, "mimeType": mime_type})
        }
        ContentBlock::Audio { data, mime_type } if revision.has(Feature::AudioContent) => {
            json!({"type": "audio", "data": data, "mimeType": mime_type})
        }
        ContentBlock::Audio { data, mime_type } => {
            json!({"type": "resource", "resource": {"uri": "data:", "mimeType": mime_type, "blob": data}})
        }
        ContentBlock::Resource(contents) => json!({"type": "resource", "resource": contents_value(contents)}),
        ContentBlock::ResourceLink { uri, name, mime_type, description }
            if revision.has(Feature::ResourceLinks) =>
        {
            let mut link = json!({"type": "resource_link", "uri": uri, "name": name});
            if let Some(mime_type) = mime_type {
                link["mimeType"] = json!(mime_type);
            }
            if let Some(description) = description {
                link["description"] = json!(description);
            }
            link
        }
        ContentBlock::ResourceLink { uri, name, .. } => text(&format!("{name}: {uri}")),
        ContentBlock::Unknown(raw) => return raw.clone(),
    };
    RawJson::from(&value)
}

pub(crate) fn contents_value(contents: &ResourceContents) -> serde_json::Value {
    let mut value = json!({"uri": contents.uri});
    if let Some(mime_type) = &contents.mime_type {
        value["mimeType"] = json!(mime_type);
    }
    if let Some(text) = &contents.text {
        value["text"] = json!(text);
    }
    if let Some(blob) = &contents.blob {
        value["blob"] = json!(blob);
    }
    value
}
