//! Questions: raised once, closed by an answer, replaced when they change.

use std::collections::BTreeSet;

use agui_core::{InterruptId, Json, ToolCallId};
use agui_iac_code::metadata::{Input, InputKind};

use crate::config::MapperConfig;
use crate::interrupt::{self, OpenInputKind};
use crate::observed::{Observed, OpenInput, ReplacedInput, Sideband};
use crate::texts::Texts;

pub(crate) mod prompt;

/// Most answered questions that are kept for the case that an answer is not applied after all.
const MAX_RETIRED: usize = 64;

/// Most questions that can be open at once; a kernel has as many as it has candidates.
const MAX_OPEN: usize = 256;

/// Most ids of answered questions that are remembered; an execution asks far less often.
const MAX_ANSWERED: usize = 4096;

/// Between the kernel's id of a changed question and the number of its version.
const REVISION_MARK: char = '#';

/// The questions of the execution that are no longer open; the open ones are in [`Observed`].
#[derive(Debug)]
pub(crate) struct Questions {
    texts: Texts,
    answered: BTreeSet<Box<str>>,
    retired: Vec<OpenInput>,
}

impl Questions {
    pub(crate) fn new(config: &MapperConfig) -> Self {
        Self {
            texts: config.texts.clone(),
            answered: config.answered.iter().cloned().collect(),
            retired: Vec::new(),
        }
    }

    /// Opens a question, unless it is open, answered or not to be answered.
    pub(crate) fn raise(&mut self, observed: &mut Observed, input: &Input<'_>, sideband: Sideband) {
        if input.is_open()
            && let Some(value) = interrupt::of_input(input)
        {
            self.raise_value(observed, &input.interrupt_id(), value, sideband);
        }
    }

    /// Opens a question that is given as it will be stored.
    pub(crate) fn raise_value(&mut self, observed: &mut Observed, id: &str, value: Json, sideband: Sideband) {
        if self.answered.contains(id) {
            return;
        }
        match observed.open_inputs.iter().position(|open| *open.input_id == *id) {
            Some(at) => self.compare(observed, at, value, sideband),
            None if observed.open_inputs.len() < MAX_OPEN => {
                observed.open_inputs.extend(interrupt::restore(id, value, sideband, &self.texts));
            }
            None => {}
        }
    }

    /// Replaces an open question if the new description of it asks for something else.
    fn compare(&self, observed: &mut Observed, at: usize, value: Json, sideband: Sideband) {
        let open = &observed.open_inputs[at];
        let same = match (interrupt::read(open.value.as_raw()), interrupt::read(value.as_raw())) {
            (Some(old), Some(new)) => interrupt::same_question(&old, &new),
            _ => true,
        };
        if !same {
            let sideband = if open.sideband { Sideband::Yes } else { sideband };
            self.replace(observed, at, value, sideband);
        }
    }

    fn replace(&self, observed: &mut Observed, at: usize, value: Json, sideband: Sideband) {
        let open = &observed.open_inputs[at];
        let id = next_revision(&open.input_id, open.interrupt.id.as_str());
        let Some(mut new) = interrupt::restore(&id, value, sideband, &self.texts) else { return };
        new.input_id = open.input_id.clone();
        let (old, new_id) = (open.interrupt.id.clone(), InterruptId::from(id));
        observed.open_inputs[at] = new;
        observed.add_replaced(ReplacedInput { old, new: new_id });
    }

    /// The arguments of a tool call turned out to be others: a permission for it is asked anew.
    pub(crate) fn arguments_changed(&mut self, observed: &mut Observed, tool_use_id: &str) {
        let about = |open: &OpenInput| {
            open.kind == OpenInputKind::Permission && open.tool_use_id.as_deref() == Some(tool_use_id)
        };
        if let Some(at) = observed.open_inputs.iter().position(about) {
            let open = &observed.open_inputs[at];
            let (value, sideband) = (open.value.clone(), open.sideband);
            self.replace(observed, at, value, if sideband { Sideband::Yes } else { Sideband::No });
        }
    }

    /// Closes the question with this id, the kernel's or the interrupt's; it is never raised again.
    pub(crate) fn answered(&mut self, observed: &mut Observed, id: &str) {
        let closed = self.close(observed, |open| *open.input_id == *id || open.interrupt.id.as_str() == id);
        if !closed && self.answered.len() < MAX_ANSWERED {
            self.answered.insert(id.into());
        }
    }

    /// Closes the open permission of a tool call.
    pub(crate) fn answered_call(&mut self, observed: &mut Observed, tool_use_id: &str) {
        self.close(observed, |open| {
            open.kind == OpenInputKind::Permission && open.tool_use_id.as_deref() == Some(tool_use_id)
        });
    }

    /// Closes the open questions of a kind, or all but permissions if the kind is not known.
    pub(crate) fn answered_kind(&mut self, observed: &mut Observed, kind: Option<InputKind>) {
        self.close(observed, |open| {
            let kind_of_open = interrupt::read(open.value.as_raw()).map(|input| input.kind);
            open.kind != OpenInputKind::Permission && (kind.is_none() || kind == kind_of_open)
        });
    }

    fn close(&mut self, observed: &mut Observed, matches: impl Fn(&OpenInput) -> bool) -> bool {
        let mut closed = false;
        for open in observed.open_inputs.extract_if(.., |open| matches(open)) {
            closed = true;
            self.answered.insert(open.input_id.clone());
            if self.retired.len() >= MAX_RETIRED {
                self.retired.remove(0);
            }
            self.retired.push(open);
        }
        closed
    }

    /// The answer to a question was not applied: it is open again.
    pub(crate) fn reopen(
        &mut self,
        observed: &mut Observed,
        input_id: Option<&str>,
        tool_use_id: Option<&str>,
    ) {
        let same = |open: &OpenInput| match input_id {
            Some(id) => *open.input_id == *id,
            None => open.tool_use_id.as_deref() == tool_use_id,
        };
        if let Some(id) = input_id {
            self.answered.remove(id);
        }
        if observed.open_inputs.iter().any(same) {
            return;
        }
        if let Some(at) = self.retired.iter().rposition(same) {
            let open = self.retired.remove(at);
            self.answered.remove(&open.input_id);
            observed.open_inputs.push(open);
        }
    }

    /// Gives the open questions the ids that their tool calls have on the stream.
    pub(crate) fn name_calls(&self, observed: &mut Observed, name: impl Fn(&str) -> Option<ToolCallId>) {
        for open in &mut observed.open_inputs {
            let call = open.tool_use_id.as_deref().and_then(&name);
            if let Some(call) = call.filter(|call| open.interrupt.tool_call_id.as_ref() != Some(call)) {
                interrupt::name_call(open, &call, &self.texts);
            }
        }
    }

    /// `id`, or a later version of it that was not answered yet.
    pub(crate) fn unanswered_id(&self, id: &str) -> String {
        let mut free = id.to_owned();
        while self.answered.contains(&*free) {
            free = next_revision(id, &free);
        }
        free
    }

    /// `id`, or a later version of it that was neither answered nor is in `taken`.
    pub(crate) fn free_id(&self, id: &str, taken: &[InterruptId]) -> String {
        let mut free = self.unanswered_id(id);
        while taken.iter().any(|taken| taken.as_str() == free) || self.answered.contains(&*free) {
            free = next_revision(id, &free);
        }
        free
    }

    /// Whether the question with this id, the kernel's, has got its answer.
    pub(crate) fn was_answered(&self, id: &str) -> bool {
        self.answered.contains(id)
    }

    pub(crate) const fn texts(&self) -> &Texts {
        &self.texts
    }
}

/// The id of the next version of a question: `<id>#2`, `<id>#3`, ...
fn next_revision(input_id: &str, interrupt_id: &str) -> String {
    let suffix = interrupt_id.strip_prefix(input_id).and_then(|rest| rest.strip_prefix(REVISION_MARK));
    let revision = suffix.and_then(|number| number.parse::<u32>().ok()).unwrap_or(1);
    format!("{input_id}{REVISION_MARK}{}", revision.saturating_add(1))
}
