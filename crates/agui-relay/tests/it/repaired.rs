//! Streams that are wrong in some way, and what callers get of them.

use std::time::Duration;

use agui_relay::UpstreamConfig;
use agui_testkit::faulty::{Eol, Framing, Step};

use crate::upstream::{FINISHED, STARTED, ask, body, datum, rest, server, shown};

/// Everything a caller gets of what the upstream does after the head of its answer.
async fn relayed(steps: impl IntoIterator<Item = Step>) -> Vec<String> {
    relayed_from(Step::sse(), steps).await
}

async fn relayed_from(head: Step, steps: impl IntoIterator<Item = Step>) -> Vec<String> {
    let steps: Vec<Step> = std::iter::once(head).chain(steps).collect();
    let server = server(steps).await;
    let config = UpstreamConfig::new(server.url()).with_idle_timeout(Duration::from_secs(2));
    shown(&rest(ask(config).await.unwrap()).await)
}

fn failed(event: &str) -> bool {
    event.starts_with(r#"{"type":"RUN_ERROR","message":"Agent execution failed. ["#)
        && event.ends_with(r#"]","code":"AGENT_ERROR"}"#)
}

#[tokio::test]
async fn r15_the_sample_stream_of_the_contract_comes_out_valid() {
    let sample = [
        r#"{"type":"RUN_STARTED","threadId":"thread-123","runId":"run-456"}"#,
        r#"{"type":"TEXT_MESSAGE_START","messageId":"msg-789","role":"assistant"}"#,
        r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"msg-789","delta":"Processing your request"}"#,
        r#"{"type":"TOOL_CALL_START","toolCallId":"tool-001","toolCallName":"search","parentMessageId":"msg-789"}"#,
        r#"{"type":"TOOL_CALL_RESULT","messageId":"msg-789","toolCallId":"tool-001","content":"Search completed"}"#,
        r#"{"type":"TEXT_MESSAGE_END","messageId":"msg-789"}"#,
        r#"{"type":"RUN_FINISHED","threadId":"thread-123","runId":"run-456"}"#,
    ];
    let seen = relayed(sample.into_iter().map(datum).chain([Step::End])).await;
    // The ids are those of the request, and the call is ended.
    let mut expected: Vec<String> = sample.iter().map(|event| (*event).to_owned()).collect();
    expected[0] = STARTED.to_owned();
    expected[6] = FINISHED.to_owned();
    expected.insert(6, r#"{"type":"TOOL_CALL_END","toolCallId":"tool-001"}"#.to_owned());
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn row_14_a_stream_that_ends_in_good_order_is_a_run_that_did_its_work() {
    let open = [
        datum(STARTED),
        datum(r#"{"type":"STEP_STARTED","stepName":"a"}"#),
        datum(r#"{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}"#),
    ];
    let until_close = Step::sse_framed(Framing::UntilClose);
    for (head, end) in [(Step::sse(), Step::End), (until_close, Step::Fin)] {
        let seen = relayed_from(head, open.clone().into_iter().chain([end])).await;
        assert_eq!(
            seen[2..],
            [
                r#"{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}"#,
                r#"{"type":"TEXT_MESSAGE_END","messageId":"m"}"#,
                r#"{"type":"STEP_FINISHED","stepName":"a"}"#,
                FINISHED
            ]
        );
    }
}

#[tokio::test]
async fn row_15_a_stream_that_breaks_off_or_says_nothing_is_a_failure() {
    let cases: [(&str, Vec<Step>, usize); 6] = [
        ("cut", vec![datum(STARTED), Step::Fin], 1),
        ("reset", vec![datum(STARTED), Step::Rst], 1),
        ("half a record", vec![datum(STARTED), body("data: {\"type\":\"CUS"), Step::End], 1),
        ("silence", vec![datum(STARTED), Step::Stall], 1),
        ("no event", vec![Step::Ping, Step::End], 0),
        ("no event but records", vec![datum("[DONE]"), datum("{}"), Step::End], 0),
    ];
    for (name, steps, before) in cases {
        let seen = relayed(steps).await;
        assert_eq!(seen.len(), before + 1, "{name}: {seen:?}");
        assert!(failed(&seen[before]), "{name}: {seen:?}");
    }
}

#[tokio::test]
async fn row_14_nothing_follows_the_terminal_event_and_others_cannot_hold_it_back() {
    let late = [
        datum(r#"{"type":"RUN_ERROR","message":"late"}"#),
        datum(STARTED),
        datum(r#"{"type":"CUSTOM","name":"n","value":1}"#),
    ];
    for end in [Step::End, Step::Fin, Step::Stall] {
        let steps = [datum(STARTED), datum(FINISHED)].into_iter().chain(late.clone()).chain([end]);
        assert_eq!(relayed(steps).await, [STARTED, FINISHED]);
    }
}

#[tokio::test]
async fn row_14_events_before_the_start_wrong_ids_and_orphans_are_put_right() {
    let seen = relayed([
        datum(r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x"}"#),
        datum(r#"{"type":"RUN_STARTED","threadId":"other","runId":"other"}"#),
        datum(r#"{"type":"TOOL_CALL_END","toolCallId":"c"}"#),
        datum(r#"{"type":"RUN_FINISHED","threadId":"other","runId":"other"}"#),
        Step::End,
    ])
    .await;
    let started = STARTED.replace('}', r#","protocolVersion":"1.0"}"#);
    assert_eq!(
        seen,
        [
            &*started,
            r#"{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}"#,
            r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x"}"#,
            r#"{"type":"TEXT_MESSAGE_END","messageId":"m"}"#,
            FINISHED
        ]
    );
}

#[tokio::test]
async fn records_are_read_in_every_form_that_servers_write() {
    let snapshot = r#"{"type":"STATE_SNAPSHOT","snapshot":{"a":1}}"#;
    let spaced = "data:{\"type\":\"STATE_SNAPSHOT\",\ndata:\"snapshot\":{\"a\":1}}\n\n";
    let named = format!(": comment\n\nid: 7\nevent: message\nretry: 10\ndata: {snapshot}\n\n");
    let forms: [(&str, Vec<Step>); 6] = [
        ("CRLF", vec![Step::Eol(Eol::Crlf), datum(snapshot)]),
        ("LF", vec![Step::Eol(Eol::Lf), datum(snapshot)]),
        ("no space, several lines", vec![body(spaced)]),
        ("other fields", vec![body(named)]),
        ("a byte at a time", format!("data: {snapshot}\n\n").bytes().map(|byte| body([byte])).collect()),
        ("a byte order mark inside a record is data", vec![datum("\u{feff}{}"), datum(snapshot)]),
    ];
    for (name, steps) in forms {
        let steps = std::iter::once(datum(STARTED)).chain(steps).chain([datum(FINISHED), Step::End]);
        let seen = relayed(steps).await;
        let text: String = seen.concat().split_whitespace().collect();
        assert_eq!(text, [STARTED, snapshot, FINISHED].concat(), "{name}");
    }
}

#[tokio::test]
async fn what_other_versions_and_encoders_write_does_not_end_the_run() {
    let cases = [
        // No JSON, but written by common encoders.
        (
            r#"{"type":"STATE_SNAPSHOT","snapshot":[NaN,-Infinity]}"#,
            r#"{"type":"STATE_SNAPSHOT","snapshot":[null,null]}"#,
        ),
        (
            r#"{"type":"CUSTOM","name":"\ud83d","value":1}"#,
            "{\"type\":\"CUSTOM\",\"name\":\"\u{fffd}\",\"value\":1}",
        ),
        // Nulls for members that are absent.
        (
            r#"{"type":"CUSTOM","name":"n","value":1,"timestamp":null,"rawEvent":null}"#,
            r#"{"type":"CUSTOM","name":"n","value":1}"#,
        ),
        // Of a later version, malformed, or no events at all.
        (r#"{"type":"HOLOGRAM","x":1}"#, ""),
        (r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":7}"#, ""),
        ("[DONE]", ""),
        ("not json", ""),
        ("[1,2]", ""),
    ];
    for (record, expected) in cases {
        let seen = relayed([datum(STARTED), datum(record), datum(FINISHED), Step::End]).await;
        assert_eq!(seen.concat(), [STARTED, expected, FINISHED].concat(), "{record}");
    }
    // Thinking of 0.x is reasoning today.
    let old = ["THINKING_START", "THINKING_TEXT_MESSAGE_START", "THINKING_TEXT_MESSAGE_END", "THINKING_END"];
    let old = old.map(|name| datum(&format!(r#"{{"type":"{name}"}}"#)));
    let seen = relayed([datum(STARTED)].into_iter().chain(old).chain([datum(FINISHED), Step::End])).await;
    let types = ["REASONING_START", "REASONING_MESSAGE_START", "REASONING_MESSAGE_END", "REASONING_END"];
    assert_eq!(seen.len(), 6, "{seen:?}");
    for (event, expected) in seen[1..5].iter().zip(types) {
        assert!(event.contains(expected), "{seen:?}");
    }
}

#[tokio::test]
async fn chunks_come_out_as_whole_events() {
    let seen = relayed([
        datum(STARTED),
        datum(r#"{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"x"}"#),
        datum(r#"{"type":"TEXT_MESSAGE_CHUNK","delta":"y"}"#),
        Step::End,
    ])
    .await;
    let types =
        ["RUN_STARTED", "MESSAGE_START", "MESSAGE_CONTENT", "MESSAGE_CONTENT", "MESSAGE_END", "RUN_FINISHED"];
    assert_eq!(seen.len(), types.len(), "{seen:?}");
    for (event, expected) in seen.iter().zip(types) {
        assert!(event.contains(expected), "{seen:?}");
    }
}

#[tokio::test]
async fn a_record_that_is_too_large_ends_the_run() {
    let large = format!(r#"{{"type":"CUSTOM","name":"n","value":"{}"}}"#, "x".repeat(20_000));
    let server = server([Step::sse(), datum(STARTED), datum(&large), datum(FINISHED), Step::End]).await;
    let config = UpstreamConfig::new(server.url()).with_max_event_bytes(10_000);
    let seen = shown(&rest(ask(config).await.unwrap()).await);
    assert_eq!(seen.len(), 2, "{seen:?}");
    assert!(failed(&seen[1]), "{seen:?}");
}
