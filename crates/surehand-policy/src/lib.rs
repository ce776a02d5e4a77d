//! Rules and decisions over calls. Pure.
