//! Who runs a thread.

use std::any::Any;
use std::fmt;

/// A thread that is taken for a run; free again when this is dropped, or when its process ends.
///
/// Example: see [`ThreadStore::claim`](crate::ThreadStore::claim).
pub struct Claim(#[expect(dead_code, reason = "held until it is dropped")] Box<dyn Any + Send + Sync>);

impl Claim {
    /// A claim that ends with `held`, whatever that is to the store.
    #[must_use]
    pub fn new(held: impl Any + Send + Sync) -> Self {
        Self(Box::new(held))
    }
}

impl fmt::Debug for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Claim(..)")
    }
}
