//! Artifacts: those that are text are messages of the answer, the others are custom events.

use std::collections::{BTreeMap, BTreeSet};

use a2a_wire::{Artifact, ArtifactUpdate};
use agui_core::{Custom, Json};

use super::{TextFlow, Turn, digest};
use crate::custom::{ARTIFACT_V1, ArtifactV1};
use crate::position::ResumePoint;
use crate::spans::Spans;

/// Id of artifacts that have none.
const NAMELESS_ARTIFACT: &str = "artifact";

/// Most artifacts of a run whose messages stay open beside each other; those of the others follow each other.
const MAX_LANES: usize = 256;

/// The artifacts of the execution that clients know.
#[derive(Debug)]
pub(crate) struct Artifacts {
    announced: BTreeSet<String>,
    /// Digests of what was announced of structured artifacts, by artifact.
    digests: BTreeMap<String, String>,
    /// The stems that the messages of text artifacts have, by artifact.
    stems: BTreeMap<String, Stem>,
}

/// The message that an artifact is written to.
#[derive(Debug)]
struct Stem {
    name: String,
    version: u32,
}

impl Artifacts {
    pub(crate) fn new(resume: Option<&ResumePoint>) -> Self {
        let position = resume.cloned().unwrap_or_default();
        Self {
            announced: position.artifacts.into_iter().collect(),
            digests: position.artifact_digests,
            stems: BTreeMap::new(),
        }
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
        let id = id_of(artifact);
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

/// Shows what is missing of an artifact; `false` if what was shown of it is another text.
type Show = fn(&mut TextFlow, &mut Spans, &str, &str) -> bool;

impl Turn {
    /// Shows an artifact, or a piece of one.
    pub(crate) fn artifact_update(&mut self, update: &ArtifactUpdate<'_>) {
        let artifact = &update.artifact;
        if !is_text(artifact) {
            self.announce(update);
        }
        self.artifacts.note(artifact);
        let text = text_of(artifact);
        if update.append {
            let stem = self.stem(artifact);
            self.text.delta(&mut self.spans, &stem, &text);
        } else if !text.is_empty() {
            self.show_artifact(artifact, &text, TextFlow::artifact);
        }
        if update.last_chunk {
            let stem = self.stem(artifact);
            self.text.end(&mut self.spans, &stem);
        }
    }

    /// Shows what of an artifact of a Task was not shown yet.
    pub(crate) fn task_artifact(&mut self, artifact: &Artifact<'_>) {
        let is_of_earlier_run =
            self.artifacts.knows(artifact) && !self.artifacts.stems.contains_key(id_of(artifact));
        self.artifacts.note(artifact);
        if !is_text(artifact) && self.artifacts.note_content(artifact) {
            let value = ArtifactV1::new(artifact, self.max_artifact_bytes);
            if let Some(value) = value.and_then(|value| Json::from_serialize(&value).ok()) {
                self.spans.emit(Custom::new(ARTIFACT_V1, value));
            }
        }
        let text = text_of(artifact);
        if text.is_empty() {
            return;
        }
        let stem = self.stem(artifact);
        if is_of_earlier_run && !self.text.remembers(&stem) {
            self.text.assume_shown(&stem, &text);
        } else {
            self.show_artifact(artifact, &text, TextFlow::task_artifact);
        }
    }

    fn announce(&mut self, update: &ArtifactUpdate<'_>) {
        let artifact = &update.artifact;
        if update.append {
            // The Task has the whole of it, which was never sent in one piece.
            self.artifacts.digests.remove(id_of(artifact));
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

    /// Shows the text of an artifact: the rest of what was shown, or if it is another text, a new message.
    fn show_artifact(&mut self, artifact: &Artifact<'_>, text: &str, show: Show) {
        let stem = self.stem(artifact);
        if !show(&mut self.text, &mut self.spans, &stem, text) {
            self.text.end(&mut self.spans, &stem);
            let stem = self.next_stem(artifact);
            self.text.artifact(&mut self.spans, &stem, text);
        }
    }

    /// The stem of an artifact's message, with a lane of its own so that artifacts can grow side by side.
    fn stem(&mut self, artifact: &Artifact<'_>) -> String {
        let id = id_of(artifact);
        if let Some(stem) = self.artifacts.stems.get(id) {
            return stem.name.clone();
        }
        if self.artifacts.stems.len() < MAX_LANES {
            self.text.give_lane(&mut self.spans, id);
            let stem = Stem { name: id.to_owned(), version: 1 };
            self.artifacts.stems.insert(id.to_owned(), stem);
        }
        id.to_owned()
    }

    /// The stem of the message that replaces the artifact's last one.
    fn next_stem(&mut self, artifact: &Artifact<'_>) -> String {
        let id = id_of(artifact);
        let Some(stem) = self.artifacts.stems.get_mut(id) else { return id.to_owned() };
        stem.version = stem.version.saturating_add(1);
        let name = format!("{id}#{}", stem.version);
        self.text.move_lane(&stem.name, &name);
        stem.name.clone_from(&name);
        name
    }
}

fn is_text(artifact: &Artifact<'_>) -> bool {
    !artifact.parts.is_empty() && artifact.parts.iter().all(|part| part.text().is_some())
}

fn text_of(artifact: &Artifact<'_>) -> String {
    artifact.parts.iter().filter_map(|part| part.text()).collect()
}

fn id_of<'a>(artifact: &'a Artifact<'_>) -> &'a str {
    if artifact.artifact_id.is_empty() { NAMELESS_ARTIFACT } else { &artifact.artifact_id }
}
