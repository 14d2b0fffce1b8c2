//! Artifacts of the kernel: structured data only, announced once each.

use a2a_wire::{Artifact, ArtifactUpdate};
use agui_core::{Custom, Json};
use agui_iac_code::custom::{ARTIFACT_V1, ArtifactV1};

use crate::a2a::Turn;

/// Announces an artifact, or a piece of one.
pub(super) fn update(turn: &mut Turn, update: &ArtifactUpdate<'_>) {
    let Some(raw) = update.artifact.raw else { return };
    let mut value = ArtifactV1::new(raw);
    if update.append {
        value = value.with_append(true);
    }
    if update.last_chunk {
        value = value.with_last_chunk(true);
    }
    announce(turn, &update.artifact, &value);
}

/// Announces an artifact of a Task, unless that was done before.
pub(super) fn of_task(turn: &mut Turn, artifact: &Artifact<'_>) {
    if let Some(raw) = artifact.raw
        && !turn.artifacts.knows(artifact)
    {
        announce(turn, artifact, &ArtifactV1::new(raw));
    }
}

fn announce(turn: &mut Turn, artifact: &Artifact<'_>, value: &ArtifactV1<'_>) {
    turn.artifacts.note(artifact);
    if let Ok(value) = Json::from_serialize(value) {
        turn.spans.emit(Custom::new(ARTIFACT_V1, value));
    }
}
