//! The official schema of a revision, and which part of it a message must fit.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::rc::Rc;

use jsonschema::{Draft, Validator};
use serde_json::{Value, json};

/// What came of a conversation.
pub(crate) struct Checked {
    /// How often each method and each notification came by and held.
    pub(crate) seen: BTreeMap<String, usize>,
    pub(crate) faults: Vec<String>,
    pub(crate) messages: usize,
}

pub(crate) struct Schema {
    document: Value,
    /// `definitions` or `$defs`.
    key: &'static str,
    draft: Draft,
    validators: RefCell<HashMap<String, Rc<Validator>>>,
}

impl Schema {
    pub(crate) fn read(file: &Path) -> Self {
        let text =
            std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let mut document: Value = serde_json::from_str(&text).unwrap();
        let key = if document.get("$defs").is_some() { "$defs" } else { "definitions" };
        // The generator made integers of numbers in these; the TypeScript that they are made from says `number`.
        for name in ["NumberSchema", "ElicitResult"] {
            if let Some(definition) = document[key].get_mut(name) {
                widen(definition);
            }
        }
        let draft = if key == "$defs" { Draft::Draft202012 } else { Draft::Draft7 };
        Self { document, key, draft, validators: RefCell::default() }
    }

    fn has(&self, name: &str) -> bool {
        self.document[self.key].get(name).is_some()
    }

    /// The first of these that the revision has.
    fn first<'a>(&self, names: &[&'a str]) -> &'a str {
        names.iter().find(|name| self.has(name)).unwrap_or_else(|| panic!("the schema has none of {names:?}"))
    }

    /// How a value breaks a definition; nothing where it does not.
    fn broken(&self, name: &str, value: &Value) -> Option<String> {
        let validator = self.validators.borrow().get(name).cloned();
        let validator = validator.unwrap_or_else(|| {
            let mut schema = self.document.clone();
            schema["$ref"] = json!(format!("#/{}/{name}", self.key));
            let made = Rc::new(jsonschema::options().with_draft(self.draft).build(&schema).unwrap());
            self.validators.borrow_mut().insert(name.to_owned(), made.clone());
            made
        });
        let error = validator.iter_errors(value).next()?;
        Some(format!("{name} at `{}`: {error}", error.instance_path()))
    }

    /// The definition of the request or notification of this method.
    fn definition(&self, method: &str) -> Option<String> {
        let definitions = self.document[self.key].as_object().unwrap();
        definitions
            .iter()
            .find(|(_, definition)| definition["properties"]["method"]["const"] == method)
            .map(|(name, _)| name.clone())
    }

    /// Every line of a log.
    pub(crate) fn check(&self, log: &str) -> Checked {
        let mut checked = Checked { seen: BTreeMap::new(), faults: Vec::new(), messages: 0 };
        // Who asked under which id for what.
        let mut asked: HashMap<(String, String), String> = HashMap::new();
        for line in log.lines() {
            let (who, text) = line.split_once('\t').unwrap();
            let Ok(message) = serde_json::from_str::<Value>(text) else {
                checked.faults.push(format!("the {who} wrote no JSON: {text}"));
                continue;
            };
            checked.messages += 1;
            let mut broken = vec![self.broken("JSONRPCMessage", &message)];
            let id = message["id"].to_string();
            let mut methods = Vec::new();
            if let Some(method) = message["method"].as_str() {
                methods.push(method.to_owned());
                match self.definition(method) {
                    Some(name) => broken.push(self.broken(&name, &message)),
                    None => broken.push(Some(format!("the revision has no `{method}`"))),
                }
                if message.get("id").is_some() {
                    broken.push(self.broken("JSONRPCRequest", &message));
                    asked.insert((who.to_owned(), id), method.to_owned());
                } else {
                    broken.push(self.broken("JSONRPCNotification", &message));
                }
                let responses = message["params"]["inputResponses"].as_object();
                for response in responses.into_iter().flat_map(|responses| responses.values()) {
                    broken.push(self.broken("InputResponse", response));
                }
            } else {
                let other = if who == "client" { "server" } else { "client" };
                let method = asked.get(&(other.to_owned(), id)).cloned().unwrap_or_default();
                broken.extend(self.answer(&method, &message, &mut methods));
            }
            let faults: Vec<String> = broken.into_iter().flatten().collect();
            if faults.is_empty() {
                for method in methods {
                    *checked.seen.entry(method).or_default() += 1;
                }
            }
            checked.faults.extend(faults.into_iter().map(|fault| {
                let start: String = text.chars().take(300).collect();
                format!("{who}: {fault}: {start}")
            }));
        }
        checked
    }

    fn answer(&self, method: &str, message: &Value, methods: &mut Vec<String>) -> Vec<Option<String>> {
        if message.get("error").is_some() {
            return vec![self.broken(self.first(&["JSONRPCErrorResponse", "JSONRPCError"]), message)];
        }
        let result = &message["result"];
        let envelope = self.first(&["JSONRPCResultResponse", "JSONRPCResponse"]);
        let mut broken = vec![self.broken(envelope, message)];
        if result["resultType"] == "input_required" {
            broken.push(self.broken("InputRequiredResult", result));
            for request in result["inputRequests"].as_object().into_iter().flat_map(|all| all.values()) {
                broken.push(self.broken("InputRequest", request));
                methods.extend(request["method"].as_str().map(str::to_owned));
            }
            return broken;
        }
        let name = self.definition(method).and_then(|name| {
            let result = format!("{}Result", name.strip_suffix("Request")?);
            Some(if self.has(&result) { result } else { "EmptyResult".to_owned() })
        });
        match name {
            Some(name) => broken.push(self.broken(&name, result)),
            None => broken.push(Some(format!("an answer to nothing that was asked ({method})"))),
        }
        broken
    }
}

/// Lets every place that takes whole numbers take all numbers.
fn widen(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            for (key, value) in members {
                match value {
                    Value::String(kind) if key == "type" && kind == "integer" => *value = json!("number"),
                    Value::Array(kinds) if key == "type" => {
                        for kind in kinds.iter_mut().filter(|kind| *kind == "integer") {
                            *kind = json!("number");
                        }
                    }
                    _ => widen(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(widen),
        _ => {}
    }
}
