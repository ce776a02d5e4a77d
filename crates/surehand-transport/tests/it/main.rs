#![allow(missing_docs)]
#![allow(clippy::unwrap_used, reason = "a helper of tests may fail a test")]

mod authorize;
mod caching;
mod child;
mod echo;
mod elicitation;
mod endpoint;
mod event_streams;
mod fake;
mod features;
mod fixture;
mod gate;
mod http_client;
mod in_process;
mod inputs;
mod listener;
mod oldest;
mod pass_through;
mod peers;
mod progress;
mod round_trip;
mod scripted;
mod skills;
mod streams;
mod subscriptions;
mod talk;
mod talking_streams;
mod task_ends;
mod task_lives;
mod tasks;
mod wire;
