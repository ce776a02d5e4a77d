use std::collections::HashSet;

use surehand_model::{Note, Tool};

use crate::method::ListParams;
use crate::types::Page;
use crate::types::prompts::Prompt;
use crate::types::resources::{Resource, ResourceTemplate};

/// Everything that a list method gave, over all pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing<T> {
    /// In the server's order, each key once.
    pub items: Vec<T>,
    /// What was left out or repaired, and why.
    pub notes: Vec<Note>,
}

/// Something that stands in a list under a key of its own.
pub trait Listed {
    /// Unique within one server.
    fn key(&self) -> &str;
}

impl Listed for Tool {
    fn key(&self) -> &str {
        &self.name
    }
}

impl Listed for Resource {
    fn key(&self) -> &str {
        &self.uri
    }
}

impl Listed for ResourceTemplate {
    fn key(&self) -> &str {
        &self.uri_template
    }
}

impl Listed for Prompt {
    fn key(&self) -> &str {
        &self.name
    }
}

/// Collects pages, and stops where a server would go round in circles.
#[derive(Debug)]
pub struct Paging<T> {
    method: &'static str,
    items: Vec<T>,
    keys: HashSet<String>,
    notes: Vec<Note>,
    cursors: HashSet<String>,
}

/// How many pages are read at most.
const PAGE_LIMIT: usize = 1_000;

impl<T: Listed> Paging<T> {
    /// For the pages of one list method.
    pub fn new(method: &'static str) -> Self {
        Self { method, items: Vec::new(), keys: HashSet::new(), notes: Vec::new(), cursors: HashSet::new() }
    }

    /// Takes a page in. Gives the parameters of the next one; none when this was the last, when its cursor has been followed
    /// before, or after 1,000 pages. A key that was there already is left out.
    pub fn take(&mut self, page: Page<T>) -> Option<ListParams> {
        self.notes.extend(page.notes);
        for item in page.items {
            if self.keys.insert(item.key().to_owned()) {
                self.items.push(item);
            } else {
                let what = format!("second `{}` left out", item.key());
                self.notes.push(Note::new(self.method, what, "it stands in the list already"));
            }
        }
        let cursor = page.next_cursor?;
        if !self.cursors.insert(cursor.clone()) {
            self.stop("the server gave the same cursor twice");
            return None;
        }
        if self.cursors.len() >= PAGE_LIMIT {
            self.stop("that many pages have been read, and the server still has more");
            return None;
        }
        Some(ListParams { cursor: Some(cursor) })
    }

    fn stop(&mut self, why: &str) {
        let what = format!("stopped after page {}", self.cursors.len().max(1));
        self.notes.push(Note::new(self.method, what, why));
    }

    /// Everything collected.
    pub fn finish(self) -> Listing<T> {
        Listing { items: self.items, notes: self.notes }
    }
}

#[cfg(test)]
mod tests {
    use surehand_model::RawJson;

    use super::*;

    fn page(names: &[&str], next: Option<&str>) -> Page<Tool> {
        Page {
            items: names.iter().map(|name| Tool::new(*name, "", RawJson::empty_object())).collect(),
            next_cursor: next.map(str::to_owned),
            notes: Vec::new(),
        }
    }

    #[test]
    fn an_empty_cursor_is_followed_and_a_missing_one_is_the_end() {
        let mut paging = Paging::new("tools/list");
        assert_eq!(paging.take(page(&["a"], Some(""))), Some(ListParams { cursor: Some(String::new()) }));
        assert_eq!(paging.take(page(&["b"], None)), None);
        let listing = paging.finish();
        assert_eq!(listing.items.iter().map(Listed::key).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(listing.notes, []);
    }

    #[test]
    fn a_server_that_ignores_cursors_ends_and_gives_each_item_once() {
        let mut paging = Paging::new("tools/list");
        assert!(paging.take(page(&["a"], Some("x"))).is_some());
        assert_eq!(paging.take(page(&["a"], Some("x"))), None);
        let listing = paging.finish();
        assert_eq!(listing.items.len(), 1);
        assert_eq!(
            listing.notes,
            [
                Note::new("tools/list", "second `a` left out", "it stands in the list already"),
                Note::new("tools/list", "stopped after page 1", "the server gave the same cursor twice"),
            ]
        );
    }

    #[test]
    fn endless_fresh_cursors_end_too() {
        let mut paging = Paging::new("tools/list");
        let mut pages = 0;
        loop {
            pages += 1;
            if paging.take(page(&[], Some(&pages.to_string()))).is_none() {
                break;
            }
        }
        assert_eq!(pages, PAGE_LIMIT);
    }
}
