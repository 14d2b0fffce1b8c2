//! What the adapter itself has to tell the user in the middle of a run.

use agui_core::{Event, TextMessageContent, TextMessageEnd, TextMessageStart, TextRole};
use agui_iac_code::{MessageKey, PermissionDecision};

use super::Run;
use crate::answers::CheckedAnswer;
use crate::clock;

impl Run {
    /// Notes an answer whose effect the kernel may turn into its opposite (weakness 34).
    pub(super) fn note_allowed(&mut self, answer: &CheckedAnswer) {
        use agui_mapper::answers::Answer;

        if let Answer::Permission { decision: PermissionDecision::AllowOnce, .. } = answer.answer {
            self.allowed.push(answer.question.input_id.clone());
        }
    }

    /// Says what was allowed and counts as denied: as text, which every client shows.
    pub(super) fn tell_downgrades(&mut self) {
        let observed = self.mapper.observed();
        let is_denied = |id: &mut Box<str>| {
            observed.receipt(id).is_some_and(|receipt| receipt.decision == Some(PermissionDecision::Deny))
        };
        let denied: Vec<Box<str>> = self.allowed.extract_if(.., is_denied).collect();
        for id in denied {
            tracing::warn!(run = %self.request.run_id, "an allowed permission counts as denied");
            self.say(&format!("agui-denied-{}-{id}", self.request.run_id), MessageKey::PermissionDowngraded);
        }
    }

    /// A message of its own; what is open on the stream stays open beside it.
    fn say(&mut self, message: &str, text: MessageKey) {
        let text = agui_i18n::text(self.request.language, text).into_owned();
        let events: [Event; 3] = [
            TextMessageStart::new(message).with_role(TextRole::Assistant).into(),
            TextMessageContent::new(message, text).into(),
            TextMessageEnd::new(message).into(),
        ];
        for mut event in events {
            event.set_timestamp(clock::now());
            self.send(event);
        }
    }
}
