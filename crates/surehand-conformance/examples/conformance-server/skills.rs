//! One skill, of two files, as the skills extension serves them. Source: SEP-2640.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use surehand_mcp::{CallFailure, Resource};
use surehand_model::{RawJson, ResourceContents};

/// The identifier of the extension.
pub(crate) const EXTENSION: &str = "io.modelcontextprotocol/skills";

const NAME: &str = "unit-conversion";
const DESCRIPTION: &str = "Converts between metric and imperial units";
const FOLDER: &str = "skill://unit-conversion";
const MANIFEST: &str = "skill://unit-conversion/SKILL.md";
const MANIFEST_TEXT: &str = "---\nname: unit-conversion\ndescription: Converts between metric and imperial units\n---\n\n\
                             Look the factor up in references/factors.md, then multiply.\n";
const REFERENCES: &str = "skill://unit-conversion/references";
const FACTORS: &str = "skill://unit-conversion/references/factors.md";
const FACTORS_TEXT: &str = "An inch is 25.4 mm. A pound is 0.45359237 kg.\n";

const FILES: [(&str, &str); 2] = [(MANIFEST, MANIFEST_TEXT), (FACTORS, FACTORS_TEXT)];

/// What the server says of the extension: folders can be read too.
pub(crate) fn settings() -> RawJson {
    RawJson::from(&json!({"directoryRead": true}))
}

/// The manifest as a resource.
pub(crate) fn manifest() -> Resource {
    Resource::new(MANIFEST, NAME, DESCRIPTION).with_mime_type("text/markdown")
}

/// One of the files.
pub(crate) fn read(uri: &str) -> Option<ResourceContents> {
    FILES.iter().find(|(known, _)| *known == uri).map(|(uri, text)| ResourceContents {
        uri: (*uri).to_owned(),
        mime_type: Some("text/markdown".to_owned()),
        text: Some((*text).to_owned()),
        blob: None,
    })
}

/// Answers the methods of the extension.
pub(crate) fn answer(method: &str, params: &RawJson) -> Result<RawJson, CallFailure> {
    let params: Value = params.to_type().unwrap_or_default();
    let uri = params["uri"].as_str().unwrap_or_default();
    let invalid = || CallFailure::InvalidParams(format!("nothing of that kind is at `{uri}`"));
    let result = match method {
        "skills/list" => json!({"skills": [entry()], "ttlMs": 0, "cacheScope": "public"}),
        "skills/get" if uri == MANIFEST => json!({"skill": entry(), "ttlMs": 0, "cacheScope": "public"}),
        "resources/directory/read" => json!({"resources": children(uri).ok_or_else(invalid)?}),
        "skills/get" => return Err(invalid()),
        _ => return Err(CallFailure::UnknownMethod(method.to_owned())),
    };
    Ok(RawJson::from(&result))
}

fn entry() -> Value {
    let files = FILES.map(|(uri, text)| {
        let digest: String = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
        json!({"uri": uri, "digest": format!("sha256:{digest}"), "size": text.len()})
    });
    json!({
        "uri": MANIFEST,
        "frontmatter": {"name": NAME, "description": DESCRIPTION},
        "resources": files
    })
}

/// What is right inside a folder.
fn children(folder: &str) -> Option<Value> {
    let file = |uri: &str, name: &str| json!({"uri": uri, "name": name, "mimeType": "text/markdown"});
    match folder {
        FOLDER => Some(json!([
            file(MANIFEST, NAME),
            {"uri": REFERENCES, "name": "references", "mimeType": "inode/directory"}
        ])),
        REFERENCES => Some(json!([file(FACTORS, "factors.md")])),
        _ => None,
    }
}
