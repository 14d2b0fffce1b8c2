//! Both stores keep the contract.

use std::sync::Arc;

use agui_store::{FileStore, MemoryStore};

mod memory {
    use super::*;
    agui_store::thread_store_contract_tests!((Arc::new(MemoryStore::new()), ()));
}

mod file {
    use super::*;
    agui_store::thread_store_contract_tests!({
        let directory = tempfile::tempdir().unwrap();
        (Arc::new(FileStore::open(directory.path()).unwrap()), directory)
    });
}
