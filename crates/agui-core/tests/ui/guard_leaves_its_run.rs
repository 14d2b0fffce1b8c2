//! A message that somebody else keeps after the run.

fn answer(sink: agui_core::EventSink) -> agui_core::OpenText<'static> {
    sink.text_message()
}

fn main() {}
