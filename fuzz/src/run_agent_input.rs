//! A request is read or refused, in words that quote nothing; what was read can be read again.

use agui_core::{DecodeError, RunAgentInput};

/// The bytes are the body of a request.
pub fn run(data: &[u8]) {
    match RunAgentInput::decode(data) {
        Ok(input) => read_again(&input),
        Err(error) => check_error(&error),
    }
}

fn read_again(input: &RunAgentInput) {
    let written = serde_json::to_vec(input).unwrap_or_default();
    match RunAgentInput::decode(&written) {
        Ok(again) => {
            assert_eq!(
                serde_json::to_vec(&again).unwrap_or_default(),
                written,
                "it changes with each reading"
            );
            assert!(again.skipped.is_empty(), "what was left out is written: {:?}", again.skipped);
        }
        Err(error) => panic!("what we write, we refuse: {error}: {}", String::from_utf8_lossy(&written)),
    }
}

fn check_error(error: &DecodeError) {
    assert!(error.pointer.is_empty() || error.pointer.starts_with('/'), "no JSON pointer: {}", error.pointer);
}
