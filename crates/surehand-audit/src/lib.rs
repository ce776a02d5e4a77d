//! The record of what ran and who allowed it.
