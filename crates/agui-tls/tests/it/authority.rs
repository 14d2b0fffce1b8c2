//! An authority made for one test, and servers that it vouches for.

use std::sync::Arc;

use graviola::hashing::Sha256;
use graviola::signing::ecdsa::{P256, SigningKey};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyIdMethod, KeyUsagePurpose,
    PKCS_ECDSA_P256_SHA256, PublicKeyData, SerialNumber, SignatureAlgorithm,
};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// A key of the cryptography under test, in the shape that the certificate writer asks for.
struct Key {
    private: SigningKey<P256>,
    /// The point behind the last 65 bytes of the public key's encoding.
    public: Vec<u8>,
}

impl Key {
    fn new() -> Self {
        let private = SigningKey::<P256>::generate().unwrap();
        let mut buffer = [0; 256];
        let spki = private.to_spki_der(&mut buffer).unwrap();
        let public = spki[spki.len() - 65..].to_vec();
        Self { private, public }
    }

    fn pkcs8(&self) -> PrivateKeyDer<'static> {
        let mut buffer = [0; 512];
        let der = self.private.to_pkcs8_der(&mut buffer).unwrap();
        PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(der.to_vec()))
    }
}

impl PublicKeyData for Key {
    fn der_bytes(&self) -> &[u8] {
        &self.public
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &PKCS_ECDSA_P256_SHA256
    }
}

impl rcgen::SigningKey for Key {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rcgen::Error> {
        let mut buffer = [0; 128];
        let signature = self.private.sign_asn1::<Sha256>(&[message], &mut buffer);
        signature.map(<[u8]>::to_vec).map_err(|_| rcgen::Error::RemoteKeyError)
    }
}

/// An authority that nobody knows.
pub(crate) struct Authority {
    issuer: Issuer<'static, Key>,
    pem: String,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = params(&[]);
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let key = Key::new();
        let pem = params.self_signed(&key).unwrap().pem();
        Self { issuer: Issuer::new(params, key), pem }
    }

    /// The certificate, as a file of authorities has it.
    pub(crate) fn pem(&self) -> &str {
        &self.pem
    }

    /// The configuration of a server that this authority vouches for under one name.
    pub(crate) fn server(&self, name: &str, alpn: &[&[u8]]) -> Arc<ServerConfig> {
        let key = Key::new();
        let certificate = params(&[name]).signed_by(&key, &self.issuer).unwrap();
        let mut config = ServerConfig::builder_with_provider(Arc::new(rustls_graviola::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key.pkcs8())
            .unwrap();
        config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
        Arc::new(config)
    }
}

fn params(names: &[&str]) -> CertificateParams {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names).unwrap();
    params.serial_number = Some(SerialNumber::from(7));
    params.key_identifier_method = KeyIdMethod::PreSpecified(vec![7; 20]);
    params
}
