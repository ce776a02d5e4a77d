use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Error, ImplItem, ImplItemFn, ItemImpl, Meta, Result};

use crate::facts::Options;
use crate::parameters::Parameters;

/// The block as it was without its `#[tool]` marks, and an implementation of `Tools` beside it.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    if !options.is_empty() {
        return Err(Error::new_spanned(
            options,
            "`#[tools]` takes no options: they belong to each `#[tool]`",
        ));
    }
    let mut block: ItemImpl = syn::parse2(item)?;
    if let Some(implemented) = &block.trait_ {
        let path = &implemented.1;
        return Err(Error::new_spanned(path, "`#[tools]` goes on an `impl` block of the type itself"));
    }

    let (mut entries, mut errors) = (Vec::new(), Vec::new());
    for item in &mut block.items {
        let ImplItem::Fn(method) = item else { continue };
        match take_mark(method).map(|options| entry(options?, method)) {
            None => {}
            Some(Ok(entry)) => entries.push(entry),
            Some(Err(error)) => errors.push(error.into_compile_error()),
        }
    }
    if entries.is_empty() && errors.is_empty() {
        return Err(Error::new_spanned(&block.self_ty, "no method here is marked `#[tool]`"));
    }

    let (generics, _, conditions) = block.generics.split_for_impl();
    let kind = &block.self_ty;
    Ok(quote! {
        #block

        impl #generics ::surehand_mcp::Tools for #kind #conditions {
            fn into_entries(self: ::std::sync::Arc<Self>) -> ::std::vec::Vec<::surehand_mcp::ToolEntry> {
                #[allow(unused_mut, reason = "every tool may be configured out")]
                let mut entries = ::std::vec::Vec::new();
                #(#entries)*
                entries
            }
        }

        #(#errors)*
    })
}

/// Takes the `#[tool]` off a method and reads its options. `None` where there is none.
fn take_mark(method: &mut ImplItemFn) -> Option<Result<Options>> {
    let is_mark =
        |attribute: &Attribute| attribute.path().segments.last().is_some_and(|last| last.ident == "tool");
    let at = method.attrs.iter().position(is_mark)?;
    let mark = method.attrs.remove(at);
    Some(match mark.meta {
        Meta::List(list) => Options::parse(list.tokens),
        Meta::Path(_) => Options::parse(TokenStream::new()),
        Meta::NameValue(pair) => Err(Error::new_spanned(pair, "write `#[tool(effect = \"reads\")]`")),
    })
}

/// The statement that adds one method to `entries`.
fn entry(options: Options, method: &ImplItemFn) -> Result<TokenStream> {
    let name = &method.sig.ident;
    let parameters = Parameters::of(&method.sig)?;
    let facts = options.to_facts(name, &method.attrs)?;
    let entry = if parameters.takes_self {
        let prelude = quote!(let this = ::std::sync::Arc::clone(&this););
        let entry = parameters.entry(&facts, &prelude, &quote!(this.#name));
        quote!({ let this = ::std::sync::Arc::clone(&self); #entry })
    } else {
        parameters.entry(&facts, &quote!(), &quote!(Self::#name))
    };
    let conditions = method.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    Ok(quote!(#(#conditions)* entries.extend([#entry]);))
}
