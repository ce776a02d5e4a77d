use surehand_mcp::{
    Complete, CompleteParams, CompleteResult, GetPrompt, GetPromptParams, GetPromptResult, ListPrompts,
    Listing, Prompt,
};

use super::{Client, ClientError};

impl Client {
    /// All prompts. Empty where the server says that it has none.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn list_prompts(&self) -> Result<Listing<Prompt>, ClientError> {
        self.list::<ListPrompts>(self.server.has_prompts).await
    }

    /// Fills in one prompt.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn get_prompt(&self, params: &GetPromptParams) -> Result<GetPromptResult, ClientError> {
        self.ask::<GetPrompt>(params, Some(&params.name)).await
    }

    /// Completes one argument of a prompt or a resource template.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn complete(&self, params: &CompleteParams) -> Result<CompleteResult, ClientError> {
        self.ask::<Complete>(params, None).await
    }
}
