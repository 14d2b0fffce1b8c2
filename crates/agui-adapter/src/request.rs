//! Everything about a request that can be checked before any state is touched (S2.12).

use a2a_wire::OutgoingPart;
use agui_core::RunRequest;
use agui_core::{Message, ResumeEntry, RunId, ThreadId};
use agui_i18n::Language;
use agui_iac_code::{ErrorNotice, MessageKey};
use agui_store::{Digest, python_digest, request_digest};

use crate::adapter::Shared;
use crate::config::Profile;
use crate::parts::Draft;
use crate::terms::Terms;
use crate::workspace::WorkspaceError;

/// Longest `threadId` and `runId`, in bytes. Longer ones are no ids.
///
/// Example: see [`Adapter`](crate::Adapter).
pub const MAX_ID_BYTES: usize = 1024;

/// Headers that go on to the kernel: what ties the logs of both sides together, and nothing else.
const PASSED_ON: [&str; 4] = ["traceparent", "tracestate", "baggage", "x-amzn-trace-id"];

/// A request that is right in itself.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) thread_id: ThreadId,
    pub(crate) run_id: RunId,
    pub(crate) parent_run_id: Option<RunId>,
    /// Whether the client speaks AG-UI 1.0; one that does not must not be sent what is new in it.
    pub(crate) speaks_1_0: bool,
    pub(crate) messages: Vec<Message>,
    pub(crate) resume: Vec<ResumeEntry>,
    pub(crate) terms: Terms,
    pub(crate) language: Language,
    pub(crate) digests: Digests,
    /// The newest user message for the kernel; `None` for a resume.
    pub(crate) message: Option<UserMessage>,
    /// Headers that go on to the kernel, such as `traceparent`.
    pub(crate) headers: Vec<(Box<str>, Box<str>)>,
}

/// The newest user message in the kernel's form.
#[derive(Debug)]
pub(crate) struct UserMessage {
    pub(crate) id: String,
    pub(crate) parts: Vec<OutgoingPart>,
}

/// The two digests that an earlier run with the same id may have been recorded under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Digests {
    /// What is recorded here.
    pub(crate) ours: Digest,
    /// What the Python adapter would have recorded.
    pub(crate) python: Digest,
}

impl Digests {
    pub(crate) fn matches(&self, recorded: &Digest) -> bool {
        *recorded == self.ours || *recorded == self.python
    }
}

/// The language of a request: what it asks for, else what the headers say (S1.6).
pub(crate) fn language(profile: Profile, request: &RunRequest) -> Language {
    let terms = Terms::read(profile, request.input.forwarded_props.as_ref()).ok();
    let preferred = terms.as_ref().and_then(Terms::preferred_language);
    agui_i18n::choose(preferred, request.accept_language.as_deref())
}

impl Request {
    /// Checks what needs no state; reads the file system to resolve the workspace, changes nothing.
    pub(crate) async fn check(
        shared: &Shared,
        request: RunRequest,
        language: Language,
    ) -> Result<Self, ErrorNotice> {
        let profile = shared.config.profile;
        let mut terms = Terms::read(profile, request.input.forwarded_props.as_ref())?;
        let input = &request.input;
        check_id("/threadId", input.thread_id.as_str())?;
        check_id("/runId", input.run_id.as_str())?;
        // An agent of any make has tools of its own; those of the client, which some clients send with each
        // request, are never called.
        if profile == Profile::IacCode && !input.tools.is_empty() {
            return Err(ErrorNotice::field(MessageKey::InputTools, "/tools", "not-empty"));
        }
        terms.check()?;
        let draft = if input.resume.is_empty() { Some(Draft::of(profile, input)?) } else { None };

        let body = request.body.clone();
        let roots = shared.config.allowed_roots.clone();
        // File system and hashing of up to 12 MiB: not on the threads that serve streams.
        let checked = tokio::task::spawn_blocking(move || {
            let digests = Digests { ours: request_digest(&body), python: python_digest(&body) };
            terms.check_workspace(&roots).map(|()| (terms, digests))
        });
        let (terms, digests) = checked.await.map_err(|_| internal())?.map_err(workspace_notice)?;
        let message = match draft {
            Some(draft) => Some(draft.prepare(&shared.images).await?),
            None => None,
        };
        let input = request.input;
        Ok(Self {
            thread_id: input.thread_id,
            run_id: input.run_id,
            parent_run_id: input.parent_run_id,
            speaks_1_0: input.protocol_version.is_some(),
            messages: input.messages,
            resume: input.resume,
            terms,
            language,
            digests,
            message,
            headers: request.headers.into_iter().filter(|(name, _)| PASSED_ON.contains(&&**name)).collect(),
        })
    }
}

fn check_id(pointer: &'static str, id: &str) -> Result<(), ErrorNotice> {
    let kind = match id {
        "" => "empty",
        _ if id.trim().is_empty() => "blank",
        _ if id.len() > MAX_ID_BYTES => "too-long",
        _ => return Ok(()),
    };
    Err(ErrorNotice::field(MessageKey::InputEnvelope, pointer, kind))
}

pub(crate) fn workspace_notice(error: WorkspaceError) -> ErrorNotice {
    let (key, kind) = match error {
        WorkspaceError::NotAbsolute => (MessageKey::WorkspaceNotAbsolute, "not-absolute"),
        WorkspaceError::Invalid => (MessageKey::WorkspaceInvalid, "invalid"),
        WorkspaceError::Outside => (MessageKey::WorkspaceOutside, "outside"),
        WorkspaceError::NotADirectory => (MessageKey::WorkspaceNotDirectory, "not-a-directory"),
        WorkspaceError::CannotCreate => (MessageKey::WorkspaceNotCreated, "cannot-create"),
    };
    ErrorNotice::field(key, "/forwardedProps/iacCode/cwd", kind)
}

pub(crate) fn internal() -> ErrorNotice {
    ErrorNotice::new(agui_iac_code::ErrorCode::InternalError)
}
