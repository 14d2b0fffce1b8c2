use a2a_wire::StreamItem;
use agui_core::UnixMillis;
use agui_mapper::{EventMapper, MapperConfig};
use agui_testkit::wire::{
    Ids, PermissionRequest, State, agent_message, final_text, iac, permission_input, status, task,
    text_delta, whole_message,
};
use serde_json::{Value, json};

use super::*;

fn ids() -> Ids {
    Ids::new("T", "C", "S")
}

fn update(state: State, more: Value) -> Value {
    status(&ids(), state, iac(&ids(), more))
}

fn permission() -> Value {
    let mut request = PermissionRequest::new("call-1", "main.tf", "x");
    "p1".clone_into(&mut request.input_id);
    permission_input(&ids(), &request)
}

/// The verdict after these updates, in one word or as code and text.
fn after(updates: &[Value]) -> String {
    after_as(Dialect::IacCode, updates)
}

fn after_as(dialect: Dialect, updates: &[Value]) -> String {
    let config = MapperConfig::new("t", "r", "e", "inv", "C").with_dialect(dialect);
    let mut mapper = EventMapper::new(config);
    for update in updates {
        let raw = serde_json::value::to_raw_value(update).unwrap();
        let item = StreamItem::from_result(&raw).unwrap();
        mapper.handle_item(UnixMillis::new(1), &item);
        while mapper.poll_event().is_some() {}
    }
    match verdict(mapper.observed()) {
        Verdict::Failed(notice) => format!("{} {}", notice.code, notice.key),
        verdict => format!("{verdict:?}"),
    }
}

/// A rule, the updates that it is about, and what it says.
type Row = (&'static str, Vec<Value>, &'static str);

fn check(rows: Vec<Row>) {
    for (rule, updates, expected) in rows {
        assert_eq!(after(&updates), expected, "{rule}");
    }
}

#[test]
fn a_task_that_works_is_not_settled_and_one_that_ended_is() {
    let asks = || update(State::InputRequired, json!({"input": permission()}));
    let state = |state: State| update(state, json!({}));
    let error = |more: Value| update(State::Failed, json!({"error": more}));
    check(vec![
        ("nothing was said", vec![], "Unsettled"),
        ("it was submitted", vec![task(&ids(), State::Submitted, None)], "Unsettled"),
        ("it works", vec![state(State::Working), text_delta(&ids(), "Hi")], "Unsettled"),
        ("it is complete", vec![state(State::Completed)], "Success"),
        ("it is complete although something was asked", vec![asks(), state(State::Completed)], "Success"),
        ("it was cancelled", vec![state(State::Canceled)], "Cancelled"),
        ("it was cancelled while it asked", vec![asks(), state(State::Canceled)], "Cancelled"),
        ("it failed", vec![state(State::Failed)], "A2A_EXECUTION_FAILED error-execution-failed"),
        ("it was rejected", vec![state(State::Rejected)], "A2A_EXECUTION_FAILED error-execution-failed"),
        (
            "it failed with a number",
            vec![error(json!({"errorId": "e7"}))],
            "A2A_EXECUTION_FAILED error-execution-failed-with-id",
        ),
        (
            "it failed for now",
            vec![error(json!({"retryable": true, "errorId": "e7"}))],
            "A2A_EXECUTION_FAILED error-execution-failed-for-now",
        ),
        (
            "it failed and a backup is to blame",
            vec![update(State::Failed, json!({"backupBlocked": {"reason": "terminal"}}))],
            "SESSION_BACKUP_NOT_READY error-backup-blocked",
        ),
        (
            "a message came instead",
            vec![json!({"message": agent_message(&Ids::new("", "C", ""), "m", "Hi")})],
            "Success",
        ),
    ]);
}

#[test]
fn a_task_that_stopped_waits_for_a_person_or_its_turn_is_over() {
    let stopped = |more: Value| update(State::InputRequired, more);
    let mut paused = update(State::Working, json!({}));
    paused["statusUpdate"]["status"]["state"] = json!("paused");
    let said = whole_message(&ids(), State::InputRequired, "Which region?", iac(&ids(), json!({})));
    let mut beside = permission();
    beside["subPipelineId"] = json!("candidate-1");
    check(vec![
        (
            "a normal turn ends like that",
            vec![text_delta(&ids(), "Hi"), final_text(&ids(), "Hi"), stopped(json!({}))],
            "Success",
        ),
        ("it asks", vec![stopped(json!({"input": permission()}))], "Interrupt"),
        ("it asks in words", vec![said], "Interrupt"),
        ("it wants a sign-in", vec![update(State::AuthRequired, json!({}))], "Interrupt"),
        (
            "what it asks is not required",
            vec![
                text_delta(&ids(), "Hi"),
                stopped(json!({"input": {"kind": "permission", "inputId": "p1", "required": false}})),
            ],
            "Success",
        ),
        (
            "a branch asks beside the stream",
            vec![update(State::Working, json!({"input": beside}))],
            "Interrupt",
        ),
        (
            "a permission is listed beside the stream",
            vec![update(State::Working, json!({"pendingPermissions": [permission()]}))],
            "Interrupt",
        ),
        (
            "a question of the task itself, which still works",
            vec![update(State::Working, json!({"input": permission()}))],
            "Unsettled",
        ),
        (
            "it asked, and works again",
            vec![
                stopped(json!({"input": permission()})),
                update(State::Working, json!({"inputReceived": {"kind": "permission", "inputId": "p1"}})),
            ],
            "Unsettled",
        ),
        ("a state that nobody knows", vec![text_delta(&ids(), "Hi"), paused], "Unsettled"),
    ]);
}

#[test]
fn a_task_that_stopped_for_a_reason_tells_it() {
    let stopped = |more: Value| update(State::InputRequired, more);
    let suspended = json!({"permissionWait": {"status": "suspended", "resumable": true}});
    check(vec![
        (
            "an answer was not taken (weakness 30)",
            vec![
                stopped(json!({"input": permission()})),
                stopped(json!({"permissionIdentityError": {"inputId": "p1"}})),
            ],
            "Interrupt",
        ),
        (
            "an answer was not taken, and nobody knows to what",
            vec![stopped(json!({"permissionIdentityError": {}}))],
            "A2A_UNAVAILABLE error-permission-not-accepted",
        ),
        (
            "a passing failure (weakness 29)",
            vec![stopped(json!({"error": {"retryable": true}}))],
            "A2A_EXECUTION_FAILED error-execution-failed-for-now",
        ),
        (
            "a failure that did not end the task",
            vec![stopped(json!({"error": {"retryable": false}}))],
            "A2A_EXECUTION_FAILED error-execution-failed",
        ),
        (
            "a backup (weakness 29)",
            vec![stopped(json!({"backupBlocked": {"reason": "terminal"}}))],
            "SESSION_BACKUP_NOT_READY error-backup-blocked",
        ),
        (
            "a suspended wait (weakness 29)",
            vec![stopped(suspended.clone())],
            "A2A_EXECUTION_FAILED error-permission-suspended",
        ),
        (
            "a suspended wait while it works on",
            vec![update(State::Working, suspended)],
            "A2A_EXECUTION_FAILED error-permission-suspended",
        ),
    ]);
}

#[test]
fn weakness_9_another_identity_counts_before_everything_else() {
    let of = |task: &str, context: &str, session: &str| {
        let ids = Ids::new(task, context, session);
        status(&ids, State::Completed, iac(&ids, json!({})))
    };
    let first = || update(State::Working, json!({}));
    check(vec![
        ("another context", vec![of("T", "other", "S")], "A2A_PROTOCOL_ERROR error-context-changed"),
        ("another task", vec![first(), of("other", "C", "S")], "A2A_PROTOCOL_ERROR error-task-changed"),
        ("another session", vec![first(), of("T", "C", "other")], "A2A_PROTOCOL_ERROR error-session-changed"),
        (
            "everything else",
            vec![first(), of("other", "other", "other")],
            "A2A_PROTOCOL_ERROR error-context-changed",
        ),
    ]);
}

#[test]
fn a_state_of_another_agent_means_what_a2a_says() {
    let state =
        |state: &str| json!({"statusUpdate": {"taskId": "T", "contextId": "C", "status": {"state": state}}});
    let direct = json!({"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "Hi"}]}});
    let rows = [
        (vec![state("TASK_STATE_WORKING")], "Unsettled"),
        (vec![state("TASK_STATE_INPUT_REQUIRED")], "Interrupt"),
        (vec![state("auth-required")], "Interrupt"),
        (vec![state("input-required"), state("working")], "Unsettled"),
        (vec![state("completed")], "Success"),
        (vec![state("canceled")], "Cancelled"),
        (vec![state("failed")], "A2A_EXECUTION_FAILED error-execution-failed"),
        (vec![state("rejected")], "A2A_EXECUTION_FAILED error-request-refused"),
        (vec![state("paused")], "Unsettled"),
        (vec![direct], "Success"),
    ];
    for (updates, expected) in rows {
        assert_eq!(after_as(Dialect::Plain, &updates), expected, "{updates:?}");
    }
}
