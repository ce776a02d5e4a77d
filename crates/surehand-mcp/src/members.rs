use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use surehand_model::Json;

/// The members of one JSON object in the order written, values untouched. One level is read, whatever lies below stays text.
pub(crate) struct Members<'a>(pub(crate) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Members<'a> {
    /// The members of `raw`, or nothing when it is no object.
    pub(crate) fn of(raw: &'a RawValue) -> Option<Self> {
        Self::parse(raw.get())
    }

    /// The members of the object that `text` is, or nothing when it is not one.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// The value of `key`; the last where it stands twice.
    pub(crate) fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.0.iter().rev().find(|(name, _)| name == key).map(|(_, value)| *value)
    }

    /// The value of `key`, unless it is `null`.
    pub(crate) fn present(&self, key: &str) -> Option<&'a RawValue> {
        self.get(key).filter(|value| value.get() != "null")
    }

    /// The value of `key` where it is a string.
    pub(crate) fn string(&self, key: &str) -> Option<String> {
        self.get(key).and_then(string_of)
    }

    /// The value of `key` where it is `true` or `false`.
    pub(crate) fn boolean(&self, key: &str) -> Option<bool> {
        match self.get(key)?.get() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// The value of `key` where it is a number.
    pub(crate) fn number(&self, key: &str) -> Option<f64> {
        serde_json::from_str(self.get(key)?.get()).ok()
    }

    /// The items of `key` where it is an array.
    pub(crate) fn array(&self, key: &str) -> Option<Vec<&'a RawValue>> {
        serde_json::from_str(self.get(key)?.get()).ok()
    }

    /// The members of `key` where it is an object.
    pub(crate) fn object(&self, key: &str) -> Option<Members<'a>> {
        Members::of(self.get(key)?)
    }

    /// The first of `keys` that stands more than once.
    pub(crate) fn repeated<'k>(&self, keys: &[&'k str]) -> Option<&'k str> {
        keys.iter().copied().find(|key| self.0.iter().filter(|(name, _)| name == key).count() > 1)
    }
}

/// The string that `raw` is. A lone surrogate escape in it becomes U+FFFD.
pub(crate) fn string_of(raw: &RawValue) -> Option<String> {
    if !raw.get().starts_with('"') {
        return None;
    }
    match serde_json::from_str(raw.get()) {
        Ok(text) => Some(text),
        Err(_) => Json::parse(raw.get()).ok()?.as_str().map(str::to_owned),
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(key) = map.next_key::<Key<'de>>()? {
                    members.push((key.0, map.next_value()?));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Read)
    }
}

/// A key, borrowed where it holds no escape.
#[derive(serde::Deserialize)]
pub(crate) struct Key<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);
