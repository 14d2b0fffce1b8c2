//! Routes beside those for runs and health; `docs/extensions.md` describes them.

use agui_adapter::{Adapter, AttachRequest, CancelRequest, NumberedEvent, OnDisconnect, WaitingRequest};
use agui_iac_code::MessageKey;
use agui_transport::{Route, RouteReply, RouteRequest, ServerBuilder, SseRecord};
use futures_util::StreamExt as _;
use http::StatusCode;

/// Path of the cancel extension (S1.3).
pub const CANCEL_PATH: &str = "/extensions/iac-code/v1/executions/{executionId}/cancel";
/// Path of the list of what waits for a person.
pub const INTERRUPTS_PATH: &str = "/extensions/agui/v1/interrupts";
/// Path of the events of a run.
pub const EVENTS_PATH: &str = "/extensions/agui/v1/runs/{threadId}/{runId}/events";

/// Adds the routes; reading a run again only if runs outlive their clients.
pub fn add(server: ServerBuilder, adapter: &Adapter, on_disconnect: OnDisconnect) -> ServerBuilder {
    let server = server.route(cancel(adapter.clone())).route(interrupts(adapter.clone()));
    match on_disconnect {
        OnDisconnect::Cancel => server,
        _ => server.number_events().route(events(adapter.clone())),
    }
}

fn cancel(adapter: Adapter) -> Route {
    let route = Route::post(CANCEL_PATH, move |request: RouteRequest| {
        let adapter = adapter.clone();
        async move {
            let execution = request.param("executionId").unwrap_or_default();
            let decoded = CancelRequest::decode(execution, &request.body, request.language);
            let reply = match decoded {
                Ok(cancel) => adapter.cancel(cancel, request.language).await,
                Err(problem) => Err(problem),
            };
            match reply {
                Ok(reply) => RouteReply::json(StatusCode::OK, &reply),
                Err(problem) => RouteReply::Problem(problem),
            }
        }
    });
    route.with_max_body_bytes(Route::MAX_BODY_BYTES, MessageKey::CancelBodyTooLarge)
}

fn interrupts(adapter: Adapter) -> Route {
    Route::get(INTERRUPTS_PATH, move |request: RouteRequest| {
        let adapter = adapter.clone();
        async move {
            let (limit, cursor) = (request.query_param("limit"), request.query_param("cursor"));
            let decoded = WaitingRequest::decode(limit.as_deref(), cursor.as_deref(), request.language);
            let reply = match decoded {
                Ok(waiting) => adapter.waiting(waiting, request.language).await,
                Err(problem) => Err(problem),
            };
            match reply {
                Ok(page) => RouteReply::json(StatusCode::OK, &page),
                Err(problem) => RouteReply::Problem(problem),
            }
        }
    })
}

fn events(adapter: Adapter) -> Route {
    let route = Route::get(EVENTS_PATH, move |request: RouteRequest| {
        let adapter = adapter.clone();
        async move {
            let id = |name| request.param(name).unwrap_or_default();
            // The raw bytes: a value that is no text must not pass for one that is absent.
            let last = request.headers.get("last-event-id").map(http::HeaderValue::as_bytes);
            let decoded = AttachRequest::decode(id("threadId"), id("runId"), last, request.language);
            match decoded.and_then(|attach| adapter.attach(&attach, request.language)) {
                Ok(events) => RouteReply::records(events.filter_map(|event| async move { record(&event) })),
                Err(problem) => RouteReply::Problem(problem),
            }
        }
    });
    route.with_event_stream()
}

fn record(NumberedEvent { position, event, .. }: &NumberedEvent) -> Option<SseRecord> {
    let mut json = Vec::new();
    match event.to_json_into(&mut json) {
        Ok(()) => Some(SseRecord::new(json).with_id(position.to_string())),
        Err(error) => {
            tracing::error!(%error, "an event that cannot be written is left out");
            None
        }
    }
}
