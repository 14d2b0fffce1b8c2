//! Whom to trust.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

use crate::TlsError;

/// The variable that names a file of authorities, as other TLS libraries read it.
const FILE_VARIABLE: &str = "SSL_CERT_FILE";

/// The one protocol that clients here speak.
const ALPN: &[u8] = b"http/1.1";

/// The authorities whose certificates are accepted: the public ones, and those of PEM files.
///
/// ```
/// use agui_tls::{TlsError, Trust};
///
/// match Trust::from_env().with_file("/etc/company/ca.pem").client_config() {
///     Ok(config) => drop(config),
///     Err(TlsError::Processor) => eprintln!("https needs a newer processor"),
///     Err(error) => eprintln!("{error}"), // names the file
/// }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trust {
    files: Vec<PathBuf>,
}

impl Trust {
    /// Largest file of authorities, in bytes (16 MiB; a whole public list has 250 KiB). Protects from a
    /// path that names a device or a log.
    pub const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

    /// The public authorities and no others.
    #[must_use]
    pub const fn public() -> Self {
        Self { files: Vec::new() }
    }

    /// The public authorities, and those of the file that `SSL_CERT_FILE` names.
    ///
    /// An empty variable counts as none.
    #[must_use]
    pub fn from_env() -> Self {
        Self::from_variable(env::var_os(FILE_VARIABLE))
    }

    /// Also trusts the certificates of a PEM file. It is read when the configuration is made.
    #[must_use]
    pub fn with_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.files.push(path.into());
        self
    }

    /// The configuration for clients that trust these: TLS 1.2 and 1.3, ALPN `http/1.1`, no client certificate.
    ///
    /// Other PEM sections of a file, and certificates that cannot be an authority, are passed over, since
    /// lists of a system hold such; a file without any usable one is an error.
    ///
    /// # Errors
    /// [`TlsError`] if a file is of no use, or the processor lacks what the cryptography needs.
    pub fn client_config(&self) -> Result<Arc<ClientConfig>, TlsError> {
        if !crate::is_processor_supported() {
            return Err(TlsError::Processor);
        }
        let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        for path in &self.files {
            add_file(&mut roots, path)?;
        }
        let mut config = ClientConfig::builder_with_provider(Arc::new(rustls_graviola::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![ALPN.to_vec()];
        Ok(Arc::new(config))
    }

    fn from_variable(value: Option<OsString>) -> Self {
        let path = value.filter(|value| !value.is_empty()).map(PathBuf::from);
        Self { files: path.into_iter().collect() }
    }
}

fn add_file(roots: &mut RootCertStore, path: &Path) -> Result<(), TlsError> {
    let text = read(path)?;
    let certificates = CertificateDer::pem_slice_iter(&text)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|source| TlsError::Pem { path: path.to_owned(), source })?;
    match roots.add_parsable_certificates(certificates) {
        (0, _) => Err(TlsError::NoAuthority { path: path.to_owned() }),
        _ => Ok(()),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    let mut text = Vec::new();
    File::open(path)
        .and_then(|file| file.take(Trust::MAX_FILE_BYTES + 1).read_to_end(&mut text))
        .map_err(|source| TlsError::Read { path: path.to_owned(), source })?;
    if text.len() as u64 > Trust::MAX_FILE_BYTES {
        return Err(TlsError::TooLarge { path: path.to_owned() });
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_adds_its_file_and_an_empty_one_adds_none() {
        assert_eq!(Trust::from_variable(None), Trust::public());
        assert_eq!(Trust::from_variable(Some("".into())), Trust::public());
        assert_eq!(Trust::from_variable(Some("/x.pem".into())), Trust::public().with_file("/x.pem"));
    }

    #[test]
    fn a_client_speaks_http_1_1_over_both_versions() {
        let config = Trust::public().client_config().unwrap();
        assert_eq!(config.alpn_protocols, [ALPN]);
        assert!(config.enable_sni);
    }
}
