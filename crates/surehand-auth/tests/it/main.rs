//! Tests through real sockets.
