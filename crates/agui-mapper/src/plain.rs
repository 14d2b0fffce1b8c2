//! Agents that are not iac-code: only what A2A itself defines.

use a2a_wire::{Artifact, ArtifactUpdate, StatusUpdate, Task};

use crate::a2a::Turn;
use crate::questions::prompt::{self, Seen};

/// Id of artifacts that have none.
const NAMELESS_ARTIFACT: &str = "artifact";

pub(crate) fn status_update(turn: &mut Turn, update: &StatusUpdate<'_>) {
    let state = &update.status.state;
    let message = update.status.message.as_ref();
    if let Some(message) = message {
        turn.status_text(state, message);
    }
    if state.is_interrupted() {
        prompt::raise(turn, state, message, Seen::Asking);
    }
}

pub(crate) fn task(turn: &mut Turn, task: &Task<'_>) {
    let state = &task.status.state;
    for artifact in &task.artifacts {
        let is_new = turn.artifacts.of_task(&mut turn.spans, artifact);
        if is_new {
            let text = text_of(artifact);
            turn.text.artifact(&mut turn.spans, message_id(artifact), &text);
        }
    }
    turn.task_text(task);
    if state.is_interrupted() {
        prompt::raise(turn, state, task.status.message.as_ref(), Seen::Task);
    }
}

/// Shows the text of an artifact, and announces the artifact if it is more than text.
pub(crate) fn artifact_update(turn: &mut Turn, update: &ArtifactUpdate<'_>) {
    let artifact = &update.artifact;
    let is_text = !artifact.parts.is_empty() && artifact.parts.iter().all(|part| part.text().is_some());
    if is_text {
        turn.artifacts.note(artifact);
    } else {
        turn.artifacts.update(&mut turn.spans, update);
    }
    let text = text_of(artifact);
    if update.append {
        turn.text.delta(&mut turn.spans, message_id(artifact), &text);
    } else {
        turn.text.artifact(&mut turn.spans, message_id(artifact), &text);
    }
}

fn text_of(artifact: &Artifact<'_>) -> String {
    artifact.parts.iter().filter_map(|part| part.text()).collect()
}

fn message_id<'a>(artifact: &'a Artifact<'_>) -> &'a str {
    if artifact.artifact_id.is_empty() { NAMELESS_ARTIFACT } else { &artifact.artifact_id }
}
