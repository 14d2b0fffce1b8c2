//! `TOOL_CALL_ARGS` after `TOOL_CALL_END`.

fn answer(sink: &agui_core::EventSink) {
    let mut call = sink.tool_call("search");
    call.end();
    call.args("{}");
}

fn main() {}
