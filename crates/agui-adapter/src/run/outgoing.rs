//! Messages to the kernel.

use a2a_wire::{OutgoingMessage, OutgoingPart, SendMessage};
use agui_core::Json;
use agui_iac_code::{ErrorNotice, PermissionAnswer, RequestMetadata};
use agui_mapper::answers::Answer;
use serde_json::value::RawValue;

use super::Run;
use crate::answers::CheckedAnswer;
use crate::request::internal;
use crate::terms::Terms;

impl Run {
    /// The user's newest message.
    pub(super) fn user_message(&mut self) -> Result<SendMessage, ErrorNotice> {
        let message = self.request.message.take().ok_or_else(internal)?;
        let id = if message.id.is_empty() { self.request.run_id.to_string() } else { message.id };
        self.message(id, message.parts, None)
    }

    /// The message that answers one question.
    pub(super) fn answer_message(&self, answer: &CheckedAnswer) -> Result<SendMessage, ErrorNotice> {
        let question = &answer.question;
        let id = format!("agui-resume-{}-{}", self.request.run_id, question.interrupt.id);
        let (part, response) = match &answer.answer {
            Answer::Permission { data, .. } => {
                let part = OutgoingPart::data(data.as_raw().to_owned());
                (part.with_media_type(PermissionAnswer::MEDIA_TYPE), None)
            }
            Answer::Text(text) => (OutgoingPart::text(text.clone()), None),
            Answer::Resource { input_response } => {
                (OutgoingPart::text(question.input_id.to_string()), Some(input_response))
            }
            // Giving up is no message.
            _ => return Err(internal()),
        };
        self.message(id, vec![part], response)
    }

    fn message(
        &self,
        id: String,
        parts: Vec<OutgoingPart>,
        response: Option<&Json>,
    ) -> Result<SendMessage, ErrorNotice> {
        let mut message = OutgoingMessage::new(id, parts);
        if let Some(context) = self.known_context() {
            message = message.with_context_id(context.as_str());
        }
        message.metadata = self.metadata(response)?;
        if let Some(task) = &self.task_id {
            message = message.with_task_id(task.as_str());
        }
        let message = SendMessage::new(message);
        Ok(match &self.request.terms {
            Terms::IacCode { .. } => message,
            Terms::Generic(hints) => message.with_accepted_output_modes(hints.accepted_output_modes.clone()),
        })
    }

    /// The request's properties for the kernel, secrets in clear text; for an agent of any make, what the
    /// client gave for it.
    fn metadata(&self, response: Option<&Json>) -> Result<Option<Box<RawValue>>, ErrorNotice> {
        let props = match &self.request.terms {
            Terms::IacCode { props, .. } => props,
            Terms::Generic(hints) => return Ok(hints.metadata.clone()),
        };
        let mut metadata = RequestMetadata::new(props).with_cwd(self.request.terms.cwd());
        if let Some(response) = response {
            metadata = metadata.with_raw_input_response(response.as_raw());
        }
        let mut json = Vec::new();
        metadata.write_metadata_json(&mut json).map_err(|_| internal())?;
        let json = String::from_utf8(json).map_err(|_| internal())?;
        RawValue::from_string(json).map(Some).map_err(|_| internal())
    }
}
