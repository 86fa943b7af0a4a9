//! The `losscause` command.

fn main() {}
