use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{Json, JsonError};

/// One JSON text, kept byte for byte, cheap to clone.
///
/// It is always syntactically valid. Two values are equal when their bytes are; `1.0` and `1.00` differ.
/// It must not be used inside `#[serde(untagged)]` or `#[serde(flatten)]`: serde buffers there and the raw text is lost.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RawJson(Arc<RawValue>);

impl RawJson {
    /// Checks that `text` is one JSON value and keeps it, without white space around it.
    ///
    /// # Errors
    ///
    /// [`serde_json::Error`] names line and column of the first fault.
    pub fn parse(text: impl Into<String>) -> Result<Self, serde_json::Error> {
        let text: String = text.into();
        let trimmed = text.trim_matches([' ', '\t', '\n', '\r']);
        let owned = if trimmed.len() == text.len() { text } else { trimmed.to_owned() };
        RawValue::from_string(owned).map(|raw| Self(raw.into()))
    }

    /// Writes any serialisable value as JSON. Returns `null` for a value that cannot be written (a map with non-string keys).
    pub fn from_serialize<T: Serialize + ?Sized>(value: &T) -> Self {
        serde_json::value::to_raw_value(value).map(|raw| Self(raw.into())).unwrap_or_else(|_| Self::null())
    }

    /// `null`.
    pub fn null() -> Self {
        Self(RawValue::NULL.to_owned().into())
    }

    /// `{}`.
    pub fn empty_object() -> Self {
        Self::from_serialize(&serde_json::Map::new())
    }

    /// The text as it came.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// Whether the text is a JSON object.
    pub fn is_object(&self) -> bool {
        self.as_str().starts_with('{')
    }

    /// Parses into a tree that keeps key order and digits.
    ///
    /// # Errors
    ///
    /// [`JsonError::TooDeep`] past the depth limit of [`Json::parse`]; syntax has been checked already.
    pub fn to_json(&self) -> Result<Json, JsonError> {
        Json::parse(self.as_str())
    }

    /// Parses into serde's value. Numbers beyond 64 bits lose digits: use [`RawJson::to_json`] for what is passed on.
    pub fn to_value(&self) -> serde_json::Value {
        serde_json::from_str(self.as_str()).unwrap_or(serde_json::Value::Null)
    }

    /// Parses into any type.
    ///
    /// # Errors
    ///
    /// [`serde_json::Error`] when the text has another shape than `T`.
    pub fn to_type<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.as_str())
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for RawJson {}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<&Json> for RawJson {
    fn from(value: &Json) -> Self {
        Self::parse(value.to_string()).unwrap_or_else(|_| Self::null())
    }
}

impl From<&serde_json::Value> for RawJson {
    fn from(value: &serde_json::Value) -> Self {
        Self::from_serialize(value)
    }
}

impl From<Box<RawValue>> for RawJson {
    fn from(raw: Box<RawValue>) -> Self {
        Self(raw.into())
    }
}

impl From<&RawValue> for RawJson {
    fn from(raw: &RawValue) -> Self {
        Self(raw.to_owned().into())
    }
}
