use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use a2a_wire::{ListRequest, Method, SendMessage, TaskRequest};
use bytes::Bytes;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName,
    HeaderValue, TE, TRANSFER_ENCODING, UPGRADE, USER_AGENT,
};
use http::{HeaderMap, Request, Uri};
use http_body_util::Full;
use http_exchange::{Address, Dialer, Exchange, millis};
use tokio::time::timeout;
use tracing::debug;

use crate::answer::{Answer, Content, check_head};
use crate::endpoint;
use crate::{ClientConfig, ClientError, Datum, UpdateStream};

const A2A_VERSION: HeaderName = HeaderName::from_static("a2a-version");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const STREAM_OR_JSON: HeaderValue = HeaderValue::from_static("text/event-stream, application/json");
const AGENT: HeaderValue =
    HeaderValue::from_static(concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION")));

/// An A2A client over HTTP/1.1, for JSON-RPC and the kernel's extension endpoints.
///
/// Cheap to clone. Every call has a connection of its own, so that control calls never wait for streams,
/// and there is no cap on streams; nothing is retried.
///
/// ```no_run
/// use a2a_client::{Client, ClientConfig};
/// use a2a_wire::{OutgoingMessage, OutgoingPart, SendMessage};
///
/// # async fn run() -> Result<(), a2a_client::ClientError> {
/// let client = Client::new(ClientConfig::new("http://127.0.0.1:41242/"))?;
/// let message = OutgoingMessage::new("m-1", vec![OutgoingPart::text("Build a VPC")]);
/// let answer = client.send(&SendMessage::new(message)).await?;
/// let task = client.get_task("task-1", Some(0)).await?;
/// # drop((answer, task));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
    extra_headers: HeaderMap,
}

struct Shared {
    config: ClientConfig,
    dialer: Dialer,
    headers: HeaderMap,
    next_id: AtomicU64,
}

impl Client {
    /// Checks `config`; connects only when something is called.
    ///
    /// # Errors
    /// [`ClientError::InvalidUrl`], [`ClientError::TlsUnsupported`] and its kin, [`ClientError::RemoteRefused`], or
    /// [`ClientError::InvalidHeader`] for a token that is no header value.
    pub fn new(config: ClientConfig) -> Result<Self, ClientError> {
        let dialer = endpoint::dialer(&config)?;
        let headers = fixed_headers(&config, dialer.address())?;
        let shared = Shared { config, dialer, headers, next_id: AtomicU64::new(1) };
        Ok(Self { shared: Arc::new(shared), extra_headers: HeaderMap::new() })
    }

    /// A client that sends one more header with each call, for example `traceparent`. It shares the
    /// configuration with this one.
    ///
    /// # Errors
    /// [`ClientError::InvalidHeader`] for text that is no header, and for headers that the client itself
    /// is responsible for.
    pub fn with_header(&self, name: &str, value: &str) -> Result<Self, ClientError> {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| ClientError::InvalidHeader)?;
        let value = HeaderValue::from_str(value).map_err(|_| ClientError::InvalidHeader)?;
        let framing = [CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, ACCEPT, TE, TRANSFER_ENCODING, UPGRADE];
        if self.shared.headers.contains_key(&name) || name == AUTHORIZATION || framing.contains(&name) {
            return Err(ClientError::InvalidHeader);
        }
        let mut client = self.clone();
        client.extra_headers.insert(name, value);
        Ok(client)
    }

    /// Sends a message and opens the stream of its updates.
    ///
    /// # Errors
    /// [`ClientError`]; [`ClientError::delivery`] tells if the peer may be working.
    pub async fn send_streaming(&self, message: &SendMessage) -> Result<UpdateStream, ClientError> {
        if !self.config().streaming {
            let first = self.send(&message.clone().with_return_immediately(true)).await?;
            return Ok(UpdateStream::polling(self.clone(), Some(first)));
        }
        let method = Method::SendStreamingMessage;
        self.open_stream(method, self.send_json(message, method)).await
    }

    /// Opens the stream of a task that runs already. Its first item is the task as it stands.
    ///
    /// # Errors
    /// [`ClientError`]; a task that is not running is [`ClientError::Rpc`] with
    /// [`a2a_wire::code::TASK_NOT_FOUND`] or [`a2a_wire::code::UNSUPPORTED_OPERATION`].
    pub async fn subscribe(&self, task_id: &str) -> Result<UpdateStream, ClientError> {
        if !self.config().streaming {
            return Ok(self.watch(task_id));
        }
        let method = Method::SubscribeToTask;
        self.open_stream(method, self.task_json(TaskRequest::new(task_id), method)).await
    }

    /// The updates of a task as looks at it from time to time, for agents that do not let anybody subscribe.
    ///
    /// Each item is the whole task; one that has not changed is left out. The stream ends with the task.
    #[must_use]
    pub fn watch(&self, task_id: &str) -> UpdateStream {
        UpdateStream::watching(self.clone(), task_id)
    }

    /// Sends a message and waits for its one answer, at most [`ClientConfig::send_timeout`].
    ///
    /// # Errors
    /// [`ClientError`]; [`ClientError::delivery`] tells if the peer may have acted.
    pub async fn send(&self, message: &SendMessage) -> Result<Datum, ClientError> {
        let method = Method::SendMessage;
        self.call(method, self.send_json(message, method), self.config().send_timeout).await
    }

    /// Reads a task with its last `history_length` messages (0 = none, `None` = the server's default).
    ///
    /// # Errors
    /// [`ClientError`]; an unknown task is [`ClientError::Rpc`] with [`a2a_wire::code::TASK_NOT_FOUND`].
    pub async fn get_task(&self, task_id: &str, history_length: Option<u32>) -> Result<Datum, ClientError> {
        let mut request = TaskRequest::new(task_id);
        request.history_length = history_length;
        self.task_call(Method::GetTask, request).await
    }

    /// Asks for a task to be canceled; the answer is the task.
    ///
    /// # Errors
    /// [`ClientError`]; a task that has ended is [`ClientError::Rpc`] with
    /// [`a2a_wire::code::TASK_NOT_CANCELABLE`].
    pub async fn cancel_task(&self, task_id: &str) -> Result<Datum, ClientError> {
        self.task_call(Method::CancelTask, TaskRequest::new(task_id)).await
    }

    /// Lists the newest tasks of a conversation, at most [`ListRequest::PAGE_SIZE`]; the answer's result is
    /// a [`TaskList`](a2a_wire::TaskList).
    ///
    /// # Errors
    /// [`ClientError`]; a server without such a method answers [`ClientError::Rpc`] with
    /// [`a2a_wire::code::METHOD_NOT_FOUND`] or [`a2a_wire::code::UNSUPPORTED_OPERATION`].
    pub async fn list_tasks(&self, context_id: &str) -> Result<Datum, ClientError> {
        let ClientConfig { version, tenant, .. } = self.config();
        let body = ListRequest::new(context_id).to_tenant_json(*version, &self.next_id(), tenant.as_deref());
        self.call(Method::ListTasks, body, self.config().call_timeout).await
    }

    async fn task_call(&self, method: Method, request: TaskRequest<'_>) -> Result<Datum, ClientError> {
        self.call(method, self.task_json(request, method), self.config().call_timeout).await
    }

    fn task_json(&self, request: TaskRequest<'_>, method: Method) -> Result<Vec<u8>, serde_json::Error> {
        let ClientConfig { version, tenant, .. } = self.config();
        request.to_tenant_json(*version, method, &self.next_id(), tenant.as_deref())
    }

    fn send_json(&self, message: &SendMessage, method: Method) -> Result<Vec<u8>, serde_json::Error> {
        let ClientConfig { version, tenant, .. } = self.config();
        message.to_tenant_json(*version, method, &self.next_id(), tenant.as_deref())
    }

    async fn call(
        &self,
        method: Method,
        body: Result<Vec<u8>, serde_json::Error>,
        within: Duration,
    ) -> Result<Datum, ClientError> {
        debug!(method = method.name(self.config().version), "a2a call");
        let request = self.post(self.address().target().clone(), JSON, body)?;
        self.answer(request, within).await?.into_reply()
    }

    async fn open_stream(
        &self,
        method: Method,
        body: Result<Vec<u8>, serde_json::Error>,
    ) -> Result<UpdateStream, ClientError> {
        debug!(method = method.name(self.config().version), "a2a stream");
        let config = self.config();
        let request = self.post(self.address().target().clone(), STREAM_OR_JSON, body)?;
        let exchange = within(config.first_byte_timeout, self.exchange(request)).await?;
        let content = check_head(&exchange.head)?;
        if exchange.head.status.is_success() && content == Content::EventStream {
            return Ok(UpdateStream::live(exchange.body, config.idle_timeout, config.max_datum_bytes));
        }
        // Everything else is one plain answer: a refusal, or a server that does not stream.
        let answer = within(config.call_timeout, Answer::read(exchange, config.max_body_bytes)).await?;
        answer.into_reply().map(UpdateStream::single)
    }

    pub(crate) async fn get(&self, uri: Uri) -> Result<Answer, ClientError> {
        debug!(path = uri.path(), "a2a get");
        let mut request = Request::get(uri).body(Full::default()).map_err(|_| ClientError::InvalidUrl)?;
        request.headers_mut().insert(ACCEPT, JSON);
        self.answer(request, self.config().call_timeout).await
    }

    pub(crate) async fn post_json(
        &self,
        uri: Uri,
        body: Result<Vec<u8>, serde_json::Error>,
    ) -> Result<Answer, ClientError> {
        debug!(path = uri.path(), "a2a post");
        let request = self.post(uri, JSON, body)?;
        self.answer(request, self.config().call_timeout).await
    }

    fn post(
        &self,
        uri: Uri,
        accept: HeaderValue,
        body: Result<Vec<u8>, serde_json::Error>,
    ) -> Result<Request<Full<Bytes>>, ClientError> {
        let body = Full::new(Bytes::from(body.map_err(ClientError::Encode)?));
        let mut request = Request::post(uri).body(body).map_err(|_| ClientError::InvalidUrl)?;
        request.headers_mut().insert(ACCEPT, accept);
        request.headers_mut().insert(CONTENT_TYPE, JSON);
        Ok(request)
    }

    async fn answer(&self, request: Request<Full<Bytes>>, time: Duration) -> Result<Answer, ClientError> {
        // Boxed: with TLS or HTTP/2 compiled in, it would make every future around it large.
        let work = Box::pin(async {
            let exchange = self.exchange(request).await?;
            Answer::read(exchange, self.config().max_body_bytes).await
        });
        within(time, work).await
    }

    async fn exchange(&self, mut request: Request<Full<Bytes>>) -> Result<Exchange, ClientError> {
        let fixed = self.shared.headers.iter().chain(&self.extra_headers);
        request.headers_mut().extend(fixed.map(|(name, value)| (name.clone(), value.clone())));
        Ok(Exchange::open(&self.shared.dialer, request, self.config().connect_timeout, None).await?)
    }

    pub(crate) fn config(&self) -> &ClientConfig {
        &self.shared.config
    }

    pub(crate) fn address(&self) -> &Address {
        self.shared.dialer.address()
    }

    fn next_id(&self) -> String {
        self.shared.next_id.fetch_add(1, Ordering::Relaxed).to_string()
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("config", &self.shared.config).finish_non_exhaustive()
    }
}

/// The headers that every request carries.
fn fixed_headers(config: &ClientConfig, address: &Address) -> Result<HeaderMap, ClientError> {
    let mut headers = HeaderMap::new();
    headers.insert(HOST, address.authority().clone());
    headers.insert(A2A_VERSION, HeaderValue::from_static(config.version.header_value()));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers.insert(USER_AGENT, AGENT);
    if let Some(token) = &config.token {
        let mut value = HeaderValue::from_str(&format!("Bearer {}", token.expose()))
            .map_err(|_| ClientError::InvalidHeader)?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    Ok(headers)
}

async fn within<T>(
    time: Duration,
    work: impl Future<Output = Result<T, ClientError>>,
) -> Result<T, ClientError> {
    match timeout(time, work).await {
        Ok(result) => result,
        Err(_) => Err(ClientError::Timeout { after_ms: millis(time) }),
    }
}
