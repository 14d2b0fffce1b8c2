//! What happens inside one candidate.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::pipeline::{Call, Pipe};
use super::place::{CANDIDATE_STEPS, Candidate, Place, Step};
use super::tools::{DENIED, File, artifact_update};
use crate::demo::task::Kind;
use crate::demo::turn::Ask;
use crate::wire::{self, merged};

const TEMPLATE: &str = "ROSTemplateFormatVersion: '2015-09-01'\nResources:\n  Vpc:\n    \
    Type: ALIYUN::ECS::VPC\n    Properties:\n      CidrBlock: 10.0.0.0/8\n";

/// Works a candidate out; false when its file was denied.
pub(super) async fn work_out(pipe: &Pipe<'_>, parent: &Step, plan: &Candidate) -> bool {
    let [template_step, cost_step] = CANDIDATE_STEPS;
    let place = plan.step_place(parent, template_step);
    step_started(pipe, &place, plan, template_step, 0);
    let file = File::new(&format!("templates/{}-{}.yml", plan.index + 1, plan.name), TEMPLATE);
    let tool = Some((file.request.tool_use_id.as_str(), "write_file", file.input()));
    let (thinking, text) = (format!("Designing {}. ", plan.name), format!("Writing {} template.", plan.name));
    pipe.call(&place, Call { thinking: &thinking, text: &text, tool }).await;
    let decision = ask(pipe, &place, plan, &file).await;
    if decision != "allow_once" {
        tool_result(pipe, &place, &file, Err(DENIED));
        let data = plan.data(json!({"stepId": template_step, "errorSummary": "the file was denied"}));
        pipe.emit(&place, "candidate_step_failed", data);
        let data = plan.data(json!({"failed": true, "errorSummary": "the file was denied"}));
        pipe.emit(&plan.place(parent), "candidate_failed", data);
        return false;
    }
    let cwd = pipe.turn.message.cwd.as_deref().unwrap_or("/workspace");
    pipe.turn.kernel.execute(&pipe.turn.ids.task_id, &file.request.tool_use_id);
    tool_result(pipe, &place, &file, Ok(&file.result(cwd)));
    let template = json!({
        "template": TEMPLATE, "file_path": file.request.path, "region": "cn-hangzhou",
        "description": format!("{} template", plan.name),
    });
    pipe.conclude(&place, "", "", template_step, &template).await;
    step_completed(pipe, &place, plan, template_step, "template", &template);
    artifact(pipe, &place, &file);

    let place = plan.step_place(parent, cost_step);
    step_started(pipe, &place, plan, cost_step, 1);
    let cost = json!({"monthly_estimate": plan.monthly, "currency": "CNY", "resources": []});
    pipe.conclude(&place, "", &format!("Pricing {}.", plan.name), cost_step, &cost).await;
    step_completed(pipe, &place, plan, cost_step, "cost", &cost);
    let data = plan.data(json!({
        "failed": false, "conclusions": {"template": template, "cost": cost},
        "step_conclusions": {"template_generating": template, "cost_estimating": cost},
    }));
    pipe.emit(&plan.place(parent), "candidate_completed", data);
    true
}

fn step_started(pipe: &Pipe<'_>, place: &Place, plan: &Candidate, step: &str, index: usize) {
    let attempt = pipe.attempt();
    let data = plan.data(json!({
        "stepId": step, "stepIndex": index, "active_attempt_id": format!("att_{attempt:04}"),
        "transcript_id": format!("transcript_att_{attempt:04}"),
    }));
    pipe.emit(place, "candidate_step_started", data);
}

fn step_completed(
    pipe: &Pipe<'_>,
    place: &Place,
    plan: &Candidate,
    step: &str,
    field: &str,
    conclusion: &Value,
) {
    let data = plan.data(json!({"stepId": step, "conclusionField": field, "conclusion": conclusion}));
    pipe.emit(place, "candidate_step_completed", data);
}

fn tool_result(pipe: &Pipe<'_>, place: &Place, file: &File, result: Result<&str, &str>) {
    let (Ok(text) | Err(text)) = result;
    pipe.emit(
        place,
        "tool_result",
        json!({
            "toolName": "write_file", "toolUseId": file.request.tool_use_id, "isError": result.is_err(),
            "result": text, "input": file.input(),
        }),
    );
}

/// Asks for the permission while the task, and the other candidate, go on.
async fn ask(pipe: &Pipe<'_>, place: &Place, plan: &Candidate, file: &File) -> String {
    let turn = pipe.turn;
    let request = file.request.clone().with_language(&turn.message.language);
    let input = wire::permission_input(&turn.ids, &request);
    let (input_id, tool_use_id) = (request.input_id.clone(), request.tool_use_id.clone());
    let shown = merged(input.clone(), json!({"scope": place.scope, "subPipelineId": plan.id()}));
    let name = json!({"toolName": "write_file", "toolUseId": tool_use_id});
    let permission = merged(request.details(), json!({"permissionId": input_id, "pending": true}));
    let draft = place.draft("permission_requested", name).with(json!({"permission": permission}));
    let question = Ask { kind: Kind::Sideband, input_id: input_id.clone(), tool_use_id, input };
    let decision = turn.ask_in_pipeline(draft, json!({"input": shown}), question).await;
    let resolved = json!({
        "kind": "permission", "permissionId": input_id, "inputId": input_id,
        "toolUseId": request.tool_use_id, "toolName": "write_file", "decision": decision, "pending": false,
    });
    let mut short = resolved.clone();
    if let Some(short) = short.as_object_mut() {
        short.remove("kind");
    }
    turn.event(place.draft("permission_resolved", resolved).with(json!({"permission": short})));
    decision
}

fn artifact(pipe: &Pipe<'_>, place: &Place, file: &File) {
    let artifact = file.artifact();
    pipe.turn.send(&artifact_update(pipe.turn, &artifact));
    let path = &file.request.path;
    let key = wire::hex(&Sha256::digest(path.as_bytes()));
    let about = json!({
        "role": "final", "dedupeKey": key, "supersedesPath": path,
        "supersedesKey": format!("sha256:{}", &key[..16]),
    });
    let artifact = merged(artifact, about);
    let data = merged(artifact.clone(), json!({"source": "conclusion"}));
    let draft = place.draft("artifact_created", data);
    pipe.turn.event(draft.with(json!({"artifact": artifact})));
}
