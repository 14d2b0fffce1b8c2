//! What waits for a person, over all threads.

use std::num::NonZeroUsize;

use agui_core::{Interrupt, InterruptId, Problem, ThreadId, UnixMillis};
use agui_i18n::Language;
use agui_iac_code::{ErrorNotice, MessageKey};
use agui_mapper::{OpenInputKind, Texts};
use agui_store::{ExecutionId, ParkedCursor, ParkedThread, StoreError};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;

use crate::adapter::Adapter;
use crate::notice::{problem, state_unavailable};
use crate::{answers, clock, pending};

/// Interrupts in a page unless the request says otherwise.
const DEFAULT_LIMIT: NonZeroUsize = NonZeroUsize::new(100).unwrap();
/// Most interrupts in a page.
///
/// Example: see [`WaitingRequest`].
pub const WAITING_MAX_LIMIT: usize = 1_000;
/// Threads that are looked at for one page, about; then the page ends, full or not. Some 100 ms of reading.
///
/// Example: see [`WaitingRequest`].
pub const WAITING_SCAN: usize = 2_048;
/// Threads that are read at a time.
const CHUNK: NonZeroUsize = NonZeroUsize::new(64).unwrap();

/// Which page of the list.
///
/// ```
/// use agui_adapter::{Adapter, WaitingRequest};
/// use agui_core::Problem;
/// use agui_i18n::Language;
///
/// async fn list(adapter: &Adapter) -> Result<(), Problem> {
///     let request = WaitingRequest::decode(Some("50"), None, Language::En)?;
///     for question in adapter.waiting(request, Language::En).await?.interrupts {
///         println!("{}: {}", question.thread_id, question.interrupt_id);
///     }
///     Ok(())
/// }
/// assert_eq!(WaitingRequest::decode(Some("0"), None, Language::En).unwrap_err().status, 400);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct WaitingRequest {
    /// Most interrupts in it.
    pub limit: NonZeroUsize,
    from: Place,
}

/// Between two interrupts of the list.
#[derive(Debug, Clone, Default, PartialEq)]
struct Place {
    /// Behind this thread …
    after: Option<ParkedCursor>,
    /// … and if the next one is this thread, behind this interrupt of it.
    within: Option<(ThreadId, InterruptId)>,
}

/// A page of the list.
///
/// Example: see [`WaitingRequest`].
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WaitingPage {
    /// What waits.
    pub interrupts: Vec<WaitingInterrupt>,
    /// Asks for the next page; absent at the end. A page may be empty and have a next one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Threads whose record could not be read; absent if there were none.
    #[serde(skip_serializing_if = "is_zero")]
    pub unreadable_threads: usize,
}

/// A question that waits for its answer.
///
/// Example: see [`WaitingRequest`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WaitingInterrupt {
    /// Its thread.
    pub thread_id: ThreadId,
    /// Its execution, the one that a client can cancel.
    pub execution_id: Box<str>,
    /// The id to answer to.
    pub interrupt_id: InterruptId,
    /// As in the interrupt that was announced.
    pub reason: String,
    /// The question, for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What sort of question it is.
    pub kind: &'static str,
    /// Seconds since it was announced, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_seconds: Option<u64>,
    /// When it is too late to answer, in RFC 3339; absent if nobody decided that yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl WaitingRequest {
    /// Reads the values of the parameters `limit` and `cursor`.
    ///
    /// # Errors
    ///
    /// 400 with a text in `language` if the limit is no number from 1 to [`WAITING_MAX_LIMIT`], or the cursor
    /// is none of [`WaitingPage::next_cursor`].
    pub fn decode(limit: Option<&str>, cursor: Option<&str>, language: Language) -> Result<Self, Problem> {
        let refuse =
            |name, kind| problem(language, &ErrorNotice::field(MessageKey::FieldProblem, name, kind));
        let limit = match limit {
            None => DEFAULT_LIMIT,
            Some(text) => {
                let limit: NonZeroUsize = text.parse().map_err(|_| refuse("limit", "out-of-range"))?;
                if limit.get() > WAITING_MAX_LIMIT {
                    return Err(refuse("limit", "out-of-range"));
                }
                limit
            }
        };
        let from = match cursor {
            None => Place::default(),
            Some(text) => Place::decode(text).ok_or_else(|| refuse("cursor", "out-of-range"))?,
        };
        Ok(Self { limit, from })
    }
}

impl Place {
    fn encode(&self) -> String {
        let after = self.after.as_ref().map(ParkedCursor::as_str);
        let within = self.within.as_ref().map(|(thread, interrupt)| (thread.as_str(), interrupt.as_str()));
        // A list of texts, which cannot fail.
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(&(after, within)).unwrap_or_default())
    }

    fn decode(text: &str) -> Option<Self> {
        type Texts = (Option<String>, Option<(String, String)>);
        let json = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (after, within): Texts = serde_json::from_slice(&json).ok()?;
        Some(Self {
            after: after.map(ParkedCursor::new),
            within: within.map(|(thread, interrupt)| (thread.into(), interrupt.into())),
        })
    }

    /// Whether an interrupt lies before this place.
    fn is_behind(&self, thread: &ThreadId, interrupt: &InterruptId) -> bool {
        self.within.as_ref().is_some_and(|(of, last)| of == thread && interrupt <= last)
    }
}

impl Adapter {
    /// Lists what waits for a person, a page at a time, in an order that does not change.
    ///
    /// Reads the records of all threads, so that what another program parked is there too.
    ///
    /// # Errors
    ///
    /// 503 if the threads cannot be listed.
    pub async fn waiting(&self, request: WaitingRequest, language: Language) -> Result<WaitingPage, Problem> {
        let page = self.waiting_page(request, &answers::texts(language)).await;
        page.map_err(|error| problem(language, &state_unavailable(&error)))
    }

    async fn waiting_page(&self, request: WaitingRequest, texts: &Texts) -> Result<WaitingPage, StoreError> {
        let store = self.shared.threads.store();
        let WaitingRequest { limit, from: mut place } = request;
        let mut page = WaitingPage::default();
        let mut scanned = 0;
        let now = clock::now();
        loop {
            let found = store.parked(place.after.as_ref(), CHUNK).await?;
            page.unreadable_threads += found.unreadable;
            for thread in found.threads {
                for (key, interrupt) in interrupts(&thread, texts, now) {
                    if place.is_behind(&thread.thread_id, &key) {
                        continue;
                    }
                    if page.interrupts.len() == limit.get() {
                        page.next_cursor = Some(place.encode());
                        return Ok(page);
                    }
                    page.interrupts.push(interrupt);
                    place.within = Some((thread.thread_id.clone(), key));
                }
                place = Place { after: Some(thread.cursor), within: None };
            }
            let Some(next) = found.next else { return Ok(page) };
            place = Place { after: Some(next), within: None };
            scanned += CHUNK.get();
            if scanned >= WAITING_SCAN {
                page.next_cursor = Some(place.encode());
                return Ok(page);
            }
        }
    }
}

/// The interrupts of a thread that can still be answered, with the keys they are sorted by.
fn interrupts(thread: &ParkedThread, texts: &Texts, now: UnixMillis) -> Vec<(InterruptId, WaitingInterrupt)> {
    if thread.deadline().is_some_and(|deadline| deadline <= now) {
        // About to be removed: whoever tries to answer is refused.
        return Vec::new();
    }
    let waiting = thread.pending.iter().filter_map(|(key, stored)| {
        let question = pending::question(key, stored, texts)?;
        // What was told is shown again; a question that was never told here is worded now.
        let told = stored.interrupt.as_ref().and_then(|told| told.parse::<Interrupt>().ok());
        let interrupt = told.unwrap_or(question.interrupt);
        let age_ms = stored.announced_at.map(|at| now.as_u64().saturating_sub(at.as_u64()));
        let waiting = WaitingInterrupt {
            thread_id: thread.thread_id.clone(),
            execution_id: ExecutionId::as_str(&thread.execution_id).into(),
            interrupt_id: interrupt.id,
            reason: interrupt.reason,
            message: interrupt.message,
            kind: name(question.kind),
            age_seconds: age_ms.map(|age_ms| age_ms / 1000),
            expires_at: stored.expires_at.and_then(clock::rfc3339),
        };
        Some((key.clone(), waiting))
    });
    waiting.collect()
}

/// The kernel's name of a kind where it has one.
fn name(kind: OpenInputKind) -> &'static str {
    match kind {
        OpenInputKind::Permission => "permission",
        OpenInputKind::AskUserQuestion => "ask_user_question",
        OpenInputKind::CandidateSelection => "candidate_selection",
        OpenInputKind::CloudResourceSelection => "cloud_resource_selection",
        OpenInputKind::DeploymentConfirmation => "deployment_confirmation",
        OpenInputKind::PipelinePauseConfirmation => "pipeline_pause_confirmation",
        OpenInputKind::BackupBlocked => "backup_blocked",
        OpenInputKind::AuthRequired => "auth_required",
        OpenInputKind::Prompt => "prompt",
        OpenInputKind::Input => "input",
        OpenInputKind::Auth => "auth",
        _ => "other",
    }
}

#[cfg(test)]
mod tests;
