//! Asking the person at the terminal what a server wants to know while its tool runs.

use std::io;
use std::sync::Arc;

use surehand_host::{Respondent, ServerQuestion};
use surehand_mcp::{Choice, ElicitAnswer, ElicitAsk, FieldKind, FormField};
use surehand_model::Json;
use surehand_provider::BoxFuture;

use crate::approve::{read_line, visible};
use crate::cli::ApproveMode;
use crate::render::{BOLD, DIM, Screen, count, paint};

/// Whoever answers servers for the person: on a terminal the person, else nobody. Whoever wants no questions about calls wants
/// none from servers either.
pub(crate) fn respondent(mode: Option<ApproveMode>, screen: &Arc<Screen>) -> Option<Arc<dyn Respondent>> {
    let has_person = screen.terminal().has_person() && mode != Some(ApproveMode::Never);
    has_person.then(|| Arc::new(TerminalForm { screen: Arc::clone(screen) }) as Arc<dyn Respondent>)
}

/// Shows the form field by field and reads each value as a line.
struct TerminalForm {
    screen: Arc<Screen>,
}

/// The person has had enough of the form.
enum Enough {
    Declined,
    Cancelled,
}

/// Says so when a question is gone before it was answered.
struct Open<'a> {
    screen: &'a Screen,
    server: &'a str,
    answered: bool,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if !self.answered {
            self.screen.say(&format!("{} no longer waits for an answer.", visible(self.server)));
        }
    }
}

impl Respondent for TerminalForm {
    fn respond<'a>(&'a self, question: &'a ServerQuestion) -> BoxFuture<'a, ElicitAnswer> {
        Box::pin(async move {
            let _quiet = self.screen.hold();
            let mut open = Open { screen: &self.screen, server: &question.server, answered: false };
            let answer = match &question.request.ask {
                ElicitAsk::Form(form) => self.fill_in(question, &form.fields).await,
                ElicitAsk::Address { url, .. } => self.open(question, url).await,
            };
            open.answered = true;
            answer.unwrap_or_else(|enough| match enough {
                Enough::Declined => ElicitAnswer::Decline,
                Enough::Cancelled => ElicitAnswer::Cancel,
            })
        })
    }
}

impl TerminalForm {
    async fn fill_in(&self, question: &ServerQuestion, fields: &[FormField]) -> Result<ElicitAnswer, Enough> {
        let styled = self.screen.styled_err();
        let mut text = heading(question, styled);
        if !fields.is_empty() {
            let words = format!("{}. /decline says no, /cancel puts it away.", count(fields.len(), "field"));
            text.push_str(&paint(styled, DIM, &words));
            text.push('\n');
        }
        loop {
            let mut values = Vec::new();
            for (at, field) in fields.iter().enumerate() {
                text.push_str(&about(field, at + 1, fields.len(), styled));
                if let Some(value) = self.value(field, std::mem::take(&mut text)).await? {
                    values.push((field.name.clone(), value));
                }
            }
            text.push_str(&summary(fields, &values, styled));
            loop {
                text.push_str(&format!("Send this to {}? [y]es, [n]o, [e]dit: ", visible(&question.server)));
                match self.answer(&std::mem::take(&mut text)).await?.to_ascii_lowercase().as_str() {
                    "y" | "yes" => return Ok(ElicitAnswer::Accept(values)),
                    "n" | "no" => return Err(Enough::Declined),
                    "e" | "edit" => break,
                    _ => {}
                }
            }
        }
    }

    /// Asks for one field until the field takes what is typed.
    async fn value(&self, field: &FormField, mut text: String) -> Result<Option<Json>, Enough> {
        loop {
            text.push_str("> ");
            let line = self.answer(&text).await?;
            match read_value(field, &line) {
                Ok(value) => return Ok(value),
                Err(why) => text = format!("{}\n", visible(&why)),
            }
        }
    }

    /// Nothing is opened from here: the person does that, in a browser that neither we nor the model can see into.
    async fn open(&self, question: &ServerQuestion, url: &str) -> Result<ElicitAnswer, Enough> {
        let styled = self.screen.styled_err();
        let mut text = heading(question, styled);
        text.push_str(&format!("To agree, open this address in your browser:\n\n  {}\n\n", visible(url)));
        loop {
            text.push_str("Did you open it? [y]es, [n]o: ");
            match self.answer(&std::mem::take(&mut text)).await?.to_ascii_lowercase().as_str() {
                "y" | "yes" => return Ok(ElicitAnswer::Accept(Vec::new())),
                "n" | "no" => return Err(Enough::Declined),
                _ => {}
            }
        }
    }

    /// Reads one line, without its end.
    async fn answer(&self, text: &str) -> Result<String, Enough> {
        self.screen.prompt(text);
        let line = read_line().await.unwrap_or_else(|_: io::Error| String::new());
        // The end of the input: nobody is there any more.
        let Some(line) = line.strip_suffix('\n') else { return Err(Enough::Cancelled) };
        self.screen.answered();
        match line.trim() {
            "/decline" => Err(Enough::Declined),
            "/cancel" => Err(Enough::Cancelled),
            _ => Ok(line.trim_end_matches('\r').to_owned()),
        }
    }
}

fn heading(question: &ServerQuestion, styled: bool) -> String {
    let mut text = format!("\n{} asks:\n", paint(styled, BOLD, &visible(&question.server)));
    for line in question.request.message.lines() {
        text.push_str(&format!("  {line}\n"));
    }
    text
}

/// Everything a person needs to know to fill in a field.
fn about(field: &FormField, number: usize, of: usize, styled: bool) -> String {
    let need = if field.required { "" } else { ", may be left open" };
    let mut text = format!("\n[{number}/{of}] {}{need}\n", paint(styled, BOLD, &one_line(field.label())));
    for line in field.description.iter().flat_map(|description| description.lines()) {
        text.push_str(&format!("  {line}\n"));
    }
    if let FieldKind::One(choices) | FieldKind::Several { choices, .. } = &field.kind {
        for (at, choice) in choices.iter().enumerate() {
            text.push_str(&format!("  {}) {}\n", at + 1, one_line(&choice.label)));
        }
    }
    let mut hints = vec![takes(&field.kind)];
    hints.extend(field.default.as_ref().map(|default| format!("Enter for {}", shown(field, default))));
    text.push_str(&paint(styled, DIM, &format!("  {}", hints.join("; "))));
    text.push('\n');
    text
}

/// What a field takes, in words.
fn takes(kind: &FieldKind) -> String {
    match kind {
        FieldKind::FreeText { format, min_length, max_length } => {
            let what = match format.as_deref() {
                Some("email") => "an e-mail address",
                Some("uri") => "an address such as https://example.org",
                Some("date") => "a date such as 2026-07-28",
                Some("date-time") => "a date and time such as 2026-07-28T09:30:00Z",
                _ => "a text",
            };
            let length = bounds(min_length.as_ref(), max_length.as_ref());
            if length.is_empty() { what.to_owned() } else { format!("{what}{length} characters long") }
        }
        FieldKind::Number { whole, minimum, maximum } => {
            let what = if *whole { "a whole number" } else { "a number" };
            format!("{what}{}", bounds(minimum.as_ref(), maximum.as_ref()))
        }
        FieldKind::Boolean => "yes or no".to_owned(),
        FieldKind::One(_) => "one of these, by number or name".to_owned(),
        FieldKind::Several { min_items, max_items, .. } => {
            let many = bounds(min_items.as_ref(), max_items.as_ref());
            format!("any of these{many}, by number or name, with commas between; - for none")
        }
    }
}

fn bounds<T: std::fmt::Display>(least: Option<&T>, most: Option<&T>) -> String {
    match (least, most) {
        (Some(least), Some(most)) => format!(", {least} to {most}"),
        (Some(least), None) => format!(", at least {least}"),
        (None, Some(most)) => format!(", at most {most}"),
        (None, None) => String::new(),
    }
}

/// A label may hold line feeds; a list has one line for each.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A value as a person knows it: choices by their labels, texts without quotes.
fn shown(field: &FormField, value: &Json) -> String {
    let choices = match &field.kind {
        FieldKind::One(choices) | FieldKind::Several { choices, .. } => choices.as_slice(),
        _ => &[],
    };
    let one = |value: &Json| match choices.iter().find(|choice| choice.value == *value) {
        Some(choice) => one_line(&choice.label),
        None => value.as_str().map_or_else(|| visible(&value.to_string()), visible),
    };
    match value {
        Json::Array(items) if items.is_empty() => "none".to_owned(),
        Json::Array(items) => items.iter().map(one).collect::<Vec<_>>().join(", "),
        Json::Bool(true) => "yes".to_owned(),
        Json::Bool(false) => "no".to_owned(),
        value => one(value),
    }
}

/// What would be sent.
fn summary(fields: &[FormField], values: &[(String, Json)], styled: bool) -> String {
    let mut text = String::from("\n");
    for field in fields {
        let given = values.iter().find(|(name, _)| *name == field.name).map(|(_, value)| value);
        let value = given
            .or(field.default.as_ref())
            .map_or_else(|| paint(styled, DIM, "left open"), |value| shown(field, value));
        text.push_str(&format!("  {}: {value}\n", one_line(field.label())));
    }
    text
}

/// The value that a line stands for; nothing where the field is left open.
fn read_value(field: &FormField, line: &str) -> Result<Option<Json>, String> {
    let typed = line.trim();
    if typed.is_empty() {
        let may_be_open = field.default.is_some() || !field.required;
        return if may_be_open { Ok(None) } else { Err("It must be filled in.".to_owned()) };
    }
    let value = match &field.kind {
        FieldKind::FreeText { format: None, .. } => Json::from(line),
        FieldKind::FreeText { .. } => Json::from(typed),
        FieldKind::Number { .. } => match Json::parse(typed) {
            Ok(number @ Json::Number(_)) => number,
            _ => return Err("It must be a number, such as 12 or 1.5.".to_owned()),
        },
        FieldKind::Boolean => match typed.to_ascii_lowercase().as_str() {
            "y" | "yes" | "true" => Json::Bool(true),
            "n" | "no" | "false" => Json::Bool(false),
            _ => return Err("It must be yes or no.".to_owned()),
        },
        FieldKind::One(choices) => chosen(choices, typed)?,
        FieldKind::Several { .. } if typed == "-" => Json::Array(Vec::new()),
        FieldKind::Several { choices, .. } => {
            let mut values = Vec::new();
            for word in typed.split(',').filter(|word| !word.trim().is_empty()) {
                let value = chosen(choices, word.trim())?;
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            Json::Array(values)
        }
    };
    field.check(&value)?;
    Ok(Some(value))
}

/// The choice of this value, label or number from 1.
fn chosen(choices: &[Choice], word: &str) -> Result<Json, String> {
    let lower = word.to_lowercase();
    let is_value = |choice: &&Choice| choice.value.as_str() == Some(word) || choice.value.to_string() == word;
    let is_label = |choice: &&Choice| one_line(&choice.label).to_lowercase() == lower;
    let number = word.parse::<usize>().ok().and_then(|number| choices.get(number.checked_sub(1)?));
    let found = choices.iter().find(is_value).or_else(|| choices.iter().find(is_label)).or(number);
    match found {
        Some(choice) => Ok(choice.value.clone()),
        None => Err(format!("`{word}` is none of the choices.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use surehand_mcp::ElicitRequest;
    use surehand_model::RawJson;

    fn question(properties: &str, required: &str) -> ServerQuestion {
        let params = format!(
            r#"{{"message":"Where do you\nwant to go?","requestedSchema":{{"type":"object","required":{required},"properties":{properties}}}}}"#
        );
        let request = ElicitRequest::read(RawJson::parse(params).ok().as_ref()).unwrap();
        ServerQuestion { server: "trips".to_owned(), request }
    }

    fn fields(question: &ServerQuestion) -> &[FormField] {
        match &question.request.ask {
            ElicitAsk::Form(form) => &form.fields,
            ElicitAsk::Address { .. } => &[],
        }
    }

    const TRIP: &str = r#"{
        "city":{"type":"string","title":"City","description":"The one\nto go to.","maxLength":20},
        "days":{"type":"integer","minimum":1,"maximum":30},
        "unit":{"type":"string","oneOf":[{"const":"C","title":"Celsius"},{"const":"F","title":"Fahrenheit"}],"default":"C"},
        "wishes":{"type":"array","items":{"type":"string","enum":["sea","hills"]}},
        "news":{"type":"boolean","default":false}}"#;

    #[test]
    fn a_person_is_told_who_asks_what_and_what_each_field_takes() {
        let question = question(TRIP, r#"["city"]"#);
        let fields = fields(&question);
        let mut text = heading(&question, false);
        for (at, field) in fields.iter().enumerate() {
            text.push_str(&about(field, at + 1, fields.len(), false));
        }
        text.push_str(&summary(fields, &[("city".to_owned(), Json::from("上海\u{200b}"))], false));
        expect_test::expect![[r#"

            trips asks:
              Where do you
              want to go?

            [1/5] City
              The one
              to go to.
              a text, at most 20 characters long

            [2/5] days, may be left open
              a whole number, 1 to 30

            [3/5] unit, may be left open
              1) Celsius
              2) Fahrenheit
              one of these, by number or name; Enter for Celsius

            [4/5] wishes, may be left open
              1) sea
              2) hills
              any of these, by number or name, with commas between; - for none

            [5/5] news, may be left open
              yes or no; Enter for no

              City: 上海\u{200b}
              days: left open
              unit: Celsius
              wishes: left open
              news: no
        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn each_kind_of_field_reads_its_own_way_of_typing_and_refuses_the_rest() {
        let question = question(TRIP, r#"["city"]"#);
        let read = |field: usize, line: &str| {
            let value = read_value(&fields(&question)[field], line)?;
            Ok::<_, String>(value.map(|value| value.to_string()).unwrap_or_default())
        };
        let ok = |text: &str| Ok(text.to_owned());
        assert_eq!(read(0, " St. Gallen "), ok(r#"" St. Gallen ""#));
        assert_eq!(read(0, " "), Err("It must be filled in.".to_owned()));
        assert!(read(0, "Llanfairpwllgwyngyllgogerychwyrndrobwll").is_err());
        assert_eq!((read(1, " 07 ").is_err(), read(1, "7"), read(1, "")), (true, ok("7"), ok("")));
        assert!(read(1, "31").is_err() && read(1, "1.5").is_err() && read(1, "seven").is_err());
        assert_eq!([read(2, "fahrenheit"), read(2, "2"), read(2, "F")], [(); 3].map(|()| ok(r#""F""#)));
        assert_eq!((read(2, ""), read(2, "3")), (ok(""), Err("`3` is none of the choices.".to_owned())));
        assert_eq!(read(3, "hills, 1,hills"), ok(r#"["hills","sea"]"#));
        assert_eq!((read(3, "-"), read(3, "moon").is_err()), (ok("[]"), true));
        assert_eq!((read(4, "Yes"), read(4, "maybe").is_err()), (ok("true"), true));
    }
}
