//! Who is told apart.

use std::time::Duration;

use agui_auth::{Authenticator, Caller, DeniedReason};
use serde_json::{Value, json};

use crate::issuer::{IssuerStub, headers};
use crate::tokens::Key;

#[tokio::test]
async fn a_fresh_token_is_the_same_caller_and_another_subject_or_client_is_another() {
    let key = Key::new("a");
    let issuer = IssuerStub::new(json!([key.jwk()])).await;
    let auth = Authenticator::Jwt(issuer.verifier());
    let caller = async |claims: Value| -> Caller {
        let mut head = http::Request::post("/").body(()).unwrap().into_parts().0;
        head.headers = headers(key.token_with(&issuer, claims));
        auth.check(&head).await.unwrap().unwrap()
    };
    let mine = caller(json!({"client_id": "c"})).await;
    assert_eq!(caller(json!({"client_id": "c", "exp": issuer.now_s() + 7200, "jti": "2"})).await, mine);
    for other in [json!({"client_id": "c", "sub": "user-2"}), json!({"client_id": "d"}), json!({})] {
        assert_ne!(caller(other.clone()).await, mine, "{other}");
    }
    assert!(mine.as_str().is_ascii() && !mine.as_str().contains("user-1"), "{mine}");
}

#[tokio::test]
async fn a_caller_who_stays_is_let_in_as_long_as_its_token_lasts() {
    let key = Key::new("a");
    let issuer = IssuerStub::new(json!([key.jwk()])).await;
    let auth = Authenticator::Jwt(issuer.verifier());
    let shown = headers(key.token(&issuer));
    let verdict = async || auth.check_again(&shown).await.map_err(|denied| denied.reason());
    assert_eq!(verdict().await, Ok(()));
    issuer.advance(Duration::from_secs(3_600 + 59));
    assert_eq!(verdict().await, Ok(()));
    issuer.advance(Duration::from_secs(1));
    assert_eq!(verdict().await, Err(DeniedReason::Expired));
    let shared = Authenticator::bearer("t").unwrap();
    assert!(shared.check_again(&shown).await.is_ok(), "it was let in, and that is for good");
}
