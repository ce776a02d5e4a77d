//! Source: MCP 2025-11-25, `Icon`.

use surehand_model::RawJson;

use crate::members::{Members, string_of};

/// A picture for people. Nothing about it has been checked, and nothing has been fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Icon {
    /// An `https` or `data` address, as the server wrote it.
    pub src: String,
    /// What it holds, where the server says.
    pub mime_type: Option<String>,
    /// For example `48x48` or `any`; empty where the server does not say.
    pub sizes: Vec<String>,
    /// `light` or `dark`, for which background it is made.
    pub theme: Option<String>,
}

/// The icons of a tool, a resource, a template, a prompt or an implementation, from the whole of it as it came. One without an
/// address is left out.
pub fn read_icons(raw: &RawJson) -> Vec<Icon> {
    let icons = Members::parse(raw.as_str()).and_then(|members| members.array("icons"));
    let read = |raw| {
        let icon = Members::of(raw)?;
        let sizes = icon.array("sizes").unwrap_or_default();
        Some(Icon {
            src: icon.string("src")?,
            mime_type: icon.string("mimeType"),
            sizes: sizes.into_iter().filter_map(string_of).collect(),
            theme: icon.string("theme"),
        })
    };
    icons.unwrap_or_default().into_iter().filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_icon_without_an_address_costs_only_itself() {
        let raw = r#"{"name":"t","icons":[{"src":"https://a.test/i.png","mimeType":"image/png","sizes":["48x48",7],"theme":"dark"},{"sizes":[]},7,{"src":"data:,"}]}"#;
        let icon = |src: &str| Icon { src: src.to_owned(), mime_type: None, sizes: vec![], theme: None };
        let first = Icon {
            mime_type: Some("image/png".to_owned()),
            sizes: vec!["48x48".to_owned()],
            theme: Some("dark".to_owned()),
            ..icon("https://a.test/i.png")
        };
        assert_eq!(read_icons(&RawJson::parse(raw).unwrap()), [first, icon("data:,")]);
        assert_eq!(read_icons(&RawJson::parse("{}").unwrap()), []);
    }
}
