//! The answer to a question of the model is the result of the tool call that asked.

use std::borrow::Cow;

use agui_iac_code::metadata::{InputKind, InputReceived, PipelineEnvelope};
use serde::Deserialize;

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow)]
    data: Data<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct Data<'a> {
    #[serde(borrow)]
    selected_label: Option<Cow<'a, str>>,
    #[serde(borrow)]
    free_text: Option<Cow<'a, str>>,
}

/// The tool call that is answered and the words of the answer; `None` if no tool call asked.
pub(super) fn of<'e>(
    envelope: &'e PipelineEnvelope<'_>,
    received: &'e InputReceived<'_>,
) -> Option<(&'e str, String)> {
    let call = received.tool_use_id.as_deref().filter(|call| !call.is_empty())?;
    if received.kind != Some(InputKind::AskUserQuestion) {
        return None;
    }
    let data =
        serde_json::from_str::<Event<'_>>(envelope.raw.get()).map(|event| event.data).unwrap_or_default();
    let words =
        [data.selected_label.as_deref(), data.free_text.as_deref(), received.selected_value.as_deref()];
    let words = words.into_iter().flatten().find(|words| !words.is_empty());
    Some((call, words.or(received.selected_id.as_deref())?.to_owned()))
}
