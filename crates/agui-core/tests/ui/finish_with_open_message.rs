//! `RUN_FINISHED` while a text message is open.

fn answer(sink: agui_core::EventSink) {
    let mut text = sink.text_message();
    text.delta("Hi");
    sink.finish();
}

fn main() {}
