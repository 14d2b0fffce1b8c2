//! An agent inside an axum application, beside a route of its own:
//! `cargo run -p agui-examples --bin axum_app`, then open port 8000, or post runs to `/agent`.

use agui_core::{Agent, BoxFuture, EventSink, Problem, RunLimits, RunRequest, RunStream};
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use tokio::net::TcpListener;

pub(crate) struct Clerk;

impl Agent for Clerk {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<RunStream, Problem>> {
        let (sink, stream) = EventSink::start(&request.input, RunLimits::default());
        tokio::spawn(async move {
            sink.text_message().delta("How can I help you?");
            sink.finish();
        });
        Box::pin(async { Ok(stream) })
    }
}

async fn front_page() -> Html<&'static str> {
    Html("<h1>An application with an agent</h1><p>It takes AG-UI runs at <code>/agent</code>.</p>")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Runs at /agent, health at /agent/health; everything else is the application's.
    let app = Router::new().route("/", get(front_page)).nest("/agent", agui_transport::router(Clerk));
    let listener = TcpListener::bind(("127.0.0.1", 8000)).await?;
    axum::serve(listener, app).await?;
    Ok(())
}
