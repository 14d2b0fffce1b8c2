//! What the server runs with: flags and environment over the configuration file over defaults.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agui_adapter::OnDisconnect;
use anyhow::{Context as _, bail};
use serde::Deserialize;

use crate::flags::{Flags, LogFormat};
use crate::tuning::Tuning;

/// Port that the Python adapter serves on too.
const DEFAULT_PORT: u16 = 8000;
/// Seconds that an interrupt lives by default (S7.3).
const DEFAULT_INTERRUPT_TTL_S: u64 = 540;
/// Longest interrupt life that is accepted, in seconds: 30 days.
const MAX_INTERRUPT_TTL_S: u64 = 30 * 24 * 3600;
/// How the managed kernel is started by default.
const DEFAULT_A2A_COMMAND: &str = "iac-code a2a --host {host} --port {port} --thinking-exposure all";

/// Everything decided; nothing below reads flags or environment again.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) kernel: KernelChoice,
    pub(crate) allow_remote_a2a: bool,
    pub(crate) state_dir: PathBuf,
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

/// Which kernel does the work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KernelChoice {
    /// One that runs already.
    Url(String),
    /// One that this process starts and watches; the words of its command.
    Managed(Vec<String>),
    /// The built-in one.
    Demo,
}

/// A secret from the environment or the configuration file.
pub(crate) type Token = agui_iac_code::Secret;

/// The configuration file; unknown keys are a typing error that should be seen.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
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

/// Reads variables; a parameter so that tests need not touch the process environment.
pub(crate) type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

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
        if auth_token.is_none() && !insecure && !is_loopback(&host) {
            bail!(
                "{host} can be reached from other machines and no token is configured: \
                 set IAC_CODE_AGUI_AUTH_TOKEN, or say --insecure"
            );
        }
        let port = flags.port.or(file.port).unwrap_or(DEFAULT_PORT);
        if port == 0 {
            bail!("port: must be from 1 to 65535");
        }
        let config_dir = config_dir(env)?;
        let state_dir = match flags.state_dir.or(file.state_dir).filter(|dir| !dir.trim().is_empty()) {
            Some(dir) => expand(dir.trim(), env),
            None => config_dir.join("agui"),
        };
        Ok(Self {
            host,
            port,
            kernel: kernel(
                flags.demo,
                flags.a2a_url.or(file.a2a_url),
                flags.a2a_command.or(file.a2a_command),
            )?,
            allow_remote_a2a: flags.allow_remote_a2a || file.allow_remote_a2a.unwrap_or(false),
            state_dir,
            interrupt_ttl: interrupt_ttl(flags.interrupt_ttl.or(file.interrupt_ttl))?,
            on_disconnect: on_disconnect(flags.on_disconnect.or(file.on_disconnect).as_deref())?,
            idle_shutdown: idle_shutdown(flags.idle_shutdown.or(file.idle_shutdown))?,
            allowed_origins: list(flags.allow_origin, file.allow_origin),
            allowed_hosts: list(flags.allow_host, file.allow_host),
            auth_token,
            a2a_token: token(env, "IAC_CODE_AGUI_A2A_TOKEN", file.a2a_token),
            allowed_roots: allowed_roots(env)?,
            insecure,
            debug: flags.debug || file.debug.unwrap_or(false),
            log_stdout: flags.log_stdout || (!flags.no_log_stdout && file.log_stdout.unwrap_or(false)),
            log_format: flags.log_format.or(file.log_format).unwrap_or(LogFormat::Text),
            tuning: flags.tuning,
        })
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

fn kernel(demo: bool, url: Option<String>, command: Option<String>) -> anyhow::Result<KernelChoice> {
    if demo {
        return Ok(KernelChoice::Demo);
    }
    if let Some(url) = url.filter(|url| !url.trim().is_empty()) {
        return Ok(KernelChoice::Url(url.trim().to_owned()));
    }
    let command = command.unwrap_or_else(|| DEFAULT_A2A_COMMAND.to_owned());
    let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
    if words.is_empty() {
        bail!("--a2a-command: the command is empty");
    }
    Ok(KernelChoice::Managed(words))
}

fn interrupt_ttl(seconds: Option<u64>) -> anyhow::Result<Duration> {
    let seconds = seconds.unwrap_or(DEFAULT_INTERRUPT_TTL_S);
    if seconds == 0 || seconds > MAX_INTERRUPT_TTL_S {
        bail!("--interrupt-ttl: must be from 1 to {MAX_INTERRUPT_TTL_S} seconds");
    }
    Ok(Duration::from_secs(seconds))
}

fn on_disconnect(policy: Option<&str>) -> anyhow::Result<OnDisconnect> {
    Ok(match policy {
        None | Some("cancel") => OnDisconnect::Cancel,
        Some("detach") => OnDisconnect::Detach,
        Some(other) => {
            let seconds = other.strip_prefix("grace:").and_then(|seconds| seconds.parse::<u32>().ok());
            match seconds {
                Some(seconds) => OnDisconnect::Grace(Duration::from_secs(seconds.into())),
                None => bail!("--on-disconnect: must be cancel, grace:SECONDS or detach"),
            }
        }
    })
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

/// `IAC_CODE_CONFIG_DIR`, else `~/.iac-code` (S11.1).
fn config_dir(env: Env<'_>) -> anyhow::Result<PathBuf> {
    match env("IAC_CODE_CONFIG_DIR").map(|dir| dir.trim().to_owned()).filter(|dir| !dir.is_empty()) {
        Some(dir) => Ok(expand(&dir, env)),
        None => match env("HOME").filter(|home| !home.is_empty()) {
            Some(home) => Ok(Path::new(&home).join(".iac-code")),
            None => bail!("neither IAC_CODE_CONFIG_DIR nor HOME is set: say --state-dir"),
        },
    }
}

/// `~`, `$NAME` and `${NAME}` in the operator's own paths; a caller's `cwd` never comes here.
fn expand(path: &str, env: Env<'_>) -> PathBuf {
    let mut out = String::new();
    let mut rest = match path.strip_prefix('~') {
        Some(tail) if tail.is_empty() || tail.starts_with('/') => {
            out.push_str(&env("HOME").unwrap_or_default());
            tail
        }
        _ => path,
    };
    while let Some(at) = rest.find('$') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let name_of = |text: &str| {
            text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default().to_owned()
        };
        let (name, used) = match from.strip_prefix("${").and_then(|tail| tail.split_once('}')) {
            Some((name, _)) => (name.to_owned(), name.len() + 3),
            None => {
                let name = name_of(&from[1..]);
                let used = name.len() + 1;
                (name, used)
            }
        };
        match env(&name).filter(|_| !name.is_empty()) {
            Some(value) => out.push_str(&value),
            None => out.push_str(&from[..used]),
        }
        rest = &from[used..];
    }
    out.push_str(rest);
    PathBuf::from(out)
}

/// S3.3: the configured roots, else the working and the temporary directory.
fn allowed_roots(env: Env<'_>) -> anyhow::Result<Vec<PathBuf>> {
    for name in ["IAC_CODE_AGUI_ALLOWED_CWDS", "IACCODE_A2A_ALLOWED_CWDS"] {
        let Some(value) = env(name).filter(|value| !value.trim().is_empty()) else { continue };
        let roots: Vec<PathBuf> =
            std::env::split_paths(&value).filter(|root| !root.as_os_str().is_empty()).collect();
        for root in &roots {
            if !root.is_absolute() {
                bail!("{name}: {} is not an absolute path", root.display());
            }
        }
        return Ok(roots);
    }
    Ok(vec![std::env::current_dir().context("no working directory")?, std::env::temp_dir()])
}

fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests;
