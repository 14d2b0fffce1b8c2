//! Whole turns of a conversation over HTTP.

use agui_client::{AgentConfig, ClientError, Conversation, HttpAgent, RunEnd, Seen};
use agui_core::{InterruptId, Json, UnixMillis};
use agui_testkit::faulty::{FaultyServer, Script, Step};
use serde_json::json;

use crate::http::{STARTED, datum, soon};

const NOW: UnixMillis = UnixMillis::new(1_000);

fn finished(outcome: &str) -> Step {
    datum(&format!(r#"{{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{outcome}}}"#))
}

#[tokio::test]
async fn an_approval_is_asked_answered_and_kept_through_a_failure() {
    let ask = r#"{"type":"interrupt","interrupts":[{"id":"i","reason":"confirmation"}]}"#;
    let script = Script::new()
        .on("*", [Step::sse(), datum(STARTED), finished(ask)])
        .on("*", [Step::sse(), datum(r#"{"type":"RUN_ERROR","message":"later"}"#)])
        .on("*", [Step::sse(), datum(STARTED), finished(r#"{"type":"success"}"#)]);
    let server = FaultyServer::start(script).await.unwrap();
    let agent = HttpAgent::new(AgentConfig::new(server.url())).unwrap();
    let mut thread = Conversation::new("t");
    thread.say("u", "delete it");

    let mut events = 0;
    let count = |seen: Seen<'_>, _: &Conversation| events += i32::from(matches!(seen, Seen::Event(_)));
    let end = soon(agent.converse(&mut thread, "r", NOW, count)).await.unwrap();
    assert!(matches!(end, RunEnd::Interrupted { interrupts } if interrupts[0].id == "i"));
    assert_eq!(events, 2);

    let refused = soon(agent.converse(&mut thread, "r", NOW, |_, _| ())).await.unwrap_err();
    assert!(
        matches!(refused, ClientError::Unanswered { interrupts } if interrupts == [InterruptId::new("i")])
    );
    assert_eq!(server.requests().all().len(), 1, "nothing was sent");

    thread.resolve(&InterruptId::new("i"), Some(Json::from_serialize(&false).unwrap())).unwrap();
    let end = soon(agent.converse(&mut thread, "r", NOW, |_, _| ())).await.unwrap();
    assert!(matches!(end, RunEnd::Failed(error) if error.message == "later"));
    assert_eq!(thread.interrupts().len(), 1);
    let end = soon(agent.converse(&mut thread, "r", NOW, |_, _| ())).await.unwrap();
    assert_eq!(end, RunEnd::Success { result: None });
    assert!(thread.interrupts().is_empty());

    let resumes: Vec<_> =
        server.requests().all().iter().map(|request| request.json["resume"].clone()).collect();
    let answer = json!([{"interruptId": "i", "status": "resolved", "payload": false}]);
    assert_eq!(resumes, [json!(null), answer.clone(), answer]);
}

#[tokio::test]
async fn a_turn_tells_what_was_left_out_and_what_had_no_effect() {
    let delta = r#"{"type":"STATE_DELTA","delta":[{"op":"remove","path":"/nowhere"}]}"#;
    let script = Script::new().on(
        "*",
        [
            Step::sse(),
            datum(STARTED),
            datum(r#"{"type":"LATER"}"#),
            datum(delta),
            finished(r#"{"type":"success"}"#),
            datum(r#"{"type":"LAST"}"#),
        ],
    );
    let server = FaultyServer::start(script).await.unwrap();
    let agent = HttpAgent::new(AgentConfig::new(server.url())).unwrap();
    let mut thread = Conversation::new("t");
    let (mut notes, mut rest) = (Vec::new(), Vec::new());
    let tell = |seen: Seen<'_>, _: &Conversation| match seen {
        Seen::Note(note) => notes.push(note.to_string()),
        Seen::Event(event) => rest.push(event.event_type().to_string()),
        Seen::Warning(warning) => rest.push(warning.to_string()),
        _ => rest.push("?".to_owned()),
    };
    soon(agent.converse(&mut thread, "r", NOW, tell)).await.unwrap();
    // Also one that comes behind the last event.
    let unknown = |name: &str| format!("unknown event {name:?} left out");
    assert_eq!(notes, [unknown("LATER"), unknown("LAST")]);
    let warning = "state was not changed: the patch does not fit the document";
    assert_eq!(rest, ["RUN_STARTED", "STATE_DELTA", warning, "RUN_FINISHED"]);
}
