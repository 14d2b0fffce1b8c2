//! Artifacts: those that are text are messages of the answer, the others are custom events.

use std::collections::{BTreeMap, BTreeSet};

use a2a_wire::{Artifact, ArtifactUpdate};
use agui_core::{Custom, Json};

use super::{Turn, digest};
use crate::custom::{ARTIFACT_V1, ArtifactV1};
use crate::position::ResumePoint;

/// The artifacts of the execution that clients know.
#[derive(Debug)]
pub(crate) struct Artifacts {
    announced: BTreeSet<String>,
    /// Digests of what was announced of structured artifacts, by artifact.
    digests: BTreeMap<String, String>,
}

impl Artifacts {
    pub(crate) fn new(resume: Option<&ResumePoint>) -> Self {
        let position = resume.cloned().unwrap_or_default();
        Self { announced: position.artifacts.into_iter().collect(), digests: position.artifact_digests }
    }

    /// Whether clients know an artifact.
    pub(crate) fn knows(&self, artifact: &Artifact<'_>) -> bool {
        !artifact.artifact_id.is_empty() && self.announced.contains(&*artifact.artifact_id)
    }

    /// Notes that clients know an artifact.
    pub(crate) fn note(&mut self, artifact: &Artifact<'_>) {
        if !artifact.artifact_id.is_empty() && self.announced.len() < ResumePoint::MAX_ENTRIES {
            self.announced.insert(artifact.artifact_id.to_string());
        }
    }

    /// Notes what a structured artifact says; `false` if clients know it just so.
    fn note_content(&mut self, artifact: &Artifact<'_>) -> bool {
        let digest = artifact.raw.map(|raw| digest::short(raw.get().as_bytes())).unwrap_or_default();
        let id = &*artifact.artifact_id;
        if self.digests.get(id) == Some(&digest) {
            return false;
        }
        if self.digests.len() < ResumePoint::MAX_ENTRIES || self.digests.contains_key(id) {
            self.digests.insert(id.to_owned(), digest);
        }
        true
    }

    pub(crate) fn save(&self, position: &mut ResumePoint) {
        position.artifacts = self.announced.iter().cloned().collect();
        position.artifact_digests.clone_from(&self.digests);
    }
}

impl Turn {
    /// Shows an artifact, or a piece of one.
    pub(crate) fn artifact_update(&mut self, update: &ArtifactUpdate<'_>) {
        let artifact = &update.artifact;
        if !is_text(artifact) {
            self.announce(update);
        }
        self.artifacts.note(artifact);
        let (id, text) = (&*artifact.artifact_id, text_of(artifact));
        match (update.append, text.is_empty()) {
            (true, _) => self.text.grow_artifact(&mut self.spans, id, &text),
            (false, true) => self.text.empty_artifact(&mut self.spans, id),
            (false, false) => self.text.artifact(&mut self.spans, id, &text),
        }
        if update.last_chunk {
            self.text.end_artifact(&mut self.spans, id);
        }
    }

    /// Shows what of an artifact of a Task was not shown yet.
    pub(crate) fn task_artifact(&mut self, artifact: &Artifact<'_>) {
        let (id, text) = (&*artifact.artifact_id, text_of(artifact));
        // Earlier runs have shown it, and left nothing to compare it with.
        let is_of_earlier_run = self.artifacts.knows(artifact)
            && !self.text.knows_artifact(id)
            && !self.text.remembers_artifact(id)
            && !self.artifacts.digests.contains_key(id);
        self.artifacts.note(artifact);
        if !is_text(artifact) && self.artifacts.note_content(artifact) {
            let value = ArtifactV1::new(artifact, self.max_artifact_bytes);
            if let Some(value) = value.and_then(|value| Json::from_serialize(&value).ok()) {
                self.spans.emit(Custom::new(ARTIFACT_V1, value));
            }
        }
        match text.is_empty() {
            true => {}
            false if is_of_earlier_run => self.text.assume_shown(&mut self.spans, id, &text),
            false => self.text.task_artifact(&mut self.spans, id, &text),
        }
    }

    fn announce(&mut self, update: &ArtifactUpdate<'_>) {
        let artifact = &update.artifact;
        if update.append {
            // The Task has the whole of it, which was never sent in one piece.
            self.artifacts.digests.remove(&*artifact.artifact_id);
        } else {
            self.artifacts.note_content(artifact);
        }
        let Some(mut value) = ArtifactV1::new(artifact, self.max_artifact_bytes) else { return };
        value.append = update.append;
        value.last_chunk = update.last_chunk;
        if let Ok(value) = Json::from_serialize(&value) {
            self.spans.emit(Custom::new(ARTIFACT_V1, value));
        }
    }
}

fn is_text(artifact: &Artifact<'_>) -> bool {
    !artifact.parts.is_empty() && artifact.parts.iter().all(|part| part.text().is_some())
}

fn text_of(artifact: &Artifact<'_>) -> String {
    artifact.parts.iter().filter_map(|part| part.text()).collect()
}
