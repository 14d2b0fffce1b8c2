//! What the iac-code kernel writes on the wire: A2A 1.0 results with `metadata.iac_code`.
//!
//! Every function gives the `result` member of a JSON-RPC reply; [`reply`] puts it in its envelope
//! and [`record`] makes it a record of an event stream.

use serde_json::{Map, Number, Value, json};

mod iac;

pub(crate) use iac::hex;
pub use iac::{
    PermissionRequest, final_text, iac, permission_input, pipeline_update, text_delta, thinking, tool, usage,
};

/// The identities that every update repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ids {
    /// The A2A task.
    pub task_id: String,
    /// The A2A context.
    pub context_id: String,
    /// The iac-code session.
    pub session_id: String,
}

impl Ids {
    /// Three given identities.
    #[must_use]
    pub fn new(
        task_id: impl Into<String>,
        context_id: impl Into<String>,
        session_id: impl Into<String>,
    ) -> Self {
        Self { task_id: task_id.into(), context_id: context_id.into(), session_id: session_id.into() }
    }
}

/// A2A task states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// The kernel has the message.
    Submitted,
    /// The kernel works.
    Working,
    /// Terminal: a pipeline ended well.
    Completed,
    /// Terminal: something failed.
    Failed,
    /// Terminal: canceled on request.
    Canceled,
    /// A question is open, or a normal turn has ended.
    InputRequired,
    /// Terminal: refused.
    Rejected,
    /// Somebody has to sign in.
    AuthRequired,
}

impl State {
    /// Every state.
    pub const ALL: [Self; 8] = [
        Self::Submitted,
        Self::Working,
        Self::Completed,
        Self::Failed,
        Self::Canceled,
        Self::InputRequired,
        Self::Rejected,
        Self::AuthRequired,
    ];

    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Submitted => "TASK_STATE_SUBMITTED",
            Self::Working => "TASK_STATE_WORKING",
            Self::Completed => "TASK_STATE_COMPLETED",
            Self::Failed => "TASK_STATE_FAILED",
            Self::Canceled => "TASK_STATE_CANCELED",
            Self::InputRequired => "TASK_STATE_INPUT_REQUIRED",
            Self::Rejected => "TASK_STATE_REJECTED",
            Self::AuthRequired => "TASK_STATE_AUTH_REQUIRED",
        }
    }

    /// The state with a name on the wire.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }

    /// The number of the state in the protocol; whole messages carry it in their id.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::Submitted => 1,
            Self::Working => 2,
            Self::Completed => 3,
            Self::Failed => 4,
            Self::Canceled => 5,
            Self::InputRequired => 6,
            Self::Rejected => 7,
            Self::AuthRequired => 8,
        }
    }

    /// Whether the task can never go on.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Canceled | Self::Rejected)
    }
}

/// `{"task": …}`: the first event of a new task, with the message of the user as its history.
#[must_use]
pub fn task(ids: &Ids, state: State, user_message: Option<&Value>) -> Value {
    let mut task = json!({
        "id": ids.task_id, "contextId": ids.context_id, "status": {"state": state.as_str()},
    });
    if let Some(message) = user_message {
        let mut message = message.clone();
        message["taskId"] = json!(ids.task_id);
        message["contextId"] = json!(ids.context_id);
        if let Some(metadata) = message.get_mut("metadata") {
            doubles(metadata);
        }
        task["history"] = json!([message]);
    }
    json!({"task": task})
}

/// `{"statusUpdate": …}` without text; `iac_code` is what [`iac()`] gives.
#[must_use]
pub fn status(ids: &Ids, state: State, iac_code: Value) -> Value {
    update(ids, json!({"state": state.as_str()}), iac_code)
}

/// The same with the time of the change, as the kernel adds it when the state was set on purpose.
#[must_use]
pub fn timed_status(ids: &Ids, state: State, iac_code: Value) -> Value {
    update(ids, json!({"state": state.as_str(), "timestamp": timestamp()}), iac_code)
}

/// `{"statusUpdate": …}` with a whole message of the agent; its id ends with the state's number.
#[must_use]
pub fn whole_message(ids: &Ids, state: State, text: &str, iac_code: Value) -> Value {
    let message = agent_message(ids, &format!("{}-{}", ids.task_id, state.number()), text);
    let status = json!({"state": state.as_str(), "message": message, "timestamp": timestamp()});
    update(ids, status, iac_code)
}

/// A message of the agent with one text part.
#[must_use]
pub fn agent_message(ids: &Ids, message_id: &str, text: &str) -> Value {
    json!({
        "messageId": message_id, "contextId": ids.context_id, "taskId": ids.task_id,
        "role": "ROLE_AGENT", "parts": [{"text": text}],
    })
}

/// `{"artifactUpdate": …}` of a file that is complete.
#[must_use]
pub fn artifact(ids: &Ids, artifact: Value) -> Value {
    let update = json!({"taskId": ids.task_id, "contextId": ids.context_id, "lastChunk": true});
    object([("artifactUpdate", merged(update, object([("artifact", artifact)])))])
}

fn update(ids: &Ids, status: Value, iac_code: Value) -> Value {
    let mut metadata = object([("iac_code", iac_code)]);
    doubles(&mut metadata);
    let update = json!({"taskId": ids.task_id, "contextId": ids.context_id});
    object([("statusUpdate", merged(update, object([("status", status), ("metadata", metadata)])))])
}

/// Makes every number of a value a double: `1` becomes `1.0`, as in all metadata of the kernel.
pub fn doubles(value: &mut Value) {
    match value {
        Value::Number(number) => {
            if let Some(double) = number.as_f64().and_then(Number::from_f64) {
                *number = double;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(doubles),
        Value::Object(members) => members.values_mut().for_each(doubles),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// The reply to a request; the member order is the kernel's.
#[must_use]
pub fn reply(rpc_id: &Value, result: &Value) -> String {
    format!(r#"{{"result":{result},"id":{rpc_id},"jsonrpc":"2.0"}}"#)
}

/// The error reply to a request, with a `data` member.
#[must_use]
pub fn error_reply(rpc_id: &Value, code: i32, message: &str, data: &Value) -> String {
    let error = json!({"code": code, "message": message, "data": data});
    format!(r#"{{"error":{error},"id":{rpc_id},"jsonrpc":"2.0"}}"#)
}

/// The `data` that the SDK adds to its errors.
#[must_use]
pub fn error_info(reason: &str) -> Value {
    json!([{
        "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason,
        "domain": "a2a-protocol.org", "metadata": {},
    }])
}

/// One record of an event stream, with the kernel's line ends.
#[must_use]
pub fn record(data: &str) -> String {
    format!("data: {data}\r\n\r\n")
}

/// The comment that the kernel sends in silence.
#[must_use]
pub fn ping() -> String {
    let now = jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M:%S%.6f+00:00");
    format!(": ping - {now}\r\n\r\n")
}

/// Now, as in `status.timestamp`.
#[must_use]
pub fn timestamp() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

/// Now in whole seconds, as in `createdAt` of a pipeline event.
#[must_use]
pub fn seconds() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// An object with the members of both; `more` wins.
pub(crate) fn merged(mut base: Value, more: Value) -> Value {
    if let (Value::Object(base), Value::Object(more)) = (&mut base, more) {
        base.extend(more);
    }
    base
}

/// An empty object.
pub(crate) fn empty() -> Value {
    Value::Object(Map::new())
}

/// An object of moved values.
pub(crate) fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_has_doubles_and_the_rest_keeps_its_numbers() {
        let ids = Ids::new("T1", "C1", "S1");
        let result =
            status(&ids, State::Working, json!({"tool": {"partialJsonLength": 9}, "deep": [1, {"x": 2}]}));
        assert_eq!(
            reply(&json!("r1"), &result),
            r#"{"result":{"statusUpdate":{"contextId":"C1","metadata":{"iac_code":{"deep":[1.0,{"x":2.0}],"tool":{"partialJsonLength":9.0}}},"status":{"state":"TASK_STATE_WORKING"},"taskId":"T1"}},"id":"r1","jsonrpc":"2.0"}"#
        );
    }

    #[test]
    fn times_have_the_shapes_of_the_kernel() {
        let digits =
            |text: &str| text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect::<String>();
        assert_eq!(digits(&ping()), ": ping - 0000-00-00 00:00:00.000000+00:00\r\n\r\n");
        assert_eq!(digits(&timestamp()), "0000-00-00T00:00:00.000000Z");
        assert_eq!(digits(&seconds()), "0000-00-00T00:00:00Z");
    }
}
