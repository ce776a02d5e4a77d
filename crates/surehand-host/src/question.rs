//! What servers ask the person, made safe to be shown.

use surehand_mcp::{Choice, ElicitAsk, ElicitRequest, FieldKind, Form, FormField};
use url::Url;

/// The most characters of one text of a server that are shown.
const SHOWN: usize = 4_000;

/// A question of a server, ready to be shown: message, titles, descriptions and the labels of choices hold nothing that could
/// command a terminal or reorder what is read, and each field has a title. Names, values and defaults are data and stand as the
/// server sent them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerQuestion {
    /// Which server asks, by its name in the configuration.
    pub server: String,
    /// What it asks. An address is http or https and written in ASCII.
    pub request: ElicitRequest,
}

impl ServerQuestion {
    /// The question as it may be shown; nothing where its address is none that a person should open.
    pub(crate) fn shown(server: &str, request: &ElicitRequest) -> Option<Self> {
        let ask = match &request.ask {
            ElicitAsk::Form(form) => {
                let fields = form.fields.iter().map(shown_field).collect();
                ElicitAsk::Form(Form { schema: form.schema.clone(), fields })
            }
            ElicitAsk::Address { url, id } => {
                let url = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
                ElicitAsk::Address { url: url.into(), id: id.clone() }
            }
        };
        let request =
            ElicitRequest { message: shown_text(&request.message), ask, notes: request.notes.clone() };
        Some(Self { server: server.to_owned(), request })
    }
}

fn shown_field(field: &FormField) -> FormField {
    let kind = match &field.kind {
        FieldKind::One(choices) => FieldKind::One(shown_choices(choices)),
        FieldKind::Several { choices, min_items, max_items } => FieldKind::Several {
            choices: shown_choices(choices),
            min_items: *min_items,
            max_items: *max_items,
        },
        other => other.clone(),
    };
    FormField {
        title: Some(shown_text(field.label())),
        description: field.description.as_deref().map(shown_text),
        kind,
        ..field.clone()
    }
}

fn shown_choices(choices: &[Choice]) -> Vec<Choice> {
    choices
        .iter()
        .map(|choice| Choice { value: choice.value.clone(), label: shown_text(&choice.label) })
        .collect()
}

/// The text without control characters (but tab and line feed), without marks that reorder what is read, without invisible tags,
/// and cut where it is beyond all measure.
fn shown_text(text: &str) -> String {
    let is_safe = |c: &char| match c {
        '\n' | '\t' => true,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => false,
        '\u{e0000}'..='\u{e007f}' => false,
        c => !c.is_control(),
    };
    let mut safe = text.chars().filter(is_safe);
    let mut shown: String = safe.by_ref().take(SHOWN).collect();
    if safe.next().is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use surehand_model::RawJson;

    use super::*;

    fn asked(params: &str) -> ElicitRequest {
        ElicitRequest::read(RawJson::parse(params).ok().as_ref()).unwrap()
    }

    #[test]
    fn what_a_server_says_cannot_command_the_terminal_or_reorder_what_is_read() {
        let request = asked(
            r#"{"message":"a\u001b[2Jb\u202ec\nd","requestedSchema":{"type":"object","properties":{"n\u0007":{"type":"string","description":"x\u2066y","oneOf":[{"const":"v\u0000","title":"V\u009b1m"}]}}}}"#,
        );
        let question = ServerQuestion::shown("s", &request).unwrap();
        let ElicitAsk::Form(form) = &question.request.ask else { panic!("no form") };
        let field = &form.fields[0];
        assert_eq!(question.request.message, "a[2Jbc\nd");
        assert_eq!(
            (field.name.as_str(), field.label(), field.description.as_deref()),
            ("n\u{7}", "n", Some("xy"))
        );
        let FieldKind::One(choices) = &field.kind else { panic!("no choice") };
        assert_eq!((choices[0].label.as_str(), choices[0].value.as_str()), ("V1m", Some("v\0")));
        assert_eq!(shown_text(&"x".repeat(5_000)).chars().count(), SHOWN + 1);
    }

    #[test]
    fn only_addresses_of_the_web_are_shown_and_in_letters_that_cannot_deceive() {
        let address = |url: &str| {
            let params = serde_json::json!({"mode": "url", "message": "?", "url": url}).to_string();
            ServerQuestion::shown("s", &asked(&params)).map(|question| match question.request.ask {
                ElicitAsk::Address { url, .. } => url,
                ElicitAsk::Form(_) => panic!("a form"),
            })
        };
        assert_eq!(address("https://аpple.test/ü").as_deref(), Some("https://xn--pple-43d.test/%C3%BC"));
        assert_eq!(["javascript:alert(1)", "file:///etc/passwd", "a.test"].map(address), [None, None, None]);
    }
}
