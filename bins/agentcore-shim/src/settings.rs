//! What the shim runs with: flags and environment over defaults.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agui_adapter::OnDisconnect;
use agui_auth::RateSpec;
use agui_host::values::{self, Env};
use agui_host::{HostConfig, KernelChoice, LogConfig, Tuning};
use agui_iac_code::Secret;
use agui_relay::{ErrorText, UpstreamConfig};
use agui_transport::ErrorMode;
use agui_ws::{WsConfig, WsFraming};
use anyhow::{Context as _, bail};

use crate::access::Access;
use crate::aliases::WORKLOAD_TOKEN_HEADERS;
use crate::fill::Defaults;
use crate::flags::{AgentFlags, Errors, Flags, Frames, WsFlags};
use crate::members::Members;
use crate::platform::is_agentcore;
use crate::session::is_segment;

/// Variable with the token of `--auth bearer`.
pub(crate) const TOKEN_VARIABLE: &str = "AGENTCORE_SHIM_AUTH_TOKEN";
/// Variable with the token for an upstream agent.
const UPSTREAM_TOKEN_VARIABLE: &str = "AGENTCORE_SHIM_UPSTREAM_TOKEN";
/// Variable that overrides which messages are logged, in the usual filter syntax.
const LOG_FILTER_VARIABLE: &str = "AGENTCORE_SHIM_LOG";
/// Largest request that the platform takes, in bytes.
const MAX_BODY_BYTES: usize = 100_000_000;
/// How long a run outlives its client on the platform: a client that gives up after a minute and asks again
/// finds its run, and one that has gone for good does not keep the session.
const GRACE: Duration = Duration::from_secs(60);
/// Where images keep workspaces.
const WORKSPACE_DIR: &str = "/workspace";

/// Everything decided; nothing below reads flags or environment again.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) path: String,
    pub(crate) max_body_bytes: usize,
    pub(crate) error_mode: ErrorMode,
    pub(crate) rate_limit: Option<RateSpec>,
    pub(crate) busy_while_parked: bool,
    pub(crate) interrupt_ttl: Duration,
    pub(crate) on_disconnect: OnDisconnect,
    pub(crate) allowed_origins: Vec<String>,
    pub(crate) allowed_hosts: Vec<String>,
    pub(crate) agent: AgentChoice,
    /// Whether the agent is to get the caller's `Authorization`.
    pub(crate) shows_authorization: bool,
    pub(crate) access: Access,
    pub(crate) ws: WsConfig,
    pub(crate) logs: LogConfig,
    pub(crate) tuning: Tuning,
}

/// Which agent is behind the shim.
#[derive(Debug, Clone)]
pub(crate) enum AgentChoice {
    /// iac-code, or whatever speaks its A2A.
    Kernel { host: Box<HostConfig>, defaults: Defaults },
    /// An AG-UI server that runs already.
    Upstream(Box<UpstreamConfig>),
    /// An AG-UI server that is started and watched here.
    Command { words: Vec<String>, path: String, config: Box<UpstreamConfig> },
}

impl Settings {
    /// # Errors
    ///
    /// A value that cannot be used, said with the name of its flag or variable.
    pub(crate) fn new(flags: Flags, env: Env<'_>) -> anyhow::Result<Self> {
        let on_platform = is_agentcore(env);
        if !(1..=MAX_BODY_BYTES).contains(&flags.max_body_bytes) {
            bail!("--max-body-bytes: must be from 1 to {MAX_BODY_BYTES}");
        }
        let on_disconnect = match (&flags.on_disconnect, on_platform) {
            (None, true) => OnDisconnect::Grace(GRACE),
            (policy, _) => values::on_disconnect(policy.as_deref())?,
        };
        let error_mode = match (flags.error_mode, on_platform) {
            (Some(Errors::Stream), _) | (None, true) => ErrorMode::Stream,
            (Some(Errors::Status), _) | (None, false) => ErrorMode::Status,
        };
        let path = route("--path", &flags.path)?;
        let interrupt_ttl = values::interrupt_ttl(flags.agent.interrupt_ttl)?;
        let mut logs = LogConfig::new(LOG_FILTER_VARIABLE).with_format(flags.log_format);
        if flags.debug {
            logs = logs.with_debug();
        }
        let named = |name: &String| name.eq_ignore_ascii_case("authorization");
        let shows_authorization = flags.agent.forward_header.iter().any(named);
        let local = format!("http://localhost:{}{path}", flags.port);
        Ok(Self {
            access: Access::new(&flags.auth, &local, env)?,
            host: flags.host,
            port: flags.port,
            path,
            max_body_bytes: flags.max_body_bytes,
            error_mode,
            rate_limit: flags.rate_limit,
            busy_while_parked: flags.busy_while_parked,
            interrupt_ttl,
            on_disconnect,
            allowed_origins: flags.allow_origin,
            allowed_hosts: flags.allow_host,
            agent: agent(flags.agent, flags.command, interrupt_ttl, &flags.tuning, env)?,
            shows_authorization,
            ws: ws(&flags.ws).with_max_message_bytes(flags.max_body_bytes),
            logs,
            tuning: flags.tuning,
        })
    }
}

/// A path that requests can be routed by.
fn route(flag: &str, path: &str) -> anyhow::Result<String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%/".contains(&byte);
    if !path.starts_with('/') || !path.bytes().all(plain) {
        bail!("{flag}: must begin with / and hold letters, digits and -._~%/ only");
    }
    let path = path.trim_end_matches('/');
    let path = if path.is_empty() { "/" } else { path };
    if flag == "--path" && ["/ping", "/ws", "/health", "/warmup"].contains(&path) {
        bail!("{flag}: {path} is taken");
    }
    Ok(path.to_owned())
}

fn agent(
    flags: AgentFlags,
    command: Vec<String>,
    interrupt_ttl: Duration,
    tuning: &Tuning,
    env: Env<'_>,
) -> anyhow::Result<AgentChoice> {
    let upstream = flags.upstream.as_deref().map(str::trim).filter(|url| !url.is_empty());
    let kernel = flags.demo || flags.a2a_url.is_some() || flags.a2a_command.is_some();
    let chosen = usize::from(upstream.is_some()) + usize::from(!command.is_empty()) + usize::from(flags.demo);
    if chosen > 1 || (chosen == 1 && kernel && !flags.demo) {
        bail!("only one of --upstream, COMMAND, --demo and the flags of a kernel can be given");
    }
    if let Some(url) = upstream {
        return Ok(AgentChoice::Upstream(Box::new(upstream_config(&flags, url, env))));
    }
    if !command.is_empty() {
        let path = route("--upstream-path", &flags.upstream_path)?;
        let mut config = upstream_config(&flags, "", env);
        for name in WORKLOAD_TOKEN_HEADERS {
            // It is the agent that the platform gives this token to.
            config = config.with_forward(name);
        }
        return Ok(AgentChoice::Command { words: command, path, config: Box::new(config) });
    }
    let defaults = defaults(&flags)?;
    let kernel =
        if flags.demo { KernelChoice::Demo } else { values::kernel(flags.a2a_url, flags.a2a_command)? };
    let given = flags.state_dir.as_deref().map(str::trim).filter(|dir| !dir.is_empty());
    // The demo's kernel forgets its sessions with the process.
    let in_memory = kernel == KernelChoice::Demo && given.is_none();
    let state_dir = match given {
        Some(dir) => values::expand(dir, env),
        None => std::env::temp_dir().join("agentcore-shim"),
    };
    let mut roots = vec![defaults.workspace_root.clone()];
    if env("IAC_CODE_AGUI_ALLOWED_CWDS").is_some() || env("IACCODE_A2A_ALLOWED_CWDS").is_some() {
        roots.extend(values::allowed_roots(env)?);
    }
    let mut host = HostConfig::new(kernel, state_dir, roots);
    host.in_memory = in_memory;
    host.allow_remote_a2a = flags.allow_remote_a2a;
    host.a2a_token = env("IAC_CODE_AGUI_A2A_TOKEN").filter(|token| !token.is_empty()).map(Secret::new);
    host.interrupt_ttl = interrupt_ttl;
    // What outlives its client is kept in front of the adapter, for every kind of agent.
    host.on_disconnect = OnDisconnect::Cancel;
    host.tuning = tuning.clone();
    Ok(AgentChoice::Kernel { host: Box::new(host), defaults })
}

fn upstream_config(flags: &AgentFlags, url: &str, env: Env<'_>) -> UpstreamConfig {
    let mut config = UpstreamConfig::new(url);
    if let Some(token) = env(UPSTREAM_TOKEN_VARIABLE).filter(|token| !token.is_empty()) {
        config = config.with_header("authorization", format!("Bearer {token}"));
    }
    for name in &flags.forward_header {
        config = config.with_forward(name);
    }
    if flags.trust_errors {
        config = config.with_error_text(ErrorText::Trusted);
    }
    config
}

fn defaults(flags: &AgentFlags) -> anyhow::Result<Defaults> {
    if !is_segment(&flags.session) {
        bail!("--session: must be letters, digits, -, _ and . only, a letter or a digit first");
    }
    if Members::read(&flags.props).is_none() {
        bail!("--props: must be a JSON object");
    }
    let root = match flags.workspace_root.as_deref().map(str::trim).filter(|root| !root.is_empty()) {
        Some(root) => PathBuf::from(root),
        None if Path::new(WORKSPACE_DIR).is_dir() => PathBuf::from(WORKSPACE_DIR),
        None => PathBuf::from("workspace"),
    };
    let workspace_root = std::path::absolute(&root).context("--workspace-root")?;
    if workspace_root.to_str().is_none() {
        bail!("--workspace-root: must be a path in UTF-8");
    }
    Ok(Defaults {
        workspace_root,
        session: flags.session.as_str().into(),
        props: flags.props.as_str().into(),
    })
}

fn ws(flags: &WsFlags) -> WsConfig {
    let mut config = WsConfig::new();
    let mut timeouts = config.timeouts.with_idle(flags.ws_idle).with_shutdown(crate::serve::RUNS_WITHIN);
    if let Some(timeout) = flags.ws_first_message {
        timeouts = timeouts.with_first_message(timeout);
    }
    if let Some(interval) = flags.ws_ping {
        timeouts = timeouts.with_ping(interval);
    }
    config = config.with_timeouts(timeouts);
    match flags.ws_frames {
        Frames::Json => config.with_framing(WsFraming::Json),
        Frames::Sse => config.with_framing(WsFraming::Sse),
    }
}

#[cfg(test)]
mod tests;
