//! Signatures, by the cryptography that TLS uses too.

use graviola::hashing::{Sha256, Sha384};
use graviola::signing::ecdsa::{P256, P384, VerifyingKey as EcKey};
use graviola::signing::eddsa::Ed25519VerifyingKey;
use graviola::signing::rsa::VerifyingKey as RsaKey;
use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind, Result};
use jsonwebtoken::signature::{self, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind, EncodingKey};

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: signer,
    verifier_factory: verifier,
    key_utils: KeyUtils::new_unimplemented(),
};

/// Makes this the cryptography of the token library, unless the program has chosen another.
///
/// The library has one choice for the whole process. A choice that was made before is respected: whatever it
/// is, it verifies signatures, and what it does not know is refused.
pub(super) fn install() {
    let _ = PROVIDER.install_default();
}

/// Nothing is signed here.
fn signer(_: &Algorithm, _: &EncodingKey) -> Result<Box<dyn JwtSigner>> {
    Err(ErrorKind::UnsupportedAlgorithm.into())
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>> {
    if key.family() != algorithm.family() {
        return Err(ErrorKind::InvalidAlgorithm.into());
    }
    let check: Check = match (algorithm, key.kind()) {
        (Algorithm::ES256, DecodingKeyKind::SecretOrDer(point)) => {
            let key = EcKey::<P256>::from_x962_uncompressed(point).map_err(bad_key)?;
            Box::new(move |signature, message| key.verify::<Sha256>(&[message], signature))
        }
        (Algorithm::ES384, DecodingKeyKind::SecretOrDer(point)) => {
            let key = EcKey::<P384>::from_x962_uncompressed(point).map_err(bad_key)?;
            Box::new(move |signature, message| key.verify::<Sha384>(&[message], signature))
        }
        (Algorithm::EdDSA, DecodingKeyKind::SecretOrDer(point)) => {
            let key = Ed25519VerifyingKey::from_bytes(point).map_err(bad_key)?;
            Box::new(move |signature, message| key.verify(signature, message))
        }
        (_, DecodingKeyKind::RsaModulusExponent { n, e }) => {
            let check = rsa_check(*algorithm)?;
            let key = RsaKey::from_pkcs1_der(&pkcs1(n, e)).map_err(bad_key)?;
            Box::new(move |signature, message| check(&key, signature, message))
        }
        _ => return Err(ErrorKind::UnsupportedAlgorithm.into()),
    };
    Ok(Box::new(SignatureVerifier { algorithm: *algorithm, check }))
}

fn rsa_check(algorithm: Algorithm) -> Result<RsaCheck> {
    match algorithm {
        Algorithm::RS256 => Ok(RsaKey::verify_pkcs1_sha256),
        Algorithm::RS384 => Ok(RsaKey::verify_pkcs1_sha384),
        Algorithm::RS512 => Ok(RsaKey::verify_pkcs1_sha512),
        Algorithm::PS256 => Ok(RsaKey::verify_pss_sha256),
        Algorithm::PS384 => Ok(RsaKey::verify_pss_sha384),
        Algorithm::PS512 => Ok(RsaKey::verify_pss_sha512),
        _ => Err(ErrorKind::UnsupportedAlgorithm.into()),
    }
}

fn bad_key(_: graviola::Error) -> Error {
    ErrorKind::InvalidKeyFormat.into()
}

type Verdict = std::result::Result<(), graviola::Error>;

/// Takes a signature and a message.
type Check = Box<dyn Fn(&[u8], &[u8]) -> Verdict>;

/// The same with the key in front.
type RsaCheck = fn(&RsaKey, &[u8], &[u8]) -> Verdict;

struct SignatureVerifier {
    algorithm: Algorithm,
    check: Check,
}

impl Verifier<Vec<u8>> for SignatureVerifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> std::result::Result<(), signature::Error> {
        (self.check)(signature, message).map_err(|_| signature::Error::new())
    }
}

impl JwtVerifier for SignatureVerifier {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

/// An RSA public key in the form of PKCS #1: a sequence of modulus and exponent, in DER.
fn pkcs1(modulus: &[u8], exponent: &[u8]) -> Vec<u8> {
    const SEQUENCE: u8 = 0x30;
    let mut numbers = der_unsigned(modulus);
    numbers.extend(der_unsigned(exponent));
    der(SEQUENCE, &numbers)
}

fn der_unsigned(number: &[u8]) -> Vec<u8> {
    const INTEGER: u8 = 0x02;
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    let digits = number.get(zeros..).unwrap_or_default();
    // A leading zero keeps the number from being read as a negative one, and stands for zero itself.
    let sign: &[u8] = if digits.first().is_none_or(|first| *first >= 0x80) { &[0] } else { &[] };
    der(INTEGER, &[sign, digits].concat())
}

fn der(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len().to_be_bytes();
    let zeros = length.iter().take_while(|byte| **byte == 0).count();
    let length = length.get(zeros..).unwrap_or_default();
    let mut out = vec![tag];
    match length {
        [] => out.push(0),
        [short] if *short < 0x80 => out.push(*short),
        // At most eight bytes, so the number of them fits beside the flag.
        long => {
            out.push(0x80 | u8::try_from(long.len()).unwrap_or_default());
            out.extend_from_slice(long);
        }
    }
    out.extend_from_slice(content);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_der_has_them() {
        assert_eq!(pkcs1(&[0, 0, 1], &[1, 0, 1]), [0x30, 8, 2, 1, 1, 2, 3, 1, 0, 1]);
        assert_eq!(pkcs1(&[0x80], &[]), [0x30, 7, 2, 2, 0, 0x80, 2, 1, 0]);
        let long = pkcs1(&[0x7f; 256], &[3]);
        assert_eq!(long[..8], [0x30, 0x82, 1, 7, 2, 0x82, 1, 0]);
        assert_eq!(long.len(), 4 + 0x107);
        assert_eq!(der(4, &[0; 200])[..3], [4, 0x81, 200]);
    }
}
