//! A server with one of everything.

use surehand_mcp::{
    BoxFuture, CallFailure, Change, Changes, CompleteParams, CompleteResult, GetPromptParams, Implementation,
    LogLevel, Offers, Prompt, PromptMessage, PromptOutput, Question, RequestContext, Resource,
    ResourceTemplate, ServerHandler, ToolInvocation, ToolOutput,
};
use surehand_model::{ContentBlock, RawJson, ResourceContents, Tool, ToolAnnotations};

#[derive(Default)]
pub(crate) struct Everything {
    changes: Changes,
}

pub(crate) fn raw(value: &serde_json::Value) -> RawJson {
    RawJson::from(value)
}

/// The tools that give something, and those that ask for something first.
pub(crate) const TOOLS: [&str; 8] =
    ["blocks", "structured", "fail", "wait", "ask", "ask address", "sample", "roots"];

impl ServerHandler for Everything {
    fn implementation(&self) -> Implementation {
        Implementation {
            name: "everything".to_owned(),
            title: Some("Everything".to_owned()),
            version: "1".to_owned(),
        }
    }

    fn instructions(&self) -> Option<String> {
        Some("Try it all.".to_owned())
    }

    fn offers(&self) -> Offers {
        Offers {
            tools: true,
            tools_change: true,
            resources: true,
            resources_change: true,
            subscriptions: true,
            prompts: true,
            prompts_change: true,
            completions: true,
            logging: true,
            extensions: vec![("com.example/x".to_owned(), RawJson::empty_object())],
            ..Offers::default()
        }
    }

    fn tools(&self) -> Vec<Tool> {
        let annotations = ToolAnnotations {
            read_only: Some(true),
            destructive: Some(false),
            idempotent: Some(true),
            open_world: Some(false),
        };
        let output = raw(&serde_json::json!({"type": "object", "properties": {"n": {"type": "number"}}}));
        let input = raw(&serde_json::json!({"type": "object", "properties": {"a": {"type": "string"}}}));
        TOOLS
            .map(|name| Tool {
                title: Some(name.to_uppercase()),
                annotations,
                output_schema: (name == "structured").then(|| output.clone()),
                ..Tool::new(name, "Does it.", input.clone())
            })
            .into()
    }

    fn call<'a>(&'a self, call: ToolInvocation<'a>) -> BoxFuture<'a, Result<ToolOutput, CallFailure>> {
        Box::pin(async move {
            let context = &call.context;
            Ok(match call.name {
                "blocks" => {
                    context.progress(0.5, Some(1.0), Some("half"));
                    context.progress(1.0, Some(1.0), None);
                    context.log(LogLevel::Error, Some("everything"), &raw(&serde_json::json!({"n": 1})));
                    context.log(LogLevel::Warning, None, &raw(&serde_json::json!("text")));
                    for change in
                        [Change::Tools, Change::Prompts, Change::Resources, Change::Resource(URI.to_owned())]
                    {
                        self.changes.announce(&change);
                    }
                    ToolOutput { content: blocks(), ..ToolOutput::default() }
                }
                "structured" => ToolOutput {
                    structured: Some(raw(&serde_json::json!({"n": 1.5}))),
                    ..ToolOutput::default()
                },
                "fail" => ToolOutput::error("it failed"),
                "wait" => std::future::pending().await,
                "ask" => {
                    let schema = serde_json::json!({"type": "object", "required": ["name"], "properties": {
                        "name": {"type": "string", "title": "Name", "minLength": 1, "maxLength": 9},
                        "mail": {"type": "string", "format": "email"},
                        "size": {"type": "number", "minimum": 0.5, "maximum": 9.5, "default": 1.5},
                        "many": {"type": "integer", "minimum": 1, "maximum": 9},
                        "sure": {"type": "boolean", "default": true},
                        "kind": {"type": "string", "enum": ["a", "b"]}}});
                    let params = serde_json::json!({"message": "Who?", "requestedSchema": schema});
                    ToolOutput::text(context.ask("who", Question::Elicit(raw(&params))).await?.as_str())
                }
                "ask address" => {
                    let params = serde_json::json!({"mode": "url", "message": "Look.", "url": "https://example.test/", "elicitationId": "e1"});
                    ToolOutput::text(context.ask("look", Question::Elicit(raw(&params))).await?.as_str())
                }
                "sample" => {
                    let params = serde_json::json!({"maxTokens": 10, "systemPrompt": "Be brief.", "temperature": 0.5,
                        "stopSequences": ["."], "modelPreferences": {"hints": [{"name": "m"}], "speedPriority": 0.5},
                        "messages": [{"role": "user", "content": {"type": "text", "text": "Hello?"}}]});
                    ToolOutput::text(context.ask("say", Question::Sample(raw(&params))).await?.as_str())
                }
                "roots" => ToolOutput::text(context.ask("where", Question::Roots).await?.as_str()),
                name => return Err(CallFailure::UnknownTool(name.to_owned())),
            })
        })
    }

    fn resources(&self) -> Vec<Resource> {
        vec![Resource::new(URI, "a", "A file.")]
    }

    fn resource_templates(&self) -> Vec<ResourceTemplate> {
        vec![ResourceTemplate::new("file:///{name}", "files", "All files.")]
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
        _: RequestContext,
    ) -> BoxFuture<'a, Result<Vec<ResourceContents>, CallFailure>> {
        Box::pin(async move {
            if uri != URI {
                return Err(CallFailure::UnknownResource(uri.to_owned()));
            }
            Ok(vec![contents(Some("text"), None), contents(None, Some("aGk="))])
        })
    }

    fn prompts(&self) -> Vec<Prompt> {
        vec![Prompt::new("greet", "Greets.").with_argument("name", "Whom.", true)]
    }

    fn prompt(
        &self,
        params: GetPromptParams,
        _: RequestContext,
    ) -> BoxFuture<'_, Result<PromptOutput, CallFailure>> {
        Box::pin(async move {
            if params.name != "greet" {
                return Err(CallFailure::UnknownPrompt(params.name));
            }
            let message = |role: &str, content| PromptMessage { role: role.to_owned(), content };
            let messages = blocks()
                .into_iter()
                .map(|block| message("user", block))
                .chain([message("assistant", ContentBlock::Text("Hello.".to_owned()))]);
            Ok(PromptOutput { description: Some("A greeting.".to_owned()), messages: messages.collect() })
        })
    }

    fn complete(
        &self,
        _: CompleteParams,
        _: RequestContext,
    ) -> BoxFuture<'_, Result<CompleteResult, CallFailure>> {
        let values = vec!["a".to_owned(), "b".to_owned()];
        Box::pin(async { Ok(CompleteResult { values, total: Some(2), has_more: false }) })
    }

    fn changes(&self) -> Option<&Changes> {
        Some(&self.changes)
    }
}

/// What is read and subscribed to.
pub(crate) const URI: &str = "file:///a";

fn contents(text: Option<&str>, blob: Option<&str>) -> ResourceContents {
    ResourceContents {
        uri: URI.to_owned(),
        mime_type: Some("text/plain".to_owned()),
        text: text.map(str::to_owned),
        blob: blob.map(str::to_owned),
    }
}

/// One block of every kind.
fn blocks() -> Vec<ContentBlock> {
    vec![
        ContentBlock::Text("text".to_owned()),
        ContentBlock::Image { data: "aGk=".to_owned(), mime_type: "image/png".to_owned() },
        ContentBlock::Audio { data: "aGk=".to_owned(), mime_type: "audio/wav".to_owned() },
        ContentBlock::Resource(contents(Some("text"), None)),
        ContentBlock::ResourceLink {
            uri: URI.to_owned(),
            name: "a".to_owned(),
            mime_type: Some("text/plain".to_owned()),
            description: Some("A file.".to_owned()),
        },
    ]
}
