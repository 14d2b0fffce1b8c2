//! What the crate's users see, over arbitrary streams and chunk borders.

mod chunking;
