//! Integration tests of the host, one file a subject.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod audit;
mod calls;
mod changing_tools;
mod config_edit;
mod config_load;
mod elicitation;
mod fixture;
mod limits;
mod restart;
mod told;
