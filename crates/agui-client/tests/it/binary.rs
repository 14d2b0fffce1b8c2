//! The binary encoding of events.

use agui_client::{Accept, AgentConfig, HttpAgent, Note, RunEnd};
use agui_core::{Event, RunAgentInput, RunFinished, RunStarted, TextMessageChunk};
use agui_testkit::faulty::{FaultyServer, Framing, Script, Step};

use crate::http::soon;

/// An event of a later version: field 40 with an empty message.
const LATER: &[u8] = &[0, 0, 0, 3, 0xc2, 0x02, 0x00];

fn head() -> Step {
    let headers = [("content-type".to_owned(), agui_proto::CONTENT_TYPE.to_owned())];
    Step::Head { status: 200, headers: headers.into(), framing: Framing::Chunked }
}

fn frames(events: impl IntoIterator<Item = Event>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for event in events {
        agui_proto::encode(&event, &mut bytes).unwrap();
    }
    bytes
}

fn binary(server: &FaultyServer) -> HttpAgent {
    HttpAgent::new(AgentConfig::new(server.url()).with_accept(Accept::Binary)).unwrap()
}

fn input() -> RunAgentInput {
    RunAgentInput::new("t", "r", Vec::new())
}

#[tokio::test]
async fn a_binary_stream_is_read_like_any_other() {
    let begin = frames([RunStarted::new("t", "r").into()]);
    let chunk = TextMessageChunk::default().with_message_id("m").with_delta("hi");
    let rest = frames([chunk.into(), RunFinished::new("t", "r").into()]);
    // A frame in two pieces, and one that this version does not know between two that it does.
    let steps = [
        head(),
        Step::Body(begin[..3].to_vec().into()),
        Step::Body(begin[3..].to_vec().into()),
        Step::Body(LATER.into()),
        Step::Body(rest.into()),
        Step::End,
    ];
    let server = FaultyServer::start(Script::new().always("*", steps)).await.unwrap();
    let mut run = binary(&server).run(input()).await.unwrap();
    let mut seen = Vec::new();
    while let Some(event) = soon(run.next()).await {
        seen.push(event.unwrap().event_type().to_string());
    }
    let expected =
        ["RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "RUN_FINISHED"];
    assert_eq!(seen, expected);
    assert!(matches!(run.end(), Some(RunEnd::Success { .. })));
    assert_eq!(run.take_notes(), [Note::UnknownEvent { event_type: "field 40".into() }]);
    let accept = server.requests().all()[0].header("accept").map(str::to_owned);
    assert_eq!(accept.as_deref(), Some("application/vnd.ag-ui.event+proto, text/event-stream;q=0.9"));

    // A bridge gets the text that a text stream would have.
    let mut records = binary(&server).records(input()).await.unwrap();
    let first = soon(records.next()).await.unwrap().unwrap();
    assert_eq!(first, r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#);
}

#[tokio::test]
async fn an_agent_may_answer_in_text_all_the_same() {
    let begin = Step::Datum(r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#.to_owned());
    let end = Step::Datum(r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#.to_owned());
    let server =
        FaultyServer::start(Script::new().always("*", [Step::sse(), begin, end, Step::End])).await.unwrap();
    let mut run = binary(&server).run(input()).await.unwrap();
    let mut count = 0;
    while let Some(event) = soon(run.next()).await {
        event.unwrap();
        count += 1;
    }
    assert_eq!(count, 2);
}

#[tokio::test]
async fn broken_frames_and_a_cut_are_errors() {
    let begin = frames([RunStarted::new("t", "r").into()]);
    let cases = [
        ("half a frame", begin[..7].to_vec(), "binary event stream cannot be read"),
        ("a frame of nothing", [begin.clone(), vec![0; 4]].concat(), "binary event stream cannot be read"),
        ("a frame over the limit", vec![0xff; 8], "binary event stream cannot be read"),
        ("no end", begin, "event stream ended before the run did"),
    ];
    for (name, bytes, expected) in cases {
        let steps = [head(), Step::Body(bytes.into()), Step::End];
        let server = FaultyServer::start(Script::new().always("*", steps)).await.unwrap();
        let mut run = binary(&server).run(input()).await.unwrap();
        let error = loop {
            match soon(run.next()).await {
                Some(Ok(_)) => {}
                Some(Err(error)) => break error.to_string(),
                None => panic!("{name}: no error"),
            }
        };
        assert_eq!(error, expected, "{name}");
    }
}
