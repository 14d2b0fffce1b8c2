//! Names of pipeline events, and which of them reach clients.

use crate::wire_enum::wire_enum;

wire_enum! {
    /// What happened in a pipeline: the names of the contract and those the kernel has beside them.
    ///
    /// Source: S6.4; iac-code 0.16, pipeline events: `eventType`.
    pub enum PipelineEventType {
        /// The pipeline began.
        PipelineStarted = "pipeline_started",
        /// The pipeline goes on after a restart.
        PipelineResumed = "pipeline_resumed",
        /// The pipeline ended well.
        PipelineCompleted = "pipeline_completed",
        /// The pipeline failed; this kernel sends `pipeline_failed`.
        PipelineError = "pipeline_error",
        /// Something is odd.
        PipelineWarning = "pipeline_warning",
        /// A backup holds the pipeline back.
        BackupBlocked = "backup_blocked",
        /// A candidate began.
        CandidateStarted = "candidate_started",
        /// A candidate is worked out.
        CandidateCompleted = "candidate_completed",
        /// A candidate failed.
        CandidateFailed = "candidate_failed",
        /// A candidate was interrupted.
        CandidateInterrupted = "candidate_interrupted",
        /// A candidate is worked out again.
        CandidateRestartRequested = "candidate_restart_requested",
        /// A candidate was chosen.
        CandidateSelected = "candidate_selected",
        /// Details of a candidate to show.
        CandidateDetailShown = "candidate_detail_shown",
        /// A step of a candidate failed.
        CandidateStepFailed = "candidate_step_failed",
        /// A sub-pipeline began.
        SubPipelineStarted = "sub_pipeline_started",
        /// A sub-pipeline ended well.
        SubPipelineCompleted = "sub_pipeline_completed",
        /// A step of a sub-pipeline failed.
        SubStepFailed = "sub_step_failed",
        /// A step failed.
        StepFailed = "step_failed",
        /// Progress of a resource stack.
        StackProgress = "stack_progress",
        /// Progress of stack instances.
        StackInstancesProgress = "stack_instances_progress",
        /// Another stack is the current one.
        StackCurrentChanged = "stack_current_changed",
        /// A clean-up began.
        CleanupStarted = "cleanup_started",
        /// Progress of a clean-up.
        CleanupProgress = "cleanup_progress",
        /// A clean-up ended well.
        CleanupCompleted = "cleanup_completed",
        /// A clean-up failed.
        CleanupFailed = "cleanup_failed",
        /// The pipeline goes back to an earlier step.
        RollbackTriggered = "rollback_triggered",
        /// The pipeline went back to an earlier step.
        RollbackCompleted = "rollback_completed",
        /// The model's context is being shortened.
        ContextCompactionStarted = "context_compaction_started",
        /// The model's context was shortened.
        ContextCompacted = "context_compacted",
        /// The model's context could not be shortened.
        ContextCompactionFailed = "context_compaction_failed",
        /// Earlier conclusions no longer hold.
        FieldsMarkedStale = "fields_marked_stale",
        /// A diagram to show.
        DiagramShown = "diagram_shown",
        /// State of the MCP servers.
        McpStatus = "mcp_status",
        /// Progress of a tool.
        ToolProgress = "tool_progress",

        /// Text of the model.
        TextDelta = "text_delta",
        /// Reasoning of the model.
        ThinkingDelta = "thinking_delta",
        /// A tool call with its arguments.
        ToolStarted = "tool_started",
        /// The result of a tool call.
        ToolResult = "tool_result",
        /// Token counts.
        Usage = "usage",
        /// A step began.
        StepStarted = "step_started",
        /// A step ended well.
        StepCompleted = "step_completed",
        /// A step of a candidate began.
        CandidateStepStarted = "candidate_step_started",
        /// A step of a candidate ended well.
        CandidateStepCompleted = "candidate_step_completed",
        /// The pipeline asks the user.
        InputRequired = "input_required",
        /// The user answered.
        InputReceived = "input_received",
        /// A tool call needs a permission.
        PermissionRequested = "permission_requested",
        /// A permission was decided.
        PermissionResolved = "permission_resolved",

        /// The pipeline failed.
        PipelineFailed = "pipeline_failed",
        /// The pipeline was cancelled.
        PipelineCanceled = "pipeline_canceled",
        /// The conversation goes on outside the pipeline.
        PipelineHandoffReady = "pipeline_handoff_ready",
        /// A held back event is stored now.
        BackupCommitted = "backup_committed",
        /// A file was stored.
        ArtifactCreated = "artifact_created",
        /// The model began a message.
        MessageStarted = "message_started",
        /// A message of the model was withdrawn.
        MessageTombstone = "message_tombstone",
        /// How full the model's context is.
        ContextUsage = "context_usage",
        /// A message of the user reached the running pipeline.
        InterruptReceived = "interrupt_received",
        /// What the pipeline makes of that message.
        InterruptClassified = "interrupt_classified",
    }
}

impl PipelineEventType {
    /// Whether the event reaches clients as CUSTOM `iac-code.pipeline.v1`: exactly the names of S6.4.
    ///
    /// The list of the contract is closed ("only for these"), so nothing is added to it:
    ///
    /// - `pipeline_failed` and `pipeline_canceled` are not forwarded although they tell the end of
    ///   the business: the task fails or is cancelled with them, so the run ends with `RUN_ERROR`
    ///   `A2A_EXECUTION_FAILED` or `CANCELLED`, which is their standard equivalent (S6.5), and a
    ///   client that follows S6.4 literally has no case for them. Renaming them to the listed
    ///   `pipeline_error` would change an event that S6.6 wants unchanged.
    /// - `pipeline_handoff_ready`, `backup_committed`, `context_usage`, `interrupt_received` and
    ///   `interrupt_classified` concern the kernel's inner life; `artifact_created`,
    ///   `input_required`, `permission_requested`, `message_started` and `message_tombstone` are
    ///   told by artifacts, interrupts and messages.
    ///
    /// A name that is not known is not forwarded either.
    #[must_use]
    pub const fn is_forwarded(self) -> bool {
        matches!(
            self,
            Self::PipelineStarted
                | Self::PipelineResumed
                | Self::PipelineCompleted
                | Self::PipelineError
                | Self::PipelineWarning
                | Self::BackupBlocked
                | Self::CandidateStarted
                | Self::CandidateCompleted
                | Self::CandidateFailed
                | Self::CandidateInterrupted
                | Self::CandidateRestartRequested
                | Self::CandidateSelected
                | Self::CandidateDetailShown
                | Self::CandidateStepFailed
                | Self::SubPipelineStarted
                | Self::SubPipelineCompleted
                | Self::SubStepFailed
                | Self::StepFailed
                | Self::StackProgress
                | Self::StackInstancesProgress
                | Self::StackCurrentChanged
                | Self::CleanupStarted
                | Self::CleanupProgress
                | Self::CleanupCompleted
                | Self::CleanupFailed
                | Self::RollbackTriggered
                | Self::RollbackCompleted
                | Self::ContextCompactionStarted
                | Self::ContextCompacted
                | Self::ContextCompactionFailed
                | Self::FieldsMarkedStale
                | Self::DiagramShown
                | Self::McpStatus
                | Self::ToolProgress
        )
    }

    /// Whether it begins or ends a step of the pipeline or of a candidate.
    #[must_use]
    pub const fn is_step(self) -> bool {
        matches!(
            self,
            Self::StepStarted
                | Self::StepCompleted
                | Self::StepFailed
                | Self::CandidateStepStarted
                | Self::CandidateStepCompleted
                | Self::CandidateStepFailed
        )
    }

    /// Whether it ends the pipeline.
    #[must_use]
    pub const fn is_end(self) -> bool {
        matches!(
            self,
            Self::PipelineCompleted | Self::PipelineError | Self::PipelineFailed | Self::PipelineCanceled
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of S6.4, as the contract groups them.
    const CONTRACT: &str = "pipeline_started pipeline_resumed pipeline_completed pipeline_error \
        pipeline_warning backup_blocked candidate_started candidate_completed candidate_failed \
        candidate_interrupted candidate_restart_requested candidate_selected candidate_detail_shown \
        candidate_step_failed sub_pipeline_started sub_pipeline_completed sub_step_failed step_failed \
        stack_progress stack_instances_progress stack_current_changed cleanup_started cleanup_progress \
        cleanup_completed cleanup_failed rollback_triggered rollback_completed \
        context_compaction_started context_compacted context_compaction_failed fields_marked_stale \
        diagram_shown mcp_status tool_progress";

    #[test]
    fn s6_4_exactly_the_names_of_the_contract_are_forwarded() {
        let mut forwarded: Vec<&str> = PipelineEventType::ALL
            .iter()
            .filter(|name| name.is_forwarded())
            .map(|name| name.as_str())
            .collect();
        let mut contract: Vec<&str> = CONTRACT.split_whitespace().collect();
        forwarded.sort_unstable();
        contract.sort_unstable();

        assert_eq!(forwarded, contract);
        assert!(!PipelineEventType::Other.is_forwarded());
    }

    #[test]
    fn every_name_is_read_back() {
        for event_type in PipelineEventType::ALL {
            assert_eq!(PipelineEventType::from_name(event_type.as_str()), *event_type);
        }
        assert_eq!(PipelineEventType::from_name("PIPELINE_STARTED"), PipelineEventType::Other);
    }
}
