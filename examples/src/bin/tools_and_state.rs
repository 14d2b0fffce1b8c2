//! A shopping list: a tool of the agent, and state that the front end shows as it changes.
//!
//! `cargo run -p agui-examples --bin tools_and_state`, then say "milk, bread and eggs".

use agui_core::{
    Agent, BoxFuture, EventSink, Problem, RunAgentInput, RunError, RunLimits, RunRequest, RunStream,
};
use serde::{Deserialize, Serialize};

/// What agent and front end share.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct ShoppingList {
    items: Vec<String>,
}

pub(crate) struct Shopper;

impl Agent for Shopper {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<RunStream, Problem>> {
        let (sink, stream) = EventSink::start(&request.input, RunLimits::default());
        tokio::spawn(async move {
            match shop(&sink, &request.input).await {
                Ok(()) => sink.finish(),
                // Whatever was open has been closed on the way here.
                Err(error) => sink.fail(RunError::new(error.to_string()).with_code("BAD_STATE")),
            }
        });
        Box::pin(async { Ok(stream) })
    }
}

async fn shop(sink: &EventSink, input: &RunAgentInput) -> Result<(), serde_json::Error> {
    let mut state = sink.shared_state(input)?;
    let mut list: ShoppingList = serde_json::from_value(state.value().clone())?;
    let said = input.last_user_message().map(|message| message.content.to_text().replace(" and ", ","));
    let wanted = said.unwrap_or_default();

    let step = sink.step("shopping");
    for item in wanted.split(',').map(str::trim).filter(|item| !item.is_empty()) {
        sink.ready().await;
        let mut call = sink.tool_call("add_item");
        call.args(serde_json::to_string(&serde_json::json!({ "item": item }))?);
        list.items.push(item.to_owned());
        call.end().result(format!("{} on the list", list.items.len()));
        state.set(&list)?; // The first time the whole list, then what has changed if that is shorter.
    }
    step.end();

    sink.text_message().delta(format!("The list has {} items.", list.items.len()));
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    agui_transport::serve(Shopper, ([127, 0, 0, 1], 8000)).await?;
    Ok(())
}
