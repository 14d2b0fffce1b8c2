//! What flags, variables and configuration files of the servers mean.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agui_adapter::OnDisconnect;

use crate::{HostError, KernelChoice};

/// Seconds that an interrupt lives by default (S7.3).
pub const DEFAULT_INTERRUPT_TTL_S: u64 = 540;
/// Longest interrupt life that is accepted, in seconds: 30 days.
pub const MAX_INTERRUPT_TTL_S: u64 = 30 * 24 * 3600;
/// How the managed kernel is started by default.
pub const DEFAULT_A2A_COMMAND: &str = "iac-code a2a --host {host} --port {port} --thinking-exposure all";

/// Reads variables; a parameter so that tests need not touch the process environment.
pub type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Which kernel flags ask for: the URL if there is one, else one that is started with the command.
///
/// # Errors
/// [`HostError::EmptyCommand`].
pub fn kernel(url: Option<String>, command: Option<String>) -> Result<KernelChoice, HostError> {
    if let Some(url) = url.filter(|url| !url.trim().is_empty()) {
        return Ok(KernelChoice::Url(url.trim().to_owned()));
    }
    let command = command.unwrap_or_else(|| DEFAULT_A2A_COMMAND.to_owned());
    let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
    if words.is_empty() {
        return Err(HostError::EmptyCommand { flag: "--a2a-command" });
    }
    Ok(KernelChoice::Managed(words))
}

/// Which agent of any make flags ask for.
///
/// # Errors
/// [`HostError::NoAgentUrl`].
pub fn agent(url: Option<String>) -> Result<KernelChoice, HostError> {
    let url = url.map(|url| url.trim().to_owned()).filter(|url| !url.is_empty());
    url.map(KernelChoice::Agent).ok_or(HostError::NoAgentUrl)
}

/// Life of an interrupt.
///
/// # Errors
/// [`HostError::InterruptTtl`] for no time and for more than [`MAX_INTERRUPT_TTL_S`].
pub fn interrupt_ttl(seconds: Option<u64>) -> Result<Duration, HostError> {
    let seconds = seconds.unwrap_or(DEFAULT_INTERRUPT_TTL_S);
    if seconds == 0 || seconds > MAX_INTERRUPT_TTL_S {
        return Err(HostError::InterruptTtl { max_s: MAX_INTERRUPT_TTL_S });
    }
    Ok(Duration::from_secs(seconds))
}

/// What happens to a run whose client goes away.
///
/// # Errors
/// [`HostError::OnDisconnect`] if there is no such policy.
pub fn on_disconnect(policy: Option<&str>) -> Result<OnDisconnect, HostError> {
    Ok(match policy {
        None | Some("cancel") => OnDisconnect::Cancel,
        Some("detach") => OnDisconnect::Detach,
        Some(other) => {
            let seconds = other.strip_prefix("grace:").and_then(|seconds| seconds.parse::<u32>().ok());
            OnDisconnect::Grace(Duration::from_secs(seconds.ok_or(HostError::OnDisconnect)?.into()))
        }
    })
}

/// Where threads are kept: what is given, else `agui` in the configuration directory, which is
/// `IAC_CODE_CONFIG_DIR`, else `~/.iac-code` (S11.1).
///
/// # Errors
/// [`HostError::NoConfigDir`].
pub fn state_dir(given: Option<&str>, env: Env<'_>) -> Result<PathBuf, HostError> {
    if let Some(dir) = given.map(str::trim).filter(|dir| !dir.is_empty()) {
        return Ok(expand(dir, env));
    }
    let config_dir = match env("IAC_CODE_CONFIG_DIR").filter(|dir| !dir.trim().is_empty()) {
        Some(dir) => expand(dir.trim(), env),
        None => {
            let home = env("HOME").filter(|home| !home.is_empty()).ok_or(HostError::NoConfigDir)?;
            Path::new(&home).join(".iac-code")
        }
    };
    Ok(config_dir.join("agui"))
}

/// `~`, `$NAME` and `${NAME}` in the operator's own paths; a caller's `cwd` never comes here.
#[must_use]
pub fn expand(path: &str, env: Env<'_>) -> PathBuf {
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

/// Directories that a request may work in: the configured ones, else the working and the temporary
/// directory (S3.3).
///
/// # Errors
/// [`HostError::RelativeRoot`], [`HostError::NoWorkingDir`].
pub fn allowed_roots(env: Env<'_>) -> Result<Vec<PathBuf>, HostError> {
    for variable in ["IAC_CODE_AGUI_ALLOWED_CWDS", "IACCODE_A2A_ALLOWED_CWDS"] {
        let Some(value) = env(variable).filter(|value| !value.trim().is_empty()) else { continue };
        let roots: Vec<PathBuf> =
            std::env::split_paths(&value).filter(|root| !root.as_os_str().is_empty()).collect();
        if let Some(path) = roots.iter().find(|root| !root.is_absolute()) {
            return Err(HostError::RelativeRoot { variable, path: path.clone() });
        }
        return Ok(roots);
    }
    Ok(vec![std::env::current_dir().map_err(HostError::NoWorkingDir)?, std::env::temp_dir()])
}

/// Whether only this machine reaches a server that listens there.
#[must_use]
pub fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}
