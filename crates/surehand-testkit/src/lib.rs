//! Scripted models, fake servers and helpers for integration tests.
