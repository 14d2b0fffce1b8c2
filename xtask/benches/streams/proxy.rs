//! The floor: a reverse proxy that passes bytes on and polls its upstream connection inside the
//! response body, with no task and no channel in between.

use std::{
    io::Write,
    pin::Pin,
    task::{Context, Poll},
};

use anyhow::Result;
use bytes::Bytes;
use hyper::{
    Request, Response,
    body::{Body, Frame, Incoming},
    client::conn::http1::{self, Connection},
    server,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

/// Serves until the process is ended; prints the address that it listens on as its first line.
pub(crate) async fn serve(upstream: &str) -> Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{}", listener.local_addr()?)?;
    stdout.flush()?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let upstream = upstream.to_owned();
        tokio::spawn(async move {
            let service = service_fn(move |request| forward(upstream.clone(), request));
            server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await
        });
    }
}

async fn forward(upstream: String, request: Request<Incoming>) -> Result<Response<Driven>> {
    let stream = TcpStream::connect(upstream).await?;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let mut connection = Some(Box::pin(connection));
    let mut answer = Box::pin(sender.send_request(request));
    let response = std::future::poll_fn(|context| {
        poll_connection(&mut connection, context);
        answer.as_mut().poll(context)
    })
    .await?;
    Ok(response.map(|body| Driven { body, connection }))
}

type Upstream = Pin<Box<Connection<TokioIo<TcpStream>, Incoming>>>;

fn poll_connection(connection: &mut Option<Upstream>, context: &mut Context<'_>) {
    if let Some(driven) = connection
        && driven.as_mut().poll(context).is_ready()
    {
        *connection = None;
    }
}

/// A body that drives the connection it comes from.
struct Driven {
    body: Incoming,
    connection: Option<Upstream>,
}

impl Body for Driven {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        poll_connection(&mut self.connection, context);
        Pin::new(&mut self.body).poll_frame(context)
    }
}
