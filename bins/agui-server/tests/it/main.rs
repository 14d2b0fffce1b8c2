//! The server as its users meet it: the real binary, real sockets, a kernel that does as it is told.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod admission;
mod answers;
mod cancel;
mod disconnect;
mod errors;
mod expiry;
mod faults;
mod generic;
mod goldens;
mod guidance;
mod images;
mod interrupt_list;
#[cfg(target_os = "linux")]
mod load;
mod lost_replies;
mod parked;
mod process;
mod reattach;
mod replicas;
mod restart;
mod resume;
mod security;
mod stack;
mod surface;
mod turns;
mod upstream;
