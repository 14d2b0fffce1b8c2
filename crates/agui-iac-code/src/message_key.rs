//! Keys of the user-visible texts, and the arguments each text takes.

/// Declares the keys with their catalogue names and argument names.
macro_rules! message_keys {
    ($($(#[$meta:meta])* $variant:ident = $name:literal $(($($arg:literal),+))?;)+) => {
        /// Key of a user-visible text; the texts are in the catalogues of `agui-i18n`.
        ///
        /// Source: `iac-code agui` 0.16 for the English texts that clients may know already.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum MessageKey {
            $($(#[$meta])* $variant,)+
        }

        impl MessageKey {
            /// Every key.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The key in the catalogues.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// Names of the arguments that the text takes.
            #[must_use]
            pub const fn args(self) -> &'static [&'static str] {
                match self {
                    $(Self::$variant => &[$($($arg),+)?],)+
                }
            }
        }
    };
}

message_keys! {
    /// The request is not valid, without saying where.
    InvalidInput = "error-invalid-input";
    /// What is wrong with the field `pointer`; part of other texts. `kind` is one of the words of
    /// [`PropsErrorKind::as_str`](crate::PropsErrorKind::as_str), others mean "not valid".
    FieldProblem = "field-problem" ("pointer", "kind");
    /// The envelope has a wrong field.
    InputEnvelope = "error-input-envelope" ("pointer", "kind");
    /// The iacCode extension has a wrong field.
    InputExtension = "error-input-extension" ("pointer", "kind");
    /// A list of tools came.
    InputTools = "error-input-tools";
    /// Guidance without a pipeline.
    InputGuidance = "error-input-guidance";
    /// The workspace is not absolute.
    WorkspaceNotAbsolute = "error-workspace-not-absolute";
    /// The workspace is no usable path.
    WorkspaceInvalid = "error-workspace-invalid";
    /// The workspace is outside the allowed roots.
    WorkspaceOutside = "error-workspace-outside";
    /// The workspace is a file.
    WorkspaceNotDirectory = "error-workspace-not-directory";
    /// The workspace cannot be made.
    WorkspaceNotCreated = "error-workspace-not-created";
    /// There is no user message.
    MessageMissing = "error-message-missing";
    /// The content of the user message is of no known shape.
    MessageContent = "error-message-content" ("pointer");
    /// The user message has a part of another sort.
    MessagePart = "error-message-part" ("pointer");
    /// A part is given by its address.
    MediaRemote = "error-media-remote" ("pointer");
    /// An image of another type.
    ImageType = "error-image-type" ("pointer");
    /// An image that is not base64.
    ImageBase64 = "error-image-base64" ("pointer");
    /// An image that is too large.
    ImageTooLarge = "error-image-too-large" ("pointer");
    /// All images together are too large.
    ImagesTooLarge = "error-images-too-large";
    /// Bytes that are no image of the given type.
    ImageInvalid = "error-image-invalid" ("pointer");
    /// The cancel request lacks its members.
    CancelIds = "error-cancel-ids";

    /// No valid bearer token.
    Unauthorized = "error-unauthorized";
    /// The caller may not do this.
    AccessDenied = "error-access-denied";
    /// The origin is not allowed.
    ForbiddenOrigin = "error-forbidden-origin";
    /// The host is not allowed.
    ForbiddenHost = "error-forbidden-host";
    /// Wrong content type.
    ContentType = "error-content-type";
    /// Nothing the caller accepts.
    NotAcceptable = "error-not-acceptable";
    /// The body of a run is too large.
    RunBodyTooLarge = "error-run-body-too-large";
    /// The body of a cancel request is too large.
    CancelBodyTooLarge = "error-cancel-body-too-large";
    /// The body of a run is not JSON.
    RunBodyNotJson = "error-run-body-not-json";
    /// The body of a cancel request is not JSON.
    CancelBodyNotJson = "error-cancel-body-not-json";
    /// The body of a run is no object.
    RunBodyNotObject = "error-run-body-not-object";
    /// The body of a cancel request is no object.
    CancelBodyNotObject = "error-cancel-body-not-object";
    /// Nothing at this path.
    NotFound = "error-not-found";
    /// The path takes only the methods in `methods`.
    MethodNotAllowedExcept = "error-method-not-allowed-except" ("methods");
    /// The path does not take this method.
    MethodNotAllowed = "error-method-not-allowed";
    /// The path takes WebSocket connections only.
    UpgradeRequired = "error-upgrade-required";
    /// The request did not arrive in time.
    RequestTimeout = "error-request-timeout";
    /// Too many requests.
    RateLimited = "error-rate-limited";
    /// Too many requests; again in `seconds`.
    RateLimitedFor = "error-rate-limited-for" ("seconds");
    /// The session runs another request.
    SessionBusy = "error-session-busy";
    /// No place for another request.
    ServerBusy = "error-server-busy";
    /// The server is stopping.
    ShuttingDown = "error-shutting-down";
    /// The agent failed.
    AgentFailed = "error-agent-failed";
    /// The server failed.
    InternalError = "error-internal";

    /// The stored state is not available.
    StateUnavailable = "error-state-unavailable";
    /// The run id was used before.
    RunIdUsed = "error-run-id-used";
    /// The thread runs another request.
    ThreadBusy = "error-thread-busy";
    /// The thread is bound to another workspace or caller.
    ThreadBinding = "error-thread-binding";
    /// The thread waits for answers.
    ResumeRequired = "error-resume-required";
    /// The thread waits for answers to the interrupts named in `ids`.
    ResumeRequiredFor = "error-resume-required-for" ("ids");
    /// The execution to resume is gone.
    ExecutionGone = "error-execution-gone";
    /// The resume belongs to another invocation.
    ResumeMismatch = "error-resume-mismatch";
    /// The A2A task is gone.
    TaskGone = "error-task-gone";
    /// The iac-code session is gone.
    SessionGone = "error-session-gone";
    /// An interrupt is named twice.
    ResumeDuplicate = "error-resume-duplicate";
    /// An interrupt is missing.
    ResumeIncomplete = "error-resume-incomplete";
    /// An interrupt is not pending.
    UnknownInterrupt = "error-unknown-interrupt";
    /// An answer without payload.
    PayloadMissing = "error-payload-missing";
    /// An answer that does not fit its schema.
    PayloadInvalid = "error-payload-invalid";
    /// An answer that answers nothing.
    AnswerMissing = "error-answer-missing";
    /// The answer was applied before.
    AlreadyApplied = "error-already-applied";
    /// The interrupt expired.
    ExecutionExpired = "error-execution-expired";
    /// The session is being stored; again in `seconds`.
    BackupSyncing = "error-backup-syncing" ("seconds");
    /// The session cannot be stored at the moment.
    BackupBlocked = "error-backup-blocked";
    /// The execution could not be stored.
    PersistExecution = "error-persist-execution";
    /// The session could not be stored.
    PersistSession = "error-persist-session";
    /// The interrupt could not be stored.
    PersistInterrupt = "error-persist-interrupt";
    /// The accepted answer could not be stored.
    PersistAnswer = "error-persist-answer";

    /// The A2A service does not answer.
    A2aUnavailable = "error-a2a-unavailable";
    /// The A2A service fell silent.
    A2aSilent = "error-a2a-silent";
    /// The connection to the A2A service broke.
    A2aCut = "error-a2a-cut";
    /// What the A2A service sent cannot be read.
    A2aUnreadable = "error-a2a-unreadable";
    /// The A2A service did not take the answer.
    AnswerNotAccepted = "error-answer-not-accepted";
    /// The A2A service did not take the answer to a permission.
    PermissionNotAccepted = "error-permission-not-accepted";
    /// The A2A service refused the answer.
    AnswerRejected = "error-answer-rejected";
    /// Another context than before.
    ContextChanged = "error-context-changed";
    /// Another task than before.
    TaskChanged = "error-task-changed";
    /// Another task than the interrupted run's.
    TaskMismatch = "error-task-mismatch";
    /// Another session than before.
    SessionChanged = "error-session-changed";
    /// An interrupt of another task.
    InterruptTask = "error-interrupt-task";
    /// An interrupt of another context.
    InterruptContext = "error-interrupt-context";
    /// The execution failed.
    ExecutionFailed = "error-execution-failed";
    /// The execution failed; the kernel logged it as `errorId`.
    ExecutionFailedWithId = "error-execution-failed-with-id" ("errorId");
    /// The execution failed for a passing reason.
    ExecutionFailedForNow = "error-execution-failed-for-now";
    /// The A2A service refused the request.
    RequestRefused = "error-request-refused";
    /// The A2A service refused the request; `reason` is its word for why.
    RequestRefusedFor = "error-request-refused-for" ("reason");
    /// The wait for a permission was suspended.
    PermissionSuspended = "error-permission-suspended";
    /// The kernel wants credentials.
    SignInNeeded = "error-sign-in-needed";
    /// The execution was cancelled.
    Cancelled = "error-cancelled";
    /// The execution was cancelled by the answer to an interrupt.
    CancelledByAnswer = "error-cancelled-by-answer";
    /// There is no such execution.
    ExecutionNotFound = "error-execution-not-found";
    /// There is no such run, or it is not kept any more.
    RunNotFound = "error-run-not-found";
    /// Events of a run are not kept any more.
    EventsLost = "error-events-lost";

    /// A tool call needs a permission.
    InterruptPermission = "interrupt-permission";
    /// Something has to be answered.
    InterruptInput = "interrupt-input";
    /// Credentials are needed.
    InterruptSignIn = "interrupt-sign-in";
    /// A plan has to be chosen.
    InterruptCandidate = "interrupt-candidate";
    /// A cloud resource has to be chosen.
    InterruptResource = "interrupt-resource";
    /// The deployment has to be confirmed.
    InterruptDeployment = "interrupt-deployment";
    /// The pipeline is paused and has to be told to go on.
    InterruptPause = "interrupt-pause";
    /// A backup holds the pipeline back.
    InterruptBackupBlocked = "interrupt-backup-blocked";
    /// The answer could not be applied because of the cloud identity; answer again.
    InterruptIdentity = "interrupt-identity";
    /// The user allowed something and the kernel counts it as denied.
    PermissionDowngraded = "notice-permission-downgraded";

    /// Choice: allow this once.
    OptionAllowOnce = "option-allow-once";
    /// Choice: deny.
    OptionDeny = "option-deny";
    /// Choice: yes.
    OptionYes = "option-yes";
    /// Choice: no.
    OptionNo = "option-no";
    /// Choice: go on.
    OptionContinue = "option-continue";
    /// Choice: stop.
    OptionStop = "option-stop";
    /// Choice: deploy.
    OptionDeploy = "option-deploy";
    /// Choice: do not deploy.
    OptionDoNotDeploy = "option-do-not-deploy";
    /// Choice: try again.
    OptionTryAgain = "option-try-again";
    /// Title of the member that holds a decision.
    LabelDecision = "label-decision";
    /// Title of the member that holds the chosen option.
    LabelChoice = "label-choice";
    /// Title of the member that holds an answer in one's own words.
    LabelFreeText = "label-free-text";
    /// Title of the member that holds a selected resource.
    LabelResource = "label-resource";
}

impl std::fmt::Display for MessageKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_key_is_unique() {
        let names: HashSet<&str> = MessageKey::ALL.iter().map(|key| key.as_str()).collect();

        assert_eq!(names.len(), MessageKey::ALL.len());
    }
}
