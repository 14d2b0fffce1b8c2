//! What the kernel says about answers, and about why a task stopped.

use agui_iac_code::metadata::{IacMetadata, InputReceived, PermissionAck, PermissionResolved};

use super::taken;
use crate::a2a::Turn;
use crate::observed::{BackupBlock, Failure, IdentityError, Notice, Receipt};

/// Notes the signals of one update or Task.
pub(super) fn apply(turn: &mut Turn, metadata: &IacMetadata<'_>) {
    if let Some(recovered) = &metadata.permission_recovered {
        let (input, call) = (recovered.input_id.as_deref(), recovered.tool_use_id.as_deref());
        turn.observed.add_receipt(Receipt::new(Notice::Recovered, input, call));
    }
    if let Some(received) = &metadata.input_received {
        receive(turn, received);
    }
    if let Some(ack) = &metadata.permission_ack {
        acknowledge(turn, ack);
    }
    if let Some(error) = &metadata.permission_identity_error {
        let (input, call) = (error.input_id.as_deref(), error.tool_use_id.as_deref());
        turn.questions.reopen(&mut turn.observed, input, call);
        turn.observed.identity_error = Some(IdentityError {
            code: error.code.as_deref().map(Into::into),
            retryable: error.retryable,
            input_id: input.map(Into::into),
        });
    }
    if let Some(error) = &metadata.error {
        turn.observed.failure =
            Some(Failure { retryable: error.retryable, error_id: error.error_id.as_deref().map(Into::into) });
    }
    if let Some(blocked) = &metadata.backup_blocked {
        turn.observed.backup_blocked = Some(BackupBlock {
            reason: blocked.reason.as_deref().map(Into::into),
            recoverable: blocked.recoverable,
        });
    }
    if let Some(wait) = metadata.permission_wait {
        turn.observed.permission_wait = Some(wait);
    }
}

/// An answer arrived: its question is closed.
pub(super) fn receive(turn: &mut Turn, received: &InputReceived<'_>) {
    let (input, call) = (received.input_id.as_deref(), received.tool_use_id.as_deref());
    let mut receipt = Receipt::new(Notice::Received, input, call);
    receipt.decision = received.decision;
    receipt.duplicate = received.duplicate == Some(true);
    receipt.recovered = received.recovered == Some(true);
    match (input, call) {
        (Some(input), _) => turn.questions.answered(&mut turn.observed, input),
        (None, Some(call)) => turn.questions.answered_call(&mut turn.observed, call),
        (None, None) => turn.questions.answered_kind(&mut turn.observed, received.kind),
    }
    turn.observed.add_receipt(receipt);
}

/// The kernel took an answer, or did not.
pub(super) fn acknowledge(turn: &mut Turn, ack: &PermissionAck<'_>) {
    let (input, call) = (ack.input_id.as_deref(), ack.tool_use_id.as_deref());
    let mut receipt = Receipt::new(taken(ack.accepted), input, call);
    receipt.decision = ack.decision;
    if receipt.notice == Notice::Accepted {
        match (input, call) {
            (Some(input), _) => turn.questions.answered(&mut turn.observed, input),
            (None, Some(call)) => turn.questions.answered_call(&mut turn.observed, call),
            (None, None) => {}
        }
    }
    turn.observed.add_receipt(receipt);
}

/// A permission of a pipeline was decided, withdrawn or timed out.
pub(super) fn resolve(turn: &mut Turn, resolved: &PermissionResolved<'_>) {
    let call = resolved.tool_use_id.as_deref();
    let input = resolved.input_id.as_deref().or(resolved.permission_id.as_deref());
    match (input, call) {
        (Some(input), _) => turn.questions.answered(&mut turn.observed, input),
        (None, Some(call)) => turn.questions.answered_call(&mut turn.observed, call),
        (None, None) => {}
    }
    let mut receipt = Receipt::new(Notice::Resolved, input, call);
    receipt.decision = resolved.decision;
    turn.observed.add_receipt(receipt);
}
