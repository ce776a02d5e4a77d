//! The tools of all servers under the names that a model uses.
//!
//! A name is `mcp__SERVER__TOOL`. The pair is kept in a table and never parsed back, since either part may hold `__` itself.

use std::collections::HashMap;
use std::sync::Arc;

use surehand_model::{Note, Tool};
use surehand_schema::{Validator, nearest};

/// How many names are suggested for an unknown one.
const SUGGESTIONS: usize = 5;

/// One tool of one server.
#[derive(Clone, Debug)]
pub struct CatalogEntry {
    /// The name a model uses.
    pub model_name: String,
    /// The server that has it.
    pub server: String,
    /// The tool as its server describes it, under the server's own name for it.
    pub tool: Tool,
    /// Checks arguments against the tool's own schema.
    pub validator: Arc<Validator>,
}

/// The tools of all servers, in the order of the servers and of their own lists.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    entries: Vec<Arc<CatalogEntry>>,
    by_model_name: HashMap<String, usize>,
}

/// Why a name leads to no tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unresolved {
    /// Nobody has it; the nearest names, best first.
    Unknown(Vec<String>),
    /// Several servers have it; their full references.
    Ambiguous(Vec<String>),
}

impl Catalog {
    /// Builds the catalog from each server's list. A tool whose schema cannot be used is left out alone and noted: nobody could
    /// check its arguments.
    pub fn build<'a>(lists: impl IntoIterator<Item = (&'a str, &'a [Tool])>) -> (Self, Vec<Note>) {
        let mut catalog = Self::default();
        let mut notes = Vec::new();
        for (server, tools) in lists {
            for tool in tools {
                match Validator::new(&tool.input_schema) {
                    Ok(validator) => {
                        notes.extend(validator.notes().iter().map(|note| {
                            Note::new(
                                server,
                                format!("tool {}, schema {}", tool.name, note.r#where),
                                note.why.clone(),
                            )
                        }));
                        catalog.add(server, tool, validator);
                    }
                    Err(fault) => notes.push(Note::new(
                        server,
                        format!("tool {}", tool.name),
                        format!("left out, since its input schema cannot be used: {fault}"),
                    )),
                }
            }
        }
        (catalog, notes)
    }

    fn add(&mut self, server: &str, tool: &Tool, validator: Validator) {
        let plain = format!("mcp__{server}__{}", tool.name);
        let mut model_name = plain.clone();
        let mut number = 2;
        while self.by_model_name.contains_key(&model_name) {
            model_name = format!("{plain}_{number}");
            number += 1;
        }
        self.by_model_name.insert(model_name.clone(), self.entries.len());
        self.entries.push(Arc::new(CatalogEntry {
            model_name,
            server: server.to_owned(),
            tool: tool.clone(),
            validator: Arc::new(validator),
        }));
    }

    /// Every tool, in a stable order.
    pub fn entries(&self) -> &[Arc<CatalogEntry>] {
        &self.entries
    }

    /// The tool that a model means by `name`: its name in the catalog; or that behind a `functions.` some models put before it;
    /// or the tool's own name where exactly one server has it. Anything else is suggested, never run by guess.
    ///
    /// # Errors
    ///
    /// [`Unresolved`] with the names that come near.
    pub fn resolve(&self, name: &str) -> Result<Arc<CatalogEntry>, Unresolved> {
        let bare = name.strip_prefix("functions.").unwrap_or(name);
        if let Some(&at) = self.by_model_name.get(name).or_else(|| self.by_model_name.get(bare)) {
            return Ok(Arc::clone(&self.entries[at]));
        }
        match self.only_one(|entry| entry.tool.name == bare) {
            Ok(entry) => Ok(entry),
            Err(several) if several.is_empty() => Err(Unresolved::Unknown(self.suggest(bare))),
            Err(several) => {
                Err(Unresolved::Unknown(several.iter().map(|entry| entry.model_name.clone()).collect()))
            }
        }
    }

    /// The tool that a person means by `SERVER/TOOL`, by a tool's own name where only one server has it, or by the name a model
    /// uses.
    ///
    /// # Errors
    ///
    /// [`Unresolved`] with the references that come near, or all that fit.
    pub fn find(&self, reference: &str) -> Result<Arc<CatalogEntry>, Unresolved> {
        if let Some(&at) = self.by_model_name.get(reference) {
            return Ok(Arc::clone(&self.entries[at]));
        }
        let exact = self.entries.iter().find(|entry| reference_of(entry) == reference);
        if let Some(entry) = exact {
            return Ok(Arc::clone(entry));
        }
        match self.only_one(|entry| entry.tool.name == reference) {
            Ok(entry) => Ok(entry),
            Err(several) if several.is_empty() => {
                let by_reference = self.entries.iter().map(|entry| reference_of(entry)).collect::<Vec<_>>();
                let names = if reference.contains('/') {
                    nearest(reference, by_reference.iter().map(String::as_str))
                        .into_iter()
                        .map(str::to_owned)
                        .collect()
                } else {
                    self.nearest_entries(reference).iter().map(|entry| reference_of(entry)).collect()
                };
                Err(Unresolved::Unknown(names))
            }
            Err(several) => {
                Err(Unresolved::Ambiguous(several.iter().map(|entry| reference_of(entry)).collect()))
            }
        }
    }

    fn only_one(
        &self,
        fits: impl Fn(&CatalogEntry) -> bool,
    ) -> Result<Arc<CatalogEntry>, Vec<Arc<CatalogEntry>>> {
        let mut fitting: Vec<_> = self.entries.iter().filter(|entry| fits(entry)).cloned().collect();
        match fitting.len() {
            1 => Ok(fitting.remove(0)),
            _ => Err(fitting),
        }
    }

    /// The tools whose own names come near; all of them, capped, where none does.
    fn nearest_entries(&self, name: &str) -> Vec<Arc<CatalogEntry>> {
        let near = nearest(name, self.entries.iter().map(|entry| entry.tool.name.as_str()));
        self.entries
            .iter()
            .filter(|entry| near.contains(&entry.tool.name.as_str()))
            .take(SUGGESTIONS)
            .cloned()
            .collect()
    }

    fn suggest(&self, name: &str) -> Vec<String> {
        let near = self.nearest_entries(name);
        let shown = if near.is_empty() { &self.entries } else { &near };
        shown.iter().take(SUGGESTIONS).map(|entry| entry.model_name.clone()).collect()
    }
}

/// `SERVER/TOOL`, as people write it.
pub fn reference_of(entry: &CatalogEntry) -> String {
    format!("{}/{}", entry.server, entry.tool.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use surehand_model::RawJson;

    fn tool(name: &str) -> Tool {
        Tool::new(name, "", RawJson::parse(r#"{"type":"object"}"#).unwrap())
    }

    fn catalog() -> Catalog {
        let web = [tool("search"), tool("list_issues")];
        let files = [tool("search"), tool("read")];
        let odd = [tool("b__c")];
        let lists = [("web", &web[..]), ("files", &files[..]), ("a", &odd[..]), ("a__b", &[tool("c")][..])];
        Catalog::build(lists).0
    }

    fn resolved(name: &str) -> Result<String, Unresolved> {
        catalog().resolve(name).map(|entry| reference_of(&entry))
    }

    #[test]
    fn names_that_would_collide_are_kept_apart_by_the_table() {
        assert_eq!(resolved("mcp__a__b__c"), Ok("a/b__c".into()));
        assert_eq!(resolved("mcp__a__b__c_2"), Ok("a__b/c".into()));
    }

    #[test]
    fn a_bare_name_leads_to_the_only_tool_of_that_name() {
        assert_eq!(resolved("read"), Ok("files/read".into()));
        assert_eq!(resolved("functions.read"), Ok("files/read".into()));
        assert_eq!(resolved("functions.mcp__web__search"), Ok("web/search".into()));
    }

    #[test]
    fn what_is_not_there_is_suggested_and_never_guessed() {
        assert_eq!(resolved("listIssues"), Err(Unresolved::Unknown(vec!["mcp__web__list_issues".into()])));
        let both = vec!["mcp__web__search".to_owned(), "mcp__files__search".to_owned()];
        assert_eq!(resolved("search"), Err(Unresolved::Unknown(both)));
        let Err(Unresolved::Unknown(all)) = resolved("") else { panic!("an empty name is no tool") };
        assert_eq!(all.len(), 5);
    }

    #[test]
    fn a_tool_whose_schema_cannot_be_used_is_left_out_alone() {
        let broken = Tool::new(
            "broken",
            "",
            RawJson::parse(r#"{"$schema":"https://example.com/unknown","type":"object"}"#).unwrap(),
        );
        let (catalog, notes) = Catalog::build([("s", &[broken, tool("fine")][..])]);
        assert_eq!(catalog.entries().iter().map(|entry| reference_of(entry)).collect::<Vec<_>>(), ["s/fine"]);
        assert_eq!(notes.len(), 1);
    }
}
