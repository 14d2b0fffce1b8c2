//! What waits for the user.

use agui_core::{Event, Outcome};
use agui_mapper::{Ending, Notice, OpenInput, OpenInputKind, Sideband, Texts};
use serde_json::{Value, json};

use crate::kernel::{delta, envelope, of_candidate, permission, piped, task, text_of, tool, update, working};
use crate::stream::{Run, config};

fn ids(run: &Run) -> Vec<String> {
    run.mapper.observed().open_inputs.iter().map(|open| open.interrupt.id.to_string()).collect()
}

fn asked(iac_code: Value) -> Run {
    let mut run = Run::first();
    run.feed(&update("INPUT_REQUIRED", iac_code));
    run
}

fn only(run: &Run) -> &OpenInput {
    let [open] = run.mapper.observed().open_inputs.as_slice() else { panic!("{:?}", ids(run)) };
    open
}

#[test]
fn s7_2_a_permission_becomes_an_interrupt() {
    let run =
        asked(json!({"input": permission("permission-1", "bash: ls"), "permission": {"pending": true}}));
    let open = only(&run);
    assert_eq!(
        (open.kind, open.sideband, &*open.input_id),
        (OpenInputKind::Permission, false, "permission-1")
    );
    assert_eq!(
        serde_json::to_value(&open.interrupt).unwrap(),
        json!({
            "id": "permission-1", "reason": "tool_call", "message": "Run it?", "toolCallId": "call_1",
            "responseSchema": {"type": "object", "properties": {"decision": {"type": "string", "enum": ["allow_once", "deny"]}},
                "required": ["decision"], "additionalProperties": false},
            "metadata": {"schemaVersion": 1.0, "kind": "permission", "requestTaskId": "T1", "contextId": "C1",
                "inputId": "permission-1", "toolUseId": "call_1", "toolName": "bash", "prompt": "Run it?",
                "safeSummary": "bash: ls", "required": true,
                "options": [{"id": "allow_once", "label": "Allow once"}, {"id": "deny", "label": "Deny"}],
                "standardOptions": [{"id": "allow_once", "title": "Allow once"}, {"id": "deny", "title": "Deny"}]},
        })
    );
}

/// The schema of a choice, with an answer in one's own words or without.
fn either(answers: &[(&str, &str)], free: bool) -> Value {
    let one = |name: &str, member: Value| json!({"type": "object", "properties": {name: member}, "required": [name], "additionalProperties": false});
    let mut all: Vec<Value> = answers
        .iter()
        .map(|(id, title)| one("selectedId", json!({"type": "string", "const": id, "title": title})))
        .collect();
    if free {
        all.push(one("freeText", json!({"type": "string", "minLength": 1})));
    }
    json!({"oneOf": all})
}

/// Kind, further members, sort, message and schema.
fn kinds() -> Vec<(&'static str, Value, OpenInputKind, &'static str, Value)> {
    let options = json!([{"label": "Plan A"}, {"id": "0", "label": "Plan 0"}]);
    let plans = [("0-2", "Plan A"), ("0", "Plan 0")];
    vec![
        (
            "ask_user_question",
            json!({"prompt": "Which?", "options": options, "allowFreeText": true}),
            OpenInputKind::AskUserQuestion,
            "Which?\n- 0-2: Plan A\n- 0: Plan 0",
            either(&plans, true),
        ),
        (
            "candidate_selection",
            json!({"options": options}),
            OpenInputKind::CandidateSelection,
            "Choose one of the plans\n- 0-2: Plan A\n- 0: Plan 0",
            either(&plans, false),
        ),
        (
            "deployment_confirmation",
            json!({"prompt": "Deploy?", "cost": "10", "options": options}),
            OpenInputKind::DeploymentConfirmation,
            "Deploy?\n- 0-2: Plan A\n- 0: Plan 0",
            either(&plans, false),
        ),
        (
            "pipeline_pause_confirmation",
            json!({"reason": "user", "options": []}),
            OpenInputKind::PipelinePauseConfirmation,
            "The pipeline is paused. How shall it go on?",
            either(&[], true),
        ),
        (
            "backup_blocked",
            json!({}),
            OpenInputKind::BackupBlocked,
            "The pipeline waits for a backup. How shall it go on?",
            either(&[], true),
        ),
        ("something_new", json!({}), OpenInputKind::Other, "Input required", either(&[], true)),
    ]
}

#[test]
fn questions_of_every_kind_become_interrupts() {
    for (kind, mut input, sort, message, schema) in kinds() {
        input["kind"] = json!(kind);
        input["inputId"] = json!("input-1");
        let mut event = envelope(1, "input_required", input.clone());
        event["status"] = json!("input_required");
        for run in [asked(json!({"input": input})), asked(json!({"pipeline": event}))] {
            let open = only(&run);
            assert_eq!(open.kind, sort, "{kind}");
            assert_eq!(open.interrupt.reason, "input_required");
            assert_eq!(open.interrupt.message.as_deref(), Some(message));
            let seen: Value =
                serde_json::from_str(open.interrupt.response_schema.as_ref().unwrap().get()).unwrap();
            assert_eq!(seen, schema, "{kind}");
        }
    }
}

#[test]
fn a_resource_selection_becomes_an_interrupt() {
    let input = json!({"schemaVersion": 1.0, "kind": "cloud_resource_selection", "requestTaskId": "T1", "contextId": "C1",
        "inputId": "resource-00", "toolUseId": "call_3", "prompt": "Pick a VPC", "required": true,
        "selector": {"id": "vpc", "source": null}});
    let run = asked(json!({"inputRequired": input}));
    let open = only(&run);
    assert_eq!(
        (open.kind, open.interrupt.tool_call_id.as_ref().unwrap().as_str()),
        (OpenInputKind::CloudResourceSelection, "call_3")
    );
    assert!(open.interrupt.response_schema.as_ref().unwrap().get().contains("\"canceled\""));
}

#[test]
fn w32_a_question_in_a_pipeline_event_only_is_complete() {
    let mut run = Run::first();
    let data = json!({"kind": "deployment_confirmation", "prompt": "Deploy?", "cost": "10", "solution_summary": "one ECS",
        "not_public": "secret"});
    run.feed(&update("INPUT_REQUIRED", json!({"pipeline": envelope(9, "input_required", data)})));
    let open = only(&run);
    assert_eq!(
        serde_json::from_str::<Value>(open.value.get()).unwrap(),
        json!({"kind": "deployment_confirmation", "prompt": "Deploy?", "cost": "10", "solution_summary": "one ECS",
            "inputId": "input-evt-9", "requestTaskId": "T1", "contextId": "C1", "scope": "step"})
    );
}

#[test]
fn w20_a_question_without_an_id_gets_one_that_stays() {
    let mut input = permission("x", "bash");
    input.as_object_mut().unwrap().remove("inputId");
    let first = asked(json!({"input": input}));
    let open = only(&first).clone();
    assert_eq!(open.interrupt.id.as_str(), "permission-call_1");

    let mut run = Run::new(config("r2").with_pending(vec![open.clone()]));
    let mut snapshot = task("INPUT_REQUIRED", &[]);
    snapshot["task"]["metadata"]["iac_code"]["input"] = input;
    run.feed(&snapshot);
    assert_eq!(run.mapper.observed().open_inputs, [open]);
}

#[test]
fn a_stored_question_is_restored_as_it_was() {
    for input in [permission("permission-1", "bash: ls"), {
        let mut input = permission("permission-2", "bash: ls");
        input["subPipelineId"] = json!("c1");
        input
    }] {
        let run = asked(json!({"input": input}));
        let open = only(&run);
        let sideband = if open.sideband { Sideband::Yes } else { Sideband::No };
        let restored =
            OpenInput::restore(open.interrupt.id.as_str(), open.value.clone(), sideband, &Texts::default());
        assert_eq!(restored.as_ref(), Some(open));
    }
}

#[test]
fn answered_questions_are_not_raised_again() {
    let mut run = Run::new(config("r2").with_answered(["permission-0"]));
    let mut snapshot = task("INPUT_REQUIRED", &[]);
    snapshot["task"]["metadata"]["iac_code"]["input"] = permission("permission-0", "bash");
    run.feed(&snapshot);
    assert_eq!(ids(&run), [""; 0]);

    run.feed(&update("INPUT_REQUIRED", json!({"input": permission("permission-1", "bash")})));
    run.mapper.answered("permission-1");
    run.feed(&update("INPUT_REQUIRED", json!({"input": permission("permission-1", "bash")})));
    assert_eq!(ids(&run), [""; 0]);
}

#[test]
fn receipts_close_the_questions_they_name() {
    let received = json!({"inputReceived": {"inputId": "permission-1", "toolUseId": "call_1", "decision": "allow_once", "recovered": true}});
    let by_call = json!({"inputReceived": {"kind": "permission", "toolUseId": "call_1"}});
    let ack = json!({"permissionAck": {"kind": "permission_ack", "inputId": "permission-1", "decision": "deny", "accepted": true}});
    for (signal, notice) in
        [(received, Notice::Received), (by_call, Notice::Received), (ack, Notice::Accepted)]
    {
        let mut run = asked(json!({"input": permission("permission-1", "bash")}));
        run.feed(&working(signal.clone()));
        assert_eq!(ids(&run), [""; 0], "{signal}");
        assert_eq!(run.mapper.observed().receipts[0].notice, notice);
    }
}

#[test]
fn w34_the_decision_that_counts_is_told() {
    let mut run = asked(json!({"input": permission("permission-1", "bash")}));
    run.feed(&json!({"message": {"messageId": "ack", "contextId": "C1", "taskId": "T1", "role": "ROLE_AGENT", "parts": [
        {"data": {"schemaVersion": 1.0, "kind": "permission_ack", "inputId": "permission-1", "toolUseId": "call_1",
            "decision": "deny", "accepted": true}, "mediaType": "application/json"}]}}));
    let observed = run.mapper.observed();
    let receipt = observed.receipt("permission-1").unwrap();
    assert_eq!((receipt.notice, receipt.decision.unwrap().as_str()), (Notice::Accepted, "deny"));
    assert!(!observed.direct_message && observed.open_inputs.is_empty());
    assert_eq!(run.body(), [""; 0]);
}

#[test]
fn w30_an_identity_error_keeps_its_question_open() {
    let mut run = asked(json!({"input": permission("permission-1", "bash")}));
    run.mapper.answered("permission-1");
    run.feed(&update(
        "INPUT_REQUIRED",
        json!({"permissionIdentityError":
        {"code": "IDENTITY", "retryable": true, "inputId": "permission-1", "toolUseId": "call_1"}}),
    ));
    let observed = run.mapper.observed();
    assert_eq!(ids(&run), ["permission-1"]);
    assert_eq!(observed.identity_error.as_ref().unwrap().retryable, Some(true));
    run.feed(&working(json!({})));
    assert_eq!(run.mapper.observed().identity_error, None);
}

#[test]
fn w29_reasons_to_stop_are_told_and_are_not_questions() {
    let cases = [
        json!({"error": {"retryable": true, "errorId": "ab12"}}),
        json!({"backupBlocked": {"reason": "terminal", "recoverable": true}}),
        json!({"permissionWait": {"status": "suspended", "resumable": true}}),
    ];
    for (at, iac_code) in cases.into_iter().enumerate() {
        let mut item = text_of("T1-6", "INPUT_REQUIRED", "internal words");
        for (name, value) in iac_code.as_object().unwrap() {
            item["statusUpdate"]["metadata"]["iac_code"][name] = value.clone();
        }
        let mut run = Run::first();
        run.feed(&item);
        let observed = run.mapper.observed();
        let told = [
            observed.failure.is_some(),
            observed.backup_blocked.is_some(),
            observed.permission_wait.is_some(),
        ];
        assert_eq!(told.iter().position(|told| *told), Some(at));
        assert!(observed.open_inputs.is_empty());
        assert_eq!(run.body(), [""; 0]);
    }
}

#[test]
fn c03_permissions_of_candidates_stand_side_by_side() {
    let mut run = Run::first();
    let mut first = permission("permission-1", "write a");
    first["subPipelineId"] = json!("c1");
    run.feed(&working(json!({"input": first})));
    let mut snapshot = task("WORKING", &[]);
    snapshot["task"]["metadata"]["iac_code"]["pendingPermissions"] =
        json!([first, permission("permission-2", "write b")]);
    run.feed(&snapshot);
    let requested =
        of_candidate("c3", 5, "permission_requested", json!({"toolName": "bash", "toolUseId": "call_9"}));
    let mut requested_with = requested;
    requested_with["permission"] = json!({"permissionId": "permission-3", "inputId": "permission-3", "toolUseId": "call_9", "pending": true});
    run.feed(&piped(requested_with));
    let observed = run.mapper.observed();
    assert_eq!(ids(&run), ["permission-1", "permission-2", "permission-3"]);
    assert!(observed.open_inputs.iter().all(|open| open.sideband && open.kind == OpenInputKind::Permission));

    run.feed(&piped(of_candidate(
        "c3",
        6,
        "permission_resolved",
        json!({"permissionId": "permission-3", "decision": "deny"}),
    )));
    assert_eq!(ids(&run), ["permission-1", "permission-2"]);
}

#[test]
fn c77_changed_arguments_void_the_question() {
    let mut run = asked(json!({"input": permission("permission-1", "delete d-1")}));
    run.feed(&update("INPUT_REQUIRED", json!({"input": permission("permission-1", "delete d-1")})));
    assert_eq!(run.mapper.observed().replaced, []);
    run.feed(&update("INPUT_REQUIRED", json!({"input": permission("permission-1", "delete d-1 d-2 d-3")})));
    run.feed(&update("INPUT_REQUIRED", json!({"input": permission("permission-1", "delete everything")})));
    let observed = run.mapper.observed();
    let replaced: Vec<(&str, &str)> =
        observed.replaced.iter().map(|replaced| (replaced.old.as_str(), replaced.new.as_str())).collect();
    assert_eq!(replaced, [("permission-1", "permission-1#2"), ("permission-1#2", "permission-1#3")]);
    let open = only(&run);
    assert_eq!((&*open.input_id, open.interrupt.id.as_str()), ("permission-1", "permission-1#3"));
    assert!(open.interrupt.metadata.as_ref().unwrap().get().contains("delete everything"));
    run.mapper.answered("permission-1#3");
    run.feed(&update("INPUT_REQUIRED", json!({"input": permission("permission-1", "delete everything")})));
    assert_eq!(ids(&run), [""; 0]);
}

#[test]
fn c77_the_full_call_after_the_question_voids_it() {
    let mut run = Run::first();
    run.feed(&tool("started", "call_1", json!({})));
    run.feed(&update("INPUT_REQUIRED", json!({"input": permission("permission-1", "delete")})));
    let full = json!({"toolInput": {"ids": ["d-1", "d-2", "d-3"]}});
    run.feed(&tool("input_complete", "call_1", full.clone()));
    assert_eq!(ids(&run), ["permission-1#2"]);
    run.feed(&tool("input_complete", "call_1", full));
    assert_eq!(ids(&run), ["permission-1#2"]);
    let lines = run.body();
    assert_eq!(lines, ["call+ call_1 bash", r#"args  call_1 {"ids":["d-1","d-2","d-3"]}"#, "call- call_1"]);
}

#[test]
fn c77_a_call_that_is_announced_again_voids_nothing() {
    let first = asked(json!({"input": permission("permission-1", "delete")}));
    let mut run = Run::new(
        config("r2")
            .with_resume(first.mapper.position())
            .with_pending(first.mapper.observed().open_inputs.clone()),
    );
    run.feed(&tool("started", "call_1", json!({})));
    run.feed(&tool("input_complete", "call_1", json!({"toolInput": {"n": 1}})));
    assert_eq!(ids(&run), ["permission-1"]);
    run.feed(&tool("input_complete", "call_1", json!({"toolInput": {"n": 2}})));
    assert_eq!(ids(&run), ["permission-1#2"]);
    assert_eq!(run.body(), [""; 0]);
}

#[test]
fn c46_a_question_names_its_call_as_the_stream_does() {
    let mut run = Run::first();
    for _ in 0..2 {
        run.feed(&tool("started", "call_1", json!({})));
        run.feed(&tool("completed", "call_1", json!({"result": "ok"})));
    }
    run.feed(&tool("started", "call_1", json!({})));
    run.feed(&update("INPUT_REQUIRED", json!({"input": permission("permission-1", "bash")})));
    let open = only(&run).clone();
    assert_eq!(open.interrupt.tool_call_id.as_ref().unwrap().as_str(), "call_1~3");
    assert_eq!(open.tool_use_id.as_deref(), Some("call_1"));
    let restored =
        OpenInput::restore("permission-1", open.value.clone(), Sideband::No, &Texts::default()).unwrap();
    assert_eq!(restored, open);

    let mut second = Run::new(config("r2").with_resume(run.mapper.position()).with_pending(vec![restored]));
    second.feed(&working(json!({"inputReceived": {"kind": "permission", "toolUseId": "call_1"}})));
    assert_eq!(ids(&second), [""; 0]);
    second.feed(&tool("completed", "call_1", json!({"result": "ok"})));
    assert_eq!(second.body(), ["result r2:result:1 call_1~3 \"ok\""]);
}

#[test]
fn c09_a_waiting_task_without_structure_asks_in_words() {
    let bare = |state: &str, text: Option<&str>| {
        let mut item =
            json!({"statusUpdate": {"taskId": "T1", "contextId": "C1", "status": {"state": state}}});
        if let Some(text) = text {
            item["statusUpdate"]["status"]["message"] =
                json!({"messageId": "q1", "role": "ROLE_AGENT", "parts": [{"text": text}]});
        }
        item
    };
    let cases = [
        (bare("input-required", None), OpenInputKind::Prompt, "Input required"),
        (bare("TASK_STATE_INPUT_REQUIRED", Some("Which region?")), OpenInputKind::Prompt, "Which region?"),
        (
            bare("TASK_STATE_AUTH_REQUIRED", None),
            OpenInputKind::AuthRequired,
            "Sign in to continue\n- done: Signed in, continue",
        ),
        (
            bare("auth-required", Some("Open the link")),
            OpenInputKind::AuthRequired,
            "Open the link\n- done: Signed in, continue",
        ),
        (text_of("q1", "INPUT_REQUIRED", "Which region?"), OpenInputKind::Prompt, "Which region?"),
    ];
    for (item, sort, message) in cases {
        let mut run = Run::first();
        run.feed(&item);
        let open = only(&run);
        assert_eq!((open.kind, open.interrupt.message.as_deref()), (sort, Some(message)), "{item}");
        assert_eq!(run.shown(), "");
    }
}

#[test]
fn a_normal_turn_ends_without_a_question() {
    let mut run = Run::first();
    run.feed(&delta("Hello"));
    run.feed(&update("INPUT_REQUIRED", json!({})));
    assert_eq!(ids(&run), [""; 0]);
    run.feed(&json!({"statusUpdate": {"taskId": "T1", "contextId": "C1", "status": {"state": "TASK_STATE_INPUT_REQUIRED"}}}));
    assert_eq!(ids(&run), [""; 0]);
}

#[test]
fn a_second_prompt_of_a_task_is_another_question() {
    let ask = || json!({"statusUpdate": {"taskId": "T1", "contextId": "C1", "status": {"state": "input-required"}}});
    let mut run = Run::first();
    run.feed(&ask());
    run.mapper.answered("prompt-T1");
    run.feed(&json!({"statusUpdate": {"taskId": "T1", "contextId": "C1", "status": {"state": "working"}}}));
    run.feed(&ask());
    assert_eq!(ids(&run), ["prompt-T1#2"]);
}

#[test]
fn s7_1_interrupts_end_the_run_with_distinct_ids() {
    let mut run = asked(json!({"input": permission("permission-1", "bash")}));
    let interrupt = only(&run).interrupt.clone();
    run.finish(Ending::Interrupt(vec![interrupt.clone().with_expires_at("2026-01-01T00:00:00Z"), interrupt]));
    let Some(Event::RunFinished(finished)) = run.events().last() else { panic!("no end") };
    let Some(Outcome::Interrupt { interrupts }) = &finished.outcome else { panic!("no interrupt") };
    assert_eq!(interrupts.len(), 1);
    assert_eq!(interrupts[0].expires_at.as_deref(), Some("2026-01-01T00:00:00Z"));
}
