//! The command line of Surehand.

fn main() {}
