//! An issuer over TLS.

use std::sync::Arc;

use agui_auth::{DeniedReason, JwtVerifier};
use agui_tls::Trust;
use graviola::hashing::Sha256;
use graviola::signing::ecdsa::{P256, SigningKey};
use rcgen::{
    CertificateParams, KeyIdMethod, PKCS_ECDSA_P256_SHA256, PublicKeyData, SerialNumber, SignatureAlgorithm,
};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::json;
use tokio_rustls::TlsAcceptor;

use crate::issuer::{IssuerStub, verdict};
use crate::tokens::Key;

/// The key of a server's certificate.
struct ServerKey {
    private: SigningKey<P256>,
    public: Vec<u8>,
}

impl ServerKey {
    fn new() -> Self {
        let private = SigningKey::<P256>::generate().unwrap();
        let mut buffer = [0; 256];
        let spki = private.to_spki_der(&mut buffer).unwrap();
        let public = spki[spki.len() - 65..].to_vec();
        Self { private, public }
    }
}

impl PublicKeyData for ServerKey {
    fn der_bytes(&self) -> &[u8] {
        &self.public
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &PKCS_ECDSA_P256_SHA256
    }
}

impl rcgen::SigningKey for ServerKey {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rcgen::Error> {
        let mut buffer = [0; 128];
        let signature = self.private.sign_asn1::<Sha256>(&[message], &mut buffer);
        signature.map(<[u8]>::to_vec).map_err(|_| rcgen::Error::RemoteKeyError)
    }
}

/// A server for 127.0.0.1, and the certificate to trust.
fn server() -> (TlsAcceptor, String) {
    let key = ServerKey::new();
    let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    params.serial_number = Some(SerialNumber::from(7));
    params.key_identifier_method = KeyIdMethod::PreSpecified(vec![7; 20]);
    let certificate = params.self_signed(&key).unwrap();
    let mut buffer = [0; 512];
    let der = key.private.to_pkcs8_der(&mut buffer).unwrap().to_vec();
    let config = ServerConfig::builder_with_provider(Arc::new(rustls_graviola::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(der)),
        )
        .unwrap();
    (TlsAcceptor::from(Arc::new(config)), certificate.pem())
}

#[tokio::test]
async fn keys_come_over_tls_from_a_server_that_is_trusted_and_from_no_other() {
    let key = Key::new("a");
    let (tls, pem) = server();
    let issuer = IssuerStub::over_tls(json!([key.jwk()]), tls).await;
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), pem).unwrap();

    let trusting =
        JwtVerifier::new(issuer.config().with_trust(Trust::public().with_file(file.path()))).unwrap();
    assert_eq!(verdict(&trusting, key.token(&issuer)).await, Ok(()));
    assert_eq!(issuer.asked(), (1, 1));

    let strange = JwtVerifier::new(issuer.config().with_trust(Trust::public())).unwrap();
    assert_eq!(verdict(&strange, key.token(&issuer)).await, Err(DeniedReason::KeysUnavailable));
    assert_eq!(issuer.asked(), (1, 1));
}
