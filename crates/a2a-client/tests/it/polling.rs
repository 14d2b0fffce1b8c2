//! Agents that cannot stream: the stream is made of looks at the task.

use std::sync::{Arc, Mutex};

use a2a_client::Client;

use crate::peer::{Peer, drain, json_answer, message, soon};

/// A peer that answers its connections one after the other with these results, and keeps the requests.
async fn results(results: &[&'static str]) -> (Peer, Arc<Mutex<Vec<String>>>) {
    let requests = Arc::new(Mutex::new(Vec::new()));
    let (log, results) = (Arc::clone(&requests), results.to_vec());
    let peer = Peer::start(move |number, mut connection| {
        let (log, result) = (Arc::clone(&log), results.get(number).copied());
        async move {
            let request = connection.read_request().await;
            log.lock().unwrap().push(request);
            if let Some(result) = result {
                connection.write(&json_answer(&format!(r#"{{"result":{result},"id":"{number}"}}"#))).await;
            }
        }
    })
    .await;
    (peer, requests)
}

fn client(peer: &Peer) -> Client {
    Client::new(peer.config().without_streaming()).unwrap()
}

const SUBMITTED: &str = r#"{"task":{"id":"T1","status":{"state":"TASK_STATE_SUBMITTED"}}}"#;
const WORKING: &str = r#"{"id":"T1","status":{"state":"TASK_STATE_WORKING"}}"#;
const WAITING: &str = r#"{"id":"T1","status":{"state":"TASK_STATE_INPUT_REQUIRED"}}"#;
const DONE: &str = r#"{"id":"T1","status":{"state":"TASK_STATE_COMPLETED"}}"#;

#[tokio::test]
async fn a_task_is_looked_at_until_it_has_ended_and_what_has_not_changed_is_no_news() {
    let (peer, requests) = results(&[SUBMITTED, WORKING, WORKING, WAITING, DONE]).await;
    let mut stream = soon(client(&peer).send_streaming(&message())).await.unwrap();
    let (seen, end) = soon(drain(&mut stream)).await;
    let states = ["SUBMITTED", "WORKING", "INPUT_REQUIRED", "COMPLETED"];
    assert_eq!(
        (seen, end.as_str()),
        (states.map(|state| format!("task T1 TASK_STATE_{state}")).to_vec(), "end")
    );
    let requests = requests.lock().unwrap();
    assert!(
        requests[0].contains(r#""method":"SendMessage""#)
            && requests[0].contains(r#""returnImmediately":true"#)
    );
    assert!(
        requests[1..].iter().all(|request| request.contains(r#""method":"GetTask","params":{"id":"T1""#))
    );
    assert_eq!(requests.len(), 5);
}

#[tokio::test]
async fn a_message_is_the_whole_answer_and_a_subscription_begins_with_a_look() {
    let direct = r#"{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"hi"}]}}"#;
    let (peer, _) = results(&[direct]).await;
    let mut stream = soon(client(&peer).send_streaming(&message())).await.unwrap();
    assert_eq!(soon(drain(&mut stream)).await.0.len(), 1);
    assert_eq!(peer.connections(), 1);

    let (peer, _) = results(&[WORKING, DONE]).await;
    let mut stream = soon(client(&peer).subscribe("T1")).await.unwrap();
    let (seen, end) = soon(drain(&mut stream)).await;
    assert_eq!((seen.len(), end.as_str()), (2, "end"));
}

#[tokio::test]
async fn a_look_that_fails_ends_the_stream_with_its_reason() {
    let (peer, _) = results(&[WORKING]).await;
    let mut stream = client(&peer).watch("T1");
    let (seen, end) = soon(drain(&mut stream)).await;
    assert_eq!((seen.len(), end.as_str()), (1, "connection was cut"));
}
