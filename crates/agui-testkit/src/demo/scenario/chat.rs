//! Normal turns that only talk.

use serde_json::json;

use crate::demo::turn::{End, Turn};
use crate::wire::{State, text_delta};

/// Lines of the slow scenario.
const SLOW_LINES: u32 = 120;
/// Pieces of the long scenario, unless the prompt says how many.
const LONG_PIECES: u32 = 2000;
/// Most pieces that a prompt can ask for: the task keeps them all, about 1 KiB each.
const MAX_PIECES: u32 = 100_000;

/// Thinks and repeats what the user said.
pub(super) async fn chat(turn: &Turn) -> End {
    turn.begin();
    let said = &turn.message.text;
    turn.think(&format!("The user wrote {} words. I repeat them.", said.split_whitespace().count())).await;
    let mut text = format!("You said: “{said}”.");
    if turn.message.attachments > 0 {
        text.push_str(&format!(" I also got {} attachments.", turn.message.attachments));
    }
    text.push_str(" I am the demo kernel and change nothing. Words I know: ");
    let words: Vec<&str> = super::SCENARIOS.iter().map(|(word, _)| *word).collect();
    text.push_str(&words.join(", "));
    text.push('.');
    turn.say(&text).await;
    turn.usage(said, &text);
    End::Answered(text)
}

/// Many pieces as fast as they are taken.
pub(super) async fn long(turn: &Turn) -> End {
    turn.begin();
    let mut words = turn.message.text.split(|c: char| !c.is_alphanumeric());
    let count = words.find_map(|word| word.parse().ok()).unwrap_or(LONG_PIECES).min(MAX_PIECES);
    let mut text = String::new();
    for number in 0..count {
        let piece = format!("tok{number} ");
        turn.send(&text_delta(&turn.ids, &piece));
        text.push_str(&piece);
        if number % 64 == 63 {
            tokio::task::yield_now().await;
        }
    }
    turn.usage(&turn.message.text, &text);
    End::Answered(text)
}

/// One line a second.
pub(super) async fn slow(turn: &Turn) -> End {
    turn.begin();
    let mut text = String::new();
    for line in 1..=SLOW_LINES {
        let piece = format!("Line {line} of {SLOW_LINES}.\n");
        turn.send(&text_delta(&turn.ids, &piece));
        text.push_str(&piece);
        match turn.kernel.config.slow_delay {
            delay if delay.is_zero() => tokio::task::yield_now().await,
            delay => tokio::time::sleep(delay).await,
        }
    }
    turn.usage(&turn.message.text, &text);
    End::Answered(text)
}

/// One sentence, then silence.
pub(super) async fn hold(turn: &Turn) -> End {
    turn.begin();
    turn.say("I hold. ").await;
    turn.kernel.hold().await;
    turn.say("I am back.").await;
    turn.usage(&turn.message.text, "I hold. I am back.");
    End::Answered("I hold. I am back.".to_owned())
}

/// What `cleanupOnly` gives after a pipeline that has deployed nothing.
pub(super) async fn cleanup(turn: &Turn) -> End {
    turn.begin();
    turn.pause().await;
    let cleanup = json!({"requested": true, "status": "unavailable", "resourceCount": 0, "resources": []});
    turn.status(State::Working, json!({"cleanupOnly": cleanup}));
    End::AnsweredWith(String::new(), json!({"cleanupOnly": cleanup}))
}
