//! The iacCode extension of AG-UI and A2A: forwarded properties, metadata, custom events, error codes.
