use surehand_model::{Json, ModelEvent, ModelRequest, Role, ToolCall, ToolResult};

use crate::compare::{compared, compares};
use crate::conversation::View;
use crate::numbers::Numbers;
use crate::prompt::{
    Language, answer_about, answer_plainly, answer_system, answer_user, chat_system, result_data,
};
use crate::runtime::{Ending, EngineError, Session, Stop};
use crate::work::Tell;

/// The most tokens of an answer where the request does not say.
const ANSWER_TOKENS: usize = 768;
/// How much of all results together is looked at, in characters.
const DATA_LENGTH: usize = 24_000;

/// Writes the answer: from the data alone where tools gave some, freely where none was needed.
pub(crate) fn write_answer(
    session: &mut Session<'_>,
    request: &ModelRequest,
    view: &View,
    stop: &Stop,
    tell: Tell<'_>,
) -> Result<(String, Ending), EngineError> {
    let limit =
        request.max_output_tokens.map_or(ANSWER_TOKENS, |most| most as usize).clamp(1, session.limit() / 2);
    let mut writer = Writer {
        session,
        view,
        stop,
        limit,
        language: Language::of(&view.question),
        text: String::new(),
        tell,
    };
    let ending = if view.results.is_empty() {
        writer.freely()?
    } else {
        match labels(view) {
            Some(labels) => writer.one_by_one(&labels)?,
            None => writer.together()?,
        }
    };
    Ok((writer.text, ending))
}

struct Writer<'a, 'm> {
    session: &'a mut Session<'m>,
    view: &'a View,
    stop: &'a Stop,
    /// Tokens that may still be written.
    limit: usize,
    language: Language,
    /// What is written so far.
    text: String,
    tell: Tell<'a>,
}

impl Writer<'_, '_> {
    /// Without data: the conversation as it is, as much of it as fits.
    fn freely(&mut self) -> Result<Ending, EngineError> {
        let system = chat_system(&self.view.operator, self.language);
        let mut from = 0;
        let prompt = loop {
            let mut messages = vec![("system", system.as_str())];
            for (role, text) in &self.view.before[from..] {
                messages.push((if *role == Role::User { "user" } else { "assistant" }, text));
            }
            messages.push(("user", &self.view.question));
            let (prompt, _) = self.session.prompt(&messages, "");
            if prompt.len() <= self.room() || from == self.view.before.len() {
                break prompt;
            }
            from += 1;
        };
        self.session.read(&prompt, 0, self.stop)?;
        self.write(&|_, _| true)
    }

    /// From all results at once.
    fn together(&mut self) -> Result<Ending, EngineError> {
        let results: Vec<&ToolResult> = self.view.results.iter().collect();
        let question = self.view.question.clone();
        let data = self.read_data(&results, &question, "")?;
        let numbers = Numbers::of([data.as_str(), self.view.question.as_str()]);
        self.write(&|written, piece| numbers.allow(written, piece))
    }

    /// One line for each result, so that a small model cannot mix them up, and what is most and least where the question compares.
    fn one_by_one(&mut self, labels: &[String]) -> Result<Ending, EngineError> {
        let compares = compares(&self.view.question);
        let mut ending = Ending::Whole;
        for (label, result) in labels.iter().zip(&self.view.results) {
            let begun = format!("{label}{}", if self.language == Language::Chinese { "：" } else { ": " });
            let question = match compares {
                true => answer_plainly(label, self.language),
                false => answer_about(&self.view.question, label, labels, self.language),
            };
            let data = self.read_data(&[result], &question, &begun)?;
            self.say(&begun);
            let numbers = Numbers::of([data.as_str(), label.as_str()]);
            // One line each: the model may end it, not begin another.
            ending = self.write(&|written, piece| !piece.contains('\n') && numbers.allow(written, piece))?;
            self.say("\n");
        }
        if ending == Ending::Whole && compares {
            // Small models get this wrong even with the order before their eyes, so it is not left to them.
            let verdict = compared(&self.view.question, labels, &self.view.results, self.language);
            if !verdict.is_empty() {
                self.say(&format!("\n{verdict}\n"));
            }
        }
        Ok(ending)
    }

    /// Reads the instructions, the results, cut as far as needed, and the question. Gives the data as it was read.
    fn read_data(
        &mut self,
        results: &[&ToolResult],
        question: &str,
        begun: &str,
    ) -> Result<String, EngineError> {
        let mut share = DATA_LENGTH / results.len().max(1);
        loop {
            let data: Vec<String> = results
                .iter()
                .map(|result| result_data(self.view.calls().find(|call| call.id == result.id), result, share))
                .collect();
            let data = data.join("\n\n");
            let user = answer_user(question, &data, self.language);
            let (prompt, _) =
                self.session.prompt(&[("system", answer_system(self.language)), ("user", &user)], begun);
            if prompt.len() <= self.room() || share < 200 {
                self.session.read(&prompt, 0, self.stop)?;
                return Ok(data);
            }
            share /= 2;
        }
    }

    /// Writes on, within what is left of the limit.
    fn write(&mut self, may: &dyn Fn(&str, &str) -> bool) -> Result<Ending, EngineError> {
        let tell = &mut self.tell;
        let before = self.session.written();
        let (text, ending) = self
            .session
            .write_text(self.limit, self.stop, may, &mut |text| tell(ModelEvent::Text(text.to_owned())))?;
        self.limit = self.limit.saturating_sub((self.session.written() - before) as usize);
        self.text.push_str(&text);
        Ok(if self.limit == 0 { Ending::Cut } else { ending })
    }

    fn say(&mut self, text: &str) {
        (self.tell)(ModelEvent::Text(text.to_owned()));
        self.text.push_str(text);
    }

    fn room(&self) -> usize {
        self.session.limit().saturating_sub(self.limit + 64)
    }
}

/// What tells the results of one round apart: the argument in which the calls of one tool differ. `None` where there is no such thing,
/// or only one result.
fn labels(view: &View) -> Option<Vec<String>> {
    let [calls] = view.rounds.as_slice() else { return None };
    if calls.len() < 2
        || calls.len() != view.results.len()
        || calls.iter().any(|call| call.name != calls[0].name)
    {
        return None;
    }
    let ordered: Option<Vec<&ToolCall>> =
        view.results.iter().map(|result| calls.iter().find(|call| call.id == result.id)).collect();
    let arguments: Vec<Json> =
        ordered?.iter().map(|call| call.arguments_or_empty().to_json().unwrap_or(Json::Null)).collect();
    arguments[0].as_object()?.iter().find_map(|(name, _)| {
        let values: Option<Vec<String>> =
            arguments.iter().map(|one| Some(one.get(name)?.as_str()?.to_owned())).collect();
        let values = values?;
        let are_apart = values
            .iter()
            .enumerate()
            .all(|(index, value)| !value.is_empty() && !values[..index].contains(value));
        are_apart.then_some(values)
    })
}

#[cfg(test)]
mod tests {
    use surehand_model::{CallId, Message, PartKind};

    use super::*;

    fn view(calls: &[(&str, &str)]) -> View {
        let calls: Vec<ToolCall> = calls
            .iter()
            .enumerate()
            .map(|(index, (name, arguments))| ToolCall::new(index.to_string(), *name, *arguments))
            .collect();
        let results = calls
            .iter()
            .map(|call| ToolResult::text(CallId(call.id.0.clone()), call.name.as_str(), "x"))
            .collect();
        View::of(&[
            Message::text(Role::User, "q"),
            Message {
                role: Role::Assistant,
                parts: calls.into_iter().map(|call| PartKind::Call(call).into()).collect(),
            },
            Message::results(results),
        ])
    }

    #[test]
    fn calls_of_one_tool_are_told_apart_by_the_argument_that_differs() {
        let two = view(&[("w", r#"{"units":"c","city":"上海"}"#), ("w", r#"{"units":"c","city":"北京"}"#)]);
        assert_eq!(labels(&two), Some(vec!["上海".to_owned(), "北京".to_owned()]));
        assert_eq!(labels(&view(&[("w", r#"{"city":"上海"}"#)])), None);
        assert_eq!(labels(&view(&[("w", r#"{"city":"上海"}"#), ("t", r#"{"city":"北京"}"#)])), None);
        assert_eq!(labels(&view(&[("w", r#"{"n":1}"#), ("w", r#"{"n":2}"#)])), None);
    }
}
