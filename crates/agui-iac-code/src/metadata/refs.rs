//! Where in a pipeline an event belongs.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::json::{Notes, Raw, Read, any, finish, integer, read_members, text};

/// One run of a step, of the pipeline or of a candidate.
///
/// Source: iac-code 0.16, pipeline events: `step` and `candidateStep`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct StepRef<'a> {
    /// Id of the step; steps of different candidates share ids.
    pub id: Option<Cow<'a, str>>,
    /// Id of this run of the step, unique in the pipeline run.
    pub run_id: Option<Cow<'a, str>>,
    /// Attempt, from 1.
    pub attempt: Option<u64>,
    /// Place among its siblings, from 1.
    pub index: Option<u64>,
    /// How many siblings there are.
    pub total: Option<u64>,
    /// Sort of the step (`type`).
    pub kind: Option<Cow<'a, str>>,
    /// How a terminal shows it (`uiMode`).
    pub ui_mode: Option<Cow<'a, str>>,
}

impl<'a> StepRef<'a> {
    pub(crate) fn read_member(raw: &'a RawValue, notes: &mut Notes) -> Read<Self> {
        let mut it = Self::default();
        let is_object = read_members!(raw, notes, "pipeline.step", {
            "id" => it.id, text;
            "runId" => it.run_id, text;
            "attempt" => it.attempt, integer;
            "index" => it.index, integer;
            "total" => it.total, integer;
            "type" => it.kind, text;
            "uiMode" => it.ui_mode, text;
        });
        finish(it, raw, is_object)
    }
}

/// One run of a candidate: a sub-pipeline that works out one plan.
///
/// Source: iac-code 0.16, pipeline events: `candidate`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct CandidateRef<'a> {
    /// Id of the sub-pipeline.
    pub id: Option<Cow<'a, str>>,
    /// Id of this run of it, unique in the pipeline run.
    pub run_id: Option<Cow<'a, str>>,
    /// Place among the candidates, from 0.
    pub index: Option<u64>,
    /// Attempt, from 1.
    pub attempt: Option<u64>,
    /// Name of the plan.
    pub name: Option<Cow<'a, str>>,
    /// Name of the sub-pipeline's definition.
    pub pipeline_name: Option<Cow<'a, str>>,
    /// How many steps it has.
    pub total_steps: Option<u64>,
    /// The planned steps, on `candidate_started` only, unread.
    pub steps: Option<Raw<'a>>,
}

impl<'a> CandidateRef<'a> {
    pub(crate) fn read_member(raw: &'a RawValue, notes: &mut Notes) -> Read<Self> {
        let mut it = Self::default();
        let is_object = read_members!(raw, notes, "pipeline.candidate", {
            "id" => it.id, text;
            "runId" => it.run_id, text;
            "index" => it.index, integer;
            "attempt" => it.attempt, integer;
            "name" => it.name, text;
            "pipelineName" => it.pipeline_name, text;
            "totalSteps" => it.total_steps, integer;
            "steps" => it.steps, any;
        });
        finish(it, raw, is_object)
    }
}
