use std::collections::BTreeMap;
use std::io::Read as _;

use flate2::read::GzDecoder;

use super::*;
use crate::dist::rootfs;

fn archive() -> Vec<u8> {
    let root = rootfs::files("program", b"\x7fELF");
    Image::new("program", "1.2.3", "edge", Platform::of(Cpu::Aarch64), root).archive().unwrap()
}

/// Files of a tar: content, mode, owner.
fn unpack(tar: &[u8]) -> BTreeMap<String, (Vec<u8>, u32, u64)> {
    let mut archive = tar::Archive::new(tar);
    let entries = archive.entries().unwrap().map(|entry| {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().display().to_string();
        assert_eq!(entry.header().mtime().unwrap(), 0, "{path}");
        let (mode, owner) = (entry.header().mode().unwrap(), entry.header().uid().unwrap());
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        (path, (content, mode, owner))
    });
    entries.collect()
}

fn json(content: &[u8]) -> Value {
    serde_json::from_slice(content).unwrap()
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    assert_eq!(archive(), archive());
}

#[test]
fn every_blob_is_named_by_its_digest_and_every_descriptor_finds_one() {
    let files = unpack(&archive());
    let blob = |descriptor: &Value| {
        let digest = descriptor["digest"].as_str().unwrap().strip_prefix("sha256:").unwrap();
        let (content, ..) = &files[&format!("blobs/sha256/{digest}")];
        assert_eq!(sha256_hex(content), digest);
        assert_eq!(descriptor["size"], content.len());
        content.clone()
    };
    assert_eq!(json(&files["oci-layout"].0), json!({"imageLayoutVersion": "1.0.0"}));
    let index = json(&files["index.json"].0);
    let entry = &index["manifests"][0];
    assert_eq!(entry["platform"], json!({"os": "linux", "architecture": "arm64", "variant": "v8"}));
    assert_eq!(entry["annotations"]["org.opencontainers.image.ref.name"], "edge");
    let manifest = json(&blob(entry));
    let config = json(&blob(&manifest["config"]));
    let mut layer = Vec::new();
    GzDecoder::new(&*blob(&manifest["layers"][0])).read_to_end(&mut layer).unwrap();
    assert_eq!(config["rootfs"]["diff_ids"], json!([format!("sha256:{}", sha256_hex(&layer))]));
    assert_eq!(config["architecture"], "arm64");
    assert_eq!(config["config"]["User"], "1000");
    assert_eq!(config["config"]["ExposedPorts"], json!({"8080/tcp": {}}));
    assert_eq!(config["config"]["Entrypoint"], json!(["/usr/local/bin/program"]));

    let docker = json(&files["manifest.json"].0);
    assert_eq!(docker[0]["RepoTags"], json!(["program:edge"]));
    for path in [&docker[0]["Config"], &docker[0]["Layers"][0]] {
        assert!(files.contains_key(path.as_str().unwrap()), "{path}");
    }
}

#[test]
fn the_root_holds_the_program_certificates_and_places_to_write() {
    let files = unpack(&layer(&rootfs::files("program", b"\x7fELF")).unwrap());
    let of = |path: &str| (files[path].1, files[path].2);
    assert_eq!(files["usr/local/bin/program"], (b"\x7fELF".to_vec(), 0o755, 0));
    assert_eq!(of("tmp/"), (0o1777, 0));
    assert_eq!(of("workspace/"), (0o755, USER));
    assert!(files["etc/ssl/certs/ca-certificates.crt"].0.starts_with(b"-----BEGIN CERTIFICATE-----\n"));
}
