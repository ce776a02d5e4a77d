use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The text of a doc comment, line by line, without the one space that stands before each.
pub(crate) fn doc_text(attributes: &[Attribute]) -> String {
    let lines: Vec<String> = attributes.iter().filter_map(doc_line).collect();
    lines.join("\n").trim().to_owned()
}

fn doc_line(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else { return None };
    if !pair.path.is_ident("doc") {
        return None;
    }
    let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &pair.value else { return None };
    let text = text.value();
    Some(text.strip_prefix(' ').unwrap_or(&text).trim_end().to_owned())
}
