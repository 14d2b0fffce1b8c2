//! Input that nobody should send.

use agui_core::{Decoded, Event, Json, RunAgentInput, decode_event};
use proptest::prelude::*;
use serde_json::Value;

const REQUEST: &str = concat!(
    r#"{"threadId":"t","runId":"r","state":{"n":[1.50,null,"\u00e9"]},"messages":["#,
    r#"{"role":"user","id":"u","content":[{"type":"text","text":"a\nb"},{"type":"image","source":{"type":"url","value":"u"}}]},"#,
    r#"{"role":"assistant","id":"a","content":null,"toolCalls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]}],"#,
    r#""tools":[],"resume":[{"interruptId":"i","status":"resolved","payload":null}],"forwardedProps":{"a":1}}"#,
);

const EVENT: &str = concat!(
    r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i","#,
    r#""reason":"x","metadata":{"a":null}}]},"usage":[{"inputTokens":5}],"timestamp":17,"rawEvent":null}"#,
);

fn change(text: &str, changes: &[(usize, u8)]) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for (at, byte) in changes {
        let at = at % bytes.len();
        bytes[at] = *byte;
    }
    bytes
}

/// What was read is what is written and read again.
fn assert_stable(bytes: &[u8]) {
    if let Ok(mut input) = RunAgentInput::decode(bytes) {
        input.skipped.clear();
        let text = serde_json::to_string(&input).unwrap();
        assert_eq!(RunAgentInput::decode(text.as_bytes()).unwrap(), input, "{text}");
    }
    if let Ok(Decoded::Known(event)) = decode_event(bytes) {
        let text = serde_json::to_string(&event).unwrap();
        assert!(!text.contains(['\n', '\r']), "{text}");
        assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event, "{text}");
    }
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![Just(Value::Null), any::<i64>().prop_map(Value::from), ".*".prop_map(Value::from)];
    leaf.prop_recursive(4, 30, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(".*", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        assert_stable(&bytes);
    }

    #[test]
    fn changed_documents_are_refused_or_read(
        changes in prop::collection::vec((any::<usize>(), prop::sample::select(b"{}[]\",:\\nu0e-. a\n\xff".to_vec())), 1..4),
    ) {
        assert_stable(&change(REQUEST, &changes));
        assert_stable(&change(EVENT, &changes));
    }

    #[test]
    fn opaque_json_keeps_its_meaning_on_one_line(value in json_value(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        let json = Json::from_string(text.clone()).unwrap();
        prop_assert!(!json.get().contains(['\n', '\r']));
        prop_assert_eq!(json.parse::<Value>().unwrap(), value.clone());
        if !text.contains('\n') {
            prop_assert_eq!(json.get(), text);
        } else {
            prop_assert_eq!(json.get(), serde_json::to_string(&value).unwrap());
        }
    }
}
