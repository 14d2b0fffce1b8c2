use std::collections::HashMap;

use clap::Parser as _;

use super::*;

fn settings(args: &[&str], vars: &[(&str, &str)]) -> anyhow::Result<Settings> {
    let vars: HashMap<String, String> =
        vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    // Flags are parsed without the environment; the variables that flags read are covered by clap.
    let flags = Flags::try_parse_from([&["agentcore-shim"], args].concat())?;
    Settings::new(flags, &|name| vars.get(name).cloned())
}

const PLATFORM: (&str, &str) =
    ("OTEL_RESOURCE_ATTRIBUTES", "cloud.resource_id=arn:aws:bedrock-agentcore:us-west-2:1:runtime/x");

#[test]
fn r5_r6_the_defaults_are_those_of_the_contract() {
    let settings = settings(&[], &[]).unwrap();
    assert_eq!((settings.host.as_str(), settings.port), ("0.0.0.0", 8080));
    assert_eq!(settings.path, "/invocations");
    assert_eq!(settings.max_body_bytes, 12 * 1024 * 1024);
    assert_eq!((settings.error_mode, settings.on_disconnect), (ErrorMode::Status, OnDisconnect::Cancel));
    assert!(!settings.access.authenticator.is_required());
    let AgentChoice::Kernel { host, defaults } = settings.agent else { panic!("no kernel") };
    assert_eq!(host.kernel, values::kernel(None, None).unwrap());
    assert_eq!(host.allowed_roots, [defaults.workspace_root]);
}

#[test]
fn on_the_platform_refusals_are_streams_and_runs_outlive_their_client_for_a_while() {
    let found = settings(&[], &[PLATFORM]).unwrap();
    assert_eq!(found.error_mode, ErrorMode::Stream);
    assert_eq!(found.on_disconnect, OnDisconnect::Grace(GRACE));
    let flags = ["--error-mode", "status", "--on-disconnect", "cancel"];
    let said = settings(&flags, &[PLATFORM]).unwrap();
    assert_eq!((said.error_mode, said.on_disconnect), (ErrorMode::Status, OnDisconnect::Cancel));
}

#[test]
fn bad_values_name_their_flag() {
    let cases: [&[&str]; 15] = [
        &["--port=0"],
        &["--path=invocations"],
        &["--path=/a b"],
        &["--path=/ping"],
        &["--max-body-bytes=0"],
        &["--max-body-bytes=100000001"],
        &["--rate-limit=ten"],
        &["--on-disconnect=grace"],
        &["--interrupt-ttl=0"],
        &["--session=../x"],
        &["--props=[]"],
        &["--a2a-command= "],
        &["--upstream-path=x", "--", "agent"],
        &["--error-mode=maybe"],
        &["--auth=bearer"],
    ];
    for args in cases {
        let text = settings(args, &[]).map(|_| String::new()).unwrap_or_else(|error| format!("{error:#}"));
        let flag = args[0].split('=').next().unwrap();
        assert!(text.contains(flag), "{args:?}: {text}");
    }
}

#[test]
fn there_is_one_agent() {
    let kinds: [(&[&str], &str); 5] = [
        (&[], "kernel"),
        (&["--demo"], "kernel"),
        (&["--a2a-url", "http://127.0.0.1:1/"], "kernel"),
        (&["--upstream", "http://127.0.0.1:1/"], "upstream"),
        (&["--", "agent", "--port", "{port}"], "command"),
    ];
    for (args, expected) in kinds {
        let kind = match settings(args, &[]).unwrap().agent {
            AgentChoice::Kernel { .. } => "kernel",
            AgentChoice::Upstream(_) => "upstream",
            AgentChoice::Command { .. } => "command",
        };
        assert_eq!(kind, expected, "{args:?}");
    }
    let both: [&[&str]; 4] = [
        &["--demo", "--upstream", "http://127.0.0.1:1/"],
        &["--demo", "--", "agent"],
        &["--upstream", "http://127.0.0.1:1/", "--", "agent"],
        &["--a2a-command", "kernel", "--", "agent"],
    ];
    for args in both {
        assert!(settings(args, &[]).is_err(), "{args:?}");
    }
}

#[test]
fn secrets_are_not_printed() {
    let vars = [(TOKEN_VARIABLE, "caller-s3cret"), (UPSTREAM_TOKEN_VARIABLE, "agent-s3cret")];
    let settings = settings(&["--auth", "bearer", "--upstream", "http://127.0.0.1:1/"], &vars).unwrap();
    assert!(settings.access.authenticator.is_required());
    assert!(!format!("{settings:?}").contains("s3cret"));
}
