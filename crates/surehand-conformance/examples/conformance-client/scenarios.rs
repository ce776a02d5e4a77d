use std::error::Error;
use std::sync::Arc;

use surehand_conformance::Assignment;
use surehand_mcp::{Revision, SKILLS};
use surehand_model::{RawJson, Tool};
use surehand_transport::{
    CallOptions, Client, ClientOptions, Elicitor, Era, GetPromptParams, HttpClient, HttpOptions, HttpTarget,
    Skill, SkillError, SkillFiles, Target,
};

use crate::auth;
use crate::person::Agreeable;

type Outcome = Result<(), Box<dyn Error>>;

/// Plays one scenario to its end.
pub(crate) async fn run(assignment: &Assignment) -> Outcome {
    let client = open(assignment).await?;
    match assignment.scenario.as_str() {
        "initialize" => {}
        "request-metadata" | "json-schema-ref-no-deref" => {
            client.list_tools().await?;
        }
        "tools_call" => {
            client.list_tools().await?;
            call(&client, "add_numbers", r#"{"a":5,"b":3}"#).await?;
        }
        "elicitation-sep1034-client-defaults" => {
            client.list_tools().await?;
            call(&client, "test_client_elicitation_defaults", "{}").await?;
        }
        "sse-retry" => {
            client.list_tools().await?;
            call(&client, "test_reconnection", "{}").await?;
        }
        "http-standard-headers" => everything(&client).await?,
        "http-custom-headers" => {
            client.list_tools().await?;
            for scripted in assignment.scripted_calls()? {
                client.call_tool(&scripted.name, &scripted.arguments, CallOptions::default()).await?;
            }
        }
        "http-invalid-tool-headers" => {
            for tool in client.list_tools().await?.items {
                call_with_texts(&client, &tool).await?;
            }
        }
        "sep-2322-client-request-state" => {
            client.list_tools().await?;
            for name in [
                "test_mrtr_echo_state",
                "test_mrtr_unrelated",
                "test_mrtr_no_state",
                "test_mrtr_no_result_type",
            ] {
                call(&client, name, "{}").await?;
            }
        }
        "json-schema-2020-12-preservation" => {
            let tools = client.list_tools().await?.items;
            let tool = tools.iter().find(|tool| tool.name == "json_schema_2020_12_tool");
            let schema = &tool.ok_or("json_schema_2020_12_tool is not listed")?.input_schema;
            call(&client, "json_schema_echo", &format!(r#"{{"schema":{}}}"#, schema.as_str())).await?;
        }
        "sep-2640-client-no-prefetch" => {
            client.list_skills().await?;
        }
        "sep-2640-client-verify-digest"
        | "sep-2640-client-verify-size"
        | "sep-2640-client-verify-frontmatter" => refuse_skills(&client).await?,
        name if name.starts_with("auth/") => {
            client.list_tools().await?;
            call(&client, "test-tool", "{}").await?;
        }
        other => return Err(format!("scenario `{other}` is not known to this client").into()),
    }
    client.close().await;
    Ok(())
}

async fn open(assignment: &Assignment) -> Result<Client, Box<dyn Error>> {
    let era = match assignment.revision.map(Revision::is_modern) {
        Some(true) => Era::Modern,
        Some(false) => Era::Legacy,
        None => Era::Auto,
    };
    let person: Arc<dyn Elicitor> = Arc::new(Agreeable);
    let http = HttpClient::new(HttpOptions::default());
    let authorizer = auth::authorizer(assignment, &http)?;
    let extensions = vec![(SKILLS.to_owned(), RawJson::empty_object())];
    let options = ClientOptions {
        era,
        on_elicitation: Some(person),
        authorizer,
        extensions,
        ..ClientOptions::default()
    };
    let target = Target::Http(HttpTarget { url: assignment.url.clone(), headers: Vec::new() });
    Ok(Client::open(target, options, &http).await?)
}

async fn call(client: &Client, name: &str, arguments: &str) -> Outcome {
    client.call_tool(name, &RawJson::parse(arguments.to_owned())?, CallOptions::default()).await?;
    Ok(())
}

/// Calls a tool with a text for each of its fields.
async fn call_with_texts(client: &Client, tool: &Tool) -> Outcome {
    let schema: serde_json::Value = serde_json::from_str(tool.input_schema.as_str())?;
    let fields = schema.get("properties").and_then(serde_json::Value::as_object);
    let arguments: serde_json::Map<_, _> =
        fields.into_iter().flatten().map(|(name, _)| (name.clone(), "text".into())).collect();
    client.call_tool(&tool.name, &RawJson::from_serialize(&arguments), CallOptions::default()).await?;
    Ok(())
}

/// Loads every skill, main file first. Each of them has been tampered with, so none may be taken.
async fn refuse_skills(client: &Client) -> Outcome {
    for skill in client.list_skills().await?.items {
        match load(client, &skill).await {
            Err(SkillError::Fault(_)) => {}
            Err(other) => return Err(other.into()),
            Ok(()) => return Err(format!("the skill `{}` was taken as it is", skill.name).into()),
        }
    }
    Ok(())
}

async fn load(client: &Client, skill: &Skill) -> Result<(), SkillError> {
    client.read_skill_file(skill, &skill.uri).await?;
    if let SkillFiles::Listed(files) = &skill.files {
        for file in files {
            client.read_skill_file(skill, &file.uri).await?;
        }
    }
    Ok(())
}

/// Uses all that the server offers, each thing once.
async fn everything(client: &Client) -> Outcome {
    for tool in client.list_tools().await?.items {
        call_with_texts(client, &tool).await?;
    }
    for resource in client.list_resources().await?.items {
        client.read_resource(&resource.uri).await?;
    }
    for prompt in client.list_prompts().await?.items {
        client.get_prompt(&GetPromptParams { name: prompt.name, arguments: Default::default() }).await?;
    }
    Ok(())
}
