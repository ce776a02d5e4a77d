//! The embedded model: fetch, load, constrained decoding, kept prefixes.
