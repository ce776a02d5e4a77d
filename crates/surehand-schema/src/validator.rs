use std::collections::HashMap;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ReferencingError};
use surehand_model::{Json, JsonError, Note, RawJson};

use crate::describe::Describer;
use crate::older::read_older_spellings;
use crate::tree::SchemaTree;
use crate::value::{cut, describe, for_validation, join};
use crate::{SchemaFault, Violation};

/// How large a schema may be, in bytes.
const SCHEMA_LIMIT: usize = 1024 * 1024;
/// How many parts of a schema are left out before it is given up.
const LEFT_OUT_LIMIT: usize = 50;
/// How many faults of one value are looked at.
const FAULT_LIMIT: usize = 500;
/// How often a pattern may step back on one text.
const BACKTRACK_LIMIT: usize = 100_000;
/// How large a compiled pattern may be, in bytes.
const PATTERN_LIMIT: usize = 1024 * 1024;

/// A schema, ready to check values. Costly to make (a fraction of a millisecond), cheap to use: keep one per tool.
pub struct Validator {
    pub(crate) inner: jsonschema::Validator,
    pub(crate) tree: SchemaTree,
    /// The longest chain of references and alternatives in the schema.
    pub(crate) chain: usize,
    /// The whole must be an object, as the arguments of a call always are.
    pub(crate) wants_object: bool,
    notes: Vec<Note>,
}

impl Validator {
    /// For a tool's arguments: like [`Validator::for_value`], and the whole must be an object whatever the schema says, in which no
    /// property stands twice: whoever decides over a call and whoever runs it might read two different values.
    ///
    /// # Errors
    ///
    /// [`SchemaFault`] says why the schema cannot be used.
    pub fn new(schema: &RawJson) -> Result<Self, SchemaFault> {
        Ok(Self { wants_object: true, ..Self::for_value(schema)? })
    }

    /// For any value, such as a structured result.
    ///
    /// `$schema` names the dialect: drafts 4, 6, 7, 2019-09 and 2020-12, the last where it is absent. Nothing is fetched for a
    /// `$ref`. A keyword that breaks the rules of its dialect is left out, and [`Validator::notes`] says so; values are then
    /// checked against the rest.
    ///
    /// # Errors
    ///
    /// [`SchemaFault`] says why the schema cannot be used.
    pub fn for_value(schema: &RawJson) -> Result<Self, SchemaFault> {
        let length = schema.as_str().len();
        if length > SCHEMA_LIMIT {
            return Err(SchemaFault::TooCostly { what: format!("{length} bytes, more than {SCHEMA_LIMIT}") });
        }
        let mut root = schema.to_json().map_err(|error| match error {
            JsonError::TooDeep => SchemaFault::TooCostly { what: error.to_string() },
            JsonError::Syntax { .. } => SchemaFault::Invalid { path: String::new(), what: error.to_string() },
        })?;
        if !matches!(root, Json::Object(_) | Json::Bool(_)) {
            let what = format!("a schema is an object, and this is {}", describe(&root));
            return Err(SchemaFault::Invalid { path: String::new(), what });
        }
        read_older_spellings(&mut root);
        let mut tree = SchemaTree::new(root);
        let chain = tree.check_cost().map_err(|costly| SchemaFault::TooCostly { what: costly.0 })?;
        let mut notes = Vec::new();
        loop {
            match build(&tree.root) {
                Ok(inner) => return Ok(Self { inner, tree, chain, wants_object: false, notes }),
                Err(fault) => match leave_out(&mut tree.root, &fault) {
                    Some(note) if notes.len() < LEFT_OUT_LIMIT => notes.push(note),
                    _ => return Err(fault),
                },
            }
        }
    }

    /// What was left out of the schema because it breaks the rules of its dialect, such as a pattern in a foreign regular expression
    /// syntax. The place of each note is a JSON Pointer into the schema.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Everything that is wrong, once each, in the order the schema asks for it. Empty when the value is valid.
    ///
    /// Where there are alternatives (`anyOf`, `oneOf`) and none fits, the one that fits best is explained. At most 500 faults are
    /// looked at.
    pub fn check(&self, arguments: &Json) -> Vec<Violation> {
        if self.wants_object && arguments.as_object().is_none() {
            let got = describe(arguments);
            let message = format!("The arguments as a whole: expected one JSON object, got {got}.");
            return vec![Violation {
                path: String::new(),
                expected: "object".to_owned(),
                got,
                message,
                nearest: None,
            }];
        }
        if !self.tree.affords(arguments, self.chain) {
            let expected = "a value that nests less deep".to_owned();
            let got = describe(arguments);
            let message = format!(
                "The value as a whole: expected {expected}, since its schema is too costly to check at that depth."
            );
            return vec![Violation { path: String::new(), expected, got, message, nearest: None }];
        }
        let value = for_validation(arguments);
        let describer = Describer { tree: &self.tree, document: arguments };
        let mut violations = Vec::new();
        if self.wants_object {
            repeated_properties(arguments, "", &mut violations);
        }
        for error in self.inner.iter_errors(&value).take(FAULT_LIMIT) {
            for violation in describer.violations(&error) {
                if !violations.contains(&violation) {
                    violations.push(violation);
                }
            }
        }
        violations
    }

    /// Whether nothing is wrong.
    pub fn is_valid(&self, arguments: &Json) -> bool {
        self.check(arguments).is_empty()
    }
}

impl std::fmt::Debug for Validator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Validator").field("schema", &self.tree.root.to_string()).finish_non_exhaustive()
    }
}

fn build(root: &Json) -> Result<jsonschema::Validator, SchemaFault> {
    let patterns = PatternOptions::fancy_regex()
        .backtrack_limit(BACKTRACK_LIMIT)
        .size_limit(PATTERN_LIMIT)
        .dfa_size_limit(PATTERN_LIMIT);
    let built = jsonschema::options().offline().with_pattern_options(patterns).build(&for_validation(root));
    built.map_err(|error| match error.kind() {
        ValidationErrorKind::Referencing(fault) => reference_fault(fault),
        _ => {
            let path = error.instance_path().to_string();
            let what = root.pointer(&path).map_or_else(
                || cut(&error.to_string()),
                |part| format!("{} is not allowed there", describe(part)),
            );
            SchemaFault::Invalid { path, what }
        }
    })
}

fn reference_fault(fault: &ReferencingError) -> SchemaFault {
    match fault {
        ReferencingError::UnknownSpecification { specification } => {
            SchemaFault::UnknownDialect { uri: cut(specification) }
        }
        ReferencingError::Unretrievable { uri, .. } => SchemaFault::OutsideReference { reference: cut(uri) },
        ReferencingError::PointerToNowhere { pointer } => {
            SchemaFault::LostReference { reference: cut(pointer) }
        }
        ReferencingError::NoSuchAnchor { anchor } => SchemaFault::LostReference { reference: cut(anchor) },
        other => SchemaFault::LostReference { reference: cut(&other.to_string()) },
    }
}

/// Names the properties that stand more than once in the same object.
fn repeated_properties(value: &Json, path: &str, violations: &mut Vec<Violation>) {
    match value {
        Json::Object(members) => {
            let mut times: HashMap<&str, usize> = HashMap::new();
            for (key, _) in members {
                *times.entry(key).or_default() += 1;
            }
            for (key, value) in members {
                let place = join(path, key);
                // Taken out when it is told, so that it is told once.
                if let Some(count @ 2..) = times.remove(key.as_str())
                    && violations.len() < FAULT_LIMIT
                {
                    let got = format!("property {:?} {count} times", cut(key));
                    let message = format!("`{}` stands there {count} times: expected it once.", cut(&place));
                    let expected = "each property once".to_owned();
                    violations.push(Violation { path: place.clone(), expected, got, message, nearest: None });
                }
                repeated_properties(value, &place, violations);
            }
        }
        Json::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                repeated_properties(item, &format!("{path}/{at}"), violations);
            }
        }
        _ => {}
    }
}

/// Takes the part that is not valid out of the schema. `None` where that would be the whole schema, or where it is not known.
fn leave_out(root: &mut Json, fault: &SchemaFault) -> Option<Note> {
    let SchemaFault::Invalid { path, what } = fault else { return None };
    let mut path = path.as_str();
    loop {
        let (holder, key) = path.rsplit_once('/')?;
        let key_text = key.replace("~1", "/").replace("~0", "~");
        match root.pointer_mut(holder)? {
            object @ Json::Object(_) => {
                object.remove(&key_text)?;
                return Some(Note::new(
                    path,
                    format!("`{}` is left out of the checks", cut(&key_text)),
                    format!("it breaks the rules of JSON Schema: {what}"),
                ));
            }
            // One item cannot be taken out of a list without changing what the list says.
            _ => path = holder,
        }
    }
}
