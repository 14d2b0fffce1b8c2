//! Why there is no configuration.

use std::io;
use std::path::PathBuf;

use rustls::pki_types::pem;

/// Why there is no TLS configuration.
///
/// Example: see [`Trust`](crate::Trust).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// The processor lacks instructions that the cryptography is written in.
    #[error(
        "this processor is too old for TLS: x86-64 needs AVX2, ADX, BMI2 and AES, ARM needs AES and SHA2"
    )]
    Processor,
    /// A file of authorities cannot be read.
    #[error("cannot read the certificate file {}", path.display())]
    Read {
        /// The file as it was named.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A file of authorities is larger than [`Trust::MAX_FILE_BYTES`](crate::Trust::MAX_FILE_BYTES).
    #[error("the certificate file {} is larger than {} bytes", path.display(), crate::Trust::MAX_FILE_BYTES)]
    TooLarge {
        /// The file as it was named.
        path: PathBuf,
    },
    /// A file of authorities is not PEM.
    #[error("the certificate file {} is not PEM", path.display())]
    Pem {
        /// The file as it was named.
        path: PathBuf,
        /// Where it goes wrong.
        #[source]
        source: pem::Error,
    },
    /// A file of authorities holds no certificate that can be one.
    #[error("the certificate file {} holds no certificate of an authority", path.display())]
    NoAuthority {
        /// The file as it was named.
        path: PathBuf,
    },
    /// The TLS library refuses the configuration.
    #[error("the TLS configuration is not usable")]
    Config(#[from] rustls::Error),
}
