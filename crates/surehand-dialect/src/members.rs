use serde::ser::{Serialize, SerializeMap, Serializer};
use surehand_model::RawJson;

/// A JSON object under construction: members in the order in which they were put in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Members(Vec<(String, RawJson)>);

impl Members {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// With one member more.
    #[must_use]
    pub(crate) fn with<T: Serialize + ?Sized>(mut self, key: &str, value: &T) -> Self {
        self.put(key, RawJson::from_serialize(value));
        self
    }

    /// With one member more, where there is a value for it.
    #[must_use]
    pub(crate) fn with_some<T: Serialize>(self, key: &str, value: Option<T>) -> Self {
        match value {
            Some(value) => self.with(key, &value),
            None => self,
        }
    }

    /// Puts a member in; one of the same key gives way.
    pub(crate) fn put(&mut self, key: &str, value: RawJson) {
        self.0.retain(|(known, _)| known != key);
        self.0.push((key.to_owned(), value));
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.0.iter().any(|(known, _)| known == key)
    }

    pub(crate) fn to_body(&self) -> Vec<u8> {
        RawJson::from_serialize(self).as_str().as_bytes().to_vec()
    }
}

impl Serialize for Members {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}
