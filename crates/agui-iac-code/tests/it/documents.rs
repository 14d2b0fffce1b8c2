//! The recorded pipeline states, and a session recovery as it is described.

use agui_iac_code::metadata::{InputKind, PipelineStatus, Scope};
use agui_iac_code::{PipelineState, RecoveredMessage, SessionRecovery};
use serde_json::value::RawValue;

use crate::traces::answers;

#[test]
fn every_recorded_pipeline_state_is_read_without_notes() {
    let mut states = 0;
    let mut events = 0;
    let mut open = 0;
    for answer in answers().into_iter().filter(|answer| answer.path.starts_with("/iac-code/pipeline/state")) {
        let document: &RawValue = serde_json::from_str(&answer.body).unwrap();
        let state = PipelineState::read(document);

        assert!(state.notes.is_empty(), "{}: {:?}", answer.scenario, state.notes);
        let snapshot = state.snapshot.as_deref().unwrap();
        assert!(snapshot.task_id.is_some() && snapshot.pipeline_run_id.is_some());
        let last = state.events.iter().map(|event| event.sequence.unwrap()).max();
        assert_eq!(state.last_sequence, snapshot.last_sequence.max(last), "{}", answer.scenario);
        assert!(!snapshot.steps.is_empty(), "{}", answer.scenario);
        assert!(snapshot.status.is_some_and(|status| status != PipelineStatus::Other), "{}", answer.scenario);
        assert!(answer.body.contains(snapshot.raw.get()), "{}", answer.scenario);
        let questions = snapshot.pending_input.as_deref().into_iter().chain(&snapshot.pending_permissions);
        for question in questions {
            assert!(question.request_task_id.is_some() && question.context_id.is_some());
            assert_ne!(question.kind, InputKind::Other);
            assert!(!question.interrupt_id().contains("unknown"));
            open += 1;
        }
        states += 1;
        events += state.events.len();
    }
    assert!(states > 20 && events > 100 && open > 10, "{states} {events} {open}");
}

#[test]
fn a_pending_permission_of_a_candidate_is_found_in_the_snapshot() {
    let document = r#"{"snapshot":{"taskId":"T1","contextId":"C1","status":"working","lastSequence":45.0,
        "pendingInput":null,"display":{"permissions":[
        {"inputId":"permission-1","pending":true,"scope":"candidate_step","candidate":{"id":"sub-0"}},
        {"inputId":"permission-2","pending":false},{"inputId":"permission-3"}]}},"events":[]}"#;

    let state = PipelineState::read(serde_json::from_str(document).unwrap());

    assert!(state.notes.is_empty(), "{:?}", state.notes);
    let snapshot = state.snapshot.unwrap();
    let [permission] = snapshot.pending_permissions.as_slice() else { panic!("{snapshot:?}") };
    assert_eq!(permission.interrupt_id(), "permission-1");
    assert_eq!((permission.kind, permission.scope), (InputKind::Permission, Some(Scope::CandidateStep)));
    assert_eq!(permission.sub_pipeline_id.as_deref(), Some("sub-0"));
    assert_eq!(
        (permission.request_task_id.as_deref(), permission.context_id.as_deref()),
        (Some("T1"), Some("C1"))
    );
    assert!(permission.is_sideband());
}

#[test]
fn a_state_without_snapshot_tells_its_positions() {
    let document = r#"{"events":[{"eventId":"evt-1","sequence":4,"eventType":"usage"}],"fromSequence":3,"lastSequence":4}"#;

    let state = PipelineState::read(serde_json::from_str(document).unwrap());

    assert_eq!(
        (state.snapshot.is_none(), state.from_sequence, state.last_sequence),
        (true, Some(3), Some(4))
    );
    assert_eq!(state.events[0].sequence, Some(4));
}

#[test]
fn a_session_recovery_is_read() {
    let document = r#"{"contextId":"C1","taskId":"T1","executionId":"exec-1","revision":3,"executionStatus":
        "input-required","outputText":["The ","VPC"],"task":{"id":"T1"},"messages":[{"role":"user","content":"hi"},
        {"role":"assistant","content":[{"type":"text","text":"ho"}]}],"executionControl":{"phase":"running"}}"#;

    let recovery = SessionRecovery::read(serde_json::from_str(document).unwrap());

    assert!(recovery.notes.is_empty(), "{:?}", recovery.notes);
    assert_eq!((recovery.context_id.as_deref(), recovery.task_id.as_deref()), (Some("C1"), Some("T1")));
    assert_eq!((recovery.execution_id.as_deref(), recovery.revision), (Some("exec-1"), Some(3)));
    assert_eq!(recovery.execution_status.as_deref(), Some("input-required"));
    assert_eq!(recovery.output_text.concat(), "The VPC");
    assert_eq!(recovery.task.unwrap().get(), r#"{"id":"T1"}"#);
    let roles: Vec<_> = recovery.messages.iter().map(|message| message.role.as_deref().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant"]);
    let texts: Vec<_> = recovery.messages.iter().map(RecoveredMessage::text).collect();
    assert_eq!(texts, [Some("hi".into()), None]);
    assert_eq!(recovery.execution_control.unwrap().phase.as_deref(), Some("running"));
}

#[test]
fn documents_of_another_shape_are_empty() {
    for text in ["null", "[]", "\"A2A pipeline state not found\"", "7"] {
        let state = PipelineState::read(serde_json::from_str(text).unwrap());
        let recovery = SessionRecovery::read(serde_json::from_str(text).unwrap());
        assert!(state.snapshot.is_none() && state.events.is_empty(), "{text}");
        assert_eq!((state.notes.count(), recovery.notes.count()), (1, 1), "{text}");
    }
}
