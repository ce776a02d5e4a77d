//! The bundled files server.
