//! The `ownerlint` command.

fn main() {}
