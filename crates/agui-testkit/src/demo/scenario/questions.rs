//! Pipelines that ask the user something.

use serde_json::{Value, json};

use super::pipeline::{Call, Pipe, SELLING};
use super::place::Step;
use super::tools::call_id;
use crate::demo::turn::{End, Turn};

/// Asks for a size, with two options and free text, and ends early.
pub(super) async fn question(turn: &Turn) -> End {
    let pipe = Pipe::start(turn, "selling", &SELLING);
    let step = Step::new(SELLING[0], 1, SELLING.len());
    let place = step.place();
    turn.event(step.started(pipe.attempt()));
    let id = call_id("ask");
    let options = json!([
        {"id": "small", "label": "Small site", "description": "1 node"}, {"id": "large", "label": "Large site"},
    ]);
    let (prompt, free) = ("Which size?", "Or describe it");
    let input = json!({
        "question": prompt, "options": options, "allow_free_text": true, "free_text_prompt": free,
    });
    let tool = Some((id.as_str(), "ask_user_question", input));
    pipe.call(&place, Call { thinking: "The size is missing.", text: "Let me ask. ", tool }).await;
    let input_id = format!("ask-{id}");
    let data = json!({
        "kind": "ask_user_question", "inputId": input_id, "toolUseId": id, "question": prompt,
        "prompt": prompt, "options": options, "allowFreeText": true, "freeTextPrompt": free,
    });
    let draft = place.draft("input_required", data.clone()).with_status("input_required");
    let mut raw = data;
    raw["required"] = json!(true);
    let draft = draft.with(json!({"input": raw}));
    let asked = json!({
        "schemaVersion": 1, "kind": "ask_user_question", "requestTaskId": turn.ids.task_id,
        "contextId": turn.ids.context_id, "inputId": input_id, "toolUseId": id, "prompt": prompt,
        "allowFreeText": true, "freeTextPrompt": free, "required": true,
        "options": [{"id": "small", "label": "Small site"}, {"id": "large", "label": "Large site"}],
    });
    let answer = pipe.ask(draft, asked).await;
    let (picked, label) = understood(&answer, &options);
    let free_text = if picked == "" { answer.as_str() } else { "" };
    let data = json!({
        "kind": "ask_user_question", "inputId": input_id, "toolUseId": id, "question": prompt,
        "options": options, "allowFreeText": true, "answerTextLength": answer.chars().count(),
        "selectedId": picked, "selectedLabel": label, "freeText": free_text,
        "freeTextLength": free_text.chars().count(),
    });
    pipe.emit(&place, "input_received", data);
    let conclusion = json!({"answer": answer, "selected": picked});
    let text = format!("Thanks, I noted: {answer}.");
    pipe.conclude(&place, "", &text, step.id, &conclusion).await;
    pipe.completed(&place, "intent", &conclusion, json!({"durationS": 0.3}));
    pipe.over(json!({"earlyExit": true}))
}

/// The option that an answer means, by label, id or number.
fn understood(answer: &str, options: &Value) -> (Value, Value) {
    let answer = answer.trim();
    let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
    let found = options.iter().enumerate().find(|(at, option)| {
        option["label"] == answer || option["id"] == answer || (at + 1).to_string() == answer
    });
    let none = || (json!(""), json!(""));
    found.map_or_else(none, |(_, option)| (option["id"].clone(), option["label"].clone()))
}

/// Stops at a deployment to confirm, which only the pipeline event tells.
pub(super) async fn confirm(turn: &Turn) -> End {
    const STEPS: [&str; 3] =
        ["solution_planning_and_selection", "materialize_selected_candidate", "deploying"];
    let pipe = Pipe::start(turn, "selling_solution_first", &STEPS);
    let [plan, build, deploy] = std::array::from_fn(|at| Step::new(STEPS[at], at + 1, STEPS.len()));
    pipe.step(&plan, "One plan is enough.", "I plan a VPC.", "plan", json!({"name": "basic"})).await;
    pipe.step(&build, "", "The template is ready.", "template", json!({"file_path": "vpc.yml"})).await;
    let place = deploy.place();
    turn.event(deploy.started(pipe.attempt()));
    let data = json!({
        "kind": "deployment_confirmation", "stepId": deploy.id, "prompt": "Deploy this solution?",
        "solution_summary": "One VPC in cn-hangzhou", "template_url": "iac-code-artifact://demo/vpc.yml",
        "cost": {"monthly_estimate": "CNY 100"}, "effective_deployment_parameters": {"CidrBlock": "10.0.0.0/8"},
        "parameter_overrides": {}, "preview_ready_for_create": true,
        "options": [{"id": "confirm", "label": "Deploy"}, {"id": "cancel", "label": "Do not deploy"}],
    });
    let draft = place.draft("input_required", data).with_status("input_required");
    let answer = pipe.ask(draft, Value::Null).await;
    let data = json!({"kind": "deployment_confirmation", "userInputLength": answer.chars().count()});
    pipe.emit(&place, "input_received", data);
    let go = ["confirm", "deploy", "yes", "1"].contains(&answer.trim().to_lowercase().as_str());
    let (status, text) = if go { ("success", "Deployed.") } else { ("skipped", "Nothing is deployed.") };
    let conclusion = json!({"status": status});
    pipe.conclude(&place, "", text, deploy.id, &conclusion).await;
    pipe.completed(&place, "deployment", &conclusion, json!({"durationS": 0.3}));
    pipe.over(json!({"totalSteps": STEPS.len()}))
}
