//! `TEXT_MESSAGE_CONTENT` of a subagent after its `SUBAGENT_FINISHED`.

fn answer(sink: &agui_core::EventSink) {
    let subagent = sink.subagent("researcher");
    let mut text = subagent.text_message();
    subagent.finish();
    text.delta("Hi");
}

fn main() {}
