//! Files of authorities that are of no use.

use std::error::Error as _;

use agui_tls::{TlsError, Trust};

use crate::authority::Authority;

fn outcome(text: &[u8]) -> Result<(), TlsError> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    Trust::public().with_file(file.path()).client_config().map(drop)
}

#[test]
fn a_missing_file_is_an_error_that_names_it() {
    let error = Trust::public().with_file("/no/such.pem").client_config().unwrap_err();
    assert!(matches!(error, TlsError::Read { .. }), "{error:?}");
    assert_eq!(error.to_string(), "cannot read the certificate file /no/such.pem");
    assert!(error.source().is_some());
}

#[test]
fn a_file_without_an_authority_is_an_error() {
    let key = "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n";
    let garbage = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    for text in ["", "nothing here", key, garbage] {
        assert!(matches!(outcome(text.as_bytes()), Err(TlsError::NoAuthority { .. })), "{text}");
    }
}

#[test]
fn half_a_certificate_is_an_error() {
    let pem = Authority::new("ours").pem().replace("-----END CERTIFICATE-----", "");
    assert!(matches!(outcome(pem.as_bytes()), Err(TlsError::Pem { .. })));
}

#[test]
fn a_certificate_that_cannot_be_read_does_not_hide_the_others() {
    let garbage = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let text = format!("# a list\n{garbage}{}", Authority::new("ours").pem());
    outcome(text.as_bytes()).unwrap();
}

#[test]
fn an_endless_file_is_given_up() {
    let text = vec![b'#'; usize::try_from(Trust::MAX_FILE_BYTES).unwrap() + 1];
    assert!(matches!(outcome(&text), Err(TlsError::TooLarge { .. })));
}
