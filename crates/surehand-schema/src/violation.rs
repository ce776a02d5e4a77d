use surehand_model::Json;

/// One thing that is wrong with a value, in words that say what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where, as a JSON Pointer; empty for the whole value. A missing member stands at the place where it belongs.
    pub path: String,
    /// What the schema wants there, for example `string` or `one of "a", "b"`.
    pub expected: String,
    /// What stands there, for example `integer 5`, `string "abc"` or `nothing`. Long values are cut.
    pub got: String,
    /// A whole sentence for people and models.
    pub message: String,
    /// The known name or listed value that comes closest, where the fault may be a slip of the pen.
    pub nearest: Option<String>,
}

/// How many violations [`explain`] spells out; the rest is counted.
const SHOWN: usize = 20;

/// What a model is told about wrong arguments: every violation at once, and what to do.
///
/// The shape is `{"error":"invalid_arguments","tool":..,"details":[{"path","expected","got","message"}],"suggestion":..}`.
/// At most 20 violations are spelled out; `"more"` counts those beyond.
pub fn explain(tool: &str, violations: &[Violation]) -> Json {
    let details = violations.iter().take(SHOWN).map(|violation| {
        Json::Object(vec![
            ("path".to_owned(), Json::String(shown_path(&violation.path))),
            ("expected".to_owned(), Json::from(violation.expected.as_str())),
            ("got".to_owned(), Json::from(violation.got.as_str())),
            ("message".to_owned(), Json::from(violation.message.as_str())),
        ])
    });
    let mut members = vec![
        ("error".to_owned(), Json::from("invalid_arguments")),
        ("tool".to_owned(), Json::from(tool)),
        ("details".to_owned(), Json::Array(details.collect())),
    ];
    if violations.len() > SHOWN {
        members.push(("more".to_owned(), Json::Number((violations.len() - SHOWN).to_string())));
    }
    members.push(("suggestion".to_owned(), Json::String(suggestion(tool, violations))));
    Json::Object(members)
}

fn suggestion(tool: &str, violations: &[Violation]) -> String {
    let mut places: Vec<String> = Vec::new();
    for violation in violations {
        let place = match violation.path.as_str() {
            "" => "the arguments as a whole".to_owned(),
            path => shown_path(path),
        };
        if !places.contains(&place) {
            places.push(place);
        }
    }
    if places.is_empty() {
        return format!("Call {tool} again with arguments that fit its schema.");
    }
    let more = if places.len() > 5 { " and the others named" } else { "" };
    places.truncate(5);
    let shown = places.join(", ");
    format!("Call {tool} again with {shown}{more} corrected, and everything else as it was.")
}

/// A path as a model is shown it: whole, unless somebody made up a name of enormous length.
fn shown_path(path: &str) -> String {
    const SHOWN: usize = 300;
    if path.len() <= SHOWN {
        return path.to_owned();
    }
    format!("{}...", &path[..path.floor_char_boundary(SHOWN)])
}
