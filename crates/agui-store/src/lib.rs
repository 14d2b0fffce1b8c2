//! Where threads are kept: the store trait, a file store, a memory store.
