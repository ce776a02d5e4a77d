use serde_json::json;
use surehand_mcp::{
    CallFailure, CompleteParams, CompleteResult, CompletionRef, GetPromptParams, Prompt, PromptMessage,
    PromptOutput, RequestContext,
};
use surehand_model::{ContentBlock, ResourceContents};

use crate::asking::{field, form};
use crate::media::picture;

const SIMPLE: &str = "test_simple_prompt";
const WITH_ARGUMENTS: &str = "test_prompt_with_arguments";
const WITH_RESOURCE: &str = "test_prompt_with_embedded_resource";
const WITH_PICTURE: &str = "test_prompt_with_image";
const ASKING: &str = "test_input_required_result_prompt";

pub(crate) fn list() -> Vec<Prompt> {
    vec![
        Prompt::new(SIMPLE, "A text without anything to fill in."),
        Prompt::new(WITH_ARGUMENTS, "A text with two things to fill in.")
            .with_argument("arg1", "The first thing.", true)
            .with_argument("arg2", "The second thing.", true),
        Prompt::new(WITH_RESOURCE, "A resource, and words about it.").with_argument(
            "resourceUri",
            "Which resource.",
            true,
        ),
        Prompt::new(WITH_PICTURE, "A picture, and words about it."),
        Prompt::new(ASKING, "Asks the person for a part of itself."),
    ]
}

pub(crate) async fn fill_in(
    params: GetPromptParams,
    context: RequestContext,
) -> Result<PromptOutput, CallFailure> {
    let argument = |name: &str| {
        let missing = || CallFailure::InvalidParams(format!("the argument `{name}` is missing"));
        params.arguments.get(name).cloned().ok_or_else(missing)
    };
    Ok(match params.name.as_str() {
        SIMPLE => said(vec![text("This is a simple prompt for testing.")]),
        WITH_ARGUMENTS => {
            let (first, second) = (argument("arg1")?, argument("arg2")?);
            said(vec![text(format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))])
        }
        WITH_RESOURCE => {
            let resource = ContentBlock::Resource(ResourceContents {
                uri: argument("resourceUri")?,
                mime_type: Some("text/plain".to_owned()),
                text: Some("Embedded resource content for testing.".to_owned()),
                blob: None,
            });
            said(vec![resource, text("Please process the embedded resource above.")])
        }
        WITH_PICTURE => said(vec![picture(), text("Please analyze the image above.")]),
        ASKING => {
            let fields = json!({"context": {"type": "string"}});
            let question = form("What context should the prompt use?", fields, &["context"]);
            let answer = context.ask("user_context", question).await?;
            said(vec![text(format!("The context is {}.", field(&answer, "context")))])
        }
        _ => return Err(CallFailure::UnknownPrompt(params.name)),
    })
}

/// What may stand in the arguments of the prompt that has two.
pub(crate) fn complete(params: &CompleteParams) -> Result<CompleteResult, CallFailure> {
    let CompletionRef::Prompt { name } = &params.r#ref else { return Ok(CompleteResult::default()) };
    if !list().iter().any(|prompt| prompt.name == *name) {
        return Err(CallFailure::UnknownPrompt(name.clone()));
    }
    let known = ["paris", "park", "party", "parchment", "tokyo", "vienna"];
    let begun = known.iter().filter(|word| word.starts_with(&params.argument.value));
    let values: Vec<String> = begun.map(|word| (*word).to_owned()).collect();
    Ok(CompleteResult { total: Some(values.len() as u64), values, has_more: false })
}

fn said(blocks: Vec<ContentBlock>) -> PromptOutput {
    let messages =
        blocks.into_iter().map(|content| PromptMessage { role: "user".to_owned(), content }).collect();
    PromptOutput { description: None, messages }
}

fn text(words: impl Into<String>) -> ContentBlock {
    ContentBlock::Text(words.into())
}
