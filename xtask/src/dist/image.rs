//! A container image as one file that is an OCI layout and an archive for `docker load` at once.
//!
//! Source: OCI image specification 1.1 (layout, index, manifest, config); `manifest.json` is what `docker save`
//! writes beside it. The same input gives the same bytes: no clock, no order of a directory, no owner of a file.

use std::io::Write as _;

use anyhow::Result;
use flate2::{Compression, GzBuilder};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{
    rootfs::{Entry, USER},
    target::Cpu,
};

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
/// The time of everything in the image.
const CREATED: &str = "1970-01-01T00:00:00Z";

/// The port that AgentCore calls.
const PORT: &str = "8080/tcp";

/// Names of a processor in image documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Platform {
    pub(super) architecture: &'static str,
    variant: Option<&'static str>,
}

impl Platform {
    pub(super) const fn of(cpu: Cpu) -> Self {
        match cpu {
            Cpu::Aarch64 => Self { architecture: "arm64", variant: Some("v8") },
            Cpu::X86_64 => Self { architecture: "amd64", variant: None },
        }
    }

    fn describe(self, mut document: Value) -> Value {
        document["os"] = "linux".into();
        document["architecture"] = self.architecture.into();
        if let Some(variant) = self.variant {
            document["variant"] = variant.into();
        }
        document
    }
}

/// An image of one layer that runs one program.
#[derive(Debug)]
pub(super) struct Image<'a> {
    name: &'a str,
    version: &'a str,
    tag: &'a str,
    platform: Platform,
    root: Vec<Entry>,
}

/// Content with the name that it has in a layout.
struct Blob {
    digest: String,
    content: Vec<u8>,
}

impl Blob {
    fn new(content: Vec<u8>) -> Self {
        Self { digest: sha256_hex(&content), content }
    }

    fn json(document: &Value) -> Result<Self> {
        Ok(Self::new(serde_json::to_vec(document)?))
    }

    fn path(&self) -> String {
        format!("blobs/sha256/{}", self.digest)
    }

    fn descriptor(&self, media_type: &str) -> Value {
        json!({"mediaType": media_type, "digest": format!("sha256:{}", self.digest), "size": self.content.len()})
    }
}

impl<'a> Image<'a> {
    /// An image of `root` whose entry point is `/usr/local/bin/{name}`.
    pub(super) const fn new(
        name: &'a str,
        version: &'a str,
        tag: &'a str,
        platform: Platform,
        root: Vec<Entry>,
    ) -> Self {
        Self { name, version, tag, platform, root }
    }

    /// The file.
    pub(super) fn archive(&self) -> Result<Vec<u8>> {
        let tar = layer(&self.root)?;
        let diff_id = sha256_hex(&tar);
        let layer = Blob::new(compress(&tar)?);
        let config = Blob::json(&self.config(&diff_id))?;
        let manifest = Blob::json(&json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": config.descriptor(CONFIG),
            "layers": [layer.descriptor(LAYER)],
        }))?;
        let full_name = format!("{}:{}", self.name, self.tag);
        let mut descriptor = manifest.descriptor(MANIFEST);
        descriptor["platform"] = self.platform.describe(json!({}));
        descriptor["annotations"] =
            json!({"org.opencontainers.image.ref.name": self.tag, "io.containerd.image.name": full_name});
        let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": [descriptor]});
        let docker = json!([{"Config": config.path(), "RepoTags": [full_name], "Layers": [layer.path()]}]);

        let mut files = vec![
            ("index.json".to_owned(), serde_json::to_vec(&index)?),
            ("manifest.json".to_owned(), serde_json::to_vec(&docker)?),
            ("oci-layout".to_owned(), serde_json::to_vec(&json!({"imageLayoutVersion": "1.0.0"}))?),
        ];
        files.extend([layer, config, manifest].map(|blob| (blob.path(), blob.content)));
        files.sort();
        let mut archive = tar::Builder::new(Vec::new());
        for dir in ["blobs/", "blobs/sha256/"] {
            add(&mut archive, dir, 0o755, 0, None)?;
        }
        for (path, content) in &files {
            add(&mut archive, path, 0o644, 0, Some(content))?;
        }
        Ok(archive.into_inner()?)
    }

    fn config(&self, diff_id: &str) -> Value {
        let program = format!("/usr/local/bin/{}", self.name);
        self.platform.describe(json!({
            "created": CREATED,
            "config": {
                "User": USER.to_string(),
                "ExposedPorts": {PORT: {}},
                "Env": [
                    "PATH=/usr/local/bin",
                    "HOME=/workspace",
                    "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt",
                ],
                "Entrypoint": [program],
                "WorkingDir": "/workspace",
                "StopSignal": "SIGTERM",
                "Labels": {
                    "org.opencontainers.image.title": self.name,
                    "org.opencontainers.image.description":
                        "An AG-UI agent on Amazon Bedrock AgentCore",
                    "org.opencontainers.image.version": self.version,
                    "org.opencontainers.image.licenses": "Apache-2.0 OR MIT",
                },
            },
            "rootfs": {"type": "layers", "diff_ids": [format!("sha256:{diff_id}")]},
            "history": [{"created": CREATED, "created_by": "cargo xtask dist"}],
        }))
    }
}

fn layer(root: &[Entry]) -> Result<Vec<u8>> {
    let mut layer = tar::Builder::new(Vec::new());
    for Entry { path, mode, owner, content } in root {
        add(&mut layer, path, *mode, *owner, content.as_deref())?;
    }
    Ok(layer.into_inner()?)
}

fn add(
    archive: &mut tar::Builder<Vec<u8>>,
    path: &str,
    mode: u32,
    owner: u64,
    content: Option<&[u8]>,
) -> Result<()> {
    let mut header = tar::Header::new_ustar();
    let kind = if content.is_some() { tar::EntryType::Regular } else { tar::EntryType::Directory };
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_uid(owner);
    header.set_gid(owner);
    header.set_mtime(0);
    let content = content.unwrap_or_default();
    header.set_size(content.len().try_into()?);
    archive.append_data(&mut header, path, content)?;
    Ok(())
}

fn compress(content: &[u8]) -> Result<Vec<u8>> {
    let mut writer = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    writer.write_all(content)?;
    Ok(writer.finish()?)
}

/// The SHA-256 of `content` in lower-case hexadecimal.
pub(super) fn sha256_hex(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
