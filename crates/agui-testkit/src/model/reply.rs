//! Carries out the steps of a turn, as a stream or as one answer.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Frame;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use super::Model;
use super::script::{Failure, Step, ToolCall, Usage};
use crate::net::{Aborted, Body, json_text};

/// How many records wait for the socket: enough to keep it busy, few enough to feel a slow reader.
const QUEUE: usize = 64;

/// The error of the first step, if the turn is one.
pub(super) fn failure(steps: &[Step]) -> Option<Response<Body>> {
    let Failure { status, body } = steps.iter().find_map(|step| step.error.clone())?;
    let status = StatusCode::from_u16(status.unwrap_or(500)).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let default = || json!({"error": {"message": "scripted failure", "type": "server_error"}});
    Some(json_text(status, body.unwrap_or_else(default).to_string()))
}

/// The steps as an event stream.
pub(super) fn streamed(model: Arc<Model>, steps: Vec<Step>, request: &Value) -> Response<Body> {
    let (records, queue) = mpsc::channel(QUEUE);
    let base = json!({
        "id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 1, "model": request["model"],
    });
    let writer = Writer { model, base, records, finish: "stop".to_owned(), usage: None, tools: 0 };
    // The response owns the task: a client that leaves takes it along.
    let task = AbortOnDropHandle::new(tokio::spawn(async move {
        // An error is a client that has left.
        let _ = writer.write(steps).await;
    }));
    let body = stream::unfold((queue, task), |(mut queue, task)| async move {
        let record: Result<Bytes, Aborted> = queue.recv().await?;
        Some((record.map(Frame::data), (queue, task)))
    });
    let mut response = Response::new(StreamBody::new(body).boxed_unsync());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response
}

struct Writer {
    model: Arc<Model>,
    base: Value,
    records: mpsc::Sender<Result<Bytes, Aborted>>,
    finish: String,
    usage: Option<Usage>,
    tools: usize,
}

type Sent = Result<(), mpsc::error::SendError<Result<Bytes, Aborted>>>;

impl Writer {
    async fn write(mut self, steps: Vec<Step>) -> Sent {
        self.delta(json!({"role": "assistant", "content": ""})).await?;
        for step in steps {
            let cut = step.drop;
            self.step(step).await?;
            if cut {
                return self.records.send(Err(Aborted)).await;
            }
        }
        self.chunk(json!([{"index": 0, "delta": {}, "finish_reason": self.finish}]), None).await?;
        if let Some(usage) = self.usage {
            self.chunk(json!([]), Some(usage)).await?;
        }
        self.records.send(Ok(Bytes::from_static(b"data: [DONE]\n\n"))).await
    }

    async fn step(&mut self, step: Step) -> Sent {
        for text in step.text.iter().chain(&step.texts) {
            self.delta(json!({"content": text})).await?;
        }
        if let Some(text) = &step.repeat {
            for number in 0..step.n {
                self.delta(json!({"content": text.replace("%d", &number.to_string())})).await?;
            }
        }
        for text in step.reasoning.iter().chain(&step.reasonings) {
            self.delta(json!({"reasoning_content": text})).await?;
        }
        if let Some(tool) = &step.tool {
            self.tool(tool).await?;
        }
        tokio::time::sleep(Duration::from_millis(step.delay_ms)).await;
        if let Some(name) = &step.hold {
            self.model.held(name).await;
        }
        if let Some(finish) = step.finish {
            self.finish = finish;
        }
        self.usage = step.usage.or(self.usage);
        Ok(())
    }

    async fn tool(&mut self, tool: &ToolCall) -> Sent {
        let index = self.tools;
        self.tools += 1;
        "tool_calls".clone_into(&mut self.finish);
        let function = json!({"name": tool.name, "arguments": ""});
        let call = json!({"index": index, "id": tool.id, "type": "function", "function": function});
        self.delta(json!({"tool_calls": [call]})).await?;
        let arguments: Vec<char> = tool.arguments().chars().collect();
        for piece in arguments.chunks(tool.chunk.unwrap_or(16).max(1)) {
            let function = json!({"arguments": piece.iter().collect::<String>()});
            self.delta(json!({"tool_calls": [{"index": index, "function": function}]})).await?;
        }
        Ok(())
    }

    async fn delta(&self, delta: Value) -> Sent {
        self.chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}]), None).await
    }

    async fn chunk(&self, choices: Value, usage: Option<Usage>) -> Sent {
        let mut chunk = self.base.clone();
        chunk["choices"] = choices;
        if let Some(usage) = usage {
            chunk["usage"] = counts(usage);
        }
        self.records.send(Ok(format!("data: {chunk}\n\n").into())).await
    }
}

fn counts(usage: Usage) -> Value {
    json!({
        "prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
    })
}

/// The steps as one answer.
pub(super) async fn whole(model: &Model, steps: Vec<Step>, request: &Value) -> Response<Body> {
    let (mut text, mut reasoning, mut calls) = (String::new(), String::new(), Vec::new());
    let (mut usage, mut finish) = (Usage::default(), "stop");
    for step in steps {
        if let Some(name) = &step.hold {
            model.held(name).await;
        }
        tokio::time::sleep(Duration::from_millis(step.delay_ms)).await;
        step.text.iter().chain(&step.texts).for_each(|piece| text.push_str(piece));
        step.reasoning.iter().chain(&step.reasonings).for_each(|piece| reasoning.push_str(piece));
        if let Some(tool) = &step.tool {
            let function = json!({"name": tool.name, "arguments": tool.arguments()});
            calls.push(json!({"id": tool.id, "type": "function", "function": function}));
            finish = "tool_calls";
        }
        usage = step.usage.unwrap_or(usage);
    }
    let content = if text.is_empty() { Value::Null } else { Value::String(text) };
    let mut message = json!({"role": "assistant", "content": content});
    if !reasoning.is_empty() {
        message["reasoning_content"] = json!(reasoning);
    }
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    let body = json!({
        "id": "chatcmpl-scripted", "object": "chat.completion", "created": 1, "model": request["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": counts(usage),
    });
    json_text(StatusCode::OK, body.to_string())
}
