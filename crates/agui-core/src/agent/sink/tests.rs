use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::{EventSink, Sources};
use crate::{
    Content, ContentPart, Event, Interrupt, Json, JsonObject, RunAgentInput, RunError, RunLimits, RunStream,
    TextMessageStart, TextPart, TokenUsage, ToolCallStart, UnixMillis, Verifier,
};

fn input() -> RunAgentInput {
    RunAgentInput::new("t", "r", Vec::new()).with_protocol_version("1.0")
}

fn start() -> (EventSink, RunStream) {
    EventSink::start(&input(), RunLimits::default())
}

/// Everything that waits, checked, as `TYPE rest of the JSON`.
fn sent(stream: &mut RunStream) -> Vec<String> {
    let mut events = Vec::new();
    let mut cx = Context::from_waker(Waker::noop());
    while let Poll::Ready(true) = stream.poll_batch(&mut cx, &mut events) {}
    let mut verifier = Verifier::for_run("t", "r");
    events.iter().for_each(|event| verifier.check(event).unwrap());
    verifier.finish().unwrap();
    events.iter().map(line).collect()
}

fn line(event: &Event) -> String {
    let json = serde_json::to_string(event).unwrap();
    let kind = event.event_type();
    let rest = json.strip_prefix(&format!("{{\"type\":\"{kind}\"")).unwrap().trim_end_matches('}');
    format!("{kind} {}", rest.trim_start_matches(',').replace('"', ""))
}

const STARTED: &str = "RUN_STARTED threadId:t,runId:r,protocolVersion:1.0";
const FINISHED: &str = "RUN_FINISHED threadId:t,runId:r,outcome:{type:success";

#[test]
fn guards_end_what_they_opened() {
    let (sink, mut stream) = start();
    {
        let _step = sink.step("plan");
        let mut reasoning = sink.reasoning();
        reasoning.delta("hm");
        reasoning.encrypted_value("sealed");
        reasoning.end();
        let mut text = sink.text_message();
        text.delta("Hi");
        text.delta("");
    }
    sink.finish();
    let expected = [
        STARTED,
        "STEP_STARTED stepName:plan",
        "REASONING_START messageId:r-1",
        "REASONING_MESSAGE_START role:reasoning,messageId:r-1",
        "REASONING_MESSAGE_CONTENT messageId:r-1,delta:hm",
        "REASONING_ENCRYPTED_VALUE subtype:message,entityId:r-1,encryptedValue:sealed",
        "REASONING_MESSAGE_END messageId:r-1",
        "REASONING_END messageId:r-1",
        "TEXT_MESSAGE_START messageId:r-2,role:assistant",
        "TEXT_MESSAGE_CONTENT messageId:r-2,delta:Hi",
        "TEXT_MESSAGE_END messageId:r-2",
        "STEP_FINISHED stepName:plan",
        FINISHED,
    ];
    assert_eq!(sent(&mut stream), expected);
}

#[test]
fn tool_calls_run_in_parallel_and_take_one_result() {
    let (sink, mut stream) = start();
    let mut first = sink.tool_call_with(ToolCallStart::new("c1", "add"));
    let mut second = sink.tool_call_with(ToolCallStart::new("c2", "ask"));
    first.args("[1,");
    second.args("{}");
    second.encrypted_value("sealed");
    first.args("2]");
    second.end();
    first.end().result("3");
    sink.finish();
    let expected = [
        STARTED,
        "TOOL_CALL_START toolCallId:c1,toolCallName:add",
        "TOOL_CALL_START toolCallId:c2,toolCallName:ask",
        "TOOL_CALL_ARGS toolCallId:c1,delta:[1,",
        "TOOL_CALL_ARGS toolCallId:c2,delta:{}",
        "REASONING_ENCRYPTED_VALUE subtype:tool-call,entityId:c2,encryptedValue:sealed",
        "TOOL_CALL_ARGS toolCallId:c1,delta:2]",
        "TOOL_CALL_END toolCallId:c2",
        "TOOL_CALL_END toolCallId:c1",
        "TOOL_CALL_RESULT messageId:r-1,toolCallId:c1,content:3,role:tool",
        FINISHED,
    ];
    assert_eq!(sent(&mut stream), expected);
}

#[test]
fn a_subagent_tags_what_it_sends_and_fails_without_a_verdict() {
    let (sink, mut stream) = start();
    let outer = sink.subagent("outer");
    outer.text_message().delta("a");
    drop(outer.subagent("inner"));
    outer.finish_with(Json::from_serialize("done").unwrap());
    sink.finish();
    let expected = [
        STARTED,
        "SUBAGENT_STARTED subagentRunId:r-1,name:outer",
        "TEXT_MESSAGE_START messageId:r-2,role:assistant,subagentRunId:r-1",
        "TEXT_MESSAGE_CONTENT messageId:r-2,delta:a,subagentRunId:r-1",
        "TEXT_MESSAGE_END messageId:r-2,subagentRunId:r-1",
        "SUBAGENT_STARTED subagentRunId:r-3,name:inner,parentSubagentRunId:r-1",
        "SUBAGENT_ERROR subagentRunId:r-3,message:The subagent stopped before it was finished.",
        "SUBAGENT_FINISHED subagentRunId:r-1,result:done",
        FINISHED,
    ];
    assert_eq!(sent(&mut stream), expected);
}

#[test]
fn every_end_says_how() {
    type End = fn(EventSink);
    let cases: [(End, &str); 7] = [
        (EventSink::finish, FINISHED),
        (
            |sink| sink.finish_with(Json::from_serialize(&1).unwrap()),
            "RUN_FINISHED threadId:t,runId:r,result:1,outcome:{type:success",
        ),
        (
            |sink| sink.interrupt([Interrupt::new("i", "confirmation")]),
            "RUN_FINISHED threadId:t,runId:r,outcome:{type:interrupt,interrupts:[{id:i,reason:confirmation}]",
        ),
        (
            |sink| sink.interrupt([]),
            "RUN_ERROR message:The agent waits for an answer but asked nothing.,code:AGENT_ERROR",
        ),
        (EventSink::cancelled, "RUN_FINISHED threadId:t,runId:r,outcome:{type:cancelled"),
        (|sink| sink.fail(RunError::new("no").with_code("X")), "RUN_ERROR message:no,code:X"),
        (drop, "RUN_ERROR message:The agent stopped before the run was finished.,code:AGENT_ERROR"),
    ];
    for (end, expected) in cases {
        let (sink, mut stream) = start();
        end(sink);
        assert_eq!(sent(&mut stream), [STARTED, expected]);
    }
}

#[test]
fn a_leaked_guard_neither_stays_open_nor_keeps_the_run() {
    let (sink, mut stream) = start();
    std::mem::forget(sink.subagent("s"));
    drop(sink);
    let expected = [
        STARTED,
        "SUBAGENT_STARTED subagentRunId:r-1,name:s",
        "SUBAGENT_ERROR subagentRunId:r-1,message:The agent stopped before the run was finished.,code:AGENT_ERROR",
        "RUN_ERROR message:The agent stopped before the run was finished.,code:AGENT_ERROR",
    ];
    assert_eq!(sent(&mut stream), expected);
}

#[test]
fn a_client_of_0_x_gets_what_it_can_read() {
    let old = RunAgentInput::new("t", "r", Vec::new());
    let (sink, mut stream) = EventSink::start(&old, RunLimits::default());
    let parts: Vec<ContentPart> = vec![TextPart::new("a").into(), TextPart::new("b").into()];
    let subagent = sink.subagent("s");
    subagent.tool_result("c", Content::Parts(parts));
    subagent.finish();
    sink.cancelled();
    let expected = [
        STARTED,
        r"TOOL_CALL_RESULT messageId:r-2,toolCallId:c,content:a\nb,role:tool,subagentRunId:r-1",
        "RUN_ERROR message:The run was cancelled.,code:CANCELLED",
    ];
    assert_eq!(sent(&mut stream), expected);
}

#[test]
fn ids_times_and_usage_come_from_the_caller() {
    let mut next = 0;
    let mut now = 0;
    let sources = Sources::new()
        .with_ids(move || {
            next += 1;
            format!("id{next}")
        })
        .with_clock(move || {
            now += 1;
            UnixMillis::new(now)
        });
    let (sink, mut stream) = EventSink::start_with(&input(), RunLimits::default(), sources);
    sink.text_message().end();
    sink.text_message_with(TextMessageStart::new("own").with_name("n")).end();
    sink.set_usage([TokenUsage::default().with_input_tokens(7_u64)]);
    sink.fail(RunError::new("no"));
    let expected = [
        "RUN_STARTED threadId:t,runId:r,protocolVersion:1.0,timestamp:1",
        "TEXT_MESSAGE_START messageId:id1,role:assistant,timestamp:2",
        "TEXT_MESSAGE_END messageId:id1,timestamp:3",
        "TEXT_MESSAGE_START messageId:own,role:assistant,name:n,timestamp:4",
        "TEXT_MESSAGE_END messageId:own,timestamp:5",
        "RUN_ERROR message:no,usage:[{inputTokens:7}],timestamp:6",
    ];
    assert_eq!(sent(&mut stream), expected);
}

#[test]
fn an_activity_is_changed_through_its_handle() {
    let (sink, mut stream) = start();
    let mut activity = sink.activity("plan", JsonObject::empty());
    activity.replace(JsonObject::from_string(r#"{"a":1}"#.to_owned()).unwrap());
    activity.patch(Vec::new());
    sink.custom("vendor/x", Json::null());
    sink.raw(Json::null());
    sink.messages_snapshot(Vec::new());
    sink.finish();
    let expected = [
        STARTED,
        "ACTIVITY_SNAPSHOT messageId:r-1,activityType:plan,content:{",
        "ACTIVITY_SNAPSHOT messageId:r-1,activityType:plan,content:{a:1",
        "ACTIVITY_DELTA messageId:r-1,activityType:plan,patch:[]",
        "CUSTOM name:vendor/x,value:null",
        "RAW event:null",
        "MESSAGES_SNAPSHOT messages:[]",
        FINISHED,
    ];
    assert_eq!(sent(&mut stream), expected);
}

#[cfg(feature = "state")]
#[test]
fn state_goes_out_whole_once_and_then_as_differences() {
    use serde_json::json;
    let (sink, mut stream) = start();
    let from_client = input().with_state(Json::from_string(r#"{"n":1}"#.to_owned()).unwrap());
    let mut state = sink.shared_state(&from_client).unwrap();
    assert_eq!(state.value(), &json!({"n": 1}));
    state.set(&json!({"n": 1, "long": "0123456789012345678901234567890123456789"})).unwrap();
    state.update(|value| value["n"] = json!(2)).unwrap();
    state.update(|_| ()).unwrap();
    state.set(&json!(0)).unwrap();
    sink.finish();
    let expected = [
        STARTED,
        "STATE_SNAPSHOT snapshot:{long:0123456789012345678901234567890123456789,n:1",
        "STATE_DELTA delta:[{op:replace,path:/n,value:2}]",
        "STATE_SNAPSHOT snapshot:0",
        FINISHED,
    ];
    assert_eq!(sent(&mut stream), expected);
}

#[test]
fn every_part_of_an_agent_that_waits_is_woken() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    #[derive(Default)]
    struct Woken(AtomicUsize);
    impl std::task::Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let (sink, mut stream) = EventSink::start(&input(), RunLimits::new(1, 1_000));
    let wakes = [Arc::new(Woken::default()), Arc::new(Woken::default())];
    for woken in &wakes {
        let waker = Waker::from(Arc::clone(woken));
        assert!(pin!(sink.ready()).poll(&mut Context::from_waker(&waker)).is_pending());
    }
    let mut out = Vec::new();
    let mut cx = Context::from_waker(Waker::noop());
    assert!(stream.poll_batch(&mut cx, &mut out).is_ready());
    assert_eq!(wakes.map(|woken| woken.0.load(Ordering::SeqCst)), [1, 1]);
    assert!(!sink.is_closed());
    drop(stream);
    assert!(sink.is_closed());
    assert!(pin!(poll_fn(|cx| sink.poll_ready(cx))).poll(&mut cx).is_ready());
    assert!(pin!(sink.closed()).poll(&mut cx).is_ready());
}

#[test]
fn a_sink_can_be_used_across_awaits() {
    fn is_send<T: Send>(_: &T) {}
    let (sink, _stream) = start();
    let work = async {
        let mut text = sink.text_message();
        sink.ready().await;
        text.delta("a");
    };
    is_send(&work);
}
