//! Whole turns of a conversation over HTTP.

use agui_client::{AgentConfig, ClientError, Conversation, HttpAgent, RunEnd};
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
    let end = soon(agent.converse(&mut thread, "r", NOW, |_, _| events += 1)).await.unwrap();
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
