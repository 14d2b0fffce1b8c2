//! Server-sent events on bytes: an encoder and a bounded decoder.
