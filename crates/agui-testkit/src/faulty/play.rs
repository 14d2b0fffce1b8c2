//! Carries out the steps of a script on one connection.

use std::io;
use std::sync::PoisonError;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedWriteHalf;

use super::{CONTEXT, Eol, Framing, MESSAGE, NEW_TASK, Shared, Step, TASK};
use crate::http1::{RequestReader, head};
use crate::log::{LoggedRequest, RequestLog};
use crate::net::Connected;
use crate::wire;

/// What becomes of the connection after an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    KeepAlive,
    Close,
    Reset,
}

pub(super) async fn connection(socket: TcpStream, connected: &Connected, log: &RequestLog, shared: &Shared) {
    let resets = shared.script.lock().unwrap_or_else(PoisonError::into_inner).resets();
    if connected.number <= resets {
        let _ = socket.set_zero_linger();
        return;
    }
    let (input, output) = socket.into_split();
    let mut requests = RequestReader::new(input);
    let mut exchange = Exchange { output, shared, log, body: None, eol: Eol::Crlf };
    while let Some(request) = requests.next(connected.number).await {
        let kind = request.kind();
        log.push(&request);
        let steps = shared.script.lock().unwrap_or_else(PoisonError::into_inner).pick(&kind);
        let steps = steps.unwrap_or_else(|| {
            shared.unmatched.lock().unwrap_or_else(PoisonError::into_inner).push(kind);
            vec![unmatched(&request)]
        });
        let played = exchange.play(&request, steps);
        // Losing the race drops a half-written step, which is what a peer that left deserves.
        let after = tokio::select! {
            after = played => after.unwrap_or(After::Close),
            () = requests.gone() => After::Close,
        };
        match after {
            After::KeepAlive => {}
            After::Close => return,
            After::Reset => {
                let _ = exchange.output.as_ref().set_zero_linger();
                // Dropped as usual, this half would say goodbye before the reset.
                exchange.output.forget();
                return;
            }
        }
    }
}

fn unmatched(request: &LoggedRequest) -> Step {
    if request.rpc_method().is_some() {
        return Step::error(-32601, "the script has no exchange for this request");
    }
    Step::json(404, &json!({"error": "the script has no exchange for this request"}))
}

struct Exchange<'a> {
    output: OwnedWriteHalf,
    shared: &'a Shared,
    log: &'a RequestLog,
    /// The framing of the body that is open.
    body: Option<Framing>,
    eol: Eol,
}

impl Exchange<'_> {
    async fn play(&mut self, request: &LoggedRequest, steps: Vec<Step>) -> io::Result<After> {
        self.body = None;
        self.eol = Eol::Crlf;
        let mut answered = false;
        for step in steps {
            answered |= matches!(
                step,
                Step::Head { .. }
                    | Step::Complete { .. }
                    | Step::Reply(_)
                    | Step::Error { .. }
                    | Step::Socket(_)
            );
            if let Some(after) = self.step(request, step).await? {
                return Ok(after);
            }
        }
        if self.body.is_some() {
            return self.end_body().await;
        }
        Ok(if answered { After::KeepAlive } else { After::Close })
    }

    async fn step(&mut self, request: &LoggedRequest, step: Step) -> io::Result<Option<After>> {
        match step {
            Step::Eol(eol) => self.eol = eol,
            Step::Sleep(time) => tokio::time::sleep(time).await,
            Step::Await(name) => self.released(&name).await,
            Step::AwaitRequests { kind, count } => {
                let _ = self.log.wait_for(&kind, count).await;
            }
            // The race in `connection` ends this wait.
            Step::Stall => std::future::pending().await,
            Step::End => return self.end_body().await.map(Some),
            Step::Fin => {
                self.output.shutdown().await?;
                return Ok(Some(After::Close));
            }
            Step::Rst => return Ok(Some(After::Reset)),
            write => self.write(request, write).await?,
        }
        Ok(None)
    }

    async fn write(&mut self, request: &LoggedRequest, step: Step) -> io::Result<()> {
        match step {
            Step::Head { status, headers, framing } => {
                let framing_line = match framing {
                    Framing::Chunked => "transfer-encoding: chunked\r\n",
                    Framing::UntilClose => "connection: close\r\n",
                };
                self.body = Some(framing);
                self.output.write_all(head(status, &headers, framing_line).as_bytes()).await
            }
            Step::Complete { status, headers, body } => {
                self.whole(status, &headers, &filled_bytes(request, body)).await
            }
            Step::Reply(result) => {
                let text = wire::reply(&request.json["id"], &result);
                self.whole_json(&filled(request, &text)).await
            }
            Step::Error { code, message, data } => {
                let text = wire::error_reply(&request.json["id"], code, &message, &data);
                self.whole_json(&filled(request, &text)).await
            }
            Step::Socket(bytes) => self.output.write_all(&bytes).await,
            Step::Body(bytes) => self.piece(&filled_bytes(request, bytes)).await,
            Step::Ping => self.piece(&Bytes::from(wire::ping())).await,
            Step::Half { result, bytes } => {
                let record = self.record(request, "", &wire::reply(&request.json["id"], &result));
                self.piece(&record.slice(..bytes.min(record.len()))).await
            }
            Step::Result(result) => {
                let record = self.record(request, "", &wire::reply(&request.json["id"], &result));
                self.piece(&record).await
            }
            Step::ErrorEvent { code, message } => {
                let text = wire::error_reply(&request.json["id"], code, &message, &Value::Null);
                let record = self.record(request, "event: error", &text);
                self.piece(&record).await
            }
            Step::Datum(data) => {
                let record = self.record(request, "", &data);
                self.piece(&record).await
            }
            Step::Eol(_)
            | Step::Sleep(_)
            | Step::Await(_)
            | Step::AwaitRequests { .. }
            | Step::Stall
            | Step::End
            | Step::Fin
            | Step::Rst => Ok(()),
        }
    }

    fn record(&self, request: &LoggedRequest, first_line: &str, data: &str) -> Bytes {
        let eol = self.eol.as_str();
        let mut record = String::new();
        if !first_line.is_empty() {
            record.push_str(first_line);
            record.push_str(eol);
        }
        for line in filled(request, data).split('\n') {
            record.push_str("data: ");
            record.push_str(line);
            record.push_str(eol);
        }
        record.push_str(eol);
        record.into()
    }

    async fn whole_json(&mut self, text: &str) -> io::Result<()> {
        let headers = [("content-type".to_owned(), "application/json".to_owned())];
        self.whole(200, &headers, text.as_bytes()).await
    }

    async fn whole(&mut self, status: u16, headers: &[(String, String)], body: &[u8]) -> io::Result<()> {
        let head = head(status, headers, &format!("content-length: {}\r\n", body.len()));
        self.output.write_all(&[head.as_bytes(), body].concat()).await
    }

    /// One piece of the body, framed, in one write.
    async fn piece(&mut self, bytes: &Bytes) -> io::Result<()> {
        if self.body != Some(Framing::Chunked) {
            return self.output.write_all(bytes).await;
        }
        if bytes.is_empty() {
            return Ok(());
        }
        let size = format!("{:x}\r\n", bytes.len());
        self.output.write_all(&[size.as_bytes(), bytes, b"\r\n"].concat()).await
    }

    async fn end_body(&mut self) -> io::Result<After> {
        match self.body.take() {
            Some(Framing::Chunked) => {
                self.output.write_all(b"0\r\n\r\n").await?;
                Ok(After::KeepAlive)
            }
            Some(Framing::UntilClose) => {
                self.output.shutdown().await?;
                Ok(After::Close)
            }
            None => Ok(After::KeepAlive),
        }
    }

    async fn released(&self, name: &str) {
        let mut released = self.shared.released.subscribe();
        let _ = released.wait_for(|names| names.contains(name)).await;
    }
}

/// Replaces the markers with the identities of the request.
fn filled(request: &LoggedRequest, text: &str) -> String {
    let message = request.message();
    let of = |value: &Value| value.as_str().map(str::to_owned);
    let params = &request.json["params"];
    let task = of(&message["taskId"]).or_else(|| of(&params["id"])).unwrap_or_else(|| NEW_TASK.to_owned());
    let context = of(&message["contextId"]).unwrap_or_else(|| "faulty-context".to_owned());
    let message_id = of(&message["messageId"]).unwrap_or_default();
    text.replace(TASK, &task).replace(CONTEXT, &context).replace(MESSAGE, &message_id)
}

fn filled_bytes(request: &LoggedRequest, bytes: Bytes) -> Bytes {
    match std::str::from_utf8(&bytes) {
        Ok(text) if text.contains('@') => filled(request, text).into(),
        _ => bytes,
    }
}
