//! Asks an issuer for its keys.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::ACCEPT;
use http::{Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde::Deserialize;

use super::DiscoveryUrl;
use super::key_set::KeySet;

/// Most of a document that is read, in bytes (256 KiB; usual ones have 2 to 10 KiB).
const MAX_DOCUMENT_BYTES: usize = 256 * 1024;

/// How long to wait for a connection before the next address of the host is tried.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// Why there are no new keys. For logs; holds nothing that the issuer sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum FetchError {
    #[error("no answer in time")]
    Timeout,
    #[error("the issuer cannot be reached")]
    Connection,
    #[error("the issuer answered with status {0}")]
    Status(StatusCode),
    #[error("the answer was cut, or is too large")]
    Body,
    #[error("the discovery document names no issuer or no place for its keys")]
    Discovery,
    #[error("the keys are at a place that others could answer for")]
    KeyPlace,
    #[error("the key set cannot be read")]
    Keys,
}

/// The two members of a discovery document that matter here.
#[derive(Deserialize)]
struct Discovery {
    issuer: String,
    jwks_uri: String,
}

/// A client for one issuer.
pub(super) struct Issuer {
    discovery: DiscoveryUrl,
    client: Client<HttpsConnector<HttpConnector>, Empty<Bytes>>,
}

impl Issuer {
    pub(super) fn new(discovery: DiscoveryUrl, tls: Arc<rustls::ClientConfig>) -> Self {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
        // Hours pass between two fetches: no connection is kept.
        let client = Client::builder(TokioExecutor::new())
            .pool_max_idle_per_host(0)
            .build(HttpsConnector::from((tcp, tls)));
        Self { discovery, client }
    }

    /// Asks for the discovery document, then for the keys it points to. Redirects are not followed.
    pub(super) async fn fetch(&self) -> Result<KeySet, FetchError> {
        let document = self.get(self.discovery.uri().clone()).await?;
        let document: Discovery = serde_json::from_slice(&document).map_err(|_| FetchError::Discovery)?;
        let place: Uri = document.jwks_uri.parse().map_err(|_| FetchError::Discovery)?;
        if !self.discovery.may_name(&place) {
            return Err(FetchError::KeyPlace);
        }
        let keys = self.get(place).await?;
        KeySet::decode(document.issuer, &keys).ok_or(FetchError::Keys)
    }

    async fn get(&self, uri: Uri) -> Result<Bytes, FetchError> {
        let request = Request::get(uri).header(ACCEPT, "application/json").body(Empty::new());
        let request = request.map_err(|_| FetchError::Connection)?;
        let response = self.client.request(request).await.map_err(|_| FetchError::Connection)?;
        if response.status() != StatusCode::OK {
            return Err(FetchError::Status(response.status()));
        }
        let body = Limited::new(response.into_body(), MAX_DOCUMENT_BYTES).collect().await;
        body.map(http_body_util::Collected::to_bytes).map_err(|_| FetchError::Body)
    }
}
