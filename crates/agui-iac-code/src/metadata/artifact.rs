//! The description of a stored file.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::json::{Notes, Raw, Read, finish, integer, read_members, text};

/// A file that the kernel stored, as tools and pipeline events describe it.
///
/// Source: iac-code 0.16, `metadata.iac_code.tool.artifact` and pipeline event `artifact_created`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ArtifactRef<'a> {
    /// The description as it arrived.
    pub raw: Raw<'a>,
    /// Id of the artifact.
    pub artifact_id: Option<Cow<'a, str>>,
    /// File name without directory.
    pub filename: Option<Cow<'a, str>>,
    /// Media type.
    pub media_type: Option<Cow<'a, str>>,
    /// Size in bytes.
    pub byte_size: Option<u64>,
    /// SHA-256 of the content, hexadecimal.
    pub sha256: Option<Cow<'a, str>>,
    /// Where it is stored.
    pub uri: Option<Cow<'a, str>>,
    /// What it is for, for example `final`.
    pub role: Option<Cow<'a, str>>,
    /// The file in the workspace it was made from.
    pub source_path: Option<Cow<'a, str>>,
}

impl<'a> ArtifactRef<'a> {
    pub(crate) fn read_member(raw: &'a RawValue, notes: &mut Notes) -> Read<Self> {
        let mut it = Self { raw: Raw::new(raw), ..Self::default() };
        let is_object = read_members!(raw, notes, "artifact", {
            "artifactId" => it.artifact_id, text;
            "filename" => it.filename, text;
            "mediaType" => it.media_type, text;
            "byteSize" => it.byte_size, integer;
            "sha256" => it.sha256, text;
            "uri" => it.uri, text;
            "role" => it.role, text;
            "sourcePath" => it.source_path, text;
        });
        finish(it, raw, is_object)
    }
}
