//! A terminal client for AG-UI agents.

fn main() {}
