//! The bundled time server.
