#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| agui_fuzz::run_agent_input::run(data));
