//! How many files and sockets this process may have open.

/// As many as are asked for: every stream needs two sockets and the lock of its thread. The limit is inherited by
/// the managed kernel, where a far larger one makes programs slow that walk over all descriptors before they start
/// another.
#[cfg(unix)]
const WANTED: u64 = 65_536;

/// Raises the soft limit as far as the hard one allows. Its default of 1024 is meant for programs that use
/// `select`, and a server that has reached it accepts nobody.
#[cfg(unix)]
pub fn raise_descriptor_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let now = getrlimit(Resource::Nofile);
    let wanted = now.maximum.map_or(WANTED, |maximum| maximum.min(WANTED));
    if now.current.is_none_or(|current| current >= wanted) {
        return;
    }
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: now.maximum }) {
        tracing::debug!(%error, "the limit of open files stays as it is");
    }
}

/// Other systems have no such limit.
#[cfg(not(unix))]
pub const fn raise_descriptor_limit() {}
