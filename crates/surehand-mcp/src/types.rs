//! Typed views of payloads, filed as the chapters of the specification, each chosen by the method it belongs to.
//!
//! Reading is lenient and says what it let pass: the smallest unit (one tool, one block, one argument) is judged alone, and
//! what cannot be used is left out with a [`Note`] or kept as it came.

pub(crate) mod completion;
pub(crate) mod content;
pub(crate) mod elicitation;
pub(crate) mod empty;
pub(crate) mod icons;
pub(crate) mod lifecycle;
pub(crate) mod prompts;
pub(crate) mod resources;
pub(crate) mod roots;
pub(crate) mod sampling;
pub(crate) mod tasks;
pub(crate) mod tools;
pub(crate) mod utilities;

use serde_json::value::RawValue;
use surehand_model::{Note, RawJson};
use thiserror::Error;

use crate::members::{Members, string_of};
use crate::meta::push_member;
use crate::revision::{Feature, Revision};

/// A payload that nothing can be made of.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("the answer to {method} is not usable: {what}")]
pub struct ShapeFault {
    /// Which method was answered.
    pub method: &'static str,
    /// What is wrong with the answer.
    pub what: String,
}

/// The answer to a method, as a view of its text.
pub trait ReadResult: Sized {
    /// Reads it leniently.
    ///
    /// # Errors
    ///
    /// [`ShapeFault`] where not even the outermost shape is there.
    fn read(result: &RawJson) -> Result<Self, ShapeFault>;
}

/// One page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page<T> {
    /// In the server's order.
    pub items: Vec<T>,
    /// Where the next page starts. Opaque; the empty string is a cursor too.
    pub next_cursor: Option<String>,
    /// What was left out or repaired, and why.
    pub notes: Vec<Note>,
}

impl<T> Page<T> {
    /// Reads the array under `key`, item by item; `read` gives the item, or says why it is left out.
    pub(crate) fn read_items(
        result: &RawJson,
        (method, key): (&'static str, &str),
        read: impl Fn(&RawValue, &mut Reporter<'_>) -> Result<T, String>,
    ) -> Result<Self, ShapeFault> {
        let Some(members) = Members::parse(result.as_str()) else {
            return Err(ShapeFault { method, what: "it is not an object".to_owned() });
        };
        let Some(raw_items) = members.array(key) else {
            return Err(ShapeFault { method, what: format!("it has no array `{key}`") });
        };
        let mut notes = Vec::new();
        let mut items = Vec::with_capacity(raw_items.len());
        for (index, raw) in raw_items.into_iter().enumerate() {
            let mut reporter = Reporter { place: format!("{method} /{key}/{index}"), notes: &mut notes };
            match read(raw, &mut reporter) {
                Ok(item) => items.push(item),
                Err(why) => reporter.note("left out", why),
            }
        }
        let next_cursor = members.present("nextCursor").and_then(|cursor| {
            let text = string_of(cursor);
            if text.is_none() {
                notes.push(Note::new(method, "nextCursor ignored", "it is not a string"));
            }
            text
        });
        Ok(Self { items, next_cursor, notes })
    }
}

/// Collects notes about one place.
pub(crate) struct Reporter<'a> {
    place: String,
    notes: &'a mut Vec<Note>,
}

impl Reporter<'_> {
    fn note(&mut self, what: impl Into<String>, why: impl Into<String>) {
        self.notes.push(Note::new(self.place.clone(), what, why));
    }

    /// An optional string; another type is noted and left out.
    fn string(&mut self, members: &Members<'_>, key: &str) -> Option<String> {
        let value = members.present(key)?;
        let text = string_of(value);
        if text.is_none() {
            self.note(format!("`{key}` ignored"), "it is not a string");
        }
        text
    }

    /// An optional truth value; another type is noted and left out.
    fn boolean(&mut self, members: &Members<'_>, key: &str) -> Option<bool> {
        members.present(key)?;
        let truth = members.boolean(key);
        if truth.is_none() {
            self.note(format!("`{key}` ignored"), "it is not true or false");
        }
        truth
    }
}

/// `written` with the members of `raw` behind it that are not among its own, nor among the `typed` ones that it left out, nor
/// later than the revision.
fn extra_members(written: &RawJson, raw: &RawJson, typed: &[&str], revision: Revision) -> String {
    let mut out = written.as_str().to_owned();
    let (Some(own), Some(all)) = (Members::parse(written.as_str()), Members::parse(raw.as_str())) else {
        return out;
    };
    out.pop();
    for (key, value) in all.0 {
        let is_typed = own.get(&key).is_some() || typed.contains(&key.as_ref());
        if !is_typed && (key != "icons" || revision.has(Feature::Icons)) {
            push_member(&mut out, &key, value.get());
        }
    }
    out.push('}');
    out
}
