//! Artifacts: which of them were announced.

use std::collections::BTreeSet;

use a2a_wire::{Artifact, ArtifactUpdate};
use agui_core::{Custom, Json};
use agui_iac_code::custom::{ARTIFACT_V1, ArtifactV1};

use crate::position::ResumePoint;
use crate::spans::Spans;

/// The artifacts of the execution that clients know.
#[derive(Debug)]
pub(crate) struct Artifacts {
    announced: BTreeSet<String>,
}

impl Artifacts {
    pub(crate) fn new(resume: Option<&ResumePoint>) -> Self {
        Self {
            announced: resume
                .map(|position| position.artifacts.iter().cloned().collect())
                .unwrap_or_default(),
        }
    }

    /// Announces an artifact, or a piece of one.
    pub(crate) fn update(&mut self, spans: &mut Spans, update: &ArtifactUpdate<'_>) {
        let Some(raw) = update.artifact.raw else { return };
        let mut value = ArtifactV1::new(raw);
        if update.append {
            value = value.with_append(true);
        }
        if update.last_chunk {
            value = value.with_last_chunk(true);
        }
        self.announce(spans, &update.artifact, &value);
    }

    /// Announces an artifact of a Task, unless that was done before.
    ///
    /// `false` if it was.
    pub(crate) fn of_task(&mut self, spans: &mut Spans, artifact: &Artifact<'_>) -> bool {
        let known = !artifact.artifact_id.is_empty() && self.announced.contains(&*artifact.artifact_id);
        match artifact.raw {
            Some(raw) if !known => {
                self.announce(spans, artifact, &ArtifactV1::new(raw));
                true
            }
            _ => false,
        }
    }

    /// Notes an artifact that clients get as text.
    pub(crate) fn note(&mut self, artifact: &Artifact<'_>) {
        if !artifact.artifact_id.is_empty() && self.announced.len() < ResumePoint::MAX_ENTRIES {
            self.announced.insert(artifact.artifact_id.to_string());
        }
    }

    fn announce(&mut self, spans: &mut Spans, artifact: &Artifact<'_>, value: &ArtifactV1<'_>) {
        self.note(artifact);
        if let Ok(value) = Json::from_serialize(value) {
            spans.emit(Custom::new(ARTIFACT_V1, value));
        }
    }

    pub(crate) fn save(&self, position: &mut ResumePoint) {
        position.artifacts = self.announced.iter().cloned().collect();
    }
}
