//! AG-UI in front of an A2A kernel.
fn main() {}
