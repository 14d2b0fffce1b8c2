//! What every store must do, as tests; feature `contract`.
//!
//! [`thread_store_contract_tests!`](crate::thread_store_contract_tests) makes a test of each function.

#![expect(clippy::unwrap_used, reason = "these functions are bodies of tests")]

mod history;
mod parked;
mod records;
mod writers;

use agui_core::JsonObject;

use crate::{Execution, ThreadRecord, ThreadStore, Version};

pub use history::{
    answers_are_known_for_ever_and_belong_to_an_execution, ended_executions_are_known_for_ever,
    run_ids_are_known_for_ever,
};
pub use parked::{parked_threads_are_listed_once_over_all_pages, the_index_follows_what_is_saved};
pub use records::{
    a_record_is_loaded_as_it_was_saved, a_record_that_could_not_be_loaded_is_refused,
    a_saved_record_equals_the_loaded_one, a_thread_that_was_never_saved_is_none,
    an_empty_thread_id_is_refused, threads_do_not_mix, unsafe_thread_ids_stay_distinct,
};
pub use writers::{
    a_stale_writer_is_refused_and_nothing_changes, a_thread_is_claimed_by_one_at_a_time,
    one_of_many_writers_wins,
};

/// Makes the tests that each store must pass, one `#[tokio::test]` a rule.
///
/// The argument is evaluated once a test and gives an empty store as `Arc<dyn ThreadStore>` and anything
/// that must live as long, such as a scratch directory. The calling crate needs tokio with `macros` and
/// `rt`.
///
/// ```
/// mod memory {
///     agui_store::thread_store_contract_tests!((std::sync::Arc::new(agui_store::MemoryStore::new()), ()));
/// }
/// ```
#[macro_export]
macro_rules! thread_store_contract_tests {
    ($make:expr) => {
        $crate::thread_store_contract_tests! {
            @tests $make;
            a_thread_that_was_never_saved_is_none
            a_record_is_loaded_as_it_was_saved
            a_saved_record_equals_the_loaded_one
            a_stale_writer_is_refused_and_nothing_changes
            one_of_many_writers_wins
            a_thread_is_claimed_by_one_at_a_time
            threads_do_not_mix
            unsafe_thread_ids_stay_distinct
            an_empty_thread_id_is_refused
            a_record_that_could_not_be_loaded_is_refused
            run_ids_are_known_for_ever
            ended_executions_are_known_for_ever
            answers_are_known_for_ever_and_belong_to_an_execution
            parked_threads_are_listed_once_over_all_pages
            the_index_follows_what_is_saved
        }
    };
    (@tests $make:expr; $($rule:ident)*) => {
        $(
            #[tokio::test]
            async fn $rule() {
                let (store, _guard) = $make;
                $crate::contract::$rule(store).await;
            }
        )*
    };
}

fn record(thread: &str) -> ThreadRecord {
    ThreadRecord::new(thread.into(), "/workspace", Execution::new("e0".into(), "inv-0".into()))
}

fn object(text: &str) -> JsonObject {
    JsonObject::from_string(text.to_owned()).unwrap()
}

async fn stored(store: &dyn ThreadStore, thread: &str) -> (ThreadRecord, Version) {
    let stored = store.load(&thread.into()).await.unwrap().unwrap();
    (stored.record, stored.version)
}
