use serde_json::{Map, Value};

/// Whether arguments are right: each wanted one has one of its accepted values (`""` among them: it may be left out), and there is no other.
pub(crate) fn are_right(arguments: &Value, accepted: &Map<String, Value>) -> bool {
    let Some(given) = arguments.as_object() else { return false };
    let nothing = Value::from("");
    given.keys().all(|name| accepted.contains_key(name))
        && accepted.iter().all(|(name, values)| {
            let values = values.as_array().map(Vec::as_slice).unwrap_or_default();
            match given.get(name) {
                Some(value) => values.iter().any(|accepted| is_right(value, accepted)),
                None => values.contains(&nothing),
            }
        })
}

/// One value against one accepted value. Text is compared without case, blanks and punctuation, numbers by what they are worth; inside an
/// object each member again has a list of accepted values.
fn is_right(value: &Value, accepted: &Value) -> bool {
    match (value, accepted) {
        (Value::String(value), Value::String(accepted)) => folded(value) == folded(accepted),
        (Value::Number(value), Value::Number(accepted)) => value.as_f64() == accepted.as_f64(),
        (Value::Array(values), Value::Array(accepted)) => {
            values.len() == accepted.len()
                && values.iter().zip(accepted).all(|(value, accepted)| is_right(value, accepted))
        }
        (Value::Object(_), Value::Object(accepted)) => are_right(value, accepted),
        _ => value == accepted,
    }
}

/// As the public scorer folds text.
fn folded(text: &str) -> String {
    text.chars()
        .filter(|character| !" ,./-_*^()".contains(*character))
        .map(|character| if character == '\'' { '"' } else { character })
        .flat_map(char::to_lowercase)
        .collect()
}
