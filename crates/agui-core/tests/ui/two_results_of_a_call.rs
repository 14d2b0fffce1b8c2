//! A second `TOOL_CALL_RESULT` for one call.

fn answer(sink: &agui_core::EventSink) {
    let call = sink.tool_call("search").end();
    call.result("found");
    call.result("found more");
}

fn main() {}
