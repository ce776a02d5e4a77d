use crate::RawJson;

/// A tool as its owner describes it: described once, callable by any model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// The name a caller uses. Inside one server it is the server's own spelling; towards a model it is the catalog's.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it does, for the model. May be empty.
    pub description: String,
    /// JSON Schema of the arguments, as the owner wrote it. Arguments are always validated against this one.
    pub input_schema: RawJson,
    /// JSON Schema of the structured result, where the owner gives one.
    pub output_schema: Option<RawJson>,
    /// What the owner claims about the tool's effects. Claims, not facts: a server can say anything.
    pub annotations: ToolAnnotations,
    /// The whole definition as another server gave it. What nobody here has a word for (icons, `_meta`, members of a later
    /// revision) lives only in it.
    pub definition: Option<RawJson>,
}

impl Tool {
    /// A tool with a name, a description and a schema; the rest empty.
    pub fn new(name: impl Into<String>, description: impl Into<String>, input_schema: RawJson) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: description.into(),
            input_schema,
            output_schema: None,
            annotations: ToolAnnotations::default(),
            definition: None,
        }
    }
}

/// The owner's claims about a tool. `None` means that nothing was claimed; who decides applies the protocol's defaults.
///
/// Source: MCP specification, `ToolAnnotations`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolAnnotations {
    /// It changes nothing.
    pub read_only: Option<bool>,
    /// What it changes may be lost.
    pub destructive: Option<bool>,
    /// Running it twice is the same as once.
    pub idempotent: Option<bool>,
    /// It reaches out to an open world, such as the web.
    pub open_world: Option<bool>,
}
