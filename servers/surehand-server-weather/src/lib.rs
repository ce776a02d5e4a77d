//! The bundled weather server.
