//! `#[tool]` makes a tool of a function, `#[tools]` makes tools of the methods of an `impl` block.
//!
//! The one decision that shapes this crate: **the macros only collect what the author has written** (name, doc comment, effect,
//! types) and hand it to `surehand_mcp::ToolEntry::with_context`. Everything that can be ordinary code is ordinary code there.

mod docs;
mod facts;
mod function;
mod methods;
mod parameters;

use proc_macro::TokenStream;
use quote::quote;

/// Makes a tool of a function.
///
/// The tool's name is the function's, its description the doc comment, its schema the argument's type. The function stays
/// callable, and its name is what `Toolset::with` takes.
///
/// ```text
/// #[derive(Deserialize, JsonSchema)]
/// struct GetWeather {
///     /// City name, for example "Beijing".
///     city: String,
/// }
///
/// /// Current weather for a city.
/// #[tool(effect = "reads", open_world)]
/// async fn get_weather(args: GetWeather) -> Result<String, ToolFailure> {
///     Ok(format!("It is sunny in {}.", args.city))
/// }
///
/// let server = Toolset::new("weather", "1.0").with(get_weather);
/// ```
///
/// The function is `async` or not, takes one argument (a type with `Deserialize` and `JsonSchema`) or none, behind it a
/// `RequestContext` where it wants the way back to its client (progress, log messages, questions), and returns anything
/// with `IntoToolOutput`: `String`, `Text`, `Structured<T>`, `ToolOutput`, an `Option`, or a `Result` with `ToolFailure`.
///
/// # Options
///
/// - `name = ".."`: another name than the function's.
/// - `title = ".."`: a name for people.
/// - `description = ".."`: instead of the doc comment.
/// - `effect = "pure" | "reads" | "writes" | "irreversible" | "egress"`: what running it can do. Unsaid, the worst is assumed.
/// - `open_world`: it reaches out to an open world, such as the web.
/// - `idempotent`: running it twice is the same as once.
/// - `task = "optional" | "required"`: its calls may become tasks, which `RequestContext::begin_task` makes of them.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    let item = proc_macro2::TokenStream::from(item);
    function::expand(options.into(), item.clone()).unwrap_or_else(|error| with_item(error, item)).into()
}

/// Makes tools of the methods marked `#[tool]` in an `impl` block. They share the value, by `&self`.
///
/// ```text
/// #[tools]
/// impl Notes {
///     /// Reads a note.
///     #[tool(effect = "reads")]
///     async fn read_note(&self, args: ReadNote) -> Result<Text, ToolFailure> { .. }
/// }
///
/// let server = Toolset::new("notes", "1.0").with(Notes::open(folder)?);
/// ```
///
/// The options of `#[tool]` are the same as on a function.
#[proc_macro_attribute]
pub fn tools(options: TokenStream, item: TokenStream) -> TokenStream {
    let item = proc_macro2::TokenStream::from(item);
    methods::expand(options.into(), item.clone())
        .unwrap_or_else(|error| {
            let error = error.into_compile_error();
            quote!(#error)
        })
        .into()
}

/// The error, and the item as it was: what else uses it then raises no second error.
fn with_item(error: syn::Error, item: proc_macro2::TokenStream) -> proc_macro2::TokenStream {
    let error = error.into_compile_error();
    quote!(#item #error)
}
