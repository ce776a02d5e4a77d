//! Turns the validator's errors into violations: words for whoever must write better arguments.

use jsonschema::error::{TypeKind, ValidationError, ValidationErrorKind as Kind};
use jsonschema::{JsonType, JsonTypeSet};
use surehand_model::Json;

use crate::tree::{SchemaTree, one_of};
use crate::value::{all_differ, cut, describe, join, listed, named};
use crate::{Violation, nearest};

/// How deep alternatives inside alternatives are explained.
const ALTERNATIVES_DEPTH: usize = 8;

/// Explains the errors of one value.
pub(crate) struct Describer<'a> {
    pub(crate) tree: &'a SchemaTree,
    /// The value as it was written, with all its digits.
    pub(crate) document: &'a Json,
}

impl Describer<'_> {
    /// What an error says; several violations for an error about several members.
    pub(crate) fn violations(&self, error: &ValidationError<'_>) -> Vec<Violation> {
        self.violations_within(error, ALTERNATIVES_DEPTH)
    }

    fn violations_within(&self, error: &ValidationError<'_>, depth: usize) -> Vec<Violation> {
        let path = error.instance_path().as_str();
        match error.kind() {
            Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
                let known =
                    self.holder(error).map(|schema| self.tree.property_names(schema)).unwrap_or_default();
                unexpected.iter().map(|name| self.unknown_property(path, name, &known)).collect()
            }
            Kind::Required { property } => {
                vec![self.missing_property(error, path, property.as_str().unwrap_or_default())]
            }
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                self.alternatives(path, context, depth)
            }
            // What an object may not hold beside nothing at all.
            Kind::FalseSchema if error.schema_path().as_str().ends_with("Properties") => {
                let members = self.at(path).and_then(Json::as_object).unwrap_or_default();
                members.iter().map(|(name, _)| self.unknown_property(path, name, &[])).collect()
            }
            Kind::UniqueItems if self.items_differ(path) => Vec::new(),
            Kind::PropertyNames { error: inner } => {
                let name = inner.instance().as_str().unwrap_or_default().to_owned();
                let expected = wanted(inner.kind()).unwrap_or_else(|| "another name".to_owned());
                let message = format!(
                    "{}: the name {name:?} is not allowed there, expected {expected}.",
                    subject(path)
                );
                vec![Violation {
                    path: join(path, &name),
                    expected: format!("a property name: {expected}"),
                    got: format!("property name {name:?}"),
                    message,
                    nearest: None,
                }]
            }
            kind => {
                let expected = wanted(kind).unwrap_or_else(|| cut(&error.to_string()));
                vec![self.plain(path, expected, suggestion(kind, self.at(path)))]
            }
        }
    }

    /// The value at this place, as it was written.
    fn at(&self, path: &str) -> Option<&Json> {
        self.document.pointer(path)
    }

    fn got(&self, path: &str) -> String {
        self.at(path).map_or_else(|| "nothing".to_owned(), describe)
    }

    fn holder(&self, error: &ValidationError<'_>) -> Option<&Json> {
        let uri = error.absolute_keyword_location().map(|uri| uri.as_str());
        self.tree.holder(error.schema_path().as_str(), uri)
    }

    /// Large whole numbers differ although the validator, which rounds them, takes them for the same.
    fn items_differ(&self, path: &str) -> bool {
        self.at(path)
            .and_then(Json::as_array)
            .is_some_and(|items| items.iter().any(has_large_number) && all_differ(items))
    }

    fn plain(&self, path: &str, expected: String, nearest: Option<String>) -> Violation {
        let got = self.got(path);
        let hint = nearest.as_ref().map(|nearest| format!(" Did you mean {nearest}?")).unwrap_or_default();
        let message = format!("{}: expected {expected}, got {got}.{hint}", subject(path));
        Violation { path: path.to_owned(), expected, got, message, nearest }
    }

    fn unknown_property(&self, path: &str, name: &str, known: &[&str]) -> Violation {
        let place = join(path, name);
        let close = nearest(name, known.iter().copied()).first().map(|close| (*close).to_owned());
        let quoted: Vec<String> = known.iter().map(|name| format!("{:?}", cut(name))).collect();
        let expected = match quoted.len() {
            0 => "no such property".to_owned(),
            _ => format!("one of the properties {}", named(&quoted)),
        };
        let hint = close.as_ref().map(|close| format!(" Did you mean {close:?}?")).unwrap_or_default();
        let allowed = match quoted.len() {
            0 => "No other properties are allowed.".to_owned(),
            _ => format!("Allowed: {}.", named(&quoted)),
        };
        let message = format!("`{}` is not a property the schema knows.{hint} {allowed}", cut(&place));
        Violation {
            path: place,
            expected,
            got: format!("unknown property {:?}", cut(name)),
            message,
            nearest: close,
        }
    }

    fn missing_property(&self, error: &ValidationError<'_>, path: &str, name: &str) -> Violation {
        let holder = self.holder(error);
        let schema =
            holder.and_then(|schema| schema.get("properties")).and_then(|properties| properties.get(name));
        let expected = schema.map_or_else(|| "a value".to_owned(), |schema| self.tree.summary(schema));
        // A member that nobody knows may be the missing one under a wrong name.
        let known = holder.map(|schema| self.tree.property_names(schema)).unwrap_or_default();
        let given = self.at(path).and_then(Json::as_object).unwrap_or_default();
        let strangers = given.iter().map(|(key, _)| key.as_str()).filter(|key| !known.contains(key));
        let close = nearest(name, strangers).first().map(|close| (*close).to_owned());
        let hint =
            close.as_ref().map(|close| format!(" Is it what you called {close:?}?")).unwrap_or_default();
        let place = join(path, name);
        let message = format!("`{}` is missing: expected {expected}.{hint}", cut(&place));
        Violation { path: place, expected, got: "nothing".to_owned(), message, nearest: close }
    }

    /// None of several alternatives fits: explains the one that comes closest.
    fn alternatives(
        &self,
        path: &str,
        branches: &[Vec<ValidationError<'static>>],
        depth: usize,
    ) -> Vec<Violation> {
        let of_kind: Vec<usize> = (0..branches.len())
            .filter(|index| !branches[*index].iter().any(|error| is_type_error_at(error, path)))
            .collect();
        if of_kind.is_empty() || depth == 0 {
            return vec![self.none_of_the_kinds(path, branches)];
        }
        if let Some(violation) = self.told_apart_by(path, branches, &of_kind) {
            return vec![violation];
        }
        let explained = of_kind.iter().map(|index| {
            let violations: Vec<Violation> =
                branches[*index].iter().flat_map(|error| self.violations_within(error, depth - 1)).collect();
            (misfit(&branches[*index], path), violations.len(), *index, violations)
        });
        let best = explained.min_by_key(|(misfit, count, index, _)| (*misfit, *count, *index));
        let Some((_, _, index, mut violations)) = best else { return Vec::new() };
        if of_kind.len() > 1 {
            for violation in &mut violations {
                let note = format!(" (Alternative {} of {}, the closest.)", index + 1, branches.len());
                violation.message.push_str(&note);
            }
        }
        violations
    }

    fn none_of_the_kinds(&self, path: &str, branches: &[Vec<ValidationError<'static>>]) -> Violation {
        let mut kinds: Vec<String> = Vec::new();
        for error in branches.iter().flatten().filter(|error| error.instance_path().as_str() == path) {
            let words = match error.kind() {
                Kind::Type { kind } => types(kind).iter().map(|one| one.as_str().to_owned()).collect(),
                kind => wanted(kind).into_iter().collect::<Vec<_>>(),
            };
            for word in words {
                if !kinds.contains(&word) {
                    kinds.push(word);
                }
            }
        }
        // What may also be absent is said last.
        kinds.sort_by_key(|kind| kind == "null");
        let expected =
            if kinds.is_empty() { "one of several alternatives".to_owned() } else { listed(&kinds, "or") };
        self.plain(path, expected, None)
    }

    /// Alternatives that differ by the fixed values of one member, none of which was given: names them all at once.
    fn told_apart_by(
        &self,
        path: &str,
        branches: &[Vec<ValidationError<'static>>],
        of_kind: &[usize],
    ) -> Option<Violation> {
        let fixed = |index: usize| {
            branches[index].iter().filter_map(|error| {
                let place = error.instance_path().as_str();
                (place.len() >= path.len())
                    .then(|| options(error.kind()).map(|options| (place.to_owned(), options)))?
            })
        };
        let (place, _) = fixed(*of_kind.first()?)
            .find(|(place, _)| of_kind.iter().all(|index| fixed(*index).any(|(other, _)| other == *place)))?;
        let mut all: Vec<Json> = Vec::new();
        for (_, options) in
            of_kind.iter().flat_map(|index| fixed(*index)).filter(|(other, _)| *other == place)
        {
            for option in options {
                if !all.contains(&option) {
                    all.push(option);
                }
            }
        }
        Some(self.plain(&place, one_of(&all), nearest_option(&all, self.at(&place))))
    }
}

/// How badly an alternative fits; 0 would be a match. A wrong fixed value tells that another alternative was meant.
fn misfit(errors: &[ValidationError<'_>], path: &str) -> usize {
    let weight = |error: &ValidationError<'_>| match error.kind() {
        Kind::Constant { .. } | Kind::Enum { .. } if error.instance_path().as_str() != path => 10,
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            2 * unexpected.len()
        }
        Kind::Required { .. } => 2,
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            context.iter().map(|branch| misfit(branch, error.instance_path().as_str())).min().unwrap_or(1)
        }
        _ => 1,
    };
    errors.iter().map(weight).sum()
}

fn is_type_error_at(error: &ValidationError<'_>, path: &str) -> bool {
    matches!(error.kind(), Kind::Type { .. }) && error.instance_path().as_str() == path
}

/// What the values at a place may be, where only certain values may stand there.
pub(crate) fn options(kind: &Kind) -> Option<Vec<Json>> {
    match kind {
        Kind::Enum { options } => Some(options.as_array()?.iter().map(Json::from).collect()),
        Kind::Constant { expected_value } => Some(vec![Json::from(&**expected_value)]),
        _ => None,
    }
}

/// The types that would have been right.
pub(crate) fn types(kind: &TypeKind) -> JsonTypeSet {
    match kind {
        TypeKind::Single(one) => JsonTypeSet::empty().insert(*one),
        TypeKind::Multiple(set) => *set,
    }
}

/// What a keyword wants, to be read after "expected".
fn wanted(kind: &Kind) -> Option<String> {
    Some(match kind {
        Kind::Type { kind } => {
            let types = types(kind);
            let names = types.iter().filter(|one| *one != JsonType::Null).map(|one| one.as_str().to_owned());
            let mut names: Vec<String> = names.collect();
            if types.contains(JsonType::Null) {
                names.push("null".to_owned());
            }
            listed(&names, "or")
        }
        Kind::Enum { .. } | Kind::Constant { .. } => one_of(&options(kind)?),
        Kind::Minimum { limit } => format!("at least {limit}"),
        Kind::Maximum { limit } => format!("at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("a multiple of {multiple_of}"),
        Kind::MinLength { limit } => {
            format!("text of at least {}", counted(*limit, "character", "characters"))
        }
        Kind::MaxLength { limit } => {
            format!("text of at most {}", counted(*limit, "character", "characters"))
        }
        Kind::MinItems { limit } => format!("a list of at least {}", counted(*limit, "item", "items")),
        Kind::MaxItems { limit } => format!("a list of at most {}", counted(*limit, "item", "items")),
        Kind::AdditionalItems { limit } => {
            format!("a list of at most {}", counted(*limit as u64, "item", "items"))
        }
        Kind::UnevaluatedItems { .. } => "a list without further items".to_owned(),
        Kind::MinProperties { limit } => {
            format!("an object of at least {}", counted(*limit, "property", "properties"))
        }
        Kind::MaxProperties { limit } => {
            format!("an object of at most {}", counted(*limit, "property", "properties"))
        }
        Kind::UniqueItems => "a list without equal items".to_owned(),
        Kind::Contains => "a list with the right number of items that fit `contains`".to_owned(),
        Kind::Pattern { pattern } => format!("text that matches the pattern {}", cut(pattern)),
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => {
            "text whose pattern can be checked in reasonable time".to_owned()
        }
        Kind::Format { format } => format!("text of the format {}", cut(format)),
        Kind::ContentEncoding { content_encoding } => format!("text encoded as {}", cut(content_encoding)),
        Kind::FromUtf8 { .. } => "text encoded from UTF-8".to_owned(),
        Kind::ContentMediaType { content_media_type } => {
            format!("text of the media type {}", cut(content_media_type))
        }
        Kind::Not { schema } => format!("anything but what fits {}", cut(&schema.to_string())),
        Kind::FalseSchema => "no value there".to_owned(),
        Kind::OneOfMultipleValid { .. } => "one of the alternatives alone; it fits several".to_owned(),
        _ => return None,
    })
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn suggestion(kind: &Kind, given: Option<&Json>) -> Option<String> {
    nearest_option(&options(kind)?, given)
}

/// The option that is closest to what was given, as JSON.
fn nearest_option(options: &[Json], given: Option<&Json>) -> Option<String> {
    if options.len() < 2 {
        return None;
    }
    let text = match given? {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    };
    let words: Vec<String> = options
        .iter()
        .map(|option| match option {
            Json::String(text) => text.clone(),
            other => other.to_string(),
        })
        .collect();
    let close = *nearest(&text, words.iter().map(String::as_str)).first()?;
    let at = words.iter().position(|word| word == close)?;
    Some(cut(&options[at].to_string()))
}

fn has_large_number(json: &Json) -> bool {
    match json {
        Json::Number(text) => text.len() > 15,
        Json::Array(items) => items.iter().any(has_large_number),
        Json::Object(members) => members.iter().any(|(_, value)| has_large_number(value)),
        _ => false,
    }
}

/// The place as the subject of a sentence.
fn subject(path: &str) -> String {
    if path.is_empty() { "The value as a whole".to_owned() } else { format!("`{}`", cut(path)) }
}
