use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Attribute, Error, ItemFn, Result};

use crate::facts::Options;
use crate::parameters::Parameters;

/// A unit value in place of the function: it is what `Toolset::with` takes, and through `Deref` it is still called like one.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let options = Options::parse(options)?;
    let function: ItemFn = syn::parse2(item)?;
    let parameters = Parameters::of(&function.sig)?;
    if parameters.takes_self {
        return Err(Error::new(
            function.sig.ident.span(),
            "a method becomes a tool through `#[tools]` on its `impl` block; without it `#[tool]` sees the method alone",
        ));
    }

    let (name, visibility) = (&function.sig.ident, &function.vis);
    let facts = options.to_facts(name, &function.attrs)?;
    let entry = parameters.entry(&facts, &quote!(), &quote!(#name));
    let returns = &parameters.returns;
    let wait = parameters.wait();
    let (kinds, values) = (parameters.kinds(), parameters.values());

    let docs = function.attrs.iter().filter(|attribute| attribute.path().is_ident("doc"));
    let conditions: Vec<&Attribute> =
        function.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg")).collect();
    let mut inner = function.clone();
    inner.attrs.retain(|attribute| !attribute.path().is_ident("doc") && !attribute.path().is_ident("cfg"));
    inner.vis = syn::Visibility::Inherited;
    let call = format_ident!("Call");

    Ok(quote! {
        #(#docs)*
        #(#conditions)*
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug)]
        #visibility struct #name;

        #(#conditions)*
        const _: () = {
            #inner

            type #call = fn(#kinds) -> ::surehand_mcp::BoxFuture<'static, #returns>;

            impl ::surehand_mcp::Tools for #name {
                fn into_entries(self: ::std::sync::Arc<Self>) -> ::std::vec::Vec<::surehand_mcp::ToolEntry> {
                    ::std::vec![#entry]
                }
            }

            impl ::std::ops::Deref for #name {
                type Target = #call;

                fn deref(&self) -> &#call {
                    const CALL: #call = |#values| ::std::boxed::Box::pin(async move { #name(#values) #wait });
                    &CALL
                }
            }
        };
    })
}
