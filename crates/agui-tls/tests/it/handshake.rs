//! Whom a client talks to.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;

use agui_tls::Trust;
use rustls::pki_types::ServerName;
use rustls::{CertificateError, ServerConfig};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::authority::Authority;

/// What a client with this trust hears from the server, and the protocol they agreed on.
async fn talk(trust: &Trust, name: &str, server: Arc<ServerConfig>) -> io::Result<(String, Option<Vec<u8>>)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    let config = trust.client_config().unwrap();
    let serve = async move {
        let (socket, _) = listener.accept().await?;
        let mut stream = TlsAcceptor::from(server).accept(socket).await?;
        stream.write_all(b"hello").await?;
        stream.shutdown().await
    };
    let call = async {
        let socket = TcpStream::connect(address).await?;
        let name = ServerName::try_from(name.to_owned()).unwrap();
        let mut stream = TlsConnector::from(config).connect(name, socket).await?;
        let alpn = stream.get_ref().1.alpn_protocol().map(<[u8]>::to_vec);
        let mut heard = String::new();
        stream.read_to_string(&mut heard).await?;
        Ok((heard, alpn))
    };
    // The server's view of a refused handshake is of no interest.
    let (_, heard) = tokio::join!(serve, call);
    heard
}

fn certificate_error(error: &io::Error) -> CertificateError {
    match error.get_ref().and_then(|inner| inner.downcast_ref()) {
        Some(rustls::Error::InvalidCertificate(error)) => error.clone(),
        other => panic!("not a refused certificate: {other:?}"),
    }
}

fn file_of(authorities: &[&Authority]) -> tempfile::NamedTempFile {
    let text: String = authorities.iter().map(|authority| authority.pem()).collect();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

#[tokio::test]
async fn an_authority_of_the_file_is_trusted_and_http_1_1_is_agreed_on() {
    let (ours, other) = (Authority::new("ours"), Authority::new("other"));
    let file = file_of(&[&other, &ours]);
    let server = ours.server("localhost", &[b"h2", b"http/1.1"]);

    let heard = talk(&Trust::public().with_file(file.path()), "localhost", server).await.unwrap();

    assert_eq!(heard, ("hello".to_owned(), Some(b"http/1.1".to_vec())));
}

#[tokio::test]
async fn a_server_without_alpn_is_fine() {
    let ours = Authority::new("ours");
    let file = file_of(&[&ours]);

    let heard =
        talk(&Trust::public().with_file(file.path()), "127.0.0.1", ours.server("127.0.0.1", &[])).await;

    assert_eq!(heard.unwrap(), ("hello".to_owned(), None));
}

#[tokio::test]
async fn an_unknown_authority_is_refused() {
    let ours = Authority::new("ours");

    let error = talk(&Trust::public(), "localhost", ours.server("localhost", &[])).await.unwrap_err();

    assert_eq!(certificate_error(&error), CertificateError::UnknownIssuer);
}

#[tokio::test]
async fn a_certificate_for_another_name_is_refused() {
    let ours = Authority::new("ours");
    let file = file_of(&[&ours]);
    let trust = Trust::public().with_file(file.path());

    let error = talk(&trust, "localhost", ours.server("elsewhere.test", &[])).await.unwrap_err();

    assert!(
        matches!(certificate_error(&error), CertificateError::NotValidForNameContext { .. }),
        "{error:?}"
    );
}
