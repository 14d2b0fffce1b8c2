//! The command line.

use std::time::Duration;

use agui_auth::RateSpec;
use agui_host::{LogFormat, Tuning, seconds};
use clap::builder::FalseyValueParser;
use clap::{Args, Parser, ValueEnum};

/// An AG-UI agent as a container on Amazon Bedrock AgentCore: iac-code, or any agent that serves AG-UI.
#[derive(Debug, Parser)]
#[command(name = "agentcore-shim", version, about, after_help = AFTER_HELP)]
pub(crate) struct Flags {
    /// Address to listen on.
    #[arg(long, env = "AGENTCORE_SHIM_HOST", default_value = "0.0.0.0")]
    pub(crate) host: String,
    /// Port to listen on, 1 to 65535.
    #[arg(long, env = "PORT", default_value_t = 8080, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: u16,
    /// Where runs are posted.
    #[arg(long, env = "AGENTCORE_SHIM_PATH", default_value = "/invocations")]
    pub(crate) path: String,
    /// Longest body of a run, in bytes, up to 100000000.
    #[arg(long, value_name = "BYTES", env = "AGENTCORE_SHIM_MAX_BODY_BYTES", default_value_t = 12 * 1024 * 1024)]
    pub(crate) max_body_bytes: usize,
    /// How refusals are told: with their HTTP status, or with 200 so that a proxy leaves them whole
    /// [default: stream on AgentCore, status elsewhere].
    #[arg(long, value_enum, env = "AGENTCORE_SHIM_ERROR_MODE")]
    pub(crate) error_mode: Option<Errors>,
    /// How often a session may call, for example 10/s, 100/m or 1000/h [default: no limit].
    #[arg(long, value_name = "RATE", env = "AGENTCORE_SHIM_RATE_LIMIT")]
    pub(crate) rate_limit: Option<RateSpec>,
    /// Say HealthyBusy while a thread waits for a person, so that the session lives on (and is billed).
    #[arg(long, env = "AGENTCORE_SHIM_BUSY_WHILE_PARKED", value_parser = FalseyValueParser::new())]
    pub(crate) busy_while_parked: bool,
    /// What happens to a run whose client goes away: `cancel`, `grace:SECONDS` or `detach`
    /// [default: grace:60 on AgentCore, cancel elsewhere].
    #[arg(long, value_name = "POLICY", env = "AGENTCORE_SHIM_ON_DISCONNECT")]
    pub(crate) on_disconnect: Option<String>,
    /// Browser origin that may call, repeatable; without any, cross-origin calls are refused.
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) allow_origin: Vec<String>,
    /// Host name that requests may use, repeatable; any name may be used until one is given.
    #[arg(long, value_name = "HOST")]
    pub(crate) allow_host: Vec<String>,
    #[command(flatten)]
    pub(crate) agent: AgentFlags,
    #[command(flatten)]
    pub(crate) auth: AuthFlags,
    #[command(flatten)]
    pub(crate) ws: WsFlags,
    /// Log debug messages.
    #[arg(short, long)]
    pub(crate) debug: bool,
    /// Form of the log lines.
    #[arg(long, value_enum, default_value = "json")]
    pub(crate) log_format: LogFormat,
    #[command(flatten)]
    pub(crate) tuning: Tuning,
    /// Command that starts an agent which serves AG-UI; `{port}` is replaced by its port, which `PORT` names too.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// The agent behind the shim.
#[derive(Debug, Args)]
#[command(next_help_heading = "Agent")]
pub(crate) struct AgentFlags {
    /// URL of an agent that serves AG-UI.
    #[arg(long, value_name = "URL", env = "AGENTCORE_SHIM_UPSTREAM")]
    pub(crate) upstream: Option<String>,
    /// Where the agent that COMMAND starts takes runs.
    #[arg(long, value_name = "PATH", env = "AGENTCORE_SHIM_UPSTREAM_PATH", default_value = "/")]
    pub(crate) upstream_path: String,
    /// Header of the caller that an upstream agent gets too, repeatable; a `*` at its end stands for any rest.
    #[arg(long, value_name = "NAME")]
    pub(crate) forward_header: Vec<String>,
    /// Pass on the text of an upstream agent's errors, instead of keeping it in the log.
    #[arg(long, env = "AGENTCORE_SHIM_TRUST_ERRORS", value_parser = FalseyValueParser::new())]
    pub(crate) trust_errors: bool,
    /// URL of a running A2A kernel; without it a kernel is started and supervised.
    #[arg(long, value_name = "URL", env = "IAC_CODE_AGUI_A2A_URL")]
    pub(crate) a2a_url: Option<String>,
    /// Accept an A2A URL that is not on this machine.
    #[arg(long)]
    pub(crate) allow_remote_a2a: bool,
    /// Command that starts the managed kernel; `{host}` and `{port}` are replaced
    /// [default: iac-code a2a --host {host} --port {port} --thinking-exposure all].
    #[arg(long, value_name = "COMMAND", env = "IAC_CODE_AGUI_A2A_COMMAND")]
    pub(crate) a2a_command: Option<String>,
    /// Serve the built-in demo kernel instead of iac-code.
    #[arg(long, env = "AGENTCORE_SHIM_DEMO", value_parser = FalseyValueParser::new())]
    pub(crate) demo: bool,
    /// Directory with one workspace for each session [default: /workspace if it is there, else workspace].
    #[arg(long, value_name = "DIR", env = "AGENTCORE_SHIM_WORKSPACE_ROOT")]
    pub(crate) workspace_root: Option<String>,
    /// Where threads are kept [default: agentcore-shim in the directory for temporary files; with --demo in
    /// memory].
    #[arg(long, value_name = "DIR", env = "IAC_CODE_AGUI_STATE_DIR")]
    pub(crate) state_dir: Option<String>,
    /// Session of requests that name none.
    #[arg(long, value_name = "ID", env = "AGENTCORE_SHIM_SESSION", default_value = "local")]
    pub(crate) session: String,
    /// JSON object with members of forwardedProps.iacCode for requests that do not have them.
    #[arg(long, value_name = "JSON", env = "AGENTCORE_SHIM_PROPS", default_value = "{}")]
    pub(crate) props: String,
    /// Seconds that an interrupt waits for its answer [default: 540].
    #[arg(long, value_name = "SECONDS", env = "IAC_CODE_AGUI_INTERRUPT_TTL")]
    pub(crate) interrupt_ttl: Option<u64>,
}

/// Who may call; behind AgentCore the platform has asked already.
#[derive(Debug, Args)]
#[command(next_help_heading = "Callers")]
pub(crate) struct AuthFlags {
    /// How callers prove who they are.
    #[arg(long, value_enum, env = "AGENTCORE_SHIM_AUTH", default_value = "none")]
    pub(crate) auth: Auth,
    /// Address of the issuer's discovery document, for --auth jwt.
    #[arg(long, value_name = "URL", env = "AGENTCORE_SHIM_JWT_DISCOVERY_URL")]
    pub(crate) jwt_discovery_url: Option<String>,
    /// Audience that a token may be for, repeatable.
    #[arg(long, value_name = "AUDIENCE")]
    pub(crate) jwt_audience: Vec<String>,
    /// Client that a token may be given to, repeatable.
    #[arg(long, value_name = "CLIENT")]
    pub(crate) jwt_client: Vec<String>,
    /// Scope of which a token has to have one, repeatable.
    #[arg(long, value_name = "SCOPE")]
    pub(crate) jwt_scope: Vec<String>,
    /// Region that requests are signed for, for --auth sigv4.
    #[arg(long, value_name = "REGION", env = "AWS_REGION", default_value = "us-east-1")]
    pub(crate) region: String,
    /// ARN of this agent runtime, for the metadata that refused callers are sent to
    /// [default: from OTEL_RESOURCE_ATTRIBUTES].
    #[arg(long, value_name = "ARN", env = "AGENTCORE_SHIM_RUNTIME_ARN")]
    pub(crate) runtime_arn: Option<String>,
    /// Name of the endpoint in the address of that metadata.
    #[arg(long, value_name = "NAME", env = "AGENTCORE_SHIM_QUALIFIER", default_value = "DEFAULT")]
    pub(crate) qualifier: String,
}

/// The WebSocket at /ws.
#[derive(Debug, Args)]
#[command(next_help_heading = "WebSocket")]
pub(crate) struct WsFlags {
    /// How events lie in text frames.
    #[arg(long, value_enum, env = "AGENTCORE_SHIM_WS_FRAMES", default_value = "json")]
    pub(crate) ws_frames: Frames,
    /// Seconds after which a socket without a run is closed.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "600")]
    pub(crate) ws_idle: Duration,
    /// Longest wait for the first message, in seconds.
    #[arg(long, hide = true, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) ws_first_message: Option<Duration>,
    /// Time between two pings while a run is active, in seconds.
    #[arg(long, hide = true, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) ws_ping: Option<Duration>,
}

/// How refusals are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Errors {
    /// With their HTTP status and an event stream as their body.
    Status,
    /// With 200 and an event stream.
    Stream,
}

/// How callers prove who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Auth {
    /// Not at all.
    None,
    /// By the token in AGENTCORE_SHIM_AUTH_TOKEN.
    Bearer,
    /// By a token of an OpenID issuer.
    Jwt,
    /// By a signature with the AWS credentials of this environment, for local emulation.
    Sigv4,
}

/// How events lie in text frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Frames {
    /// One event as bare JSON.
    Json,
    /// One event as a server-sent event.
    Sse,
}

const AFTER_HELP: &str = "\
Environment without a flag:
  AGENTCORE_SHIM_AUTH_TOKEN   token of --auth bearer
  AGENTCORE_SHIM_UPSTREAM_TOKEN  bearer token for the upstream agent
  IAC_CODE_AGUI_A2A_TOKEN     bearer token for the kernel at --a2a-url
  IAC_CODE_AGUI_ALLOWED_CWDS  more directories that a request may work in
  AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN
                              credentials of --auth sigv4
  AGENTCORE_SHIM_LOG          which messages are logged, as a filter";
