use std::fmt;

use serde_json::value::RawValue;
use surehand_model::{Json, Note, RawJson};
use surehand_schema::Validator;

use super::format::{FORMATS, is_of_format};
use crate::members::{Members, string_of};
use crate::method::name;

/// A form: fields side by side, none inside another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// The schema as it came.
    pub schema: RawJson,
    /// In the server's order.
    pub fields: Vec<FormField>,
}

/// One field of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormField {
    /// Under which its value is sent.
    pub name: String,
    /// For people.
    pub title: Option<String>,
    /// For people.
    pub description: Option<String>,
    /// The form is not complete without it.
    pub required: bool,
    /// What it takes.
    pub kind: FieldKind,
    /// Sent where the field is left open. Always a value that the field takes.
    pub default: Option<Json>,
    /// What the server wrote about the field.
    pub schema: RawJson,
}

/// What a field takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// A text.
    FreeText {
        /// `email`, `uri`, `date` or `date-time`.
        format: Option<String>,
        /// In characters.
        min_length: Option<u64>,
        /// In characters.
        max_length: Option<u64>,
    },
    /// A number. The bounds are included and stand as they were written.
    Number {
        /// Without a fraction.
        whole: bool,
        /// The smallest.
        minimum: Option<String>,
        /// The largest.
        maximum: Option<String>,
    },
    /// Yes or no.
    Boolean,
    /// One of these.
    One(Vec<Choice>),
    /// Any of these.
    Several {
        /// All there are.
        choices: Vec<Choice>,
        /// How many at least.
        min_items: Option<u64>,
        /// How many at most.
        max_items: Option<u64>,
    },
}

/// Something that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What is sent.
    pub value: Json,
    /// What is shown.
    pub label: String,
}

/// What is wrong with the value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldFault {
    /// Which field, by name.
    pub field: String,
    /// A whole sentence for people.
    pub what: String,
}

impl fmt::Display for FieldFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.what)
    }
}

impl Form {
    /// The values to send: those given, and for fields left open their defaults, in the form's order.
    ///
    /// # Errors
    ///
    /// Every field that misses a value it needs, has one it does not take, or is not of this form.
    pub fn complete(&self, given: Vec<(String, Json)>) -> Result<Vec<(String, Json)>, Vec<FieldFault>> {
        let mut faults: Vec<FieldFault> = given
            .iter()
            .filter(|(name, _)| self.fields.iter().all(|field| field.name != *name))
            .map(|(name, _)| FieldFault {
                field: name.clone(),
                what: "The form has no such field.".to_owned(),
            })
            .collect();
        let mut values = Vec::with_capacity(self.fields.len());
        for field in &self.fields {
            let value = given.iter().find(|(name, _)| *name == field.name).map(|(_, value)| value);
            match value.or(field.default.as_ref()).map(|value| (value, field.check(value))) {
                Some((value, Ok(()))) => values.push((field.name.clone(), value.clone())),
                Some((_, Err(what))) => faults.push(FieldFault { field: field.name.clone(), what }),
                None if field.required => {
                    let what = "It must be filled in.".to_owned();
                    faults.push(FieldFault { field: field.name.clone(), what });
                }
                None => {}
            }
        }
        if faults.is_empty() { Ok(values) } else { Err(faults) }
    }
}

impl FormField {
    /// What a person calls it.
    pub fn label(&self) -> &str {
        self.title.as_deref().filter(|title| !title.trim().is_empty()).unwrap_or(&self.name)
    }

    /// Whether the field takes this value.
    ///
    /// # Errors
    ///
    /// Why not, as a whole sentence.
    pub fn check(&self, value: &Json) -> Result<(), String> {
        match &self.kind {
            FieldKind::One(choices) if !choices.iter().any(|choice| choice.value == *value) => {
                return Err("It must be one of the choices.".to_owned());
            }
            FieldKind::FreeText { format: Some(format), .. } => {
                if let Some(text) = value.as_str()
                    && !is_of_format(text, format)
                {
                    return Err(format!("It must be {}.", in_words(format)));
                }
            }
            _ => {}
        }
        let validator = Validator::for_value(&self.schema).map_err(|fault| fault.to_string())?;
        let violations = validator.check(value);
        let sentences: Vec<String> = violations
            .iter()
            .map(|violation| format!("Expected {}, got {}.", violation.expected, violation.got))
            .collect();
        if sentences.is_empty() { Ok(()) } else { Err(sentences.join(" ")) }
    }
}

fn in_words(format: &str) -> &'static str {
    FORMATS.iter().find(|(name, _)| *name == format).map_or("a text", |(_, words)| words)
}

/// Reads `requestedSchema`.
pub(super) fn read_form(schema: &RawValue, notes: &mut Vec<Note>) -> Result<Form, String> {
    let members = Members::of(schema).ok_or("`requestedSchema` is not an object")?;
    if members.string("type").is_some_and(|kind| kind != "object") {
        return Err("`requestedSchema` does not describe an object".to_owned());
    }
    let properties = members.object("properties").map(|properties| properties.0).unwrap_or_default();
    let required: Vec<String> =
        members.array("required").unwrap_or_default().into_iter().filter_map(string_of).collect();
    let mut fields = Vec::with_capacity(properties.len());
    for (name, raw) in properties {
        let required = required.iter().any(|needed| *needed == name);
        match read_field(&name, raw, required, notes) {
            Ok(field) => fields.push(field),
            Err(why) if required => return Err(format!("the field `{name}` cannot be filled in: {why}")),
            Err(why) => notes.push(Note::new(name::ELICIT, format!("field `{name}` left out"), why)),
        }
    }
    if let Some(missing) = required.iter().find(|name| fields.iter().all(|field| field.name != **name)) {
        return Err(format!("the field `{missing}` is required and not described"));
    }
    Ok(Form { schema: RawJson::from(schema), fields })
}

fn read_field(
    name: &str,
    raw: &RawValue,
    required: bool,
    notes: &mut Vec<Note>,
) -> Result<FormField, String> {
    let members = Members::of(raw).ok_or("it is not described by an object")?;
    let mut field = FormField {
        name: name.to_owned(),
        title: members.string("title"),
        description: members.string("description"),
        required,
        kind: read_kind(&members)?,
        default: None,
        schema: RawJson::from(raw),
    };
    let default = members.present("default").and_then(|default| Json::parse(default.get()).ok());
    if let Some(default) = default {
        match field.check(&default) {
            Ok(()) => field.default = Some(default),
            Err(why) => notes.push(Note::new(name::ELICIT, format!("default of `{name}` ignored"), why)),
        }
    }
    Ok(field)
}

/// What a field takes. A type that may also be `null` is the type; a field without a type that lists values is a choice.
fn read_kind(members: &Members<'_>) -> Result<FieldKind, String> {
    if let Some(choices) = read_choices(members) {
        return Ok(FieldKind::One(choices));
    }
    let kind = members.string("type").or_else(|| {
        let kinds = members.array("type")?;
        kinds.into_iter().filter_map(string_of).find(|kind| kind != "null")
    });
    let count = |key: &str| members.get(key).and_then(|value| value.get().parse().ok());
    let bound = |key: &str| members.number(key).and_then(|_| Some(members.get(key)?.get().to_owned()));
    match kind.as_deref() {
        Some("string") => Ok(FieldKind::FreeText {
            format: members.string("format").filter(|format| FORMATS.iter().any(|(name, _)| name == format)),
            min_length: count("minLength"),
            max_length: count("maxLength"),
        }),
        Some(kind @ ("number" | "integer")) => Ok(FieldKind::Number {
            whole: kind == "integer",
            minimum: bound("minimum"),
            maximum: bound("maximum"),
        }),
        Some("boolean") => Ok(FieldKind::Boolean),
        Some("array") => {
            let choices = members.object("items").as_ref().and_then(read_choices);
            let choices = choices.ok_or("it is a list, and not one of choices")?;
            Ok(FieldKind::Several { choices, min_items: count("minItems"), max_items: count("maxItems") })
        }
        Some(other) => Err(format!("a form has no fields of type `{other}`")),
        None => {
            let variants = members.array("anyOf").unwrap_or_default();
            let variants = variants.into_iter().filter_map(Members::of);
            let mut useful =
                variants.filter(|variant| variant.string("type").is_some_and(|kind| kind != "null"));
            read_kind(&useful.next().ok_or("it has no type")?)
        }
    }
}

/// The values that may be chosen: `enum`, with `enumNames` beside it as older servers write it, or `const` and `title` in pairs.
fn read_choices(members: &Members<'_>) -> Option<Vec<Choice>> {
    let shown = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if let Some(values) = members.array("enum") {
        let names = members.array("enumNames").unwrap_or_default();
        let choices = values.into_iter().enumerate().filter_map(|(at, value)| {
            let value = Json::parse(value.get()).ok()?;
            let label = names.get(at).and_then(|name| string_of(name)).unwrap_or_else(|| shown(&value));
            Some(Choice { value, label })
        });
        return Some(choices.collect()).filter(|choices: &Vec<Choice>| !choices.is_empty());
    }
    let pairs = members.array("oneOf").or_else(|| members.array("anyOf"))?;
    let choices: Option<Vec<Choice>> = pairs
        .into_iter()
        .map(|pair| {
            let pair = Members::of(pair)?;
            let value = Json::parse(pair.get("const")?.get()).ok()?;
            let label = pair.string("title").unwrap_or_else(|| shown(&value));
            Some(Choice { value, label })
        })
        .collect();
    choices.filter(|choices| !choices.is_empty())
}
