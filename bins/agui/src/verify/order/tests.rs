use agui_core::Decoded;
use proptest::prelude::*;

use super::*;

/// Events with few ids, so that random streams are right and wrong in every way.
const ALPHABET: &[&str] = &[
    r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#,
    r#"{"type":"RUN_STARTED","threadId":"t","runId":"r2"}"#,
    r#"{"type":"RUN_STARTED","threadId":"t2","runId":"r"}"#,
    r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#,
    r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#,
    r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r2"}"#,
    r#"{"type":"RUN_ERROR","message":"e"}"#,
    r#"{"type":"TEXT_MESSAGE_START","messageId":"m"}"#,
    r#"{"type":"TEXT_MESSAGE_START","messageId":"n","subagentRunId":"w"}"#,
    r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x"}"#,
    r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"n","delta":"x","subagentRunId":"v"}"#,
    r#"{"type":"TEXT_MESSAGE_END","messageId":"m"}"#,
    r#"{"type":"TEXT_MESSAGE_END","messageId":"n"}"#,
    r#"{"type":"TEXT_MESSAGE_CHUNK","messageId":"c","delta":"x"}"#,
    r#"{"type":"TEXT_MESSAGE_CHUNK","delta":"x"}"#,
    r#"{"type":"TEXT_MESSAGE_CHUNK","messageId":"c","role":"user"}"#,
    r#"{"type":"TOOL_CALL_CHUNK","toolCallId":"k","delta":"{}"}"#,
    r#"{"type":"TOOL_CALL_CHUNK","toolCallId":"k","toolCallName":"f","subagentRunId":"w"}"#,
    r#"{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":"m"}"#,
    r#"{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":"n"}"#,
    r#"{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{}"}"#,
    r#"{"type":"TOOL_CALL_END","toolCallId":"c"}"#,
    r#"{"type":"REASONING_START","messageId":"s"}"#,
    r#"{"type":"REASONING_END","messageId":"s"}"#,
    r#"{"type":"REASONING_MESSAGE_START","messageId":"x","role":"reasoning"}"#,
    r#"{"type":"REASONING_MESSAGE_CONTENT","messageId":"x","delta":"x"}"#,
    r#"{"type":"REASONING_MESSAGE_END","messageId":"x"}"#,
    r#"{"type":"STEP_STARTED","stepName":"p"}"#,
    r#"{"type":"STEP_STARTED","stepName":"p","subagentRunId":"w"}"#,
    r#"{"type":"STEP_FINISHED","stepName":"p"}"#,
    r#"{"type":"SUBAGENT_STARTED","subagentRunId":"w","name":"w"}"#,
    r#"{"type":"SUBAGENT_STARTED","subagentRunId":"v","name":"v","parentSubagentRunId":"w"}"#,
    r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"w"}"#,
    r#"{"type":"SUBAGENT_ERROR","subagentRunId":"v","message":"e"}"#,
    r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"p","content":{},"subagentRunId":"w"}"#,
    r#"{"type":"ACTIVITY_DELTA","messageId":"a","activityType":"p","patch":[],"subagentRunId":"v"}"#,
    r#"{"type":"CUSTOM","name":"n","value":1}"#,
];

fn event(record: &str) -> Event {
    match decode_event(record.as_bytes()).unwrap() {
        Decoded::Known(event) => event,
        other => panic!("{other:?}"),
    }
}

/// The number of the first event that the protocol's own verifier refuses; one behind the last if only the
/// end is wrong.
fn first_violation(events: &[Event]) -> Option<usize> {
    let mut verifier = Verifier::new();
    for (number, event) in (1..).zip(events) {
        if verifier.check(event).is_err() {
            return Some(number);
        }
    }
    verifier.finish().is_err().then_some(events.len() + 1)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_first_fault_is_that_of_the_verifier(picks in prop::collection::vec(0..ALPHABET.len(), 0..24)) {
        let mut events = vec![event(ALPHABET[0])];
        // Half of the streams begin and end well, so that not every one has its fault there.
        let is_framed = picks.first().is_some_and(|pick| pick % 2 == 0);
        events.extend(picks.iter().map(|pick| event(ALPHABET[*pick])));
        if is_framed {
            events.push(event(ALPHABET[3]));
        } else {
            events.remove(0);
        }
        let mut order = Order::new(None);
        let mut first = None;
        for (number, event) in (1..).zip(&events) {
            let mut effective = Vec::new();
            let findings = order.push(event.clone(), number, &mut effective);
            if !findings.is_empty() && first.is_none() {
                first = Some(number);
            }
        }
        if order.finish().is_some() && first.is_none() {
            first = Some(events.len() + 1);
        }
        prop_assert_eq!(first, first_violation(&events));
    }
}
