use agui_core::{Interrupt, ResumeEntry, ResumeStatus, UnixMillis};
use jiff::Timestamp;

use crate::ClientError;

/// Every question has an answer, and expired ones none but being left.
pub(super) fn check_answers(
    interrupts: &[Interrupt],
    answers: &[ResumeEntry],
    now: UnixMillis,
) -> Result<(), ClientError> {
    let mut unanswered = Vec::new();
    for interrupt in interrupts {
        match answers.iter().find(|answer| answer.interrupt_id == interrupt.id) {
            None => unanswered.push(interrupt.id.clone()),
            Some(answer) if answer.status == ResumeStatus::Cancelled || !has_expired(interrupt, now) => {}
            Some(_) => return Err(ClientError::Expired { interrupt_id: interrupt.id.clone() }),
        }
    }
    if unanswered.is_empty() { Ok(()) } else { Err(ClientError::Unanswered { interrupts: unanswered }) }
}

/// A time that cannot be read never comes, as released clients have it.
fn has_expired(interrupt: &Interrupt, now: UnixMillis) -> bool {
    let expiry = interrupt.expires_at.as_deref().and_then(|text| text.parse::<Timestamp>().ok());
    expiry.is_some_and(|expiry| i128::from(expiry.as_millisecond()) <= i128::from(now.as_u64()))
}

/// Adds questions; one that is open already is replaced.
pub(super) fn add(open: &mut Vec<Interrupt>, new: &[Interrupt]) {
    open.retain(|known| !new.iter().any(|interrupt| interrupt.id == known.id));
    open.extend_from_slice(new);
}
