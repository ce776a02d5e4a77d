//! The #[tool] attribute.
