use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::meta::ParseNestedMeta;
use syn::parse::Parser;
use syn::{Attribute, Error, LitBool, LitStr, Result, Token};

use crate::docs::doc_text;

/// The words for effects, and the variants of `surehand_mcp::Effect` that they stand for.
const EFFECTS: [(&str, &str); 5] = [
    ("pure", "Pure"),
    ("reads", "Read"),
    ("writes", "Write"),
    ("irreversible", "Irreversible"),
    ("egress", "Egress"),
];

/// The words for whether calls may become tasks, and the variants of `surehand_mcp::TaskSupport` that they stand for.
const TASKS: [(&str, &str); 3] =
    [("forbidden", "Forbidden"), ("optional", "Optional"), ("required", "Required")];

/// The options of one `#[tool]`.
#[derive(Default)]
pub(crate) struct Options {
    name: Option<LitStr>,
    title: Option<LitStr>,
    description: Option<LitStr>,
    effect: Option<LitStr>,
    open_world: Option<bool>,
    idempotent: Option<bool>,
    task: Option<LitStr>,
}

impl Options {
    pub(crate) fn parse(tokens: TokenStream) -> Result<Self> {
        let mut options = Self::default();
        syn::meta::parser(|meta| options.read(&meta)).parse2(tokens)?;
        Ok(options)
    }

    fn read(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let name = meta.path.get_ident().map(Ident::to_string).unwrap_or_default();
        match name.as_str() {
            "name" => self.name = Some(tool_name(meta.value()?.parse()?)?),
            "title" => self.title = Some(meta.value()?.parse()?),
            "description" => self.description = Some(meta.value()?.parse()?),
            "effect" => self.effect = Some(known("effect", &EFFECTS, meta.value()?.parse()?)?),
            "open_world" => self.open_world = Some(flag(meta)?),
            "idempotent" => self.idempotent = Some(flag(meta)?),
            "task" => self.task = Some(known("task", &TASKS, meta.value()?.parse()?)?),
            _ => {
                return Err(meta.error(
                    "unknown option: `#[tool]` takes name, title, description, effect, open_world, idempotent and task",
                ));
            }
        }
        Ok(())
    }

    /// The expression of a `surehand_mcp::ToolFacts`.
    pub(crate) fn to_facts(&self, function: &Ident, attributes: &[Attribute]) -> Result<TokenStream> {
        let name = self.name.as_ref().map_or_else(|| function.to_string().replace("r#", ""), LitStr::value);
        let description = self.description.as_ref().map_or_else(|| doc_text(attributes), LitStr::value);
        if description.is_empty() {
            return Err(Error::new(
                function.span(),
                format!(
                    "the tool `{name}` needs a doc comment: it is what a model reads to decide when to call it"
                ),
            ));
        }
        let title = option(self.title.as_ref().map(|title| quote!(::std::string::String::from(#title))));
        let effect = variant(&EFFECTS, self.effect.as_ref());
        let effect = option(effect.map(|variant| quote!(::surehand_mcp::Effect::#variant)));
        let task = variant(&TASKS, self.task.as_ref());
        let task = task.unwrap_or_else(|| Ident::new("Forbidden", function.span()));
        let open_world = option(self.open_world.map(|truth| quote!(#truth)));
        let idempotent = option(self.idempotent.map(|truth| quote!(#truth)));
        Ok(quote! {
            ::surehand_mcp::ToolFacts {
                name: ::std::string::String::from(#name),
                title: #title,
                description: ::std::string::String::from(#description),
                effect: #effect,
                open_world: #open_world,
                idempotent: #idempotent,
                task: ::surehand_mcp::TaskSupport::#task,
            }
        })
    }
}

/// `open_world` alone, or `open_world = true`.
fn flag(meta: &ParseNestedMeta<'_>) -> Result<bool> {
    if meta.input.peek(Token![=]) { Ok(meta.value()?.parse::<LitBool>()?.value) } else { Ok(true) }
}

fn known(option: &str, words: &[(&str, &str)], word: LitStr) -> Result<LitStr> {
    if words.iter().any(|(known, _)| *known == word.value()) {
        return Ok(word);
    }
    let known: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
    Err(Error::new(word.span(), format!("unknown {option}: one of {}", known.join(", "))))
}

/// The variant that a word stands for.
fn variant(words: &[(&str, &str)], word: Option<&LitStr>) -> Option<Ident> {
    let word = word?;
    let (_, variant) = words.iter().find(|(known, _)| *known == word.value())?;
    Some(Ident::new(variant, word.span()))
}

/// Source: MCP specification, tool names: 1 to 128 of `A-Z a-z 0-9 _ - .`.
fn tool_name(name: LitStr) -> Result<LitStr> {
    let text = name.value();
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if (1..=128).contains(&text.len()) && text.chars().all(fits) {
        return Ok(name);
    }
    Err(Error::new(name.span(), "a tool's name is 1 to 128 letters, digits, `_`, `-` and `.`"))
}

fn option(value: Option<TokenStream>) -> TokenStream {
    match value {
        Some(value) => quote!(::std::option::Option::Some(#value)),
        None => quote!(::std::option::Option::None),
    }
}
