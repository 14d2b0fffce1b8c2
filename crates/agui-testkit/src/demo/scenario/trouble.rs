//! Turns that do not work out.

use crate::demo::turn::{End, Turn};

/// Fails for the moment, once a context.
pub(super) async fn retry(turn: &Turn) -> End {
    turn.begin();
    turn.pause().await;
    let failures = {
        let mut store = turn.kernel.store();
        store.contexts.get_mut(&turn.ids.context_id).map_or(0, |context| {
            context.retries += 1;
            context.retries
        })
    };
    if failures % 2 == 1 {
        return End::TryAgain("RetryableError: the model is busy, try again".to_owned());
    }
    let text = "This time it works.";
    turn.say(text).await;
    turn.usage(&turn.message.text, text);
    End::Answered(text.to_owned())
}

/// Says something and fails.
pub(super) async fn fail(turn: &Turn) -> End {
    turn.begin();
    turn.say("I try. ").await;
    End::Failed("BadRequestError: Error code: 400 - the demo fails as it was asked to".to_owned())
}
