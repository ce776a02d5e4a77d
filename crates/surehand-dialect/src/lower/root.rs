use surehand_model::{Json, Note};

use super::nested::resolve;
use super::{SchemaTarget, loss};

/// How many references the root may go through before it is an object.
const REFERENCE_LIMIT: usize = 8;

/// How many branches of combinators at the root are folded, those inside branches included.
const BRANCH_LIMIT: usize = 256;

/// Makes the root one object schema without what providers refuse there.
pub(super) fn make_object(
    schema: &mut Json,
    target: SchemaTarget,
    losses: &mut Vec<Note>,
) -> Result<(), String> {
    follow_references(schema)?;
    let root = schema.clone();
    Folder { root: &root, branches_left: BRANCH_LIMIT }.fold(schema, 0, losses);
    match schema.get("type") {
        None => put_first(schema, "type", Json::from("object")),
        Some(Json::String(name)) if name == "object" => {}
        Some(Json::Array(types)) if types.contains(&Json::from("object")) => {
            losses.push(loss("/type", "the other types of the arguments", "providers take objects only"));
            schema.set("type", Json::from("object"));
        }
        Some(other) => {
            return Err(format!("its arguments are of type {other}, and providers take objects only"));
        }
    }
    if !matches!(schema.get("properties"), Some(Json::Object(_))) {
        schema.set("properties", Json::Object(Vec::new()));
    }
    schema.remove("$schema");
    if target == SchemaTarget::OpenAi {
        for key in ["enum", "const", "not"] {
            if let Some(gone) = schema.remove(key) {
                losses.push(loss(&format!("/{key}"), format!("`{key}`"), "it is refused at the root"));
                describe(schema, &format!("Constraint on all arguments: {key} {gone}"));
            }
        }
    }
    Ok(())
}

/// A root that only refers is what it refers to. Members beside the reference win; definitions stay.
fn follow_references(schema: &mut Json) -> Result<(), String> {
    for _ in 0..REFERENCE_LIMIT {
        let Some(Json::String(reference)) = schema.get("$ref") else {
            return Ok(());
        };
        let target = resolve(reference, schema).cloned();
        schema.remove("$ref");
        if let Some(Json::Object(members)) = target {
            for (key, value) in members {
                if schema.get(&key).is_none() && key != "$anchor" {
                    schema.set(&key, value);
                }
            }
        }
    }
    match schema.get("$ref") {
        Some(_) => Err("its schema refers to itself and to nothing else".to_owned()),
        None => Ok(()),
    }
}

/// Folds `allOf`, `anyOf` and `oneOf` of the root into it.
struct Folder<'a> {
    /// The whole schema as it was; where references lead.
    root: &'a Json,
    /// How many more branches are looked at. A schema can name more of them than there are atoms.
    branches_left: usize,
}

impl Folder<'_> {
    /// Every property of every branch is shown; required is what all branches of a choice require. What the choice was is told
    /// in words. Branches are folded before they are used.
    fn fold(&mut self, schema: &mut Json, depth: usize, losses: &mut Vec<Note>) {
        if let Some(Json::Array(branches)) = schema.remove("allOf") {
            for branch in self.folded(&branches, "allOf", depth, losses) {
                fold_branch(schema, &branch, true);
            }
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(Json::Array(branches)) = schema.remove(key) {
                let mut branches = self.folded(&branches, key, depth, losses);
                branches.retain(can_be_object);
                fold_choice(schema, key, &branches, losses);
            }
        }
    }

    fn folded(&mut self, branches: &[Json], key: &str, depth: usize, losses: &mut Vec<Note>) -> Vec<Json> {
        let mut folded = Vec::new();
        for branch in branches {
            if self.branches_left == 0 || depth > REFERENCE_LIMIT {
                losses.push(loss(
                    &format!("/{key}"),
                    "some of its branches",
                    "there are too many of them, or too deep ones",
                ));
                break;
            }
            self.branches_left -= 1;
            if let Some(mut branch) = dereferenced(branch, self.root) {
                // What was chosen inside a branch is told with the branch, not once more.
                self.fold(&mut branch, depth + 1, &mut Vec::new());
                folded.push(branch);
            }
        }
        folded
    }
}

fn fold_choice(schema: &mut Json, key: &str, branches: &[Json], losses: &mut Vec<Note>) {
    if let [only] = branches {
        fold_branch(schema, only, true);
        return;
    }
    for branch in branches {
        fold_branch(schema, branch, false);
    }
    let demands: Vec<Vec<&str>> = branches.iter().map(required).collect();
    if let Some((first, rest)) = demands.split_first() {
        let common = first.iter().filter(|name| rest.iter().all(|other| other.contains(name)));
        for name in common {
            require(schema, name);
        }
    }
    let ways: Vec<String> = branches.iter().map(way).filter(|way| !way.is_empty()).collect();
    if ways.len() > 1 {
        let how = if key == "oneOf" { "exactly one" } else { "at least one" };
        describe(schema, &format!("The arguments follow {how} of these forms: {}.", ways.join("; ")));
    }
    losses.push(loss(
        &format!("/{key}"),
        format!("`{key}` at the root was folded into one object"),
        "providers refuse it there; the forms are told in the description, and calls are checked against the whole schema",
    ));
}

/// One form of a choice in words: what it requires, and which properties have one fixed value in it.
fn way(branch: &Json) -> String {
    let required = required(branch);
    let names: Vec<String> = match branch.get("properties").and_then(Json::as_object) {
        Some(properties) => properties
            .iter()
            .map(|(name, schema)| {
                let fixed = schema.get("const").map(|value| format!(" = {value}")).unwrap_or_default();
                let optional = if required.contains(&name.as_str()) { "" } else { " (optional)" };
                format!("`{name}`{fixed}{optional}")
            })
            .chain(
                required
                    .iter()
                    .filter(|name| !properties.iter().any(|(known, _)| known == *name))
                    .map(|name| format!("`{name}`")),
            )
            .collect(),
        None => required.iter().map(|name| format!("`{name}`")).collect(),
    };
    let title =
        branch.get("title").and_then(Json::as_str).map(|title| format!("{title}: ")).unwrap_or_default();
    if names.is_empty() { String::new() } else { format!("{title}{}", names.join(", ")) }
}

fn fold_branch(schema: &mut Json, branch: &Json, must: bool) {
    let Some(members) = branch.as_object() else {
        return;
    };
    for (key, value) in members {
        match (key.as_str(), value) {
            ("properties", Json::Object(properties)) => {
                for (name, property) in properties {
                    add_property(schema, name, property, must);
                }
            }
            ("required", Json::Array(_)) if must => {
                for name in required(branch) {
                    require(schema, name);
                }
            }
            ("$defs" | "definitions", Json::Object(named)) => {
                if schema.get(key).is_none() {
                    schema.set(key, Json::Object(Vec::new()));
                }
                if let Some(Json::Object(known)) = schema.get_mut(key) {
                    for (name, item) in named {
                        if !known.iter().any(|(other, _)| other == name) {
                            known.push((name.clone(), item.clone()));
                        }
                    }
                }
            }
            // A branch that is closed against the others would close the whole.
            ("additionalProperties" | "unevaluatedProperties", _) => {}
            ("title" | "description", _) if !must => {}
            _ if must && schema.get(key).is_none() => schema.set(key, value.clone()),
            _ => {}
        }
    }
}

/// A property that several branches know differently may be as any of them says; one that all of them must obey, as all say.
fn add_property(schema: &mut Json, name: &str, property: &Json, must: bool) {
    if !matches!(schema.get("properties"), Some(Json::Object(_))) {
        schema.set("properties", Json::Object(Vec::new()));
    }
    let Some(properties) = schema.get_mut("properties") else {
        return;
    };
    let key = if must { "allOf" } else { "anyOf" };
    let joined = match properties.get(name) {
        None => property.clone(),
        Some(known) if known == property => return,
        Some(known) => {
            let mut forms = match known.as_object() {
                Some([(only, Json::Array(forms))]) if only == key => forms.clone(),
                _ => vec![known.clone()],
            };
            if !forms.contains(property) {
                forms.push(property.clone());
            }
            Json::Object(vec![(key.to_owned(), Json::Array(forms))])
        }
    };
    properties.set(name, joined);
}

fn dereferenced(branch: &Json, root: &Json) -> Option<Json> {
    let mut branch = branch.clone();
    for _ in 0..REFERENCE_LIMIT {
        match branch.get("$ref") {
            Some(Json::String(reference)) => branch = resolve(reference, root)?.clone(),
            _ => return Some(branch),
        }
    }
    None
}

fn can_be_object(branch: &Json) -> bool {
    match branch.get("type") {
        Some(Json::String(name)) => name == "object",
        Some(Json::Array(types)) => types.contains(&Json::from("object")),
        _ => matches!(branch, Json::Object(_)),
    }
}

fn required(schema: &Json) -> Vec<&str> {
    match schema.get("required") {
        Some(Json::Array(names)) => names.iter().filter_map(Json::as_str).collect(),
        _ => Vec::new(),
    }
}

fn require(schema: &mut Json, name: &str) {
    match schema.get_mut("required") {
        Some(Json::Array(names)) => {
            if !names.contains(&Json::from(name)) {
                names.push(Json::from(name));
            }
        }
        _ => schema.set("required", Json::Array(vec![Json::from(name)])),
    }
}

fn describe(schema: &mut Json, sentence: &str) {
    let text = match schema.get("description").and_then(Json::as_str) {
        Some(text) if !text.is_empty() => format!("{text} {sentence}"),
        _ => sentence.to_owned(),
    };
    schema.set("description", Json::from(text.as_str()));
}

fn put_first(schema: &mut Json, key: &str, value: Json) {
    if let Json::Object(members) = schema {
        members.insert(0, (key.to_owned(), value));
    }
}
