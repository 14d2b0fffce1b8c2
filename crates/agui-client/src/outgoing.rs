//! What a request has to look like on the wire. Pure: no IO, no clock.

use agui_core::{JsonObject, Message, PROTOCOL_VERSION, RunAgentInput};

use crate::legacy::modernize_messages;

/// Which protocol the request declares.
///
/// Example: see [`AgentConfig`](crate::AgentConfig).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dialect {
    /// The version of this crate, unless the request names another one.
    #[default]
    Current,
    /// None, as clients before 1.0 did; agents then leave out what 0.x does not know.
    Legacy,
}

/// Makes a request fit for agents of every version.
///
/// All seven keys that 0.x requires are there and none is `null`; activities, which are the front end's own,
/// are left out; the media parts of 0.x take the form of 1.0, and those that have none are left out.
///
/// Source: AG-UI 1.0, "Run input"; required members of the released 0.x models.
#[must_use]
pub fn outgoing(mut input: RunAgentInput, dialect: Dialect) -> RunAgentInput {
    match dialect {
        Dialect::Legacy => input.protocol_version = None,
        Dialect::Current => {
            input.protocol_version.get_or_insert_with(|| PROTOCOL_VERSION.to_owned());
        }
    }
    for opaque in [&mut input.state, &mut input.forwarded_props] {
        if opaque.as_ref().is_none_or(agui_core::Json::is_null) {
            *opaque = Some(JsonObject::empty().into());
        }
    }
    input.messages.retain(|message| !matches!(message, Message::Activity(_)));
    modernize_messages(&mut input.messages, "", &mut Vec::new());
    input
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(input: &str, dialect: Dialect) -> String {
        let input = RunAgentInput::decode(input.as_bytes()).unwrap();
        serde_json::to_string(&outgoing(input, dialect)).unwrap()
    }

    #[test]
    fn all_seven_keys_are_sent_and_none_is_null() {
        let bare = r#"{"threadId":"t","runId":"r","messages":[],"state":null}"#;
        let body = r#""messages":[],"state":{},"tools":[],"context":[],"forwardedProps":{}}"#;
        let current = body.replace(r#""state""#, r#""protocolVersion":"1.0","state""#);
        assert_eq!(sent(bare, Dialect::Legacy), format!(r#"{{"threadId":"t","runId":"r",{body}"#));
        assert_eq!(sent(bare, Dialect::Current), format!(r#"{{"threadId":"t","runId":"r",{current}"#));
    }

    #[test]
    fn state_and_properties_keep_their_text() {
        let given = r#"{"threadId":"t","runId":"r","messages":[],"state":1.50,"tools":[],"context":[],"forwardedProps":[null]}"#;
        assert_eq!(sent(given, Dialect::Legacy), given);
    }

    #[test]
    fn activities_stay_here_and_old_media_parts_take_the_new_form() {
        let given = r#"{"threadId":"t","runId":"r","messages":[
            {"id":"a","role":"activity","activityType":"x","content":{}},
            {"id":"u","role":"user","content":[
                {"type":"binary","mimeType":"image/png","url":"u"},
                {"type":"binary","mimeType":"image/png","id":"handle"},
                {"type":"text","text":"hi"}]}]}"#;
        let sent = sent(given, Dialect::Legacy);
        let messages = concat!(
            r#""messages":[{"role":"user","id":"u","content":["#,
            r#"{"type":"image","source":{"type":"url","value":"u","mimeType":"image/png"}},"#,
            r#"{"type":"text","text":"hi"}]}],"#,
        );
        assert!(sent.contains(messages), "{sent}");
    }
}
