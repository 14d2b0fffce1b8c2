//! The project's own checks and tools.
fn main() {}
