//! Routes of the model server, its log, and its controls.

use std::sync::{Arc, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::{Response, StatusCode};
use serde_json::{Value, json};

use super::script::message_text;
use super::{Model, ModelScript, reply};
use crate::log::LoggedRequest;
use crate::net::{Aborted, Body, Handler, json_text};

/// Most characters of a message that the log keeps, and of a system prompt.
const LOG_TEXT: (usize, usize) = (4000, 200);

impl Handler for Model {
    fn handle(
        self: Arc<Self>,
        request: LoggedRequest,
    ) -> BoxFuture<'static, Result<Response<Body>, Aborted>> {
        async move { Ok(self.route(&request).await) }.boxed()
    }
}

impl Model {
    async fn route(self: Arc<Self>, request: &LoggedRequest) -> Response<Body> {
        let path = request.path();
        if let Some(name) = path.strip_prefix("/_lab/release/") {
            self.release(name);
            return json(StatusCode::OK, &json!({"released": true}));
        }
        match path {
            "/health" => json(StatusCode::OK, &json!({"status": "ok"})),
            "/_lab/scenario" => match ModelScript::from_json(&request.json) {
                Ok(script) => {
                    let turns = script.turns();
                    self.set_script(script);
                    json(StatusCode::OK, &json!({"turns": turns}))
                }
                Err(error) => {
                    json(StatusCode::BAD_REQUEST, &json!({"error": {"message": error.to_string()}}))
                }
            },
            "/_lab/log" => {
                let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner).clone();
                json(StatusCode::OK, &Value::Array(entries))
            }
            _ if request.method == "GET" && path.ends_with("/models") => {
                let models = json!([{"id": "scripted-model", "object": "model"}]);
                json(StatusCode::OK, &json!({"object": "list", "data": models}))
            }
            _ if path.ends_with("/chat/completions") => self.complete(request).await,
            _ => json(StatusCode::NOT_FOUND, &json!({"error": {"message": format!("no route {path}")}})),
        }
    }

    async fn complete(self: Arc<Self>, request: &LoggedRequest) -> Response<Body> {
        let body = &request.json;
        let raw = String::from_utf8_lossy(&request.body);
        let (turn, steps) = self.script.lock().unwrap_or_else(PoisonError::into_inner).pick(body, &raw);
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).push(entry(body, turn));
        if let Some(failure) = reply::failure(&steps) {
            return failure;
        }
        if body["stream"] == json!(true) {
            return reply::streamed(self, steps, body);
        }
        reply::whole(&self, steps, body).await
    }

    /// Returns when the name has been released.
    pub(super) async fn held(&self, name: &str) {
        let mut released = self.released.subscribe();
        let _ = released.wait_for(|names| names.contains(name)).await;
    }
}

/// What a test may want to know of a request, without the bulk of it.
fn entry(request: &Value, turn: Option<usize>) -> Value {
    let message = |message: &Value| {
        let limit = if message["role"] == "system" { LOG_TEXT.1 } else { LOG_TEXT.0 };
        let text: String = message_text(message).chars().take(limit).collect();
        let mut short = json!({"role": message["role"], "text": text});
        if !message["tool_calls"].is_null() {
            short["tool_calls"] = message["tool_calls"].clone();
        }
        short
    };
    let tools = request["tools"].as_array().into_iter().flatten();
    let messages = request["messages"].as_array().into_iter().flatten();
    let known = ["messages", "tools", "stream", "model"];
    let extra = request.as_object().into_iter().flatten().filter(|(key, _)| !known.contains(&key.as_str()));
    let extra: serde_json::Map<String, Value> =
        extra.map(|(key, value)| (key.clone(), value.clone())).collect();
    json!({
        "turn": turn.and_then(|turn| i64::try_from(turn).ok()).unwrap_or(-1),
        "stream": request["stream"] == json!(true), "model": request["model"],
        "tools": tools.map(|tool| &tool["function"]["name"]).collect::<Vec<_>>(),
        "extra": extra, "messages": messages.map(message).collect::<Vec<_>>(),
    })
}

fn json(status: StatusCode, value: &Value) -> Response<Body> {
    json_text(status, value.to_string())
}
