use agui_core::{InterruptId, JsonObject, UnixMillis};
use agui_iac_code::PermissionDecision;
use agui_store::{AppliedAnswer, Execution, PendingInterrupt};
use agui_testkit::client::input::{RunInput, cancelled, decision, resolved};
use serde_json::{Value, json};

use super::*;
use crate::testing::Bench;

/// A thread that waits for a permission `p`, told as `p#2`, a question `q`, and a permission `s` beside the
/// stream; `old` was answered before.
fn waiting() -> ThreadRecord {
    let object = |value: &Value| JsonObject::from_serialize(value).unwrap();
    let permission = |id: &str| {
        object(
            &json!({"kind": "permission", "inputId": id, "toolUseId": format!("call-{id}"), "requestTaskId": "T"}),
        )
    };
    let mut record = ThreadRecord::new("t".into(), "/ws", Execution::new("e".into(), "inv-t".into()));
    record.execution.task_id = Some("T".into());
    let told = object(&json!({"id": "p#2", "reason": "tool_call"}));
    let options = json!([{"id": "a", "label": "Zone A"}]);
    let question = object(
        &json!({"kind": "ask_user_question", "inputId": "q", "options": options, "allowFreeText": true}),
    );
    let pending = [
        ("p", PendingInterrupt::new(permission("p")).with_announced(told, UnixMillis::new(1))),
        ("q", PendingInterrupt::new(question)),
        ("s", PendingInterrupt::new(permission("s")).with_sideband()),
    ];
    record.execution.pending = pending.into_iter().map(|(id, pending)| (id.into(), pending)).collect();
    record.applied_answers.push(applied("old", &json!({"decision": "deny"})));
    record
}

fn applied(id: &str, payload: &Value) -> AppliedAnswer {
    let entry = ResumeEntry::new(InterruptId::from(id), ResumeStatus::Resolved);
    let entry = entry.with_payload(agui_core::Json::from_serialize(payload).unwrap());
    AppliedAnswer::new("e".into(), id.into(), digest(&entry))
}

/// Checks `answers` against `record`, which is stored for that.
async fn checked(
    record: &ThreadRecord,
    answers: Vec<Value>,
    version: Option<&str>,
) -> Result<Answers, ErrorCode> {
    let bench = Bench::new();
    let shared = &bench.adapter.shared;
    shared.threads.store().save(&mut record.clone(), agui_store::Version::ABSENT).await.unwrap();
    let mut input = answers.into_iter().fold(bench.input("r"), RunInput::with_answer);
    if let Some(version) = version {
        input = input.with("protocolVersion", json!(version));
    }
    let request = bench.request(&input).await.unwrap();
    check(shared, record, &request).await.map_err(|notice| notice.code)
}

fn all() -> Vec<Value> {
    vec![resolved("q", &json!({"selectedId": "a"})), decision("p#2", "allow_once"), cancelled("s")]
}

fn with(more: Value) -> Vec<Value> {
    let mut answers = all();
    answers.push(more);
    answers
}

fn instead(at: usize, answer: Value) -> Vec<Value> {
    let mut answers = all();
    answers[at] = answer;
    answers
}

#[tokio::test]
async fn s8_2_every_answer_goes_to_its_question_and_those_beside_the_stream_go_first() {
    for answers in [all(), with(decision("old", "deny"))] {
        let checked = checked(&waiting(), answers, None).await.unwrap();
        let list: Vec<(&str, &Answer)> =
            checked.list.iter().map(|answer| (&*answer.question.input_id, &answer.answer)).collect();
        let [
            ("s", Answer::Permission { decision: denied, .. }),
            ("q", Answer::Text(text)),
            ("p", Answer::Permission { decision: allowed, data }),
        ] = &list[..]
        else {
            panic!("{list:?}");
        };
        assert_eq!((*denied, text.as_str()), (PermissionDecision::Deny, "Zone A"));
        assert_eq!(*allowed, PermissionDecision::AllowOnce);
        let data: Value = data.parse().unwrap();
        assert_eq!(
            (&data["inputId"], &data["toolUseId"]),
            (&json!("p"), &json!("call-p")),
            "the kernel's own id"
        );
        assert!(!checked.give_up_the_task());
    }
}

#[tokio::test]
async fn s8_2_s8_3_what_does_not_fit_is_refused() {
    let cases = [
        ("one is missing", all()[..2].to_vec(), ErrorCode::IncompleteResume),
        ("one is given twice", with(cancelled("s")), ErrorCode::IncompleteResume),
        ("one is not known", with(decision("other", "deny")), ErrorCode::UnknownInterrupt),
        (
            "one has got another id (case C77)",
            instead(1, decision("p", "allow_once")),
            ErrorCode::UnknownInterrupt,
        ),
        ("one was answered otherwise", with(decision("old", "allow_once")), ErrorCode::ResumeAlreadyApplied),
        (
            "no payload",
            instead(1, json!({"interruptId": "p#2", "status": "resolved"})),
            ErrorCode::ResumePayloadInvalid,
        ),
        ("a null payload", instead(1, resolved("p#2", &json!(null))), ErrorCode::ResumePayloadInvalid),
        ("another decision", instead(1, decision("p#2", "always")), ErrorCode::ResumePayloadInvalid),
        (
            "a member more",
            instead(1, resolved("p#2", &json!({"decision": "deny", "note": ""}))),
            ErrorCode::ResumePayloadInvalid,
        ),
        (
            "an option that was not offered",
            instead(0, resolved("q", &json!({"selectedId": "z"}))),
            ErrorCode::ResumePayloadInvalid,
        ),
        (
            "an empty text",
            instead(0, resolved("q", &json!({"freeText": ""}))),
            ErrorCode::ResumePayloadInvalid,
        ),
        (
            "two answers in one",
            instead(0, resolved("q", &json!({"freeText": "x", "selectedId": "a"}))),
            ErrorCode::ResumePayloadInvalid,
        ),
    ];
    for (what, answers, code) in cases {
        assert_eq!(checked(&waiting(), answers, None).await.err(), Some(code), "{what}");
    }
}

#[tokio::test]
async fn s8_3_giving_a_question_up_means_the_task() {
    let given_up = checked(&waiting(), instead(0, cancelled("q")), None).await.unwrap();
    assert!(given_up.give_up_the_task());
}

#[tokio::test]
async fn s11_5_where_nothing_waits_an_answer_is_old_too_late_or_for_nobody() {
    let mut over = waiting();
    over.execution.pending.clear();
    let mut lapsed = waiting();
    pending::lapse(&mut lapsed);
    let mut taskless = waiting();
    taskless.execution.task_id = None;
    let deny = |id: &str| decision(id, "deny");
    let cases = [
        ("answered before", &over, vec![deny("old")], ErrorCode::ResumeAlreadyApplied),
        (
            "answered otherwise before",
            &over,
            vec![decision("old", "allow_once")],
            ErrorCode::ResumeAlreadyApplied,
        ),
        ("never asked", &over, vec![deny("other")], ErrorCode::ExecutionLost),
        ("one of them never asked", &over, vec![deny("old"), deny("other")], ErrorCode::ExecutionLost),
        ("too late", &lapsed, vec![deny("p#2"), deny("s")], ErrorCode::ExecutionExpired),
        ("too late by the kernel's id", &lapsed, vec![deny("p")], ErrorCode::ExecutionLost),
        ("given up too late by an old client", &lapsed, vec![cancelled("s")], ErrorCode::ExecutionExpired),
        ("a task that is not known", &taskless, all(), ErrorCode::ExecutionLost),
    ];
    for (what, record, answers, code) in cases {
        assert_eq!(checked(record, answers, None).await.err(), Some(code), "{what}");
    }
    let given_up = checked(&lapsed, vec![cancelled("s"), cancelled("p#2")], Some("1.0")).await.unwrap();
    assert!(given_up.list.is_empty());
    let mixed = checked(&lapsed, vec![cancelled("s"), deny("p#2")], Some("1.0")).await;
    assert_eq!(mixed.err(), Some(ErrorCode::ExecutionExpired));
}
