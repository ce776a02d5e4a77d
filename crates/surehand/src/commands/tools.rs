use clap::ValueEnum;
use serde::Serialize;
use surehand_dialect::{Anthropic, Dialect, EncodeOptions, Gemini, OpenAi, Quirks};
use surehand_host::{CatalogEntry, Host, NobodyWatches, Unresolved, reference_of};
use surehand_mcp::{Revision, write_tool};
use surehand_model::{Json, ModelRequest, RawJson, Tool};
use surehand_schema::nearest;

use crate::error::{CommandError, Fault};
use crate::render::{BOLD, DIM, clean, note_line, paint, table};
use crate::wiring::{App, only_server_of, server_trouble};

/// List the tools of all servers, or of one
///
/// With SERVER/TOOL, everything about one tool. The formats print the tools as the providers' APIs take them.
#[derive(Debug, clap::Args)]
pub(crate) struct ToolsArgs {
    /// SERVER, or SERVER/TOOL.
    server: Option<String>,
    /// How they are written.
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<Format>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    // For people.
    Table,
    // A JSON array, with server and decision.
    Json,
    // OpenAI Chat Completions.
    Openai,
    // Anthropic Messages.
    Anthropic,
    // Gemini generateContent.
    Gemini,
    // As an MCP server lists them.
    Mcp,
}

pub(crate) fn run(args: &ToolsArgs, app: &App) -> Result<(), CommandError> {
    let format =
        args.format.unwrap_or(if app.screen.form().is_json() { Format::Json } else { Format::Table });
    let mut settings = app.settings()?;
    if let Some(server) = &args.server {
        only_server_of(&mut settings, server);
    }
    app.block_on(async {
        let http = app.http();
        let host = app.open_host(settings, http, &NobodyWatches).await;
        let outcome = list(args, format, &host, app);
        host.close().await;
        outcome
    })
}

fn list(args: &ToolsArgs, format: Format, host: &Host, app: &App) -> Result<(), CommandError> {
    if !app.screen.form().is_json() {
        for note in host.skipped() {
            app.screen.say(&note_line(note, app.screen.styled_err()));
        }
    }
    let catalog = host.catalog();
    let entries: Vec<&CatalogEntry> = match &args.server {
        None => catalog.entries().iter().map(AsRef::as_ref).collect(),
        Some(name) => {
            if let Some(trouble) = server_trouble(host, name) {
                return Err(trouble);
            }
            let entries = catalog.entries().iter().map(AsRef::as_ref);
            let of_server: Vec<&CatalogEntry> =
                entries.clone().filter(|entry| &entry.server == name).collect();
            let is_server = host.servers().iter().any(|server| &server.name == name);
            if is_server { of_server } else { entries.filter(|entry| &reference_of(entry) == name).collect() }
        }
    };
    if let Some(name) = &args.server
        && entries.is_empty()
        && !host.servers().iter().any(|server| &server.name == name)
    {
        return Err(no_such(name, host));
    }
    let text = match format {
        Format::Table => match (&args.server, entries.as_slice()) {
            (Some(name), [entry]) if &reference_of(entry) == name => describe(entry, host, app),
            _ => overview(&entries, app),
        },
        Format::Json => json_array(entries.iter().map(|entry| own_json(entry, host))),
        Format::Mcp => format!(
            "{{\"tools\":{}}}\n",
            json_array(entries.iter().map(|entry| write_tool(&entry.tool, Revision::LATEST))).trim_end()
        ),
        Format::Openai => for_provider(&OpenAi::new(), &Quirks::OPENAI, &entries, app),
        Format::Anthropic => for_provider(&Anthropic, &Quirks::DEFAULT, &entries, app),
        Format::Gemini => for_provider(&Gemini, &Quirks::DEFAULT, &entries, app),
    };
    Ok(app.screen.print(&text)?)
}

fn no_such(name: &str, host: &Host) -> CommandError {
    let error = CommandError::new(Fault::UnknownTool, format!("there is no server and no tool `{name}`"));
    let servers = host.servers().iter().map(|server| server.name.as_str());
    let mut near: Vec<String> = nearest(name, servers).into_iter().map(str::to_owned).collect();
    if let Err(Unresolved::Unknown(tools)) = host.catalog().find(name) {
        near.extend(tools);
    }
    match near.as_slice() {
        [] => error.hint("`surehand tools` lists all tools, `surehand mcp list` all servers."),
        near => error.hint(format!("Did you mean {}?", near.join(" or "))),
    }
}

/// One line a tool.
fn overview(entries: &[&CatalogEntry], app: &App) -> String {
    if entries.is_empty() {
        return "No tools.\n".to_owned();
    }
    let rows: Vec<[String; 3]> = entries
        .iter()
        .map(|entry| [reference_of(entry), signature(&entry.tool), first_sentence(&entry.tool.description)])
        .collect();
    table(&rows, app.screen.terminal().width.filter(|_| app.screen.terminal().stdout))
}

/// The names of the arguments; `?` marks those that may be left out.
fn signature(tool: &Tool) -> String {
    let schema = tool.input_schema.to_json().unwrap_or(Json::Null);
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .collect();
    let properties = schema.get("properties").and_then(Json::as_object).unwrap_or_default();
    let names: Vec<String> = properties
        .iter()
        .map(|(name, _)| if required.contains(&name.as_str()) { name.clone() } else { format!("{name}?") })
        .collect();
    format!("({})", names.join(", "))
}

fn first_sentence(text: &str) -> String {
    let end = text.find(". ").map(|at| at + 1).or_else(|| text.find('\n')).unwrap_or(text.len());
    text[..end].trim().to_owned()
}

/// Everything about one tool.
fn describe(entry: &CatalogEntry, host: &Host, app: &App) -> String {
    let styled = app.screen.styled();
    let tool = &entry.tool;
    let mut out = format!("{}{}\n", paint(styled, BOLD, &clean(&reference_of(entry))), signature(tool));
    if !tool.description.is_empty() {
        out.push_str(&format!("{}\n", clean(tool.description.trim_end())));
    }
    let ruling = host.policy().decide(&host.facts(entry));
    out.push_str(&paint(styled, DIM, &format!("Policy: {} ({})", ruling.decision, ruling.reason)));
    out.push_str(&format!("\n\nInput schema:\n{}\n", pretty(&tool.input_schema)));
    if let Some(schema) = &tool.output_schema {
        out.push_str(&format!("\nOutput schema:\n{}\n", pretty(schema)));
    }
    out
}

/// JSON with line feeds and blanks, its keys in their order and its numbers as written.
fn pretty(raw: &RawJson) -> String {
    fn write(out: &mut String, value: &Json, depth: usize) {
        let indent = |depth: usize| "  ".repeat(depth);
        match value {
            Json::Object(members) if !members.is_empty() => {
                out.push('{');
                for (at, (key, value)) in members.iter().enumerate() {
                    let comma = if at == 0 { "" } else { "," };
                    out.push_str(&format!("{comma}\n{}{}: ", indent(depth + 1), Json::String(key.clone())));
                    write(out, value, depth + 1);
                }
                out.push_str(&format!("\n{}}}", indent(depth)));
            }
            Json::Array(items)
                if items.iter().any(|item| matches!(item, Json::Object(_) | Json::Array(_))) =>
            {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(&format!("{}\n{}", if at == 0 { "" } else { "," }, indent(depth + 1)));
                    write(out, item, depth + 1);
                }
                out.push_str(&format!("\n{}]", indent(depth)));
            }
            other => out.push_str(&other.to_string()),
        }
    }
    let mut out = String::new();
    match raw.to_json() {
        Ok(value) => write(&mut out, &value, 0),
        Err(_) => out.push_str(raw.as_str()),
    }
    clean(&out).into_owned()
}

fn json_array(items: impl Iterator<Item = RawJson>) -> String {
    let items: Vec<String> = items.map(|item| item.to_string()).collect();
    format!("[{}]\n", items.join(",\n "))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Annotations {
    #[serde(skip_serializing_if = "Option::is_none")]
    read_only_hint: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    destructive_hint: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    idempotent_hint: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    open_world_hint: Option<bool>,
}

fn annotations(tool: &Tool) -> Option<Annotations> {
    let claims = tool.annotations;
    (claims != Default::default()).then_some(Annotations {
        read_only_hint: claims.read_only,
        destructive_hint: claims.destructive,
        idempotent_hint: claims.idempotent,
        open_world_hint: claims.open_world,
    })
}

fn own_json(entry: &CatalogEntry, host: &Host) -> RawJson {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Own<'a> {
        server: &'a str,
        name: &'a str,
        model_name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'a str>,
        description: &'a str,
        input_schema: &'a RawJson,
        #[serde(skip_serializing_if = "Option::is_none")]
        output_schema: Option<&'a RawJson>,
        #[serde(skip_serializing_if = "Option::is_none")]
        annotations: Option<Annotations>,
        decision: String,
    }
    let tool = &entry.tool;
    RawJson::from_serialize(&Own {
        server: &entry.server,
        name: &tool.name,
        model_name: &entry.model_name,
        title: tool.title.as_deref(),
        description: &tool.description,
        input_schema: &tool.input_schema,
        output_schema: tool.output_schema.as_ref(),
        annotations: annotations(tool),
        decision: host.policy().decide(&host.facts(entry)).decision.to_string(),
    })
}

/// The `tools` member of a request to this provider: exactly what would be sent.
fn for_provider(dialect: &dyn Dialect, quirks: &Quirks, entries: &[&CatalogEntry], app: &App) -> String {
    let tools =
        entries.iter().map(|entry| Tool { name: entry.model_name.clone(), ..entry.tool.clone() }).collect();
    let request = ModelRequest::new("any", Vec::new(), tools);
    let encoded = dialect.encode(&request, EncodeOptions { stream: false, quirks });
    for note in &encoded.notes {
        app.screen.say(&note_line(note, app.screen.styled_err()));
    }
    let body = Json::parse(&String::from_utf8_lossy(&encoded.body)).unwrap_or(Json::Null);
    format!("{}\n", body.get("tools").unwrap_or(&Json::Array(Vec::new())))
}
