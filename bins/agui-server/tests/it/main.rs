//! The server as its users meet it: the real binary, real sockets, a kernel that does as it is told.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod goldens;
mod interrupt_list;
mod parked;
mod reattach;
mod resume;
mod stack;
