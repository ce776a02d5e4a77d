use jsonschema::JsonType;
use jsonschema::error::{ValidationError, ValidationErrorKind as Kind};
use surehand_model::Json;

use crate::Validator;
use crate::describe::{options, types};
use crate::value::{describe, for_validation, join, whole_spelling};

/// How many rounds of repair one value gets; each round may uncover the next fault.
const ROUNDS: usize = 8;
/// How many changes are tried in one round.
const TRIED: usize = 200;
/// How deep JSON inside text inside JSON is followed.
const TEXT_DEPTH: usize = 3;
/// How many numbers are looked at for their spelling.
const SPELLED: usize = 200;

/// What [`Validator::repair`] made of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repaired {
    /// The value, repaired where the schema proves what was meant, and as it was everywhere else.
    pub arguments: Json,
    /// What was changed, in the order it was changed. Empty when nothing was.
    pub repairs: Vec<Repair>,
}

/// One change of spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// Where, as a JSON Pointer into the repaired value.
    pub path: String,
    /// What stood there, for example `string "5"`. Long values are cut.
    pub from: String,
    /// What stands there now, for example `integer 5`.
    pub to: String,
}

impl Validator {
    /// Repairs what the schema proves, and nothing else. Whoever wants no repairs does not call this.
    ///
    /// - Text becomes the number, truth value, null, list or object it spells, where the schema wants that and no text:
    ///   `"5"` for an integer, `"true"` for a boolean, `"[1]"` for a list. `"5 items"`, `"007"` and `"a"` for a list are left alone, so is
    ///   every text that could stand there as text.
    /// - A whole number is spelled as one where an integer is wanted: `5.0` becomes `5`.
    /// - `null` goes away where the schema allows neither it nor demands the property.
    /// - Arguments that are one JSON text as a whole are unwrapped, once, whatever else is wrong with them. `""`, `[]` and `null`
    ///   become `{}` for a tool that needs no arguments.
    /// - Members that all belong into the only required property, an object, are moved into it.
    ///
    /// A change is kept only if it makes the faults that [`Validator::check`] finds fewer; the spelling of a whole number only if it
    /// makes them no more. So a valid value stays what it is, but for that spelling.
    pub fn repair(&self, arguments: &Json) -> Repaired {
        let mut repaired = Repaired { arguments: arguments.clone(), repairs: Vec::new() };
        if self.wants_object && arguments.as_object().is_none() {
            self.unwrap_whole(&mut repaired);
        }
        self.settle(&mut repaired, TEXT_DEPTH);
        self.spell_whole_numbers(&mut repaired);
        repaired
    }

    fn faults(&self, value: &Json) -> usize {
        self.check(value).len()
    }

    /// Makes an object of arguments that are none.
    fn unwrap_whole(&self, repaired: &mut Repaired) {
        let nothing = Json::Object(Vec::new());
        let whole = match &repaired.arguments {
            Json::String(text) if text.trim().is_empty() => nothing,
            Json::Array(items) if items.is_empty() => nothing,
            Json::Null => nothing,
            Json::String(text) => match Json::parse(text) {
                Ok(inner @ Json::Object(_)) => inner,
                _ => return,
            },
            _ => return,
        };
        // Nothing stays nothing where parameters are required: the model must hear that it gave none.
        if whole == Json::Object(Vec::new()) && !self.is_valid(&whole) && !spells_object(&repaired.arguments)
        {
            return;
        }
        let (from, to) = (describe(&repaired.arguments), describe(&whole));
        repaired.repairs.push(Repair { path: String::new(), from, to });
        repaired.arguments = whole;
    }

    /// Repairs until nothing more can be proved.
    fn settle(&self, repaired: &mut Repaired, depth: usize) {
        for _ in 0..ROUNDS {
            let faults = self.faults(&repaired.arguments);
            if faults == 0 {
                return;
            }
            let changes = self.provable_changes(&repaired.arguments);
            if changes.is_empty() {
                self.wrap(repaired, faults, depth);
                return;
            }
            // Mostly they are all right together.
            let mut all = repaired.clone();
            for change in &changes {
                all.apply(change);
            }
            if self.faults(&all.arguments) == 0 {
                *repaired = all;
                return;
            }
            if !self.apply_one_by_one(repaired, &changes, faults, depth) {
                return;
            }
        }
    }

    fn apply_one_by_one(
        &self,
        repaired: &mut Repaired,
        changes: &[Change],
        faults: usize,
        depth: usize,
    ) -> bool {
        let mut faults = faults;
        let mut any = false;
        for change in changes {
            let mut candidate = repaired.clone();
            candidate.apply(change);
            let mut left = self.faults(&candidate.arguments);
            if left >= faults && depth > 0 && change.opens_text() {
                self.settle(&mut candidate, depth - 1);
                left = self.faults(&candidate.arguments);
            }
            if left < faults {
                *repaired = candidate;
                faults = left;
                any = true;
            }
        }
        any
    }

    /// Moves all members into the one property they belong into.
    fn wrap(&self, repaired: &mut Repaired, faults: usize, depth: usize) {
        let Some(members) = repaired.arguments.as_object().filter(|members| !members.is_empty()) else {
            return;
        };
        let root = self.tree.resolved(&self.tree.root);
        let Some([Json::String(name)]) = root.get("required").and_then(Json::as_array) else { return };
        let known_outside = self.tree.property_names(root);
        let Some(inner) = root.get("properties").and_then(|properties| properties.get(name)) else { return };
        let inner = self.tree.resolved(inner);
        if inner.get("type").and_then(Json::as_str) != Some("object") {
            return;
        }
        let known_inside = self.tree.property_names(inner);
        let belongs_inside = |key: &str| known_inside.contains(&key) && !known_outside.contains(&key);
        if !members.iter().all(|(key, _)| belongs_inside(key)) {
            return;
        }
        let from = describe(&repaired.arguments);
        let wrapped = Json::Object(vec![(name.clone(), repaired.arguments.clone())]);
        let mut candidate = Repaired { arguments: wrapped, repairs: repaired.repairs.clone() };
        candidate.repairs.push(Repair { path: join("", name), from, to: describe(&candidate.arguments) });
        if depth > 0 {
            self.settle(&mut candidate, depth - 1);
        }
        if self.faults(&candidate.arguments) < faults {
            *repaired = candidate;
        }
    }

    /// The changes that the errors prove, each place once.
    fn provable_changes(&self, document: &Json) -> Vec<Change> {
        if !self.tree.affords(document, self.chain) {
            return Vec::new();
        }
        let value = for_validation(document);
        let mut changes: Vec<Change> = Vec::new();
        // Where two parts of the schema want two things of one value, nothing is proved.
        let mut disputed: Vec<String> = Vec::new();
        for error in self.inner.iter_errors(&value).take(TRIED) {
            let proposed = changes_for(&error, document);
            if proposed.is_empty() && matches!(error.kind(), Kind::Type { .. }) {
                disputed.push(error.instance_path().to_string());
            }
            for change in proposed {
                match changes.iter().find(|known| known.path == change.path) {
                    None => changes.push(change),
                    Some(known) if *known == change => {}
                    Some(_) => disputed.push(change.path),
                }
            }
        }
        changes.retain(|change| !disputed.contains(&change.path));
        changes
    }

    /// `5.0` counts as an integer, and many servers still refuse it; `5` is the same number to everybody.
    fn spell_whole_numbers(&self, repaired: &mut Repaired) {
        let mut places = Vec::new();
        if self.tree.affords(&repaired.arguments, self.chain) {
            odd_spellings(&repaired.arguments, String::new(), &mut places);
        }
        let faults = if places.is_empty() { 0 } else { self.faults(&repaired.arguments) };
        for (path, spelling) in places {
            // If the place wants an integer, a fraction there is a fault of type.
            let mut probe = repaired.arguments.clone();
            let Some(slot) = probe.pointer_mut(&path) else { continue };
            *slot = Json::Number("0.5".to_owned());
            let value = for_validation(&probe);
            if !self.inner.iter_errors(&value).any(|error| wants_integer_at(&error, &path)) {
                continue;
            }
            let mut candidate = repaired.clone();
            candidate.apply(&Change { path, to: Some(Json::Number(spelling)) });
            if self.faults(&candidate.arguments) <= faults {
                *repaired = candidate;
            }
        }
    }
}

impl Repaired {
    fn apply(&mut self, change: &Change) {
        let Some(slot) = self.arguments.pointer_mut(&change.path) else { return };
        let from = describe(slot);
        let to = match &change.to {
            Some(to) => {
                *slot = to.clone();
                describe(to)
            }
            None => {
                let Some((holder, key)) = change.path.rsplit_once('/') else { return };
                let key = key.replace("~1", "/").replace("~0", "~");
                let Some(holder @ Json::Object(_)) = self.arguments.pointer_mut(holder) else { return };
                holder.remove(&key);
                "nothing".to_owned()
            }
        };
        self.repairs.push(Repair { path: change.path.clone(), from, to });
    }
}

/// One value in place of another.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Change {
    path: String,
    /// `None` takes the member away.
    to: Option<Json>,
}

impl Change {
    fn opens_text(&self) -> bool {
        matches!(self.to, Some(Json::Array(_) | Json::Object(_)))
    }
}

fn spells_object(value: &Json) -> bool {
    value.as_str().is_some_and(|text| !text.trim().is_empty())
}

/// The changes that would take away this error, where the schema proves them.
fn changes_for(error: &ValidationError<'_>, document: &Json) -> Vec<Change> {
    let path = error.instance_path().as_str();
    match error.kind() {
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            changes_for_alternatives(path, context, document)
        }
        Kind::Type { .. }
            if matches!(document.pointer(path), Some(Json::Null)) && is_member(path, document) =>
        {
            vec![Change { path: path.to_owned(), to: None }]
        }
        kind => {
            let to = document.pointer(path).and_then(|value| converted(kind, value));
            to.map(|to| Change { path: path.to_owned(), to: Some(to) }).into_iter().collect()
        }
    }
}

fn is_member(path: &str, document: &Json) -> bool {
    path.rsplit_once('/')
        .and_then(|(holder, _)| document.pointer(holder))
        .is_some_and(|holder| holder.as_object().is_some())
}

fn changes_for_alternatives(
    path: &str,
    branches: &[Vec<ValidationError<'static>>],
    document: &Json,
) -> Vec<Change> {
    let mut whole: Vec<Vec<Change>> = Vec::new();
    for branch in branches {
        let per_error: Vec<Vec<Change>> = branch.iter().map(|error| changes_for(error, document)).collect();
        if !per_error.is_empty() && per_error.iter().all(|changes| !changes.is_empty()) {
            let changes = per_error.concat();
            if !whole.contains(&changes) {
                whole.push(changes);
            }
        }
    }
    let proved = match whole.as_slice() {
        [only] => only.clone(),
        [] => {
            // Where only one alternative is of the right kind, its faults can be repaired one by one.
            let mut of_kind = branches.iter().filter(|branch| {
                !branch.iter().any(|error| {
                    matches!(error.kind(), Kind::Type { .. }) && error.instance_path().as_str() == path
                })
            });
            match (of_kind.next(), of_kind.next()) {
                (Some(only), None) => only.iter().flat_map(|error| changes_for(error, document)).collect(),
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    };
    // Where another alternative takes text at that place, and only this text is not to its liking, text was meant.
    proved
        .into_iter()
        .filter(|change| {
            let is_text = document.pointer(&change.path).is_some_and(|value| value.as_str().is_some());
            !(is_text && branches.iter().flatten().any(|error| takes_text_at(error, &change.path)))
        })
        .collect()
}

/// Whether the error is about the content of a text, which is to say that a text could stand there.
fn takes_text_at(error: &ValidationError<'_>, path: &str) -> bool {
    let here = error.instance_path().as_str() == path;
    match error.kind() {
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            context.iter().flatten().any(|error| takes_text_at(error, path))
        }
        Kind::Enum { .. } | Kind::Constant { .. } => {
            here && options(error.kind())
                .is_some_and(|options| options.iter().any(|option| option.as_str().is_some()))
        }
        Kind::Pattern { .. }
        | Kind::MinLength { .. }
        | Kind::MaxLength { .. }
        | Kind::Format { .. }
        | Kind::ContentEncoding { .. }
        | Kind::ContentMediaType { .. }
        | Kind::BacktrackLimitExceeded { .. }
        | Kind::RegexEngineFailure { .. } => here,
        _ => false,
    }
}

/// The value that `value` spells, where the error tells which kinds could stand there and only one reading is left.
fn converted(kind: &Kind, value: &Json) -> Option<Json> {
    match (kind, value) {
        (Kind::Type { kind }, Json::String(text)) => {
            let wanted = types(kind);
            let read = read_text(text)?;
            let fits = match &read {
                Json::Null => wanted.contains(JsonType::Null),
                Json::Bool(_) => wanted.contains(JsonType::Boolean),
                Json::Number(_) if wanted.contains(JsonType::Number) => true,
                Json::Number(_) => wanted.contains(JsonType::Integer) && read.type_name() == "integer",
                Json::String(_) => false,
                Json::Array(_) => wanted.contains(JsonType::Array),
                Json::Object(_) => wanted.contains(JsonType::Object),
            };
            fits.then_some(read)
        }
        // Dialects before draft 6 do not count `5.0` as an integer.
        (Kind::Type { kind }, Json::Number(text)) if types(kind).contains(JsonType::Integer) => {
            whole_spelling(text).map(Json::Number)
        }
        (Kind::Enum { .. } | Kind::Constant { .. }, Json::String(text)) => {
            let options = options(kind)?;
            if options.iter().any(|option| option.as_str().is_some()) {
                return None;
            }
            let read = read_text(text)?;
            options.contains(&read).then_some(read)
        }
        _ => None,
    }
}

/// What a text spells, to the letter: no blanks around a number or word, nothing but white space around a list or an object.
fn read_text(text: &str) -> Option<Json> {
    let read = match text {
        // As Python prints them.
        "True" => Json::Bool(true),
        "False" => Json::Bool(false),
        text => Json::parse(text).ok()?,
    };
    let exact = matches!(read, Json::Array(_) | Json::Object(_)) || text.trim() == text;
    exact.then_some(read)
}

fn wants_integer_at(error: &ValidationError<'_>, path: &str) -> bool {
    match error.kind() {
        Kind::Type { kind } => {
            error.instance_path().as_str() == path
                && types(kind).contains(JsonType::Integer)
                && !types(kind).contains(JsonType::Number)
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            context.iter().flatten().any(|error| wants_integer_at(error, path))
        }
        _ => false,
    }
}

/// Whole numbers written with a point or an exponent, and how they are written without.
fn odd_spellings(value: &Json, path: String, places: &mut Vec<(String, String)>) {
    if places.len() >= SPELLED {
        return;
    }
    match value {
        Json::Number(text) => places.extend(whole_spelling(text).map(|spelling| (path, spelling))),
        Json::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                odd_spellings(item, format!("{path}/{at}"), places);
            }
        }
        Json::Object(members) => {
            for (key, value) in members {
                odd_spellings(value, join(&path, key), places);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
