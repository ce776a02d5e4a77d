//! Starts child processes under limits; the only place that does.
