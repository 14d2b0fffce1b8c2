//! Keys that sign tokens for a test.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use graviola::signing::eddsa::Ed25519SigningKey;
use serde_json::{Value, json};

use crate::issuer::{IssuerStub, NAME};

pub(crate) struct Key {
    id: String,
    private: Ed25519SigningKey,
}

impl Key {
    pub(crate) fn new(id: &str) -> Self {
        Self { id: id.to_owned(), private: Ed25519SigningKey::generate().unwrap() }
    }

    pub(crate) fn jwk(&self) -> Value {
        let x = URL_SAFE_NO_PAD.encode(self.private.public_key().as_bytes());
        json!({"kty": "OKP", "crv": "Ed25519", "x": x, "kid": self.id, "use": "sig", "alg": "EdDSA"})
    }

    /// A token that the conditions of [`IssuerStub::config`] let pass for an hour.
    pub(crate) fn token(&self, issuer: &IssuerStub) -> String {
        self.token_with(issuer, json!({}))
    }

    /// The same with other claims on top.
    pub(crate) fn token_with(&self, issuer: &IssuerStub, more: Value) -> String {
        let mut claims = json!({"iss": NAME, "aud": "agent", "sub": "user-1", "exp": issuer.now_s() + 3600});
        let Value::Object(more) = more else { panic!("claims are an object") };
        claims.as_object_mut().unwrap().extend(more);
        let header = json!({"alg": "EdDSA", "typ": "JWT", "kid": self.id});
        let encode = |part: &Value| URL_SAFE_NO_PAD.encode(part.to_string());
        let message = format!("{}.{}", encode(&header), encode(&claims));
        let signature = URL_SAFE_NO_PAD.encode(self.private.sign(message.as_bytes()));
        format!("{message}.{signature}")
    }
}
