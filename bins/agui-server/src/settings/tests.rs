use std::collections::HashMap;

use agui_host::values::DEFAULT_A2A_COMMAND;
use clap::Parser as _;

use super::*;

fn settings(args: &[&str], vars: &[(&str, &str)]) -> anyhow::Result<Settings> {
    let vars: HashMap<String, String> =
        [("HOME", "/home/op")].iter().chain(vars).map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    // Flags are parsed without the environment; the variables that flags read are covered by clap.
    let flags = Flags::try_parse_from([&["agui-server"], args].concat())?;
    Settings::new(flags, &|name| vars.get(name).cloned())
}

fn message(result: anyhow::Result<Settings>) -> String {
    result.map(|_| String::new()).unwrap_or_else(|error| error.to_string())
}

#[test]
fn defaults_are_those_of_the_python_adapter() {
    let settings = settings(&[], &[]).unwrap();
    assert_eq!((settings.host.as_str(), settings.port), ("127.0.0.1", 8000));
    assert_eq!(settings.state_dir, Path::new("/home/op/.iac-code/agui"));
    assert_eq!(settings.interrupt_ttl, Duration::from_secs(540));
    assert_eq!(settings.on_disconnect, OnDisconnect::Cancel);
    assert_eq!(settings.idle_shutdown, None);
    assert_eq!(
        settings.kernel,
        KernelChoice::Managed(DEFAULT_A2A_COMMAND.split(' ').map(str::to_owned).collect())
    );
    assert_eq!(settings.allowed_roots, [std::env::current_dir().unwrap(), std::env::temp_dir()]);
}

#[test]
fn a_flag_wins_over_the_file_and_the_environment_over_the_file_for_tokens() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("agui.yaml");
    std::fs::write(
        &path,
        "host: localhost\nport: 9000\ninterrupt_ttl: 60\nauth_token: from-file\na2a_token: kernel-file\n\
         on_disconnect: grace:30\nlog_format: json\nallow_host: [agui.example]\n",
    )
    .unwrap();
    let path = path.to_str().unwrap();
    let read =
        |args: &[&str], vars: &[(&str, &str)]| settings(&[&["--config", path], args].concat(), vars).unwrap();

    let from_file = read(&[], &[]);
    assert_eq!((from_file.host.as_str(), from_file.port), ("localhost", 9000));
    assert_eq!(from_file.interrupt_ttl, Duration::from_secs(60));
    assert_eq!(from_file.on_disconnect, OnDisconnect::Grace(Duration::from_secs(30)));
    assert_eq!(from_file.log_format, LogFormat::Json);
    assert_eq!(from_file.allowed_hosts, ["agui.example"]);
    assert_eq!(from_file.auth_token.unwrap().expose(), "from-file");

    let flags = ["--port", "9001", "--on-disconnect", "detach", "--allow-host", "a", "--allow-host", "b"];
    let over = read(&flags, &[("IAC_CODE_AGUI_AUTH_TOKEN", "env")]);
    assert_eq!(over.port, 9001);
    assert_eq!(over.allowed_hosts, ["a", "b"]);
    assert_eq!(over.on_disconnect, OnDisconnect::Detach);
    assert_eq!(over.auth_token.unwrap().expose(), "env");
    assert_eq!(over.a2a_token.unwrap().expose(), "kernel-file");
}

#[test]
fn an_open_service_needs_to_be_said_aloud() {
    for host in ["0.0.0.0", "::", "192.0.2.1", "example.org"] {
        assert!(message(settings(&["--host", host], &[])).contains("--insecure"), "{host}");
        settings(&["--host", host, "--insecure"], &[]).unwrap();
        settings(&["--host", host], &[("IAC_CODE_AGUI_AUTH_TOKEN", "t")]).unwrap();
    }
    for host in ["127.0.0.1", "127.9.9.9", "::1", "[::1]", "localhost"] {
        settings(&["--host", host], &[]).unwrap();
    }
}

#[test]
fn bad_values_name_their_flag() {
    let cases: [(&[&str], &str); 6] = [
        (&["--interrupt-ttl", "0"], "--interrupt-ttl"),
        (&["--on-disconnect", "grace"], "--on-disconnect"),
        (&["--idle-shutdown", "-1"], "--idle-shutdown"),
        (&["--a2a-command", " "], "--a2a-command"),
        (&["--port", "0"], "--port"),
        (&["--config", "/nowhere/agui.yaml"], "/nowhere/agui.yaml"),
    ];
    for (args, name) in cases {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let joined = args.join("=");
        let one = [joined.as_str()];
        assert!(message(settings(&one, &[])).contains(name), "{args:?}");
    }
}

#[test]
fn a_bad_configuration_file_is_named_by_line_and_never_quoted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bad.yaml");
    std::fs::write(&path, "port: 9000\nauth_tokn: s3cr3t\n").unwrap();
    let text = message(settings(&["--config", path.to_str().unwrap()], &[]));
    assert!(text.contains("bad.yaml") && !text.contains("s3cr3t"), "{text}");
}

#[test]
fn the_operators_paths_are_expanded() {
    let vars = [("DATA", "/srv/data"), ("IAC_CODE_CONFIG_DIR", " ~/conf ")];
    let dir = |args: &[&str]| settings(args, &vars).unwrap().state_dir;
    assert_eq!(dir(&[]), Path::new("/home/op/conf/agui"));
    assert_eq!(dir(&["--state-dir", "$DATA/agui"]), Path::new("/srv/data/agui"));
    assert_eq!(dir(&["--state-dir", "${DATA}/x$NOPE"]), Path::new("/srv/data/x$NOPE"));
    assert_eq!(dir(&["--state-dir", "/a/~b"]), Path::new("/a/~b"));
}

#[test]
fn s3_3_allowed_roots_come_from_the_first_variable_that_is_set() {
    let roots = |vars: &[(&str, &str)]| settings(&[], vars).unwrap().allowed_roots;
    let both = [("IAC_CODE_AGUI_ALLOWED_CWDS", "/a:/b"), ("IACCODE_A2A_ALLOWED_CWDS", "/c")];
    assert_eq!(roots(&both), [Path::new("/a"), Path::new("/b")]);
    assert_eq!(roots(&both[1..]), [Path::new("/c")]);
    let relative = message(settings(&[], &[("IAC_CODE_AGUI_ALLOWED_CWDS", "/a:b")]));
    assert!(relative.contains("IAC_CODE_AGUI_ALLOWED_CWDS"));
}

#[test]
fn an_agent_of_any_make_has_an_address_and_a_place_of_its_own_for_threads() {
    let generic = |args: &[&str]| settings(&[&["--profile", "generic"], args].concat(), &[]);
    let url = ["--a2a-url", " http://127.0.0.1:9/ "];
    let found = generic(&url).unwrap();
    assert_eq!(found.kernel, KernelChoice::Agent("http://127.0.0.1:9/".to_owned()));
    assert_eq!(found.state_dir, Path::new("/home/op/.iac-code/agui/generic"));
    let placed =
        generic(&[&url[..], &["--state-dir", "/srv/agui", "--a2a-token", "s3cr3t"]].concat()).unwrap();
    assert_eq!(placed.state_dir, Path::new("/srv/agui"));
    assert!(!format!("{placed:?}").contains("s3cr3t"));
    assert_eq!(placed.a2a_token.unwrap().expose(), "s3cr3t");
    assert!(message(generic(&[])).contains("--a2a-url"));
    assert!(message(generic(&["--demo"])).contains("--demo"));
    assert!(matches!(settings(&["--profile", "iac-code"], &[]).unwrap().kernel, KernelChoice::Managed(_)));
}
