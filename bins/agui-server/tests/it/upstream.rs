//! The server in front of a kernel that follows a script.

use agui_testkit::client::Recording;
use agui_testkit::client::input::RunInput;
use agui_testkit::faulty::{FaultyServer, Script, Step, ids};
use agui_testkit::wire::{self, PermissionRequest, State, iac, permission_input, status};
use serde_json::{Value, json};

use crate::stack::{Stack, faulty};

/// Request kinds of the scripts.
pub(crate) const SEND: &str = "SendStreamingMessage";
pub(crate) const UNARY: &str = "SendMessage";
pub(crate) const GET: &str = "GetTask";
pub(crate) const CANCEL: &str = "CancelTask";
pub(crate) const SUBSCRIBE: &str = "SubscribeToTask";
pub(crate) const RESTORE: &str = "POST /iac-code/session/ensure-restored";
pub(crate) const PIPELINE: &str = "GET /iac-code/pipeline/state";

/// A scripted kernel and the server in front of it.
pub(crate) struct Rig {
    pub(crate) kernel: FaultyServer,
    pub(crate) stack: Stack,
}

impl Rig {
    pub(crate) async fn start(script: Script) -> Self {
        Self::start_with(script, &[]).await
    }

    pub(crate) async fn start_with(script: Script, flags: &[&str]) -> Self {
        let kernel = faulty(complete(script)).await;
        let stack = Stack::start_with(&kernel.url(), flags, &[]).await;
        Self { kernel, stack }
    }

    pub(crate) fn play(&self, script: Script) {
        self.kernel.set_script(complete(script));
    }

    pub(crate) fn input(&self, thread: &str, run: &str) -> RunInput {
        self.stack.input(thread, run)
    }

    pub(crate) async fn say(&self, thread: &str, run: &str) -> Recording {
        self.stack.say(thread, run, "go").await
    }

    pub(crate) fn count(&self, kind: &str) -> usize {
        self.kernel.requests().count(kind)
    }

    /// The parts of every message that was sent to an existing task: `(task, part)`.
    pub(crate) fn answers(&self) -> Vec<Value> {
        let all = self.kernel.requests().all();
        let messages = all.iter().filter(|request| [SEND, UNARY].contains(&request.kind().as_str()));
        let to_tasks = messages.map(|request| request.message().clone());
        to_tasks
            .filter(|message| message["taskId"].is_string())
            .map(|message| message["parts"][0].clone())
            .collect()
    }
}

/// The script with what every kernel can do; rules of the script itself win.
pub(crate) fn complete(script: Script) -> Script {
    let absent = json!({"error": "A2A pipeline state not found"});
    script
        .with_cancel()
        .always(RESTORE, [Step::json(200, &json!({"status": "current"}))])
        .always(PIPELINE, [Step::json(404, &absent)])
}

/// A status update of the request's own task, with the session and more.
pub(crate) fn update(state: State, more: Value) -> Step {
    Step::Result(status(&ids(), state, iac(&ids(), more)))
}

/// The same for the stream of a subscription, whose request does not name the context.
pub(crate) fn followed(state: State, more: Value) -> Step {
    let mut update = status(&ids(), state, iac(&ids(), more));
    update["statusUpdate"].as_object_mut().unwrap().remove("contextId");
    Step::Result(update)
}

/// A piece of text for the stream of a subscription.
pub(crate) fn followed_text(text: &str) -> Step {
    let mut update = wire::text_delta(&ids(), text);
    update["statusUpdate"].as_object_mut().unwrap().remove("contextId");
    let message = update["statusUpdate"]["status"]["message"].as_object_mut().unwrap();
    message.remove("contextId");
    Step::Result(update)
}

/// The task as `GetTask` gives it.
pub(crate) fn task(state: State, more: Value) -> Value {
    let mut metadata = json!({"iac_code": iac(&ids(), more)});
    wire::doubles(&mut metadata);
    json!({"id": ids().task_id, "status": {"state": state.as_str()}, "metadata": metadata})
}

/// The answer to `GetTask`.
pub(crate) fn found(state: State, more: Value) -> Step {
    Step::Reply(task(state, more))
}

/// The `input` of a permission.
pub(crate) fn permission(id: &str, call: &str, content: &str) -> Value {
    let mut request = PermissionRequest::new(call, "main.tf", content);
    id.clone_into(&mut request.input_id);
    permission_input(&ids(), &request)
}

/// The `input` of a question with two options and free text.
pub(crate) fn question(id: &str, prompt: &str) -> Value {
    json!({
        "schemaVersion": 1, "kind": "ask_user_question", "requestTaskId": ids().task_id,
        "contextId": ids().context_id, "inputId": id, "toolUseId": format!("call-{id}"), "prompt": prompt,
        "allowFreeText": true, "required": true,
        "options": [{"id": "a", "label": "Zone A"}, {"id": "b", "label": "Zone B"}],
    })
}

/// A turn that stops at one question.
pub(crate) fn asks(input: &Value) -> Vec<Step> {
    Step::turn([Step::text("I ask. "), update(State::InputRequired, json!({"input": input}))])
}

/// A stream that says that an answer arrived, and goes on with `steps`.
pub(crate) fn received(kind: &str, id: &str, steps: impl IntoIterator<Item = Step>) -> Vec<Step> {
    let receipt = json!({"inputReceived": {"kind": kind, "inputId": id}});
    let mut all = vec![Step::sse(), update(State::Working, receipt)];
    all.extend(steps);
    all
}

/// A stream that says that an answer arrived, and ends the turn.
pub(crate) fn received_and_done(kind: &str, id: &str) -> Vec<Step> {
    let mut steps = vec![Step::text("Thanks.")];
    steps.extend(Step::turn_end("Thanks."));
    received(kind, id, steps)
}

/// The unary acknowledgement of a permission.
pub(crate) fn acknowledged(id: &str, call: &str, decision: &str) -> Step {
    Step::Reply(json!({"message": {
        "messageId": "ack", "role": "ROLE_AGENT", "parts": [{
            "data": {
                "schemaVersion": 1.0, "kind": "permission_ack", "inputId": id, "toolUseId": call,
                "decision": decision, "accepted": true,
            },
            "mediaType": "application/json",
        }],
    }}))
}
