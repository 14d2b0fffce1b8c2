//! The command line.

use std::path::PathBuf;

use agui_host::{LogFormat, Tuning};
use agui_iac_code::Secret;
use clap::{Parser, ValueEnum};

/// AG-UI in front of an A2A kernel, first of all iac-code.
#[derive(Debug, Parser)]
#[command(name = "agui-server", version, about, after_help = after_help())]
pub(crate) struct Flags {
    /// YAML file with the same keys as the long flags, `-` written as `_`.
    #[arg(long, value_name = "PATH")]
    pub(crate) config: Option<PathBuf>,
    /// Address to listen on [default: 127.0.0.1].
    #[arg(long, env = "IAC_CODE_AGUI_HOST")]
    pub(crate) host: Option<String>,
    /// Port to listen on, 1 to 65535 [default: 8000].
    #[arg(long, env = "IAC_CODE_AGUI_PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: Option<u16>,
    /// What the A2A side is: `iac-code`, or `generic` for any agent at an A2A URL [default: iac-code].
    #[arg(long, value_enum, env = "AGUI_SERVER_PROFILE")]
    pub(crate) profile: Option<ProfileName>,
    /// URL of a running A2A kernel; without it a kernel is started and supervised. With `--profile generic`,
    /// the URL of the agent or of its card.
    #[arg(long, env = "IAC_CODE_AGUI_A2A_URL")]
    pub(crate) a2a_url: Option<String>,
    /// Accept an A2A URL that is not on this machine.
    #[arg(long)]
    pub(crate) allow_remote_a2a: bool,
    /// Bearer token for the kernel or agent at the A2A URL; a variable can be read by fewer people than a
    /// command line.
    #[arg(long, value_name = "TOKEN", env = "IAC_CODE_AGUI_A2A_TOKEN", hide_env_values = true, value_parser = secret)]
    pub(crate) a2a_token: Option<Secret>,
    /// Command that starts the managed kernel; `{host}` and `{port}` are replaced
    /// [default: iac-code a2a --host {host} --port {port} --thinking-exposure all].
    #[arg(long, value_name = "COMMAND", env = "IAC_CODE_AGUI_A2A_COMMAND")]
    pub(crate) a2a_command: Option<String>,
    /// Where threads are kept [default: agui in the configuration directory; with --demo in memory].
    #[arg(long, value_name = "DIR", env = "IAC_CODE_AGUI_STATE_DIR")]
    pub(crate) state_dir: Option<String>,
    /// Seconds that an interrupt waits for its answer [default: 540].
    #[arg(long, value_name = "SECONDS", env = "IAC_CODE_AGUI_INTERRUPT_TTL")]
    pub(crate) interrupt_ttl: Option<u64>,
    /// What happens to a run whose client goes away: `cancel`, `grace:SECONDS` or `detach` [default: cancel].
    #[arg(long, value_name = "POLICY", env = "IAC_CODE_AGUI_ON_DISCONNECT")]
    pub(crate) on_disconnect: Option<String>,
    /// Stop after this many seconds without a run and without an open interrupt; 0 never stops [default: 0].
    #[arg(long, value_name = "SECONDS")]
    pub(crate) idle_shutdown: Option<f64>,
    /// Browser origin that may call, repeatable; without any, cross-origin calls are refused.
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) allow_origin: Vec<String>,
    /// Host name that requests may use besides the loopback names, repeatable; on another address than
    /// a loopback one, any name may be used until one is given.
    #[arg(long, value_name = "HOST")]
    pub(crate) allow_host: Vec<String>,
    /// Serve a non-loopback address although no token is configured.
    #[arg(long)]
    pub(crate) insecure: bool,
    /// Serve the built-in demo kernel instead of iac-code.
    #[arg(long)]
    pub(crate) demo: bool,
    /// Log debug messages.
    #[arg(short, long)]
    pub(crate) debug: bool,
    /// Log to standard output instead of standard error.
    #[arg(long, overrides_with = "no_log_stdout")]
    pub(crate) log_stdout: bool,
    /// Log to standard error (the default; overrides the configuration file).
    #[arg(long, overrides_with = "log_stdout")]
    pub(crate) no_log_stdout: bool,
    /// Form of the log lines [default: text].
    #[arg(long, value_enum)]
    pub(crate) log_format: Option<LogFormat>,
    #[command(flatten)]
    pub(crate) tuning: Tuning,
}

/// What the A2A side is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ProfileName {
    /// The iac-code kernel.
    #[default]
    IacCode,
    /// Any A2A agent.
    Generic,
}

fn secret(text: &str) -> Result<Secret, std::convert::Infallible> {
    Ok(Secret::new(text))
}

fn after_help() -> String {
    let mut help = String::from(
        "Environment without a flag:\n  \
         IAC_CODE_AGUI_AUTH_TOKEN    callers must send it as a bearer token\n  \
         IAC_CODE_AGUI_ALLOWED_CWDS  directories that a request may work in, else IACCODE_A2A_ALLOWED_CWDS,\n                              \
         else the working and the temporary directory\n  \
         IAC_CODE_CONFIG_DIR         configuration directory [default: ~/.iac-code]\n\n\
         With --demo, a word in the prompt chooses what happens:\n",
    );
    for (word, what) in agui_testkit::demo::SCENARIOS {
        help.push_str(&format!("  {word:<12} {what}\n"));
    }
    help
}
