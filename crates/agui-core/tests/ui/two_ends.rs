//! `RUN_FINISHED` after `RUN_ERROR`.

fn answer(sink: agui_core::EventSink) {
    sink.fail(agui_core::RunError::new("no"));
    sink.finish();
}

fn main() {}
