//! An event after the terminal event.

fn answer(sink: agui_core::EventSink) {
    sink.finish();
    sink.text_message().delta("one more thing");
}

fn main() {}
