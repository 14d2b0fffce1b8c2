//! Reading the `params` of a message, with the checks that the kernel makes first.

use std::fmt;

use serde_json::{Value, json};
use uuid::Uuid;

use super::task::Mode;
use crate::wire::error_info;

/// A JSON-RPC error in the making.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RpcError {
    pub(super) code: i32,
    pub(super) message: String,
    pub(super) data: Value,
}

impl RpcError {
    pub(super) fn new(code: i32, message: &str, reason: &str) -> Self {
        Self { code, message: message.to_owned(), data: error_info(reason) }
    }

    pub(super) fn invalid(message: &str) -> Self {
        Self::new(-32602, message, "INVALID_PARAMS")
    }

    pub(super) fn task_not_found() -> Self {
        Self::new(-32001, "Task not found", "TASK_NOT_FOUND")
    }
}

/// A message of the client.
#[derive(Clone)]
pub(super) struct Message {
    /// As the first event of the task echoes it.
    pub(super) echo: Value,
    pub(super) context_id: String,
    pub(super) task_id: Option<String>,
    /// All text parts, joined.
    pub(super) text: String,
    /// How many parts are neither text nor a decision.
    pub(super) attachments: usize,
    /// The permission payload, if that is what the message is.
    pub(super) decision: Option<Value>,
    pub(super) cwd: Option<String>,
    pub(super) language: String,
    /// The mode that the request asks for; the kernel's default is normal.
    pub(super) mode: Option<Mode>,
    pub(super) pipeline_name: String,
    pub(super) cleanup_only: bool,
    pub(super) thinking: bool,
}

impl fmt::Debug for Message {
    /// The echo may hold keys, the text is nobody's business.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message")
            .field("context_id", &self.context_id)
            .field("task_id", &self.task_id)
            .finish_non_exhaustive()
    }
}

impl Message {
    pub(super) fn read(params: &Value) -> Result<Self, RpcError> {
        let message = &params["message"];
        let parts = message["parts"].as_array().filter(|parts| !parts.is_empty());
        let Some(parts) = parts else {
            return Err(RpcError::invalid("Validation failed"));
        };
        let meta = &message["metadata"]["iac_code"];
        let string = |name: &str| meta[name].as_str().map(str::trim).filter(|text| !text.is_empty());
        let mode = match string("run_mode").or_else(|| string("runMode")) {
            None => None,
            Some("normal") => Some(Mode::Normal),
            Some("pipeline") => Some(Mode::Pipeline),
            Some(_) => return Err(RpcError::invalid("Unsupported run mode.")),
        };
        let pipeline_name = string("pipeline_name").unwrap_or("selling");
        if mode == Some(Mode::Pipeline) && !["selling", "selling_solution_first"].contains(&pipeline_name) {
            return Err(RpcError::invalid("Unsupported pipeline name."));
        }
        if string("alibaba_cloud_region_id").is_some_and(|region| !is_region(region)) {
            return Err(RpcError::invalid("Unsupported Alibaba Cloud region ID."));
        }
        let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
        let decision = parts.iter().map(|part| &part["data"]).find(|data| data["kind"] == "permission");
        if decision.is_some() && parts.len() != 1 {
            return Err(RpcError::invalid("A permission response must be the only part of its message."));
        }
        let attachments = parts.len() - texts.len();
        let text = texts.join("\n").trim().to_owned();
        if text.is_empty() && attachments == 0 && mode == Some(Mode::Pipeline) {
            return Err(RpcError::invalid("A2A server received empty input."));
        }
        let id = |name: &str| message[name].as_str().filter(|id| !id.is_empty()).map(str::to_owned);
        Ok(Self {
            echo: echo(message),
            context_id: id("contextId").unwrap_or_else(|| Uuid::new_v4().to_string()),
            task_id: id("taskId"),
            text,
            attachments,
            decision: decision.cloned(),
            cwd: string("cwd").map(str::to_owned),
            language: string("preferredLanguage").unwrap_or("en").to_owned(),
            mode,
            pipeline_name: pipeline_name.to_owned(),
            cleanup_only: meta["cleanupOnly"] == json!(true),
            thinking: meta["thinking"]["enabled"] != json!(false),
        })
    }
}

/// The echo keeps everything but the extra LLM headers, secrets included.
fn echo(message: &Value) -> Value {
    let mut echo = message.clone();
    if let Some(meta) = echo.pointer_mut("/metadata/iac_code").and_then(Value::as_object_mut) {
        meta.remove("llm_headers");
    }
    echo
}

fn is_region(region: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    region.len() <= 63 && region.starts_with(plain) && region.chars().all(|c| plain(c) || c == '-')
}
