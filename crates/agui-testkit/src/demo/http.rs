//! Routes and the token check.

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::{HeaderValue, Response, StatusCode, header};
use serde_json::{Value, json};

use super::kernel::Kernel;
use crate::log::LoggedRequest;
use crate::net::{Aborted, Body, Handler, json_text};

impl Handler for Kernel {
    fn handle(
        self: Arc<Self>,
        request: LoggedRequest,
    ) -> BoxFuture<'static, Result<Response<Body>, Aborted>> {
        async move { Ok(self.route(&request).await) }.boxed()
    }
}

impl Kernel {
    async fn route(self: &Arc<Self>, request: &LoggedRequest) -> Response<Body> {
        if let Some(token) = &self.config.token
            && request.header("authorization") != Some(&format!("Bearer {token}"))
        {
            return json(StatusCode::UNAUTHORIZED, &json!({"error": "Unauthorized"}));
        }
        match (request.method.as_str(), request.path()) {
            ("POST", "/") => self.rpc(request).await,
            ("GET", "/health") => {
                json(StatusCode::OK, &json!({"status": "healthy", "version": VERSION, "mode": "normal"}))
            }
            ("GET", "/.well-known/agent-card.json") => {
                let host = request.header("host").unwrap_or("127.0.0.1");
                let mut response = json(StatusCode::OK, &card(&format!("http://{host}/")));
                let cache = HeaderValue::from_static("public, max-age=60");
                response.headers_mut().insert(header::CACHE_CONTROL, cache);
                response
            }
            ("GET", "/iac-code/pipeline/state") => self.pipeline_state(request),
            ("POST", "/iac-code/session/ensure-restored") => self.ensure_restored(&request.json),
            ("GET", "/iac-code/session/recovery") => self.recovery(request),
            _ => json(StatusCode::NOT_FOUND, &json!({"error": "Not Found"})),
        }
    }
}

/// The version of iac-code whose wire this kernel copies.
const VERSION: &str = "0.16.0";

pub(super) fn json(status: StatusCode, value: &Value) -> Response<Body> {
    json_text(status, value.to_string())
}

fn card(url: &str) -> Value {
    json!({
        "name": "iac-code demo kernel",
        "description": "A scripted kernel that speaks the A2A dialect of iac-code and changes nothing",
        "version": VERSION,
        "supportedInterfaces": [{"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "capabilities": {
            "streaming": true,
            "extensions": [
                {"uri": "urn:iac-code:a2a:artifact-metadata:v1"},
                {
                    "uri": "urn:iac-code:a2a:thinking-exposure:v1",
                    "params": {"enabledTypes": ["raw_thinking", "tool_trace"]},
                },
                {
                    "uri": super::journal::EXTENSION,
                    "params": {"enabled": true, "stateEndpoint": "/iac-code/pipeline/state"},
                },
            ],
        },
        "defaultInputModes": ["text/plain", "image/png", "image/jpeg"],
        "defaultOutputModes": ["text/plain"],
        "skills": [{
            "id": "demo", "name": "Scripted scenarios", "description": "A word in the prompt chooses one",
            "tags": ["demo"],
        }],
        "url": url, "preferredTransport": "JSONRPC", "protocolVersion": "1.0",
    })
}
