//! The bundled time server: what time it is somewhere, and what a time there is elsewhere.
//!
//! The one decision that shapes it: **a place is enough.** Models write cities and countries in any language where the protocol's
//! own example server wants an IANA name, so both are understood, and what is not is answered with the nearest names.
//! The time zone rules are built in; the system's are not asked.

mod places;
mod server;
mod time_of_day;
mod zone;

pub use server::{Clock, Options, cards, server};
