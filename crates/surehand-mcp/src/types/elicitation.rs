//! What a server asks the person behind the client. Source: MCP 2025-11-25 and 2026-07-28, "Elicitation".

mod form;
mod format;

use surehand_model::{Json, Note, RawJson};

use self::form::read_form;
pub use self::form::{Choice, FieldFault, FieldKind, Form, FormField};
use crate::error::{ErrorCode, RpcError};
use crate::members::Members;
use crate::method::name;

/// A question of a server to the person behind the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElicitRequest {
    /// What it wants and why, in its own words.
    pub message: String,
    /// How it is answered.
    pub ask: ElicitAsk,
    /// What was odd about the question.
    pub notes: Vec<Note>,
}

/// How a question is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ElicitAsk {
    /// By filling in a form.
    Form(Form),
    /// By opening an address, behind which the server asks for what must not pass through the client.
    Address {
        /// The address as the server wrote it. Nothing has been checked.
        url: String,
        /// Names the question when the server says that it is done.
        id: Option<String>,
    },
}

/// What a person answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ElicitAnswer {
    /// Yes, with the values of the form's fields by name; none for an address.
    Accept(Vec<(String, Json)>),
    /// No.
    Decline,
    /// Neither: the question was put away.
    Cancel,
}

impl ElicitRequest {
    /// Reads the parameters of `elicitation/create`. A field that nobody could fill in is left out with a note, unless the form
    /// needs it.
    ///
    /// # Errors
    ///
    /// What the server is told: the mode is not known, the schema is no flat form, or the address is missing.
    pub fn read(params: Option<&RawJson>) -> Result<Self, RpcError> {
        let members = params.and_then(|params| Members::parse(params.as_str()));
        let members = members.ok_or_else(|| refuse("the parameters are not an object"))?;
        let mut notes = Vec::new();
        let message = members.string("message").unwrap_or_else(|| {
            notes.push(Note::new(name::ELICIT, "asked without words", "it has no `message`"));
            String::new()
        });
        let mode = members.present("mode").map(|_| members.string("mode").unwrap_or_default());
        let ask = match mode.as_deref() {
            None | Some("form") => {
                let schema =
                    members.get("requestedSchema").ok_or_else(|| refuse("`requestedSchema` is missing"))?;
                ElicitAsk::Form(read_form(schema, &mut notes).map_err(refuse)?)
            }
            Some("url") => ElicitAsk::Address {
                url: members.string("url").ok_or_else(|| refuse("`url` is missing"))?,
                id: members.string("elicitationId"),
            },
            Some(other) => return Err(refuse(format!("there is no mode `{other}`"))),
        };
        Ok(Self { message, ask, notes })
    }

    /// The result that tells the server what was answered. Fields that were left open get their defaults.
    ///
    /// # Errors
    ///
    /// Every field whose value is not what the form asks for.
    pub fn result(&self, answer: ElicitAnswer) -> Result<RawJson, Vec<FieldFault>> {
        let (action, content) = match (answer, &self.ask) {
            (ElicitAnswer::Decline, _) => ("decline", None),
            (ElicitAnswer::Cancel, _) => ("cancel", None),
            (ElicitAnswer::Accept(_), ElicitAsk::Address { .. }) => ("accept", None),
            (ElicitAnswer::Accept(given), ElicitAsk::Form(form)) => ("accept", Some(form.complete(given)?)),
        };
        let mut members = vec![("action".to_owned(), Json::from(action))];
        members.extend(content.map(|content| ("content".to_owned(), Json::Object(content))));
        Ok(RawJson::from(&Json::Object(members)))
    }
}

fn refuse(what: impl Into<String>) -> RpcError {
    RpcError::new(ErrorCode::INVALID_PARAMS, what.into())
}

#[cfg(test)]
mod tests;
