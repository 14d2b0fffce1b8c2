//! `TOOL_CALL_RESULT` while the arguments are still open.

fn answer(sink: &agui_core::EventSink) {
    let call = sink.tool_call("search");
    call.result("found");
}

fn main() {}
