//! The updates of an agent that cannot stream: its task is read again and again.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use a2a_wire::StreamItem;
use bytes::Bytes;
use tokio::time::{Sleep, sleep};

use crate::config::{POLL_FIRST, POLL_LONGEST};
use crate::{Client, ClientError, Datum};

/// Messages of the task's history that are read: what the agent said since the last look stands there.
const HISTORY: u32 = 100;

type Look = Pin<Box<dyn Future<Output = Result<Datum, ClientError>> + Send>>;

/// Looks at one task until it has ended. Nothing limits how often: how long an agent may work is for the
/// one who reads to say, by dropping the stream.
pub(crate) struct Polling {
    client: Client,
    /// What was read last; a task that has not changed is no news.
    last: Bytes,
    pause: Duration,
    next: Next,
}

enum Next {
    Give(Datum),
    Rest(Box<str>, Pin<Box<Sleep>>),
    Look(Box<str>, Look),
    Over,
}

impl Polling {
    /// Begins with the reply to a message.
    pub(crate) fn new(client: Client, first: Option<Datum>) -> Self {
        let next = first.map_or(Next::Over, Next::Give);
        Self { client, last: Bytes::new(), pause: POLL_FIRST, next }
    }

    /// Begins with a look at the task.
    pub(crate) fn of_task(client: Client, task_id: &str) -> Self {
        let mut polling = Self::new(client, None);
        polling.next = polling.look(task_id.into());
        polling
    }

    fn look(&self, task_id: Box<str>) -> Next {
        let (client, id) = (self.client.clone(), task_id.clone());
        Next::Look(task_id, Box::pin(async move { client.get_task(&id, Some(HISTORY)).await }))
    }

    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Datum, ClientError>>> {
        loop {
            match &mut self.next {
                Next::Over => return Poll::Ready(None),
                Next::Give(_) => {
                    let Next::Give(datum) = std::mem::replace(&mut self.next, Next::Over) else { continue };
                    self.rest_after(&datum);
                    return Poll::Ready(Some(Ok(datum)));
                }
                Next::Rest(task_id, rest) => {
                    ready!(rest.as_mut().poll(cx));
                    let task_id = std::mem::take(task_id);
                    self.next = self.look(task_id);
                }
                Next::Look(task_id, look) => {
                    let datum = match ready!(look.as_mut().poll(cx)) {
                        Ok(datum) => datum,
                        Err(error) => {
                            self.next = Next::Over;
                            return Poll::Ready(Some(Err(error)));
                        }
                    };
                    let task_id = std::mem::take(task_id);
                    if is_same(&datum, &self.last) {
                        self.pause = (self.pause * 2).min(POLL_LONGEST);
                        self.next = Next::Rest(task_id, Box::pin(sleep(self.pause)));
                    } else {
                        self.pause = POLL_FIRST;
                        self.next = Next::Give(datum);
                    }
                }
            }
        }
    }

    /// What comes after a datum: the next look, unless it is the agent's last word.
    fn rest_after(&mut self, datum: &Datum) {
        self.last = result_of(datum);
        self.next = match datum.item() {
            Ok(StreamItem::Task(task)) if !task.id.is_empty() && !task.status.state.is_terminal() => {
                Next::Rest((*task.id).into(), Box::pin(sleep(self.pause)))
            }
            _ => Next::Over,
        };
    }
}

/// The result as text: around it stands the number of the request.
fn result_of(datum: &Datum) -> Bytes {
    datum.raw_result().map(|raw| Bytes::copy_from_slice(raw.get().as_bytes())).unwrap_or_default()
}

fn is_same(datum: &Datum, last: &Bytes) -> bool {
    datum.raw_result().is_ok_and(|raw| raw.get().as_bytes() == &last[..])
}
