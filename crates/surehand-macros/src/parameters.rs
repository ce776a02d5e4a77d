use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, FnArg, Result, ReturnType, Signature, Type};

/// Types that can never be an object, so that the author hears it at once.
const NOT_OBJECTS: [&str; 21] = [
    "String", "str", "bool", "char", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64",
    "i128", "isize", "f32", "f64", "Vec", "Option", "PathBuf",
];

/// How a tool's function is called.
pub(crate) struct Parameters {
    /// `&self` comes first.
    pub(crate) takes_self: bool,
    /// The type of the arguments, if it takes any.
    pub(crate) arguments: Option<Type>,
    /// It takes the way back to its client, behind the arguments or alone. The type as written.
    pub(crate) context: Option<Type>,
    /// What it returns; `()` where it says nothing.
    pub(crate) returns: TokenStream,
    /// It has to be awaited.
    pub(crate) is_async: bool,
}

impl Parameters {
    pub(crate) fn of(signature: &Signature) -> Result<Self> {
        if !signature.generics.params.is_empty() {
            return Err(Error::new(
                signature.generics.span(),
                "a tool has one schema, so it cannot be generic",
            ));
        }
        let mut inputs = signature.inputs.iter().peekable();
        let mut takes_self = false;
        if let Some(FnArg::Receiver(receiver)) = inputs.peek() {
            // Exactly `&self`: calls run side by side and share the value.
            if receiver.to_token_stream().to_string().replace(' ', "") != "&self" {
                return Err(Error::new(receiver.span(), "calls run side by side, so a tool takes `&self`"));
            }
            takes_self = true;
            inputs.next();
        }
        let mut typed: Vec<&Type> = inputs
            .filter_map(|input| match input {
                FnArg::Typed(typed) => Some(&*typed.ty),
                FnArg::Receiver(_) => None,
            })
            .collect();
        let context = typed.last().copied().filter(|kind| is_context(kind)).cloned();
        if context.is_some() {
            typed.pop();
        }
        let arguments = typed.first().map(|kind| object_type(kind)).transpose()?;
        if let Some(second) = typed.get(1) {
            return Err(Error::new(
                second.span(),
                "a tool takes one argument: put all of them into one struct with `Deserialize` and `JsonSchema`, where each \
                 field's doc comment tells the model what to write there; behind it, a `RequestContext`",
            ));
        }
        let returns = match &signature.output {
            ReturnType::Type(_, returns) => returns.to_token_stream(),
            ReturnType::Default => {
                return Err(Error::new(
                    signature.ident.span(),
                    "a tool returns something: a model waits for an answer, if only a `String` that says it is done",
                ));
            }
        };
        Ok(Self { takes_self, arguments, context, returns, is_async: signature.asyncness.is_some() })
    }

    /// `ToolEntry::with_context::<Arguments, ..>(facts, run)` around an expression that calls the function on `arguments` and
    /// `context`.
    pub(crate) fn entry(
        &self,
        facts: &TokenStream,
        prelude: &TokenStream,
        callee: &TokenStream,
    ) -> TokenStream {
        let kind = match &self.arguments {
            // Spanned, so that a missing derive is shown at the type and not at the attribute.
            Some(kind) => quote_spanned!(kind.span()=> #kind),
            None => quote!(::surehand_mcp::NoArguments),
        };
        let values = self.values();
        let wait = self.wait();
        let returns = &self.returns;
        quote! {
            ::surehand_mcp::ToolEntry::with_context::<#kind, _, _, #returns>(
                #facts,
                move |arguments: #kind, context: ::surehand_mcp::RequestContext| {
                    #prelude
                    async move {
                        let _ = (&arguments, &context);
                        #callee(#values) #wait
                    }
                },
            )
        }
    }

    /// The types it takes, without `self`.
    pub(crate) fn kinds(&self) -> TokenStream {
        let kinds = self.arguments.iter().chain(&self.context);
        quote!(#(#kinds),*)
    }

    /// What it is called with: `arguments`, `context`, both or neither.
    pub(crate) fn values(&self) -> TokenStream {
        match (&self.arguments, &self.context) {
            (Some(_), Some(_)) => quote!(arguments, context),
            (Some(_), None) => quote!(arguments),
            (None, Some(_)) => quote!(context),
            (None, None) => quote!(),
        }
    }

    /// `.await`, where there is something to await.
    pub(crate) fn wait(&self) -> TokenStream {
        if self.is_async { quote!(.await) } else { quote!() }
    }
}

/// By its last name: a macro sees no more of a type.
fn is_context(kind: &Type) -> bool {
    matches!(kind, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "RequestContext"))
}

fn object_type(kind: &Type) -> Result<Type> {
    let inner = match kind {
        Type::Reference(reference) => {
            return Err(Error::new(reference.span(), "the arguments belong to the call: take them by value"));
        }
        other => other,
    };
    if let Type::Path(path) = inner
        && let Some(last) = path.path.segments.last()
        && NOT_OBJECTS.iter().any(|name| last.ident == name)
    {
        return Err(Error::new(
            kind.span(),
            format!(
                "the arguments of a tool are a JSON object, and `{}` is none: put it into a struct with `Deserialize` and \
                 `JsonSchema`, under the name a model shall write",
                last.ident
            ),
        ));
    }
    Ok(kind.clone())
}
