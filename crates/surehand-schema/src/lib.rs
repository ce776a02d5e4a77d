//! JSON Schema: validate, explain a violation, repair what the schema proves.
