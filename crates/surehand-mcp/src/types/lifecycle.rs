//! Who the two sides are. Source: MCP specification, "Lifecycle" and "Discovery".

use serde::Serialize;
use surehand_model::RawJson;

use crate::handler::Implementation;
use crate::members::Members;
use crate::meta::MetaKey;
use crate::revision::Revision;

/// What a server said about itself when the connection was opened, in either era.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerFacts {
    /// For machines; empty where the server did not say.
    pub name: String,
    /// For people.
    pub title: Option<String>,
    /// Free form; empty where the server did not say.
    pub version: String,
    /// The revision spoken on this connection.
    pub revision: Revision,
    /// How to use the server, for the model.
    pub instructions: Option<String>,
    /// It has tools.
    pub has_tools: bool,
    /// It has resources.
    pub has_resources: bool,
    /// It has prompts.
    pub has_prompts: bool,
    /// It completes arguments.
    pub has_completions: bool,
    /// All its capabilities, as they came.
    pub capabilities: RawJson,
}

impl ServerFacts {
    /// Facts of a server that is known without asking, such as one in this process.
    pub fn of_tools(
        implementation: Implementation,
        instructions: Option<String>,
        revision: Revision,
    ) -> Self {
        let Implementation { name, title, version } = implementation;
        let capabilities = RawJson::from_serialize(&serde_json::json!({"tools": {}}));
        Self {
            name,
            title,
            version,
            revision,
            instructions,
            has_tools: true,
            has_resources: false,
            has_prompts: false,
            has_completions: false,
            capabilities,
        }
    }

    /// Whether it says that it tells of changes or logs, so that it is worth listening to.
    pub fn tells_on_its_own(&self) -> bool {
        let Some(all) = Members::parse(self.capabilities.as_str()) else { return false };
        all.present("logging").is_some()
            || ["tools", "prompts", "resources"].iter().filter_map(|kind| all.object(kind)).any(|kind| {
                ["listChanged", "subscribe"].iter().any(|change| kind.boolean(change) == Some(true))
            })
    }

    /// From the answer to `initialize` or `server/discover`; whatever is missing is empty.
    pub(crate) fn read(result: &Members<'_>, revision: Revision) -> Self {
        let info = result
            .object("_meta")
            .and_then(|meta| meta.object(MetaKey::SERVER_INFO))
            .or_else(|| result.object("serverInfo"));
        let word = |key: &str| info.as_ref().and_then(|info| info.string(key));
        let capabilities = result.object("capabilities");
        let has = |key: &str| capabilities.as_ref().is_some_and(|all| all.present(key).is_some());
        Self {
            name: word("name").unwrap_or_default(),
            title: word("title"),
            version: word("version").unwrap_or_default(),
            revision,
            instructions: result.string("instructions").filter(|text| !text.trim().is_empty()),
            has_tools: has("tools"),
            has_resources: has("resources"),
            has_prompts: has("prompts"),
            has_completions: has("completions"),
            capabilities: match (&capabilities, result.get("capabilities")) {
                (Some(_), Some(raw)) => RawJson::from(raw),
                _ => RawJson::empty_object(),
            },
        }
    }
}

/// `clientInfo` and `serverInfo`.
pub(crate) fn write_implementation(who: &Implementation) -> RawJson {
    #[derive(Serialize)]
    struct Written<'a> {
        name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'a str>,
        version: &'a str,
    }
    RawJson::from_serialize(&Written { name: &who.name, title: who.title.as_deref(), version: &who.version })
}
