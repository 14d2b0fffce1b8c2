//! What the server runs with: flags and environment over the configuration file over defaults.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agui_adapter::OnDisconnect;
use agui_host::values::{self, Env};
use agui_host::{HostConfig, KernelChoice, LogConfig, LogFormat, Tuning};
use anyhow::{Context as _, bail};
use serde::Deserialize;

use crate::flags::{Flags, ProfileName};

/// Port that the Python adapter serves on too.
const DEFAULT_PORT: u16 = 8000;
/// Variable that overrides which messages are logged, in the usual filter syntax.
const LOG_FILTER_VARIABLE: &str = "AGUI_SERVER_LOG";

/// Everything decided; nothing below reads flags or environment again.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) kernel: KernelChoice,
    pub(crate) allow_remote_a2a: bool,
    pub(crate) state_dir: PathBuf,
    pub(crate) in_memory: bool,
    pub(crate) interrupt_ttl: Duration,
    pub(crate) on_disconnect: OnDisconnect,
    pub(crate) idle_shutdown: Option<Duration>,
    pub(crate) allowed_origins: Vec<String>,
    pub(crate) allowed_hosts: Vec<String>,
    pub(crate) auth_token: Option<Token>,
    pub(crate) a2a_token: Option<Token>,
    pub(crate) allowed_roots: Vec<PathBuf>,
    pub(crate) insecure: bool,
    pub(crate) debug: bool,
    pub(crate) log_stdout: bool,
    pub(crate) log_format: LogFormat,
    pub(crate) tuning: Tuning,
}

/// A secret from the environment or the configuration file.
pub(crate) type Token = agui_iac_code::Secret;

/// The configuration file; unknown keys are a typing error that should be seen.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    profile: Option<ProfileName>,
    host: Option<String>,
    port: Option<u16>,
    a2a_url: Option<String>,
    allow_remote_a2a: Option<bool>,
    a2a_command: Option<String>,
    state_dir: Option<String>,
    interrupt_ttl: Option<u64>,
    on_disconnect: Option<String>,
    idle_shutdown: Option<f64>,
    allow_origin: Option<Vec<String>>,
    allow_host: Option<Vec<String>>,
    insecure: Option<bool>,
    debug: Option<bool>,
    log_stdout: Option<bool>,
    log_format: Option<LogFormat>,
    auth_token: Option<String>,
    a2a_token: Option<String>,
}

impl Settings {
    /// # Errors
    ///
    /// A value that cannot be used, said with the name of its flag or variable.
    pub(crate) fn new(flags: Flags, env: Env<'_>) -> anyhow::Result<Self> {
        let file = match &flags.config {
            Some(path) => read_file(path)?,
            None => File::default(),
        };
        let host = flags.host.or(file.host).unwrap_or_else(|| "127.0.0.1".to_owned());
        let auth_token = token(env, "IAC_CODE_AGUI_AUTH_TOKEN", file.auth_token);
        let insecure = flags.insecure || file.insecure.unwrap_or(false);
        if auth_token.is_none() && !insecure && !values::is_loopback(&host) {
            bail!(
                "{host} can be reached from other machines and no token is configured: \
                 set IAC_CODE_AGUI_AUTH_TOKEN, or say --insecure"
            );
        }
        let port = flags.port.or(file.port).unwrap_or(DEFAULT_PORT);
        if port == 0 {
            bail!("port: must be from 1 to 65535");
        }
        let (url, command) = (flags.a2a_url.or(file.a2a_url), flags.a2a_command.or(file.a2a_command));
        let profile = flags.profile.or(file.profile).unwrap_or_default();
        let kernel = match profile {
            ProfileName::Generic if flags.demo => {
                bail!("--demo is an iac-code kernel: not with --profile generic")
            }
            ProfileName::Generic => values::agent(url)?,
            ProfileName::IacCode if flags.demo => KernelChoice::Demo,
            ProfileName::IacCode => values::kernel(url, command)?,
        };
        let given = flags.state_dir.or(file.state_dir);
        let mut state_dir = values::state_dir(given.as_deref(), env)?;
        if profile == ProfileName::Generic && given.is_none() {
            // The threads of two agents are not each other's.
            state_dir = state_dir.join("generic");
        }
        let a2a_token = flags.a2a_token.filter(|token| !token.expose().is_empty());
        Ok(Self {
            host,
            port,
            // The demo's kernel forgets its sessions with the process: threads that outlived it would be lost ones.
            in_memory: kernel == KernelChoice::Demo && given.is_none(),
            kernel,
            allow_remote_a2a: flags.allow_remote_a2a || file.allow_remote_a2a.unwrap_or(false),
            state_dir,
            interrupt_ttl: values::interrupt_ttl(flags.interrupt_ttl.or(file.interrupt_ttl))?,
            on_disconnect: values::on_disconnect(flags.on_disconnect.or(file.on_disconnect).as_deref())?,
            idle_shutdown: idle_shutdown(flags.idle_shutdown.or(file.idle_shutdown))?,
            allowed_origins: list(flags.allow_origin, file.allow_origin),
            allowed_hosts: list(flags.allow_host, file.allow_host),
            auth_token,
            a2a_token: a2a_token.or_else(|| token(env, "IAC_CODE_AGUI_A2A_TOKEN", file.a2a_token)),
            allowed_roots: values::allowed_roots(env)?,
            insecure,
            debug: flags.debug || file.debug.unwrap_or(false),
            log_stdout: flags.log_stdout || (!flags.no_log_stdout && file.log_stdout.unwrap_or(false)),
            log_format: flags.log_format.or(file.log_format).unwrap_or(LogFormat::Text),
            tuning: flags.tuning,
        })
    }

    /// What the kernel and its adapter are made from.
    pub(crate) fn host(&self) -> HostConfig {
        let mut host =
            HostConfig::new(self.kernel.clone(), self.state_dir.clone(), self.allowed_roots.clone());
        host.in_memory = self.in_memory;
        host.allow_remote_a2a = self.allow_remote_a2a;
        host.a2a_token.clone_from(&self.a2a_token);
        host.interrupt_ttl = self.interrupt_ttl;
        host.on_disconnect = self.on_disconnect;
        host.tuning = self.tuning.clone();
        host
    }

    /// What is logged, how and where.
    pub(crate) fn logs(&self) -> LogConfig {
        let mut logs = LogConfig::new(LOG_FILTER_VARIABLE).with_format(self.log_format);
        if self.debug {
            logs = logs.with_debug();
        }
        if self.log_stdout {
            logs = logs.with_stdout();
        }
        logs
    }
}

/// A repeatable flag, given at all, wins over the file.
fn list(flags: Vec<String>, file: Option<Vec<String>>) -> Vec<String> {
    if flags.is_empty() { file.unwrap_or_default() } else { flags }
}

fn read_file(path: &Path) -> anyhow::Result<File> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    if text.trim().is_empty() {
        return Ok(File::default());
    }
    // The parser's message may quote the line, and the file may hold tokens: name the place only.
    serde_yaml_ng::from_str(&text).map_err(|error| match error.location() {
        Some(at) => anyhow::anyhow!("{}: line {}: not a valid setting", path.display(), at.line()),
        None => anyhow::anyhow!("{}: not a valid configuration file", path.display()),
    })
}

fn token(env: Env<'_>, name: &str, file: Option<String>) -> Option<Token> {
    env(name).or(file).filter(|token| !token.is_empty()).map(Token::new)
}

fn idle_shutdown(seconds: Option<f64>) -> anyhow::Result<Option<Duration>> {
    match seconds {
        None => Ok(None),
        Some(0.0) => Ok(None),
        Some(seconds) => Duration::try_from_secs_f64(seconds)
            .map(Some)
            .map_err(|_| anyhow::anyhow!("--idle-shutdown: must be 0 or more seconds")),
    }
}

#[cfg(test)]
mod tests;
