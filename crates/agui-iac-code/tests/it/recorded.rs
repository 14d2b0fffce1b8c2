//! Every recorded update is understood completely.

use std::collections::BTreeMap;

use agui_iac_code::custom::PipelineV1;
use agui_iac_code::metadata::{IacMetadata, InputKind, PipelinePayload, ToolStatus};
use agui_iac_code::{PermissionDecision, PipelineEventType};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::traces::{Answer, answers};

/// The `metadata` text of every update and Task in the answer, requests' echoes left out.
fn metadata(answer: &Answer) -> Vec<Box<RawValue>> {
    type Document = Map<String, Value>;
    let mut all = Vec::new();
    for document in answer.documents() {
        let Ok(document) = serde_json::from_str::<Document>(document) else { continue };
        let result = document.get("result").cloned().unwrap_or_default();
        for place in ["/task/metadata", "/statusUpdate/metadata", "/metadata"] {
            if let Some(metadata) = result.pointer(place) {
                all.push(serde_json::value::to_raw_value(metadata).unwrap());
            }
        }
    }
    all
}

fn rpc_answers() -> Vec<Answer> {
    answers().into_iter().filter(|answer| answer.path == "/").collect()
}

#[test]
fn every_recorded_update_is_read_without_notes() {
    let mut updates = 0;
    let mut events: BTreeMap<String, usize> = BTreeMap::new();
    for answer in rpc_answers() {
        for metadata in metadata(&answer) {
            let read = IacMetadata::read(&metadata);
            assert!(read.notes.is_empty(), "{}: {:?} in {metadata}", answer.scenario, read.notes);
            updates += 1;
            for event in read.envelopes() {
                assert_ne!(event.event_type, PipelineEventType::Other, "{}", event.event_type_name);
                assert!(event.event_id.is_some() && event.sequence.is_some() && event.scope.is_some());
                assert_eq!(event.pipeline_run_id, event.context_id);
                *events.entry(event.event_type.to_string()).or_default() += 1;
            }
        }
    }
    assert!(updates > 20_000, "{updates}");
    assert!(events.len() > 25, "{events:?}");
}

#[test]
fn every_recorded_question_can_be_answered() {
    let mut kinds: BTreeMap<InputKind, usize> = BTreeMap::new();
    for answer in rpc_answers() {
        for metadata in metadata(&answer) {
            let read = IacMetadata::read(&metadata);
            let asked = read.envelopes().filter_map(|event| match &event.payload {
                PipelinePayload::InputRequired(input) | PipelinePayload::PermissionRequested(input) => {
                    Some(input.as_ref())
                }
                _ => None,
            });
            for input in read.open_inputs().into_iter().chain(asked) {
                assert_ne!(input.kind, InputKind::Other, "{}", answer.scenario);
                assert!(input.request_task_id.is_some() && input.context_id.is_some(), "{}", answer.scenario);
                let id = input.interrupt_id();
                assert_eq!(
                    input.input_id.is_none(),
                    id.starts_with("input-evt-") && input.raw.get().contains("candidate_index")
                );
                if input.kind == InputKind::Permission {
                    assert!(input.tool_use_id.is_some(), "{}", answer.scenario);
                    let ids: Vec<String> = input.choices().into_iter().map(|choice| choice.id).collect();
                    assert!(ids.iter().all(|id| PermissionDecision::from_name(id).is_some()), "{ids:?}");
                }
                *kinds.entry(input.kind).or_default() += 1;
            }
        }
    }
    let found: Vec<InputKind> = kinds.keys().copied().collect();
    let expected = [InputKind::Permission, InputKind::AskUserQuestion, InputKind::CandidateSelection];
    assert!(expected.iter().all(|kind| found.contains(kind)), "{kinds:?}");
}

#[test]
fn a_question_has_the_same_id_in_its_event_and_in_the_update() {
    let mut compared = 0;
    for answer in rpc_answers() {
        for metadata in metadata(&answer) {
            let read = IacMetadata::read(&metadata);
            let Some(input) = read.input.as_deref().filter(|input| input.kind != InputKind::Permission)
            else {
                continue;
            };
            for event in read.envelopes() {
                if let PipelinePayload::InputRequired(asked) = &event.payload {
                    assert_eq!(asked.interrupt_id(), input.interrupt_id(), "{}", answer.scenario);
                    assert_eq!(asked.choices(), input.choices(), "{}", answer.scenario);
                    compared += 1;
                }
            }
        }
    }
    assert!(compared >= 10, "{compared}");
}

#[test]
fn s6_6_recorded_events_are_passed_on_unchanged() {
    let mut forwarded = 0;
    for answer in rpc_answers() {
        for metadata in metadata(&answer) {
            for event in IacMetadata::read(&metadata).envelopes() {
                if let Some(value) = PipelineV1::new(event) {
                    assert_eq!(serde_json::to_string(&value).unwrap(), event.raw.get());
                    forwarded += 1;
                }
            }
        }
    }
    assert!(forwarded > 40, "{forwarded}");
}

#[test]
fn every_recorded_tool_call_has_an_id_and_a_known_status() {
    let mut tools = 0;
    for answer in rpc_answers() {
        for metadata in metadata(&answer) {
            let read = IacMetadata::read(&metadata);
            let of_events = read.envelopes().filter_map(|event| match &event.payload {
                PipelinePayload::Tool(tool) => Some(tool.as_ref()),
                _ => None,
            });
            for tool in read.tool.as_deref().into_iter().chain(of_events) {
                assert_ne!(tool.status, ToolStatus::Other, "{}", answer.scenario);
                assert!(tool.tool_use_id.is_some(), "{}", answer.scenario);
                let complete = tool.status == ToolStatus::InputComplete;
                assert!(!complete || tool.tool_input.is_some(), "{}", answer.scenario);
                tools += 1;
            }
        }
    }
    assert!(tools > 200, "{tools}");
}
