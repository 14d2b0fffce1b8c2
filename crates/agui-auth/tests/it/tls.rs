//! An issuer over TLS.

use agui_auth::{DeniedReason, JwtVerifier};
use agui_tls::Trust;
use serde_json::json;
use tokio_rustls::TlsAcceptor;

use crate::authority::Authority;
use crate::issuer::{IssuerStub, verdict};
use crate::tokens::Key;

#[tokio::test]
async fn keys_come_over_tls_from_a_server_that_is_trusted_and_from_no_other() {
    let key = Key::new("a");
    let authority = Authority::new("the issuer's");
    let tls = TlsAcceptor::from(authority.server("127.0.0.1", &[]));
    let issuer = IssuerStub::over_tls(json!([key.jwk()]), tls).await;
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), authority.pem()).unwrap();

    let trusting =
        JwtVerifier::new(issuer.config().with_trust(Trust::public().with_file(file.path()))).unwrap();
    assert_eq!(verdict(&trusting, key.token(&issuer)).await, Ok(()));
    assert_eq!(issuer.asked(), (1, 1));

    let strange = JwtVerifier::new(issuer.config().with_trust(Trust::public())).unwrap();
    assert_eq!(verdict(&strange, key.token(&issuer)).await, Err(DeniedReason::KeysUnavailable));
    assert_eq!(issuer.asked(), (1, 1));
}
