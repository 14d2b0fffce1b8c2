//! Says what the user said: `cargo run -p agui-examples --bin echo`, then post to port 8000.

use agui_core::{Agent, BoxFuture, EventSink, Problem, RunLimits, RunRequest, RunStream};

pub(crate) struct Echo;

impl Agent for Echo {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<RunStream, Problem>> {
        let (sink, stream) = EventSink::start(&request.input, RunLimits::default());
        tokio::spawn(async move {
            if let Some(message) = request.input.last_user_message() {
                let mut answer = sink.text_message();
                for word in message.content.to_text().split_inclusive(' ') {
                    sink.ready().await; // The client may be slower than we are.
                    answer.delta(word);
                }
            }
            sink.finish();
        });
        Box::pin(async { Ok(stream) })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    agui_transport::serve(Echo, ([127, 0, 0, 1], 8000)).await?;
    Ok(())
}
