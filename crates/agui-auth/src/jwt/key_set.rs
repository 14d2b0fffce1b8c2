//! The keys of an issuer.

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Most keys of one issuer (64; issuers have two to ten). Bounds what a token without a key id can cost.
const MAX_KEYS: usize = 64;

/// What an issuer says about itself: its name, and the keys it signs with.
#[derive(Default)]
pub(super) struct KeySet {
    issuer: String,
    keys: Vec<PublicKey>,
}

struct PublicKey {
    id: Option<String>,
    algorithms: Vec<Algorithm>,
    key: DecodingKey,
}

/// A set of keys (RFC 7517), not looked into.
#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow)]
    keys: Vec<&'a RawValue>,
}

impl KeySet {
    /// Reads a key set. Keys of other kinds, for other uses, or that cannot be read are passed over, as RFC 7517
    /// section 5 asks; `None` if this is no key set at all.
    pub(super) fn decode(issuer: String, text: &[u8]) -> Option<Self> {
        let document: Document<'_> = serde_json::from_slice(text).ok()?;
        let keys = document.keys.iter().filter_map(|key| PublicKey::decode(key)).take(MAX_KEYS).collect();
        Some(Self { issuer, keys })
    }

    pub(super) fn issuer(&self) -> &str {
        &self.issuer
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// The keys that may have made a signature: those with the token's key id, or all if it names none.
    pub(super) fn candidates(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
    ) -> impl Iterator<Item = &DecodingKey> {
        let fits = move |key: &&PublicKey| id.is_none_or(|id| key.id.as_deref() == Some(id));
        let keys = self.keys.iter().filter(fits).filter(move |key| key.algorithms.contains(&algorithm));
        keys.map(|key| &key.key)
    }
}

impl PublicKey {
    fn decode(text: &RawValue) -> Option<Self> {
        let jwk: Jwk = serde_json::from_str(text.get()).ok()?;
        let signs = jwk.common.public_key_use.as_ref().is_none_or(|used| *used == PublicKeyUse::Signature);
        let operations = jwk.common.key_operations.as_ref();
        let verifies = operations.is_none_or(|operations| operations.contains(&KeyOperations::Verify));
        if !signs || !verifies {
            return None;
        }
        let mut algorithms = algorithms(&jwk.algorithm)?;
        if let Some(only) = jwk.common.key_algorithm {
            let only = Algorithm::try_from(only).ok()?;
            algorithms.retain(|algorithm| *algorithm == only);
        }
        let key = DecodingKey::from_jwk(&jwk).ok()?;
        (!algorithms.is_empty()).then(|| Self { id: jwk.common.key_id, algorithms, key })
    }
}

/// What a key of this kind can sign. A shared secret in a public document is none.
fn algorithms(parameters: &AlgorithmParameters) -> Option<Vec<Algorithm>> {
    match parameters {
        AlgorithmParameters::RSA(_) => Some(AlgorithmFamily::Rsa.algorithms().to_vec()),
        AlgorithmParameters::EllipticCurve(key) => match key.curve {
            EllipticCurve::P256 => Some(vec![Algorithm::ES256]),
            EllipticCurve::P384 => Some(vec![Algorithm::ES384]),
            _ => None,
        },
        AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => {
            Some(vec![Algorithm::EdDSA])
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn counts(keys: &Value) -> Vec<usize> {
        let set = KeySet::decode("i".to_owned(), json!({ "keys": keys }).to_string().as_bytes()).unwrap();
        [
            Algorithm::RS256,
            Algorithm::PS256,
            Algorithm::ES256,
            Algorithm::ES384,
            Algorithm::EdDSA,
            Algorithm::HS256,
        ]
        .map(|algorithm| set.candidates(None, algorithm).count())
        .to_vec()
    }

    #[test]
    fn a_key_serves_what_its_kind_and_its_own_limits_allow() {
        let rsa = |more: Value| {
            let mut key = json!({"kty": "RSA", "n": "AQAB", "e": "AQAB"});
            key.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            key
        };
        let table = [
            (rsa(json!({})), [1, 1, 0, 0, 0, 0]),
            (rsa(json!({"alg": "PS256", "use": "sig"})), [0, 1, 0, 0, 0, 0]),
            (rsa(json!({"use": "enc"})), [0; 6]),
            (rsa(json!({"alg": "RSA-OAEP"})), [0; 6]),
            (rsa(json!({"alg": "ES256"})), [0; 6]),
            (rsa(json!({"alg": "HS256"})), [0; 6]),
            (rsa(json!({"alg": "quantum"})), [0; 6]),
            (rsa(json!({"key_ops": ["encrypt"]})), [0; 6]),
            (rsa(json!({"key_ops": ["verify"]})), [1, 1, 0, 0, 0, 0]),
            (json!({"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"}), [0, 0, 1, 0, 0, 0]),
            (json!({"kty": "EC", "crv": "P-384", "x": "AA", "y": "AA"}), [0, 0, 0, 1, 0, 0]),
            (json!({"kty": "EC", "crv": "P-521", "x": "AA", "y": "AA"}), [0; 6]),
            (json!({"kty": "OKP", "crv": "Ed25519", "x": "AA"}), [0, 0, 0, 0, 1, 0]),
            (json!({"kty": "OKP", "crv": "X25519", "x": "AA"}), [0; 6]),
            (json!({"kty": "oct", "k": "c2VjcmV0"}), [0; 6]),
            (json!({"kty": "new"}), [0; 6]),
            (json!({"kty": "RSA", "n": "***", "e": "AQAB"}), [0; 6]),
            (json!("x"), [0; 6]),
        ];
        for (key, expected) in table {
            assert_eq!(counts(&json!(["broken", key])), expected, "{key}");
        }
    }

    #[test]
    fn a_key_id_picks_one_key_and_is_compared_as_it_is() {
        let key = |id: &str| json!({"kty": "RSA", "n": "AQAB", "e": "AQAB", "kid": id});
        let text = json!({"keys": [key("a"), key("b")]}).to_string();
        let set = KeySet::decode("i".to_owned(), text.as_bytes()).unwrap();
        for (id, expected) in [(Some("a"), 1), (Some("A"), 0), (Some(""), 0), (None, 2)] {
            assert_eq!(set.candidates(id, Algorithm::RS256).count(), expected, "{id:?}");
        }
    }

    #[test]
    fn a_set_of_keys_is_an_object_with_a_list_and_has_a_bound() {
        for text in ["", "[]", "{}", r#"{"keys":{}}"#, r#"{"keys":"#] {
            assert!(KeySet::decode(String::new(), text.as_bytes()).is_none(), "{text}");
        }
        let many = vec![json!({"kty": "RSA", "n": "AQAB", "e": "AQAB"}); MAX_KEYS + 1];
        assert_eq!(counts(&json!(many))[0], MAX_KEYS);
    }
}
