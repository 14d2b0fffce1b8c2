//! What the kernel's session knows of a turn: its task can stay behind (weakness 33).

use a2a_client::{Client, Datum};
use a2a_wire::StreamItem;
use agui_iac_code::SessionRecovery;
use agui_iac_code::metadata::IacMetadata;
use serde_json::json;

use super::{Ending, Run};

/// Status of an execution whose turn is not over.
const WORKING: &str = "working";

impl Run {
    /// Shows the text of a turn that is over and whose task may lack it; `false` if the turn is not over
    /// after all.
    pub(super) async fn complete_text(&mut self, client: &Client, task: &Datum) -> Result<bool, Ending> {
        let Some(execution) = kernel_execution(task) else { return Ok(true) };
        let read = client.session_recovery(self.context_id.as_str(), &execution);
        let document = match self.stoppable(client, read).await? {
            Ok(Some(document)) => document,
            Ok(None) => return Ok(true),
            Err(error) => {
                tracing::warn!(%error, run = %self.request.run_id, "text of the turn may be missing");
                return Ok(true);
            }
        };
        let Ok(raw) = document.raw_result() else { return Ok(true) };
        let recovery = SessionRecovery::read(raw);
        if recovery.execution_status.as_deref() == Some(WORKING) {
            return Ok(false);
        }
        if let Some(turn) = self.as_task(&recovery) {
            self.take(&turn).await.map_err(Ending::Broken)?;
        }
        Ok(true)
    }

    /// The turn as a task that has all of its text: one entry a delta, under the id of the live ones.
    fn as_task(&self, recovery: &SessionRecovery<'_>) -> Option<Datum> {
        let task = self.task_id.as_ref()?.as_str();
        let state = self.mapper.observed().last_state.as_ref()?.as_str();
        let message = format!("{task}-message");
        let delta = |text| json!({ "messageId": message, "role": "ROLE_AGENT", "parts": [{ "text": text }] });
        let history: Vec<_> = recovery.output_text.iter().map(delta).collect();
        let turn = json!({ "task": { "id": task, "status": { "state": state }, "history": history } });
        Some(Datum::document(turn.to_string().into()))
    }
}

/// The kernel's own id of the execution, which a task names when it is asked for.
fn kernel_execution(task: &Datum) -> Option<String> {
    let Ok(StreamItem::Task(task)) = task.item() else { return None };
    let control = IacMetadata::read(task.metadata?).execution_control?;
    Some(control.execution_id?.into_owned())
}
