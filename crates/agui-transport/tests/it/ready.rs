//! The server in one line.

use std::net::{Ipv4Addr, SocketAddr};
use std::process::Command;

use agui_transport::{ServerError, Stopped};
use tokio::net::{TcpListener, TcpStream};

use crate::agents::{PARROT, parrot};
use crate::client::{Client, soon};
use crate::rig::run_request;

/// An address that was free a moment ago.
async fn free_addr() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    listener.local_addr().unwrap()
}

#[tokio::test]
async fn one_line_serves_until_the_process_is_told_to_stop() {
    let addr = free_addr().await;
    let serving = tokio::spawn(agui_transport::serve(parrot(), addr));
    soon(async {
        while TcpStream::connect(addr).await.is_err() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(Client::connect(addr).await.exchange(run_request()).await.body, PARROT);
    // The signal reaches this process, which by now listens to it.
    let told = Command::new("kill").args(["-TERM", &std::process::id().to_string()]).status().unwrap();
    assert!(told.success());
    assert_eq!(soon(serving).await.unwrap().unwrap(), Stopped::Clean);
}

#[tokio::test]
async fn one_line_does_not_open_an_agent_to_everybody() {
    let error = agui_transport::serve(parrot(), ([0, 0, 0, 0], 0)).await.unwrap_err();
    assert!(matches!(error, ServerError::PublicWithoutAuth { .. }), "{error}");
}
