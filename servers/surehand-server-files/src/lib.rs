//! The bundled files server, its reading side: text, folders, search, facts about files.
//!
//! The one decision that shapes it: **the operating system keeps the boundary.** Every access starts at an open handle of an
//! allowed directory, and the kernel resolves the path beneath it, so that neither `..` nor a symbolic link leads out. No
//! path is judged by its spelling.

mod info;
mod list;
mod read;
mod roots;
mod search;
mod server;

pub use server::{Limits, Options, cards, server};
