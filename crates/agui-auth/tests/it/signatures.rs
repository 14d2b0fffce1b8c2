//! Which tokens are taken for the issuer's own.

use agui_auth::{DeniedReason, JwtVerifier};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::issuer::{IssuerStub, verdict};

/// Public keys and tokens that another library made; the keys that signed them are gone.
fn fixture() -> Value {
    serde_json::from_str(include_str!("../../fixtures/jwt.json")).unwrap()
}

fn tokens<'a>(fixture: &'a Value, list: &str) -> Vec<(&'a str, &'a str)> {
    let text = |token: &'a Value, member: &str| token[member].as_str().unwrap();
    fixture[list]
        .as_array()
        .unwrap()
        .iter()
        .map(|token| (text(token, "name"), text(token, "token")))
        .collect()
}

async fn verifier_of(fixture: &Value) -> JwtVerifier {
    let issuer = IssuerStub::new(fixture["keys"].clone()).await;
    let config = issuer.config().with_clients(["client-1"]).with_scopes(["agent:run"]);
    JwtVerifier::new(config).unwrap()
}

#[tokio::test]
async fn r27_tokens_of_every_algorithm_pass() {
    let fixture = fixture();
    let verifier = verifier_of(&fixture).await;
    let tokens = tokens(&fixture, "valid");
    assert_eq!(tokens.len(), 12);
    for (name, token) in tokens {
        assert_eq!(verdict(&verifier, token).await, Ok(()), "{name}");
    }
}

#[tokio::test]
async fn tokens_that_the_issuer_did_not_sign_this_way_are_refused() {
    let fixture = fixture();
    let verifier = verifier_of(&fixture).await;
    let verdicts = tokens(&fixture, "invalid");
    let expected = [
        ("RS256 with 1024 bits", DeniedReason::Signature),
        ("ES512", DeniedReason::Malformed),
        ("HS256 with the public key as its secret", DeniedReason::Algorithm),
        ("HS256 with the modulus as its secret", DeniedReason::Algorithm),
        ("none", DeniedReason::Malformed),
        ("a critical header", DeniedReason::Signature),
        ("a foreign key of the same id", DeniedReason::Signature),
        ("an unknown key id", DeniedReason::UnknownKey),
        ("the key of another algorithm", DeniedReason::UnknownKey),
    ];
    assert_eq!(verdicts.len(), expected.len());
    for ((name, token), (expected_name, reason)) in verdicts.into_iter().zip(expected) {
        assert_eq!((name, verdict(&verifier, token).await), (expected_name, Err(reason)));
    }
}

#[tokio::test]
async fn a_changed_token_is_refused() {
    let fixture = fixture();
    let verifier = verifier_of(&fixture).await;
    for (name, token) in tokens(&fixture, "valid") {
        let [header, claims, signature] = token.split('.').collect::<Vec<_>>()[..] else {
            panic!("three parts")
        };
        let richer =
            String::from_utf8(URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap().replace("user-1", "admin");
        let richer = URL_SAFE_NO_PAD.encode(richer);
        assert_eq!(
            verdict(&verifier, format!("{header}.{richer}.{signature}")).await,
            Err(DeniedReason::Signature),
            "{name}"
        );

        let unsigned = URL_SAFE_NO_PAD.encode(json!({"alg": "none", "typ": "JWT"}).to_string());
        for token in [format!("{unsigned}.{claims}."), format!("{unsigned}.{claims}.{signature}")] {
            assert_eq!(verdict(&verifier, token).await, Err(DeniedReason::Malformed), "{name}");
        }
        for token in [
            format!("{header}.{claims}."),
            format!("{header}.{claims}.{signature}AA"),
            format!("{header}.{claims}.{signature}="),
        ] {
            assert_eq!(verdict(&verifier, token).await, Err(DeniedReason::Signature), "{name}");
        }
        for token in [
            format!("{header}.{claims}"),
            format!("{token}.x"),
            format!(".{claims}.{signature}"),
            ".".to_owned(),
        ] {
            assert_eq!(verdict(&verifier, token).await, Err(DeniedReason::Malformed), "{name}");
        }
    }
}

#[tokio::test]
async fn an_endless_token_is_not_looked_at() {
    let fixture = fixture();
    let verifier = verifier_of(&fixture).await;
    let token = tokens(&fixture, "valid")[0].1;
    let padded = format!("{token}{}", "A".repeat(16 * 1024));
    assert_eq!(verdict(&verifier, padded).await, Err(DeniedReason::Malformed));
}

fn any_token() -> impl Strategy<Value = String> {
    let fixture = fixture();
    let valid: Vec<String> =
        tokens(&fixture, "valid").into_iter().map(|(_, token)| token.to_owned()).collect();
    let part = prop_oneof![
        "[A-Za-z0-9_=-]{0,24}",
        r#"\{("(alg|kid|crit|b64|exp|typ)":("[a-zA-Z0-9]{0,5}"|[0-9]{1,25}|null|\[\]),?){0,3}\}"#
            .prop_map(|json| URL_SAFE_NO_PAD.encode(json)),
        Just(URL_SAFE_NO_PAD.encode(r#"{"alg":"RS256"}"#)),
        Just(URL_SAFE_NO_PAD.encode(r#"{"alg":"ES384","kid":"p384"}"#)),
    ];
    prop_oneof![
        prop::collection::vec(part, 0..5).prop_map(|parts| parts.join(".")),
        (prop::sample::select(valid), any::<prop::sample::Index>(), "[A-Za-z0-9._-]{0,2}").prop_map(
            |(token, at, with)| {
                let at = at.index(token.len());
                format!("{}{with}{}", &token[..at], &token[at + 1..])
            }
        ),
    ]
}

#[test]
fn no_token_makes_the_verifier_panic_and_only_whole_ones_pass() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let fixture = fixture();
    let verifier = runtime.block_on(verifier_of(&fixture));
    let valid = tokens(&fixture, "valid");
    proptest!(|(token in any_token())| {
        let verdict = runtime.block_on(verdict(&verifier, &token));
        prop_assert_eq!(verdict.is_ok(), valid.iter().any(|(_, known)| *known == token), "{}", token);
    });
}
