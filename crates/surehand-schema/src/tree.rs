//! A schema as a tree to look things up in: what a place expects, which names it knows, where references lead.

use std::collections::HashMap;

use surehand_model::Json;

use crate::value::{cut, join, listed, named};

/// How many `$ref` are followed one after the other.
const REFERENCE_CHAIN: usize = 16;

/// Keywords whose schemas apply to the very value the schema itself applies to: a list of schemas each.
const IN_PLACE_LISTS: &[&str] = &["allOf", "anyOf", "oneOf"];
/// The same: one schema each.
const IN_PLACE_ONES: &[&str] = &["not", "if", "then", "else"];
/// The same: an object of schemas each.
const IN_PLACE_MAPS: &[&str] = &["dependentSchemas", "dependencies"];
const REFERENCES: &[&str] = &["$ref", "$dynamicRef", "$recursiveRef"];

/// How many parts with an address of their own a schema may have.
pub(crate) const RESOURCES: usize = 200;

/// A schema to look things up in.
pub(crate) struct SchemaTree {
    pub(crate) root: Json,
    /// JSON Pointers of what has a name to be referred by.
    anchors: HashMap<String, String>,
    /// The same for what has an address: the address as written, and the JSON Pointer.
    pub(crate) resources: Vec<(String, String)>,
}

impl SchemaTree {
    pub(crate) fn new(root: Json) -> Self {
        let (mut anchors, mut resources) = (HashMap::new(), Vec::new());
        index(&root, String::new(), &mut anchors, &mut resources);
        Self { root, anchors, resources }
    }

    /// The schema that holds the keyword at this place. The place counts from the resource that `uri` names, if there are several.
    pub(crate) fn holder(&self, keyword_place: &str, uri: Option<&str>) -> Option<&Json> {
        let (place, _) = keyword_place.rsplit_once('/')?;
        let resource = uri.and_then(|uri| self.resource(uri)).unwrap_or(&self.root);
        resource.pointer(place).or_else(|| self.root.pointer(place))
    }

    /// What `schema` wants, in words: `string`, `integer or null`, `one of "a", "b"`.
    pub(crate) fn summary(&self, schema: &Json) -> String {
        self.summary_within(schema, 4).unwrap_or_else(|| "a value".to_owned())
    }

    fn summary_within(&self, schema: &Json, depth: usize) -> Option<String> {
        let schema = self.resolved(schema);
        if let Some(options) = schema.get("enum").and_then(Json::as_array) {
            return Some(one_of(options));
        }
        if let Some(value) = schema.get("const") {
            return Some(cut(&value.to_string()));
        }
        match schema.get("type") {
            Some(Json::String(name)) if name == "array" && depth > 0 => {
                let items = schema.get("items").and_then(|items| self.summary_within(items, depth - 1));
                return Some(items.map_or("array".to_owned(), |items| format!("array of {items}")));
            }
            Some(Json::String(name)) => return Some(name.clone()),
            Some(Json::Array(names)) => {
                let names: Vec<String> =
                    names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect();
                return Some(listed(&names, "or"));
            }
            _ => {}
        }
        if depth == 0 {
            return None;
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(branches) = schema.get(keyword).and_then(Json::as_array) {
                let mut words: Vec<String> = Vec::new();
                for branch in branches {
                    let word = self.summary_within(branch, depth - 1)?;
                    if !words.contains(&word) {
                        words.push(word);
                    }
                }
                return Some(listed(&words, "or"));
            }
        }
        let all = schema.get("allOf").and_then(Json::as_array)?;
        all.iter().find_map(|branch| self.summary_within(branch, depth - 1))
    }

    /// All property names that `schema` speaks of, in the order written, those of its alternatives too.
    pub(crate) fn property_names<'a>(&'a self, schema: &'a Json) -> Vec<&'a str> {
        let mut names = Vec::new();
        self.gather_names(schema, 6, &mut names);
        names
    }

    fn gather_names<'a>(&'a self, schema: &'a Json, depth: usize, names: &mut Vec<&'a str>) {
        for (name, _) in schema.get("properties").and_then(Json::as_object).unwrap_or_default() {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        if depth == 0 {
            return;
        }
        for child in self.in_place(schema, &self.root) {
            self.gather_names(child.schema, depth - 1, names);
        }
    }

    /// The schema that a `$ref` stands for; the schema itself where there is none or it leads nowhere.
    pub(crate) fn resolved<'a>(&'a self, schema: &'a Json) -> &'a Json {
        let mut schema = schema;
        for _ in 0..REFERENCE_CHAIN {
            let next =
                schema.get("$ref").and_then(Json::as_str).and_then(|text| self.target(text, &self.root));
            match next {
                Some(target) => schema = target.schema,
                None => break,
            }
        }
        schema
    }

    /// The schemas that apply to the same value as `schema` does.
    pub(crate) fn in_place<'a>(&'a self, schema: &'a Json, resource: &'a Json) -> Vec<Place<'a>> {
        let resource = if is_resource(schema) { schema } else { resource };
        let mut found = Vec::new();
        for keyword in REFERENCES {
            if let Some(target) =
                schema.get(keyword).and_then(Json::as_str).and_then(|text| self.target(text, resource))
            {
                found.push(target);
            }
        }
        let here = |schema| Place { schema, resource };
        for keyword in IN_PLACE_LISTS {
            found.extend(schema.get(keyword).and_then(Json::as_array).unwrap_or_default().iter().map(here));
        }
        found.extend(IN_PLACE_ONES.iter().filter_map(|keyword| schema.get(keyword)).map(here));
        for keyword in IN_PLACE_MAPS {
            let members = schema.get(keyword).and_then(Json::as_object).unwrap_or_default();
            found.extend(members.iter().map(|(_, value)| here(value)));
        }
        found
    }

    /// Where a reference leads: `#`, `#/pointer`, `#anchor`, each also behind an address that some `$id` in the schema gives.
    fn target<'a>(&'a self, reference: &str, resource: &'a Json) -> Option<Place<'a>> {
        let (address, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource = if address.is_empty() { resource } else { self.resource(address)? };
        let fragment = percent_decoded(fragment);
        if fragment.is_empty() || fragment.starts_with('/') {
            return Some(Place { schema: resource.pointer(&fragment)?, resource });
        }
        Some(Place { schema: self.root.pointer(self.anchors.get(&fragment)?)?, resource })
    }

    /// The part of the schema with this address. Addresses are compared by their ends, which is enough inside one document.
    fn resource(&self, address: &str) -> Option<&Json> {
        let address = address.split('#').next().unwrap_or_default();
        let ends_with = |long: &str, short: &str| {
            long.strip_suffix(short).is_some_and(|front| {
                front.is_empty() || front.ends_with(['/', ':']) || short.starts_with('/')
            })
        };
        let fits = |id: &str| !id.is_empty() && (ends_with(address, id) || ends_with(id, address));
        let (_, pointer) = self.resources.iter().find(|(id, _)| fits(id))?;
        self.root.pointer(pointer)
    }
}

/// A part of the schema.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) schema: &'a Json,
    /// What `#` means there.
    pub(crate) resource: &'a Json,
}

fn is_resource(schema: &Json) -> bool {
    schema.get("$id").and_then(Json::as_str).is_some_and(|id| !id.is_empty() && !id.starts_with('#'))
}

/// Finds everything with a name or an address; the first of each name counts.
fn index(
    schema: &Json,
    pointer: String,
    anchors: &mut HashMap<String, String>,
    resources: &mut Vec<(String, String)>,
) {
    for key in ["$anchor", "$dynamicAnchor", "$id", "id"] {
        let Some(text) = schema.get(key).and_then(Json::as_str) else { continue };
        if let Some(name) = text.strip_prefix('#').or(key.ends_with("nchor").then_some(text)) {
            anchors.entry(name.to_owned()).or_insert_with(|| pointer.clone());
        } else if key.starts_with('$') && resources.len() <= RESOURCES {
            resources.push((text.trim_end_matches('#').to_owned(), pointer.clone()));
        }
    }
    match schema {
        Json::Object(members) => {
            for (key, value) in members {
                if matches!(value, Json::Object(_) | Json::Array(_)) {
                    index(value, join(&pointer, key), anchors, resources);
                }
            }
        }
        Json::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                index(item, format!("{pointer}/{at}"), anchors, resources);
            }
        }
        _ => {}
    }
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let decoded = (*first == b'%')
            .then(|| behind.get(..2).and_then(|two| std::str::from_utf8(two).ok()))
            .flatten()
            .and_then(|two| u8::from_str_radix(two, 16).ok());
        match decoded {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// `one of "a", "b"`, or the value alone where there is only one.
pub(crate) fn one_of(options: &[Json]) -> String {
    let words: Vec<String> = options.iter().map(|option| cut(&option.to_string())).collect();
    match words.as_slice() {
        [only] => only.clone(),
        _ => format!("one of {}", named(&words)),
    }
}
