use serde_json::json;
use surehand_mcp::{CallFailure, Resource, ResourceTemplate};
use surehand_model::ResourceContents;

use crate::media::PIXEL;

const TEXT: &str = "test://static-text";
const PICTURE: &str = "test://static-binary";
const WATCHED: &str = "test://watched-resource";

pub(crate) fn list() -> Vec<Resource> {
    vec![
        Resource::new(TEXT, "Static text", "A text that stays the same.").with_mime_type("text/plain"),
        Resource::new(PICTURE, "Static picture", "A picture that stays the same.")
            .with_mime_type("image/png"),
        Resource::new(WATCHED, "Watched resource", "A text to be told of when it changes.")
            .with_mime_type("text/plain"),
    ]
}

pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let template = "test://template/{id}/data";
    vec![
        ResourceTemplate::new(template, "Data by id", "What is known under an id.")
            .with_mime_type("application/json"),
    ]
}

pub(crate) fn read(uri: &str) -> Result<Vec<ResourceContents>, CallFailure> {
    let contents = |mime_type: &str, text: Option<String>, blob: Option<String>| {
        let (uri, mime_type) = (uri.to_owned(), Some(mime_type.to_owned()));
        Ok(vec![ResourceContents { uri, mime_type, text, blob }])
    };
    match uri {
        TEXT => {
            contents("text/plain", Some("This is the content of the static text resource.".to_owned()), None)
        }
        PICTURE => contents("image/png", None, Some(PIXEL.to_owned())),
        WATCHED => contents("text/plain", Some("Nothing has changed yet.".to_owned()), None),
        _ => {
            let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
            let id = id.filter(|id| !id.is_empty() && !id.contains('/'));
            let id = id.ok_or_else(|| CallFailure::UnknownResource(uri.to_owned()))?;
            let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            contents("application/json", Some(data.to_string()), None)
        }
    }
}
