//! When the issuer is asked for its keys.

use std::time::Duration;

use agui_auth::DeniedReason;
use http::StatusCode;
use serde_json::json;

use crate::issuer::{IssuerStub, NAME, headers, verdict};
use crate::tokens::Key;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);

#[tokio::test]
async fn keys_are_fetched_with_the_first_token_and_again_when_they_are_old() {
    let key = Key::new("a");
    let issuer = IssuerStub::new(json!([key.jwk()])).await;
    let verifier = issuer.verifier();
    assert_eq!(issuer.asked(), (0, 0));

    for (wait, asked) in
        [(Duration::ZERO, 1), (Duration::ZERO, 1), (14 * MINUTE, 1), (MINUTE, 2), (14 * MINUTE, 2)]
    {
        issuer.advance(wait);
        assert_eq!(verdict(&verifier.clone(), key.token(&issuer)).await, Ok(()));
        assert_eq!(issuer.asked(), (asked, asked), "{wait:?}");
    }
}

#[tokio::test]
async fn a_new_key_is_found_at_once_and_made_up_ones_cannot_hammer_the_issuer() {
    let (old, new, made_up) = (Key::new("old"), Key::new("new"), Key::new("made up"));
    let issuer = IssuerStub::new(json!([old.jwk()])).await;
    let verifier = issuer.verifier();
    assert_eq!(verdict(&verifier, old.token(&issuer)).await, Ok(()));

    issuer.set_keys(&json!([old.jwk(), new.jwk()]));
    issuer.advance(MINUTE);
    assert_eq!(verdict(&verifier, new.token(&issuer)).await, Ok(()));
    assert_eq!(issuer.asked(), (2, 2));

    for _ in 0..20 {
        assert_eq!(verdict(&verifier, made_up.token(&issuer)).await, Err(DeniedReason::UnknownKey));
        issuer.advance(Duration::from_secs(1));
    }
    assert_eq!(issuer.asked(), (2, 2));
    issuer.advance(Duration::from_secs(10));
    assert_eq!(verdict(&verifier, made_up.token(&issuer)).await, Err(DeniedReason::UnknownKey));
    assert_eq!(verdict(&verifier, made_up.token(&issuer)).await, Err(DeniedReason::UnknownKey));
    assert_eq!(issuer.asked(), (3, 3));
}

#[tokio::test]
async fn a_key_that_the_issuer_took_back_is_forgotten() {
    let (old, new) = (Key::new("old"), Key::new("new"));
    let issuer = IssuerStub::new(json!([old.jwk()])).await;
    let verifier = issuer.verifier();
    assert_eq!(verdict(&verifier, old.token(&issuer)).await, Ok(()));
    issuer.set_keys(&json!([new.jwk()]));
    issuer.advance(15 * MINUTE);
    assert_eq!(verdict(&verifier, old.token(&issuer)).await, Err(DeniedReason::UnknownKey));
}

#[tokio::test]
async fn old_keys_serve_for_a_day_while_the_issuer_is_down() {
    let key = Key::new("a");
    let issuer = IssuerStub::new(json!([key.jwk()])).await;
    let verifier = issuer.verifier();
    assert_eq!(verdict(&verifier, key.token(&issuer)).await, Ok(()));

    issuer.break_down();
    issuer.advance(23 * HOUR);
    for _ in 0..3 {
        assert_eq!(verdict(&verifier, key.token(&issuer)).await, Ok(()));
    }
    assert_eq!(issuer.asked(), (2, 1), "asked once, then left alone for a while");

    issuer.advance(HOUR);
    let denied = verifier.check(&headers(key.token(&issuer))).await.unwrap_err();
    assert_eq!(denied.reason(), DeniedReason::KeysUnavailable);
    assert_eq!((denied.status(), denied.code().as_str()), (StatusCode::SERVICE_UNAVAILABLE, "SERVER_BUSY"));
    assert_eq!(denied.challenge(), None, "a new token would not help");
}

#[tokio::test]
async fn an_issuer_that_hangs_is_waited_for_once_and_then_old_keys_serve_at_once() {
    let (key, strange) = (Key::new("a"), Key::new("b"));
    let issuer = IssuerStub::new(json!([key.jwk()])).await;
    let verifier = issuer.verifier();
    assert_eq!(verdict(&verifier, key.token(&issuer)).await, Ok(()));

    issuer.set_open(false);
    issuer.advance(15 * MINUTE);
    // From here on time passes only while everybody waits for it.
    tokio::time::pause();
    let start = tokio::time::Instant::now();
    assert_eq!(verdict(&verifier, key.token(&issuer)).await, Ok(()));
    let waited = start.elapsed();
    assert!(!waited.is_zero(), "until it is given up");
    issuer.advance(MINUTE);
    for _ in 0..3 {
        assert_eq!(verdict(&verifier, key.token(&issuer)).await, Ok(()));
    }
    assert_eq!(start.elapsed(), waited);
    tokio::time::resume();

    // It is back: the attempt that is under way brings its new keys.
    issuer.set_keys(&json!([strange.jwk()]));
    issuer.set_open(true);
    assert_eq!(verdict(&verifier, strange.token(&issuer)).await, Ok(()));
    assert_eq!(verdict(&verifier, key.token(&issuer)).await, Err(DeniedReason::UnknownKey));
}

#[tokio::test]
async fn an_issuer_that_is_down_from_the_start_is_found_when_it_is_back() {
    let key = Key::new("a");
    let issuer = IssuerStub::new(json!([key.jwk()])).await;
    let verifier = issuer.verifier();
    issuer.answer_keys(StatusCode::INTERNAL_SERVER_ERROR, String::new());
    for _ in 0..5 {
        assert_eq!(verdict(&verifier, key.token(&issuer)).await, Err(DeniedReason::KeysUnavailable));
    }
    assert_eq!(issuer.asked(), (1, 1));

    issuer.set_keys(&json!([key.jwk()]));
    assert_eq!(verdict(&verifier, key.token(&issuer)).await, Err(DeniedReason::KeysUnavailable));
    issuer.advance(Duration::from_secs(5));
    assert_eq!(verdict(&verifier, key.token(&issuer)).await, Ok(()));
}

#[tokio::test]
async fn callers_at_the_same_time_wait_for_one_attempt() {
    let key = Key::new("a");
    let issuer = IssuerStub::new(json!([key.jwk()])).await;
    let verifier = issuer.verifier();
    issuer.set_open(false);
    let token = key.token(&issuer);
    let callers: Vec<_> = (0..20)
        .map(|_| {
            let (verifier, token) = (verifier.clone(), token.clone());
            tokio::spawn(async move { verdict(&verifier, token).await })
        })
        .collect();
    issuer.wait_until_asked(1).await;
    issuer.set_open(true);
    for caller in callers {
        assert_eq!(caller.await.unwrap(), Ok(()));
    }
    assert_eq!(issuer.asked(), (1, 1));
}

#[tokio::test]
async fn a_caller_that_leaves_does_not_take_the_attempt_along() {
    let key = Key::new("a");
    let issuer = IssuerStub::new(json!([key.jwk()])).await;
    let verifier = issuer.verifier();
    issuer.set_open(false);
    let token = key.token(&issuer);
    tokio::select! {
        verdict = verdict(&verifier, &token) => panic!("the issuer has not answered: {verdict:?}"),
        () = issuer.wait_until_asked(1) => {}
    }
    issuer.set_open(true);
    assert_eq!(verdict(&verifier, &token).await, Ok(()));
    assert_eq!(issuer.asked(), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn an_issuer_that_never_answers_is_given_up() {
    let key = Key::new("a");
    let issuer = IssuerStub::new(json!([key.jwk()])).await;
    issuer.set_open(false);
    assert_eq!(verdict(&issuer.verifier(), key.token(&issuer)).await, Err(DeniedReason::KeysUnavailable));
}

#[tokio::test]
async fn an_answer_that_is_no_description_gives_no_keys() {
    let key = Key::new("a");
    let keys = json!({"keys": [key.jwk()]}).to_string();
    let large = format!("{}{keys}", " ".repeat(256 * 1024));
    let table = [
        ("a redirect", StatusCode::FOUND, String::new(), keys.clone()),
        ("no JSON", StatusCode::OK, "<html>".to_owned(), keys.clone()),
        ("no place", StatusCode::OK, json!({"issuer": NAME}).to_string(), keys.clone()),
        ("no issuer", StatusCode::OK, json!({"jwks_uri": "https://a.example/"}).to_string(), keys.clone()),
        (
            "a relative place",
            StatusCode::OK,
            json!({"issuer": NAME, "jwks_uri": "/keys"}).to_string(),
            keys.clone(),
        ),
        (
            "an open place",
            StatusCode::OK,
            json!({"issuer": NAME, "jwks_uri": "http://192.0.2.1/keys"}).to_string(),
            keys,
        ),
        ("a large set", StatusCode::OK, String::new(), large),
        ("no set", StatusCode::OK, String::new(), "[]".to_owned()),
    ];
    for (name, status, discovery, keys) in table {
        let issuer = IssuerStub::new(json!([])).await;
        if !discovery.is_empty() || status != StatusCode::OK {
            issuer.answer_discovery(status, discovery);
        }
        issuer.answer_keys(StatusCode::OK, keys);
        assert_eq!(
            verdict(&issuer.verifier(), key.token(&issuer)).await,
            Err(DeniedReason::KeysUnavailable),
            "{name}"
        );
    }
}
