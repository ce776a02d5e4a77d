use thiserror::Error;

/// Why a schema cannot be used. Such a tool is left out alone; others are not touched by it.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SchemaFault {
    /// `$schema` names a dialect that is not known; guessing its rules would be wrong.
    #[error("`$schema` names an unknown dialect: {uri}")]
    UnknownDialect {
        /// As written.
        uri: String,
    },
    /// A `$ref` points outside the schema. Nothing is fetched for a schema.
    #[error("`$ref` leads outside the schema, and nothing is fetched for a schema: {reference}")]
    OutsideReference {
        /// As written.
        reference: String,
    },
    /// A `$ref` leads to nothing inside the schema.
    #[error("`$ref` leads nowhere: {reference}")]
    LostReference {
        /// As written.
        reference: String,
    },
    /// Nested too deep, too large, or made so that checking a small value would take for ever.
    #[error("the schema is too costly: {what}")]
    TooCostly {
        /// Which bound it passes.
        what: String,
    },
    /// It breaks the rules of its own dialect.
    #[error("the schema is not valid at `{path}`: {what}")]
    Invalid {
        /// JSON Pointer into the schema.
        path: String,
        /// What is wrong there.
        what: String,
    },
}
