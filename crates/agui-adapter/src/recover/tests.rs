use std::sync::Arc;
use std::time::Duration;

use a2a_client::{Client, ClientConfig};
use agui_core::{JsonObject, UnixMillis};
use agui_store::{Execution, FileStore, MemoryStore, PendingInterrupt, ThreadRecord, ThreadStore, Version};
use agui_testkit::faulty::{FaultyServer, Script, Step, refusing_url};
use tokio::time::timeout;

use super::*;
use crate::config::AdapterConfig;
use crate::kernel::Kernel;
use crate::pending;

const PAST: UnixMillis = UnixMillis::new(1);
const FUTURE: UnixMillis = UnixMillis::new(4_102_444_800_000);

async fn park(store: &dyn ThreadStore, thread: &str, deadline: Option<UnixMillis>) {
    let mut record = ThreadRecord::new(thread.into(), "/ws", Execution::new("e".into(), "inv".into()));
    record.execution.task_id = Some(format!("task-{thread}").as_str().into());
    let value = JsonObject::from_string(r#"{"inputId":"i"}"#.to_owned()).unwrap();
    let mut interrupt = PendingInterrupt::new(value);
    interrupt.expires_at = deadline;
    record.execution.pending.insert("i".into(), interrupt);
    store.save(&mut record, Version::ABSENT).await.unwrap();
}

fn adapter(store: Arc<dyn ThreadStore>, kernel: &str) -> Adapter {
    let client = Client::new(ClientConfig::new(kernel)).unwrap();
    Adapter::new(AdapterConfig::new([]), store, Kernel::fixed(client))
}

/// Waits until that many threads have a timer.
async fn waiting(adapter: &Adapter, count: usize) {
    let until = async {
        while adapter.shared.expiry.waiting() != count {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(20), until).await.unwrap();
}

async fn record(store: &dyn ThreadStore, thread: &str) -> ThreadRecord {
    store.load(&thread.into()).await.unwrap().unwrap().record
}

#[tokio::test]
async fn s11_5_after_a_restart_overdue_interrupts_expire_and_the_others_wait_on() {
    let kernel = FaultyServer::start(Script::new().with_cancel()).await.unwrap();
    let store: Arc<dyn ThreadStore> = Arc::new(MemoryStore::new());
    for number in 0..150 {
        park(&*store, &format!("late{number}"), Some(PAST)).await;
    }
    park(&*store, "waits", Some(FUTURE)).await;
    park(&*store, "foreign", None).await;
    let adapter = adapter(Arc::clone(&store), &kernel.url());

    assert_eq!(adapter.recover().await, 151);
    waiting(&adapter, 1).await;

    for number in 0..150 {
        let record = record(&*store, &format!("late{number}")).await;
        assert!(record.execution.pending.is_empty() && record.execution.task_id.is_none());
        assert!(record.is_terminal(&"e".into()));
        let digest = record.applied_answer(&"i".into()).unwrap();
        assert!(pending::has_lapsed(digest), "a late answer is told why");
    }
    for thread in ["waits", "foreign"] {
        assert_eq!(record(&*store, thread).await.execution.pending.len(), 1, "{thread}");
    }
    assert_eq!(kernel.requests().count("CancelTask"), 150);
    assert_eq!(adapter.threads_in_use(), 0);
}

#[tokio::test]
async fn s11_5_a_kernel_that_is_away_does_not_keep_an_interrupt_alive() {
    let store: Arc<dyn ThreadStore> = Arc::new(MemoryStore::new());
    park(&*store, "t", Some(PAST)).await;
    let adapter = adapter(Arc::clone(&store), &refusing_url().await.unwrap());
    adapter.recover().await;
    waiting(&adapter, 0).await;
    let record = record(&*store, "t").await;
    assert!(record.execution.pending.is_empty());
    assert_eq!(record.execution.task_id, Some("task-t".into()), "the next run cancels it");
}

#[tokio::test]
async fn a_thread_that_is_in_use_already_gets_no_timer() {
    let store: Arc<dyn ThreadStore> = Arc::new(MemoryStore::new());
    park(&*store, "t", Some(PAST)).await;
    let adapter = adapter(Arc::clone(&store), "http://127.0.0.1:9/");
    let slot = adapter.shared.threads.slot(&"t".into());
    let active = Arc::new(crate::active::Active::new("e".into(), "inv".into()));
    let run = slot.open().await.unwrap().activate(active);
    assert_eq!(adapter.recover().await, 0);
    drop(run);
    assert_eq!(record(&*store, "t").await.execution.pending.len(), 1);
}

#[tokio::test]
async fn s11_3_start_up_reads_no_thread_that_does_not_wait() {
    let dir = tempfile::tempdir().unwrap();
    let store: Arc<dyn ThreadStore> = Arc::new(FileStore::open(dir.path()).unwrap());
    park(&*store, "t", Some(FUTURE)).await;
    // Nobody could read this one.
    std::fs::create_dir(dir.path().join("threads/other.json")).unwrap();
    let adapter = adapter(Arc::new(FileStore::open(dir.path()).unwrap()), "http://127.0.0.1:9/");
    assert_eq!(adapter.recover().await, 1);
    assert!(!adapter.is_idle());
    adapter.shutdown().await;
}

#[tokio::test]
async fn a_shutdown_in_the_middle_of_many_expiries_does_not_wait_for_them_all() {
    // A kernel that takes every call and answers none.
    let script = Script::new().always("CancelTask", [Step::Stall]);
    let kernel = FaultyServer::start(script).await.unwrap();
    let store: Arc<dyn ThreadStore> = Arc::new(MemoryStore::new());
    for number in 0..100 {
        park(&*store, &format!("t{number}"), Some(PAST)).await;
    }
    let client = Client::new(ClientConfig::new(kernel.url())).unwrap();
    let config = AdapterConfig::new([]).with_cancel_timeout(Duration::from_secs(1));
    let adapter = Adapter::new(config, Arc::clone(&store), Kernel::fixed(client));
    adapter.recover().await;
    adapter.shutdown().await;
    // Those that had begun, and perhaps those after them.
    let told = kernel.requests().count("CancelTask");
    assert!(told <= 16, "{told}");
    let parked = store.parked(None, NonZeroUsize::MAX).await.unwrap().threads.len();
    assert!(parked >= 100 - 16, "{parked}");
}
