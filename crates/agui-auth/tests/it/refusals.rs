//! What a refused caller is told.

use agui_auth::{Authenticator, ConfigError, Denied, DeniedReason, JwtVerifier, RuntimeArn};
use http::{HeaderMap, Request};
use serde_json::{Value, json};

use crate::issuer::{IssuerStub, headers, verdict};
use crate::tokens::Key;

const METADATA: &str = "https://bedrock-agentcore.us-west-2.amazonaws.com/runtimes/arn%3Aaws%3Abedrock-agentcore%3A\
                        us-west-2%3A123456789012%3Aruntime%2Fmy_agent-AbCdEf1234/invocations/.well-known/\
                        oauth-protected-resource?qualifier=DEFAULT";

fn said(denied: &Denied) -> (u16, &'static str, String) {
    let challenge = denied.challenge().map_or("", |challenge| challenge.to_str().unwrap());
    (denied.status().as_u16(), denied.code().as_str(), challenge.to_owned())
}

async fn rig() -> (IssuerStub, Key, JwtVerifier) {
    let key = Key::new("a");
    let issuer = IssuerStub::new(json!([key.jwk()])).await;
    let arn: RuntimeArn =
        "arn:aws:bedrock-agentcore:us-west-2:123456789012:runtime/my_agent-AbCdEf1234".parse().unwrap();
    let config = issuer
        .config()
        .with_scopes(["agent:run", "agent:admin"])
        .with_advertised_scope("agent:admin", "api://agent/admin");
    let metadata = arn.resource_metadata_url(RuntimeArn::DEFAULT_QUALIFIER).unwrap();
    let verifier = JwtVerifier::new(config).unwrap().with_resource_metadata(&metadata);
    (issuer, key, verifier)
}

#[tokio::test]
async fn r34_a_missing_token_is_asked_for_byte_for_byte() {
    let (_issuer, _key, verifier) = rig().await;
    let denied = verifier.check(&HeaderMap::new()).await.unwrap_err();
    assert_eq!(said(&denied), (401, "UNAUTHORIZED", format!("Bearer resource_metadata=\"{METADATA}\"")));
}

#[tokio::test]
async fn r33_a_bad_token_and_a_missing_scope_are_told_apart() {
    let (issuer, key, verifier) = rig().await;
    let expired = key.token_with(&issuer, json!({"exp": 1, "scope": "agent:run"}));
    let denied = verifier.check(&headers(expired)).await.unwrap_err();
    let challenge = format!("Bearer error=\"invalid_token\", resource_metadata=\"{METADATA}\"");
    assert_eq!(said(&denied), (401, "UNAUTHORIZED", challenge));

    let denied = verifier.check(&headers(key.token(&issuer))).await.unwrap_err();
    let challenge = format!(
        "Bearer error=\"insufficient_scope\", scope=\"agent:run api://agent/admin\", resource_metadata=\"{METADATA}\""
    );
    assert_eq!(said(&denied), (403, "ACCESS_DENIED", challenge));

    let scoped = key.token_with(&issuer, json!({"scope": "agent:admin"}));
    assert_eq!(verdict(&verifier, scoped).await, Ok(()));
}

#[tokio::test]
async fn every_condition_has_a_reason_of_its_own() {
    let (issuer, key, verifier) = rig().await;
    let table = [
        (json!({"iss": "https://other.test"}), DeniedReason::Issuer),
        (json!({"aud": "other"}), DeniedReason::Audience),
        (json!({"exp": 1}), DeniedReason::Expired),
        (json!({"exp": null}), DeniedReason::Malformed),
        (json!({"nbf": 99_999_999_999_u64}), DeniedReason::NotYetValid),
        (json!({"scope": "other"}), DeniedReason::Scope),
    ];
    for (claims, expected) in table {
        let token = key.token_with(&issuer, claims.clone());
        assert_eq!(verdict(&verifier, token).await, Err(expected), "{claims}");
    }
}

#[tokio::test]
async fn the_header_is_read_as_for_a_static_token() {
    let (issuer, key, verifier) = rig().await;
    let token = key.token_with(&issuer, json!({"scope": "agent:run"}));
    let table: [(&[String], Result<(), DeniedReason>); 5] = [
        (&[format!("bearer   {token}")], Ok(())),
        (&[format!("Basic {token}")], Err(DeniedReason::OtherScheme)),
        (&[format!("Bearer {token}"), format!("Bearer {token}")], Err(DeniedReason::Repeated)),
        (&["Bearer".to_owned()], Err(DeniedReason::OtherScheme)),
        (&["Bearer ".to_owned()], Err(DeniedReason::Malformed)),
    ];
    for (values, expected) in table {
        let mut request = Request::post("/");
        for value in values {
            request = request.header("authorization", value);
        }
        let head = request.body(()).unwrap().into_parts().0;
        let auth = Authenticator::Jwt(verifier.clone());
        let verdict = auth.check(&head).await.map(|_| ()).map_err(|denied| denied.reason());
        assert_eq!(verdict, expected, "{values:?}");
        assert!(!auth.needs_body());
    }
}

#[tokio::test]
async fn neither_token_nor_claim_is_shown() {
    let (issuer, key, verifier) = rig().await;
    let token = key.token_with(&issuer, json!({"aud": "hunter2"}));
    let denied = verifier.check(&headers(&token)).await.unwrap_err();
    let shown = format!("{denied} {denied:?} {verifier:?}");
    assert!(!shown.contains(&token) && !shown.contains("hunter2") && !shown.contains("user-1"), "{shown}");
}

#[tokio::test]
async fn an_issuer_without_any_condition_and_scopes_that_are_none_are_refused() {
    let issuer = IssuerStub::new(Value::Null).await;
    let error = JwtVerifier::new(issuer.config().with_audience([""; 0])).unwrap_err();
    assert!(matches!(error, ConfigError::Unrestricted), "{error:?}");
    for scope in ["", "a b", "a\"b", "é"] {
        let error = JwtVerifier::new(issuer.config().with_scopes([scope])).unwrap_err();
        assert!(matches!(error, ConfigError::Scope), "{scope} {error:?}");
    }
}
