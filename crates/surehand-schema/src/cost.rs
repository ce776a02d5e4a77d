//! What checking a value would cost, counted before it is done: schemas come from strangers.
//!
//! Alternatives multiply: a schema of a few lines can ask for more steps than there are seconds. The number of steps is counted
//! here in time proportional to schema times value, by counting each pair of the two once.

use std::collections::HashMap;

use surehand_model::Json;

use crate::tree::{Place, RESOURCES, SchemaTree};

/// How many steps one level of a value may take.
const STEPS_OF_A_LEVEL: u64 = 20_000;
/// How many references and alternatives may hang on one another without going down into the value.
const CHAIN: usize = 64;
/// How many steps a whole value may take.
const STEPS: u64 = 20_000_000;
/// How deep checking may nest: levels of the value times the longest chain.
const NESTING: usize = 1_500;

/// Too much work for one value.
pub(crate) struct Costly(pub(crate) String);

impl SchemaTree {
    /// Refuses a schema in which checking one level of a value takes more than a bounded number of steps: alternatives of
    /// alternatives that multiply, and references that lead back to themselves without going down into the value.
    ///
    /// Gives the length of the longest chain of references and alternatives.
    pub(crate) fn check_cost(&self) -> Result<usize, Costly> {
        if self.resources.len() > RESOURCES {
            return Err(Costly(format!("more than {RESOURCES} parts have an address of their own")));
        }
        let mut known = HashMap::new();
        let mut longest = 1;
        let mut open = vec![&self.root];
        while let Some(schema) = open.pop() {
            let level = self.level(Place { schema, resource: &self.root }, &mut known, 1)?;
            longest = longest.max(level.chain);
            match schema {
                Json::Object(members) => open.extend(members.iter().map(|(_, value)| value)),
                Json::Array(items) => open.extend(items),
                _ => {}
            }
        }
        Ok(longest)
    }

    /// What one level takes; `None` in `known` while it is being counted.
    fn level(
        &self,
        place: Place<'_>,
        known: &mut HashMap<*const Json, Option<Level>>,
        depth: usize,
    ) -> Result<Level, Costly> {
        let key: *const Json = place.schema;
        match known.get(&key) {
            Some(Some(level)) => return Ok(*level),
            Some(None) => {
                return Err(Costly(
                    "a reference leads back to itself without going down into the value".to_owned(),
                ));
            }
            None => {}
        }
        let mut level = Level { steps: 1, chain: 1 };
        known.insert(key, None);
        for child in self.in_place(place.schema, place.resource) {
            // The walk itself must not go too deep either, so that this is asked before going on.
            if depth >= CHAIN {
                return Err(too_long());
            }
            let child = self.level(child, known, depth + 1)?;
            level.steps = level.steps.saturating_add(child.steps);
            level.chain = level.chain.max(child.chain + 1);
            if level.steps > STEPS_OF_A_LEVEL {
                return Err(Costly(format!(
                    "one value would take more than {STEPS_OF_A_LEVEL} steps to check"
                )));
            }
            if level.chain > CHAIN {
                return Err(too_long());
            }
        }
        known.insert(key, Some(level));
        Ok(level)
    }

    /// Whether a value can be checked within bounds. `chain` is what [`SchemaTree::check_cost`] gave.
    pub(crate) fn affords(&self, value: &Json, chain: usize) -> bool {
        let levels = levels_of(value);
        // One level below the root cannot multiply beyond what the schema was refused for.
        levels <= 2
            || (levels.saturating_mul(chain) <= NESTING
                && self.steps(Place { schema: &self.root, resource: &self.root }, value, &mut HashMap::new())
                    <= STEPS)
    }

    /// How often a schema is looked at for a value, all parts of both counted.
    fn steps(
        &self,
        place: Place<'_>,
        value: &Json,
        known: &mut HashMap<(*const Json, *const Json), u64>,
    ) -> u64 {
        let key: (*const Json, *const Json) = (place.schema, value);
        if let Some(steps) = known.get(&key) {
            return *steps;
        }
        let mut steps = 1_u64;
        for child in self.in_place(place.schema, place.resource) {
            steps = steps.saturating_add(self.steps(child, value, known));
        }
        let below = |schema| Place { schema, resource: place.resource };
        match value {
            Json::Object(members) => {
                for (key, value) in members {
                    for schema in schemas_of_member(place.schema, key) {
                        steps = steps.saturating_add(self.steps(below(schema), value, known));
                    }
                }
            }
            Json::Array(items) => {
                for (index, value) in items.iter().enumerate() {
                    for schema in schemas_of_item(place.schema, index) {
                        steps = steps.saturating_add(self.steps(below(schema), value, known));
                    }
                }
            }
            _ => {}
        }
        known.insert(key, steps);
        steps
    }
}

#[derive(Clone, Copy)]
struct Level {
    steps: u64,
    chain: usize,
}

fn too_long() -> Costly {
    Costly(format!("more than {CHAIN} references and alternatives hang on one another"))
}

/// The schemas that may apply to the member `key` of an object. Rather one too many than one too few.
fn schemas_of_member<'a>(schema: &'a Json, key: &str) -> Vec<&'a Json> {
    let mut found: Vec<&Json> =
        schema.get("properties").and_then(|properties| properties.get(key)).into_iter().collect();
    let patterns = schema.get("patternProperties").and_then(Json::as_object).unwrap_or_default();
    found.extend(patterns.iter().map(|(_, schema)| schema));
    if found.is_empty() {
        found.extend(
            ["additionalProperties", "unevaluatedProperties"]
                .iter()
                .filter_map(|keyword| schema.get(keyword)),
        );
    }
    found
}

/// The schemas that may apply to an item of a list.
fn schemas_of_item(schema: &Json, index: usize) -> Vec<&Json> {
    let mut found: Vec<&Json> = Vec::new();
    for keyword in ["prefixItems", "items"] {
        match schema.get(keyword) {
            Some(Json::Array(schemas)) => found.extend(schemas.get(index)),
            Some(one) => found.push(one),
            None => {}
        }
    }
    found.extend(
        ["additionalItems", "unevaluatedItems", "contains"].iter().filter_map(|keyword| schema.get(keyword)),
    );
    found
}

/// How deep a value nests; 1 for a number.
fn levels_of(value: &Json) -> usize {
    let below = match value {
        Json::Array(items) => items.iter().map(levels_of).max(),
        Json::Object(members) => members.iter().map(|(_, value)| levels_of(value)).max(),
        _ => return 1,
    };
    1 + below.unwrap_or(0)
}
