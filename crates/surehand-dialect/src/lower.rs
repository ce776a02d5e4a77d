//! Writes a tool's schema the way a provider takes it, and says what was lost. The owner's schema is never changed: arguments are
//! always validated against that one.

mod nested;
mod root;
#[cfg(test)]
mod tests;

use surehand_model::{Json, Note, RawJson};

/// How large a schema may be, in bytes. Schemas come from strangers, and no provider takes larger ones.
const SIZE_LIMIT: usize = 256 * 1024;

/// Whose rules a schema is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SchemaTarget {
    /// OpenAI's functions without `strict`, and every endpoint that copies them.
    OpenAi,
    /// Anthropic's `input_schema` without `strict`.
    Anthropic,
    /// Gemini's `parametersJsonSchema`.
    Gemini,
}

/// A schema as the provider takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lowered {
    /// An object schema; `None` where there are no parameters and the provider wants none written.
    pub schema: Option<RawJson>,
    /// What the model is no longer told, each with the JSON Pointer of the place. Empty for a schema that passed as it was.
    pub losses: Vec<Note>,
}

/// Writes `schema` for `target`.
///
/// A schema that the provider takes passes byte for byte. Otherwise the root becomes one object (combinators there are folded into
/// it and put into words in its description), spellings of older drafts are brought up to 2020-12, and references that lead
/// nowhere or outside become "anything". References inside the schema stay, recursive ones too.
///
/// # Errors
///
/// Why this tool cannot be offered, as a sentence: its arguments are not an object, or its schema is none.
///
/// Source: JSON Schema 2020-12, and what each provider refuses at the root of a tool's schema.
pub fn lower(schema: &RawJson, target: SchemaTarget) -> Result<Lowered, String> {
    if schema.as_str().len() > SIZE_LIMIT {
        return Err(format!("its schema is larger than {SIZE_LIMIT} bytes"));
    }
    let original = schema.to_json().map_err(|error| format!("its schema cannot be read: {error}"))?;
    let mut losses = Vec::new();
    let mut written = match &original {
        Json::Object(_) => original.clone(),
        Json::Bool(true) | Json::Null => Json::Object(Vec::new()),
        Json::Bool(false) => return Err("its schema allows no arguments at all".to_owned()),
        other => return Err(format!("its schema is of type {}, not an object", other.type_name())),
    };
    // Lists of definitions are where references lead; they are looked up in the schema as it was.
    nested::modernise(&mut written, &original, &mut losses);
    root::make_object(&mut written, target, &mut losses)?;
    if written != original {
        // What was folded at the root may have been where references led.
        let folded = written.clone();
        nested::modernise(&mut written, &folded, &mut losses);
    }
    let no_parameters = written.get("properties").and_then(Json::as_object).is_none_or(<[_]>::is_empty)
        && !["additionalProperties", "patternProperties", "anyOf", "oneOf", "allOf"]
            .iter()
            .any(|key| matches!(written.get(key), Some(Json::Object(_) | Json::Array(_))));
    if target == SchemaTarget::Gemini && no_parameters {
        return Ok(Lowered { schema: None, losses });
    }
    let schema = if written == original { schema.clone() } else { RawJson::from(&written) };
    Ok(Lowered { schema: Some(schema), losses })
}

fn loss(pointer: &str, what: impl Into<String>, why: impl Into<String>) -> Note {
    Note::new(if pointer.is_empty() { "/" } else { pointer }, what, why)
}

/// `text` as one step of a JSON Pointer. Source: RFC 6901.
fn step(text: &str) -> String {
    text.replace('~', "~0").replace('/', "~1")
}
