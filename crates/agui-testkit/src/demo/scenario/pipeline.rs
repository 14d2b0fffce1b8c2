//! The pipeline with two parallel candidates.

use std::sync::atomic::{AtomicU32, Ordering};

use futures_util::future::join;
use serde_json::{Value, json};
use uuid::Uuid;

use super::candidates;
use super::place::{Candidate, Place, Step};
use super::tools::call_id;
use crate::demo::journal::Draft;
use crate::demo::task::Kind;
use crate::demo::turn::{Ask, End, Turn, pieces, tokens};
use crate::wire;

/// The steps of the pipeline `selling`.
pub(super) const SELLING: [&str; 5] =
    ["intent_parsing", "architecture_planning", "evaluate_candidates", "confirm_and_select", "deploying"];

/// Sends the events of one pipeline.
pub(super) struct Pipe<'a> {
    pub(super) turn: &'a Turn,
    attempts: AtomicU32,
}

/// One call of the model inside a pipeline.
pub(super) struct Call<'a> {
    pub(super) thinking: &'a str,
    pub(super) text: &'a str,
    /// Id, name and input of the tool that it calls.
    pub(super) tool: Option<(&'a str, &'a str, Value)>,
}

pub(super) async fn pipeline(turn: &Turn) -> End {
    let pipe = Pipe::start(turn, "selling", &SELLING);
    let steps: [Step; 5] = std::array::from_fn(|at| Step::new(SELLING[at], at + 1, SELLING.len()));
    let [intent, architecture, evaluate, select, deploy] = steps;
    let request = &turn.message.text;
    let thought = "The user wants infrastructure.";
    pipe.step(&intent, thought, "Understood.", "intent", json!({"core_requirements": [request]})).await;
    let plans = [Candidate::new(0, "basic", "CNY 100"), Candidate::new(1, "robust", "CNY 260")];
    let named: Vec<Value> = plans
        .iter()
        .map(|plan| json!({"name": plan.name, "monthly_estimate": plan.monthly, "products": ["ECS", "VPC"]}))
        .collect();
    let conclusion = json!({"candidates": named});
    pipe.step(&architecture, "Two plans fit.", "Planning now.", "architecture", conclusion).await;

    let evaluate = Step { kind: "parallel_sub_pipeline", ..evaluate };
    turn.event(evaluate.started(pipe.attempt()));
    for plan in &plans {
        turn.event(plan.started(&evaluate));
    }
    let [first, second] = &plans;
    let (first_done, second_done) =
        join(candidates::work_out(&pipe, &evaluate, first), candidates::work_out(&pipe, &evaluate, second))
            .await;
    let done: Vec<&Candidate> = [(first, first_done), (second, second_done)]
        .into_iter()
        .filter(|(_, ok)| *ok)
        .map(|(p, _)| p)
        .collect();
    if done.is_empty() {
        return pipe.give_up(&evaluate, "every candidate failed");
    }
    let count = done.len();
    pipe.completed(
        &evaluate.place(),
        "evaluated_candidates",
        &json!([]),
        json!({"candidatesCount": count, "durationS": 0}),
    );

    let chosen = pipe.select(&select, &done).await;
    let text = format!("Deploying {chosen}. (This is the demo: nothing is created.)");
    let result = json!({"status": "success", "plan": chosen});
    pipe.step(&deploy, "The user has chosen.", &text, "deployment", result).await;
    pipe.over(json!({}))
}

impl<'a> Pipe<'a> {
    /// Announces the pipeline.
    pub(super) fn start(turn: &'a Turn, name: &str, steps: &[&str]) -> Self {
        if let Some(context) = turn.kernel.store().contexts.get_mut(&turn.ids.context_id) {
            name.clone_into(&mut context.journal.pipeline_name);
        }
        let data = json!({
            "pipelineType": name, "totalSteps": steps.len(), "stepNames": steps,
            "userRequest": turn.message.text,
        });
        turn.event(Draft::new("pipeline", "pipeline_started", data));
        Self { turn, attempts: AtomicU32::new(0) }
    }

    pub(super) fn attempt(&self) -> u32 {
        self.attempts.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(super) fn emit(&self, place: &Place, event_type: &'static str, data: Value) {
        self.turn.event(place.draft(event_type, data));
    }

    /// A whole step: one call of the model that concludes it.
    pub(super) async fn step(&self, step: &Step, thinking: &str, text: &str, field: &str, conclusion: Value) {
        self.turn.event(step.started(self.attempt()));
        self.conclude(&step.place(), thinking, text, step.id, &conclusion).await;
        self.completed(&step.place(), field, &conclusion, json!({"durationS": 0.5}));
    }

    /// Calls the model, which calls `complete_step`.
    pub(super) async fn conclude(
        &self,
        place: &Place,
        thinking: &str,
        text: &str,
        step: &str,
        conclusion: &Value,
    ) {
        let id = call_id(step);
        let input = json!({"conclusion": conclusion});
        let tool = Some((id.as_str(), "complete_step", input.clone()));
        self.call(place, Call { thinking, text, tool }).await;
        self.emit(
            place,
            "tool_result",
            json!({
                "toolName": "complete_step", "toolUseId": id, "isError": false, "input": input,
                "result": format!("Step {step} completed. Conclusion submitted."),
                "normalizedConclusion": conclusion,
            }),
        );
    }

    pub(super) fn completed(&self, place: &Place, field: &str, conclusion: &Value, more: Value) {
        let data = wire::merged(json!({"conclusionField": field, "conclusion": conclusion}), more);
        self.emit(place, "step_completed", data);
    }

    pub(super) async fn call(&self, place: &Place, call: Call<'_>) {
        self.context_usage(place, 4000);
        let message_id = format!("msg_{}", &Uuid::new_v4().simple().to_string()[..24]);
        self.emit(place, "message_started", json!({"messageId": message_id}));
        for piece in pieces(call.thinking) {
            self.turn.pause().await;
            self.emit(place, "thinking_delta", json!({"type": "raw_thinking", "text": piece}));
        }
        for piece in pieces(call.text) {
            self.turn.pause().await;
            self.emit(place, "text_delta", json!({"text": piece}));
        }
        if let Some((id, name, input)) = call.tool {
            self.turn.pause().await;
            self.emit(place, "tool_started", json!({"toolName": name, "toolUseId": id, "input": input}));
        }
        let written = tokens(call.thinking) + tokens(call.text) + 8;
        self.emit(place, "usage", wire::usage(100, written.into(), 10));
        self.context_usage(place, 4000 + written);
    }

    fn context_usage(&self, place: &Place, total: u32) {
        self.emit(
            place,
            "context_usage",
            json!({
                "totalTokens": total, "contextWindow": 128_000, "usagePercent": f64::from(total) / 1280.0,
                "messageCount": 1, "systemPromptTokens": 3000, "toolDefinitionTokens": 1000,
                "userMessageTokens": total - 4000, "assistantMessageTokens": 0, "toolResultTokens": 0,
            }),
        );
    }

    /// Lets the user choose among the plans; gives the name of the plan.
    async fn select(&self, step: &Step, plans: &[&Candidate]) -> String {
        let step = Step { ui_mode: Some("candidate_selection"), ..*step };
        let place = step.place();
        self.turn.event(step.started(self.attempt()));
        let options: Vec<Value> = plans
            .iter()
            .map(|plan| {
                json!({
                    "name": plan.name, "candidate_index": plan.index,
                    "summary": format!("{}, {} a month", plan.name, plan.monthly),
                })
            })
            .collect();
        let prompt = "Please choose a plan:";
        let conclusion = json!({"user_prompt": prompt, "options": options});
        self.conclude(&place, "", "Here are the plans.", step.id, &conclusion).await;
        self.completed(&place, "selected_plan", &conclusion, json!({"durationS": 0.2}));
        let data = json!({
            "kind": "candidate_selection", "stepId": step.id, "prompt": prompt, "options": options,
        });
        let draft = place.draft("input_required", data).with_status("input_required");
        let shown: Vec<Value> = plans
            .iter()
            .zip(&options)
            .map(|(plan, option)| {
                json!({
                    "id": plan.index.to_string(), "label": plan.name, "summary": option["summary"],
                    "totalMonthlyCost": plan.monthly,
                })
            })
            .collect();
        let ids = &self.turn.ids;
        let input = json!({
            "schemaVersion": 1, "kind": "candidate_selection", "requestTaskId": ids.task_id,
            "contextId": ids.context_id, "inputId": format!("input-{}", draft.event_id), "prompt": prompt,
            "required": true, "options": shown,
        });
        let answer = self.ask(draft, input).await;
        let at = chosen(&answer, plans);
        let plan = plans[at];
        let data = json!({
            "kind": "candidate_selection", "userInputLength": answer.chars().count(), "selectedIndex": at,
            "selectedValue": plan.name, "selectedOption": options[at],
        });
        self.emit(&place, "input_received", data);
        let conclusion = json!({"selected_candidate_name": plan.name, "options": options});
        self.conclude(&place, "", &format!("You chose {}.", plan.name), step.id, &conclusion).await;
        self.completed(&place, "selected_plan", &conclusion, json!({"durationS": 0.2}));
        plan.name.to_owned()
    }

    /// Asks a question that is answered with text, and parks the task.
    pub(super) async fn ask(&self, draft: Draft, input: Value) -> String {
        let text = |name: &str| input[name].as_str().unwrap_or_default().to_owned();
        let (input_id, tool_use_id) = (text("inputId"), text("toolUseId"));
        let shown = if input.is_null() { wire::empty() } else { json!({"input": input}) };
        self.turn
            .ask_in_pipeline(draft, shown, Ask { kind: Kind::Prompt, input_id, tool_use_id, input })
            .await
    }

    /// Ends the pipeline well and hands the context over to normal turns.
    pub(super) fn over(&self, more: Value) -> End {
        let data = wire::merged(json!({"totalSteps": SELLING.len()}), more);
        let draft = Draft::new("pipeline", "pipeline_completed", data).with_status("completed");
        let mut store = self.turn.kernel.store();
        store.pipeline_end(&self.turn.ids, draft);
        if let Some(context) = store.contexts.get_mut(&self.turn.ids.context_id) {
            context.handed_off = true;
        }
        End::PipelineOver
    }

    /// Ends the pipeline in failure.
    fn give_up(&self, step: &Step, reason: &str) -> End {
        let data = json!({"errorSummary": reason, "errorDetails": reason});
        self.emit(&step.place(), "step_failed", data);
        let data = json!({"totalSteps": SELLING.len(), "failed": true});
        let draft = Draft::new("pipeline", "pipeline_failed", data).with_status("failed");
        self.turn.kernel.store().pipeline_end(&self.turn.ids, draft);
        End::PipelineOver
    }
}

/// The plan that an answer means: its index, its name, else the first.
fn chosen(answer: &str, plans: &[&Candidate]) -> usize {
    let answer = answer.trim();
    let by_index = |plan: &&Candidate| plan.index.to_string() == answer;
    let by_name = |plan: &&Candidate| plan.name.eq_ignore_ascii_case(answer);
    let at = plans.iter().position(by_name).or_else(|| plans.iter().position(by_index));
    at.unwrap_or_default()
}
