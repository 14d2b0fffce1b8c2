//! The files of the image: the program and what it expects of a system.

use base64::{Engine as _, engine::general_purpose::STANDARD};

/// Numeric, so that a platform which maps users need not read a file (and AgentCore does not refuse it).
pub(super) const USER: u64 = 1000;

/// Column at which certificates are wrapped.
const PEM_WIDTH: usize = 64;

/// One entry of the layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// Without a leading `/`; of a directory with a trailing one.
    pub(super) path: String,
    pub(super) mode: u32,
    pub(super) owner: u64,
    /// `None` for a directory.
    pub(super) content: Option<Vec<u8>>,
}

impl Entry {
    fn file(path: impl Into<String>, mode: u32, content: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), mode, owner: 0, content: Some(content.into()) }
    }

    fn dir(path: impl Into<String>, mode: u32, owner: u64) -> Self {
        Self { path: path.into(), mode, owner, content: None }
    }
}

/// The whole root, sorted: parents come before what is in them.
pub(super) fn files(name: &str, program: &[u8]) -> Vec<Entry> {
    let mut entries = vec![
        Entry::dir("etc/", 0o755, 0),
        Entry::dir("etc/ssl/", 0o755, 0),
        Entry::dir("etc/ssl/certs/", 0o755, 0),
        Entry::file("etc/ssl/certs/ca-certificates.crt", 0o644, certificates()),
        Entry::file(
            "etc/passwd",
            0o644,
            format!("root:x:0:0:root:/:/\nagent:x:{USER}:{USER}:agent:/workspace:/\n"),
        ),
        Entry::file("etc/group", 0o644, format!("root:x:0:\nagent:x:{USER}:\n")),
        Entry::file("etc/nsswitch.conf", 0o644, "hosts: files dns\n"),
        Entry::dir("tmp/", 0o1777, 0),
        Entry::dir("usr/", 0o755, 0),
        Entry::dir("usr/local/", 0o755, 0),
        Entry::dir("usr/local/bin/", 0o755, 0),
        Entry::file(format!("usr/local/bin/{name}"), 0o755, program),
        Entry::dir("workspace/", 0o755, USER),
    ];
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    entries
}

/// The certificate authorities that browsers trust, as PEM.
fn certificates() -> String {
    let mut pem = String::new();
    for certificate in webpki_root_certs::TLS_SERVER_ROOT_CERTS {
        pem.push_str("-----BEGIN CERTIFICATE-----\n");
        let mut rest = STANDARD.encode(certificate);
        while !rest.is_empty() {
            let tail = rest.split_off(rest.len().min(PEM_WIDTH));
            pem.push_str(&rest);
            pem.push('\n');
            rest = tail;
        }
        pem.push_str("-----END CERTIFICATE-----\n");
    }
    pem
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parent_is_there_before_its_children() {
        let entries = files("program", b"x");
        let paths: Vec<&str> = entries.iter().map(|entry| entry.path.as_str()).collect();
        for (at, path) in paths.iter().enumerate() {
            let parent = path.trim_end_matches('/').rsplit_once('/').map(|(parent, _)| format!("{parent}/"));
            if let Some(parent) = parent {
                assert!(paths[..at].contains(&parent.as_str()), "{path}");
            }
        }
        assert!(paths.contains(&"usr/local/bin/program"));
    }

    #[test]
    fn certificates_are_pem() {
        let pem = certificates();
        assert!(pem.lines().all(|line| line.len() <= PEM_WIDTH && !line.is_empty()));
        let count = pem.matches("-----BEGIN CERTIFICATE-----\n").count();
        assert_eq!(count, webpki_root_certs::TLS_SERVER_ROOT_CERTS.len());
        assert_eq!(count, pem.matches("-----END CERTIFICATE-----\n").count());
    }
}
