use surehand_model::{ModelRequest, Role};

/// Checks that every call of a conversation has exactly one result, right after it and in the order of the calls, and that
/// no result answers nothing.
pub(super) fn calls_and_results(request: &ModelRequest) -> Result<(), String> {
    let mut at = 0;
    while let Some(message) = request.messages.get(at) {
        at += 1;
        let calls: Vec<&str> = match message.role {
            Role::Assistant => message.calls().map(|call| call.id.0.as_str()).collect(),
            Role::System | Role::User | Role::Tool => Vec::new(),
        };
        let mut results = Vec::new();
        if message.role == Role::Tool {
            at -= 1;
        }
        while let Some(message) = request.messages.get(at).filter(|message| message.role == Role::Tool) {
            results.extend(message.tool_results().map(|result| result.id.0.as_str()));
            at += 1;
        }
        if calls != results {
            return Err(explain(&calls, &results, at));
        }
    }
    Ok(())
}

fn explain(calls: &[&str], results: &[&str], at: usize) -> String {
    let place = format!("message {at} of the request");
    if let Some(missing) = calls.iter().find(|call| !results.contains(call)) {
        return format!("{place}: the call `{missing}` has no result right after it");
    }
    if let Some(orphan) = results.iter().find(|result| !calls.contains(result)) {
        return format!("{place}: the result `{orphan}` answers no call right before it");
    }
    if results.len() > calls.len() {
        return format!("{place}: one call has several results: {}", results.join(", "));
    }
    format!(
        "{place}: results stand in another order ({}) than the calls ({})",
        results.join(", "),
        calls.join(", ")
    )
}

/// Checks that the newest results, or else the newest question, contain each of `expected`.
pub(super) fn expectations(request: &ModelRequest, expected: &[String]) -> Result<(), String> {
    if expected.is_empty() {
        return Ok(());
    }
    let newest =
        request.messages.iter().rposition(|message| message.role == Role::Assistant).map_or(0, |at| at + 1);
    let mut said = Vec::new();
    for message in &request.messages[newest..] {
        match message.role {
            Role::System | Role::Assistant => {}
            Role::User => said.push(message.joined_text()),
            Role::Tool => {
                for result in message.tool_results() {
                    said.push(result.joined_text());
                    said.extend(result.structured.as_ref().map(|raw| raw.as_str().to_owned()));
                }
            }
        }
    }
    let said = said.join("\n");
    match expected.iter().find(|text| !said.contains(text.as_str())) {
        Some(missing) => Err(format!("expected to be told {missing:?}, but was told {said:?}")),
        None => Ok(()),
    }
}
