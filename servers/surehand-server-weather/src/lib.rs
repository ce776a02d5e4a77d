//! The bundled weather server: current weather and a forecast for a city, from Open-Meteo, which needs no key.
//!
//! The one decision that shapes it: **the answer says which place it is about.** City names are many to one; the largest is
//! taken, and the others are named beside it, so that a model can ask again.

mod cache;
mod condition;
mod forecast;
mod place;
mod server;
mod service;

pub use server::{Options, cards, server};
