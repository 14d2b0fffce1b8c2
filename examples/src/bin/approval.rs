//! Asks before it acts: the run ends with an interrupt, and the next one carries the answer.
//!
//! `cargo run -p agui-examples --bin approval`, then name a file to be deleted. No file is touched.

use agui_core::{
    Agent, BoxFuture, EventSink, Interrupt, JsonObject, Problem, ResumeEntry, ResumeStatus, RunLimits,
    RunRequest, RunStream,
};
use serde::Deserialize;
use serde_json::json;

/// The answer, as the schema of the question describes it.
#[derive(Deserialize)]
struct Answer {
    approved: bool,
}

pub(crate) struct Careful;

impl Agent for Careful {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<RunStream, Problem>> {
        Box::pin(async move {
            let schema = json!({
                "type": "object",
                "properties": { "approved": { "type": "boolean" } },
                "required": ["approved"],
            });
            let schema = JsonObject::from_serialize(&schema)
                .map_err(|error| Problem::new(500, "INTERNAL", error.to_string()))?;
            let (sink, stream) = EventSink::start(&request.input, RunLimits::default());
            // Nothing here has to wait, so there is no task of its own.
            if request.input.resume.is_empty() {
                let said = request.input.last_user_message().map(|message| message.content.to_text());
                ask(sink, &said.unwrap_or_default(), schema);
            } else {
                go_on(sink, &request.input.resume);
            }
            Ok(stream)
        })
    }
}

/// The call is complete when the question is asked; only its result waits.
fn ask(sink: EventSink, path: &str, schema: JsonObject) {
    let mut call = sink.tool_call("delete_file");
    call.args(json!({ "path": path }).to_string());
    let call = call.end();
    // The interrupt has the id of its call: then the next run knows which call it answers.
    let question = Interrupt::new(call.id().as_str(), "tool_call")
        .with_tool_call_id(call.id())
        .with_message(format!("Delete {path}?"))
        .with_response_schema(schema);
    sink.interrupt([question]);
}

fn go_on(sink: EventSink, answers: &[ResumeEntry]) {
    for answer in answers {
        let result = if is_approved(answer) { "deleted" } else { "not deleted: the user said no" };
        sink.tool_result(answer.interrupt_id.as_str(), result);
    }
    sink.text_message().delta("Done as you said.");
    sink.finish();
}

/// Only a clear yes is one.
fn is_approved(answer: &ResumeEntry) -> bool {
    let said = answer.payload.as_ref().and_then(|payload| payload.parse::<Answer>().ok());
    answer.status == ResumeStatus::Resolved && said.is_some_and(|said| said.approved)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    agui_transport::serve(Careful, ([127, 0, 0, 1], 8000)).await?;
    Ok(())
}
