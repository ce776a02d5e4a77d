use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use schemars::JsonSchema;
use serde::Deserialize;
use surehand_macros::tools;
use surehand_mcp::{Effect, Text, ToolCard, ToolFailure, ToolOutput, Toolset};

use crate::call;

/// Notes that several calls share.
#[derive(Default)]
pub(crate) struct Notes {
    lines: Mutex<Vec<String>>,
    reads: AtomicU32,
}

#[derive(Deserialize, JsonSchema)]
struct AddNote {
    /// One line.
    line: String,
}

#[tools]
impl Notes {
    /// Adds a line to the notes.
    #[tool(effect = "writes")]
    async fn add_note(&self, args: AddNote) -> Result<Text, ToolFailure> {
        if args.line.is_empty() {
            return Err("A note cannot be empty.".into());
        }
        self.lines.lock().unwrap().push(args.line);
        Ok(Text("Added.".to_owned()))
    }

    /// Shows all notes.
    #[tool(effect = "reads")]
    fn show_notes(&self) -> Option<String> {
        self.count_read();
        let lines = self.lines.lock().unwrap();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    /// Says how notes are meant to be written.
    #[tool(effect = "pure")]
    async fn note_rules() -> &'static str {
        "One line each."
    }

    /// Is configured out.
    #[cfg(any())]
    #[tool]
    fn never(&self) -> NoSuchType {}

    fn count_read(&self) {
        self.reads.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn methods_share_their_value() {
    let notes = Arc::new(Notes::default());
    let server = Toolset::new("notes", "1").with_shared(Arc::clone(&notes)).into_handler();
    let nothing = call(&server, "show_notes", "{}").await.unwrap();
    assert_eq!(nothing, ToolOutput::text(r#"{"result":null,"message":"No matching record."}"#));
    assert_eq!(call(&server, "add_note", r#"{"line":"buy tea"}"#).await, Ok(ToolOutput::text("Added.")));
    assert_eq!(call(&server, "show_notes", "{}").await, Ok(ToolOutput::text("buy tea")));
    assert_eq!(call(&server, "note_rules", "{}").await, Ok(ToolOutput::text("One line each.")));
    assert_eq!(notes.reads.load(Ordering::Relaxed), 2);
}

#[test]
fn methods_are_listed_in_the_order_of_the_block() {
    let card = |tool: &str, effect| ToolCard { tool: tool.to_owned(), effect };
    assert_eq!(
        Toolset::new("notes", "1").with(Notes::default()).cards(),
        [card("add_note", Effect::Write), card("show_notes", Effect::Read), card("note_rules", Effect::Pure)]
    );
}
