#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| agui_fuzz::sse_decoder::run(data));
