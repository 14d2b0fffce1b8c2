//! How runs and subagent invocations end.

use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::decode::{self, Decode, DecodeError, DecodeErrorKind, Fields, Path, Reader, discriminator};
use crate::record::put;
use crate::{Interrupt, InterruptId, ToolCallId};

/// How a run that did not fail has ended.
///
/// ```
/// use agui_core::{Interrupt, Outcome, RunFinished};
///
/// let question = Interrupt::new("i1", "confirmation").with_message("Delete all files?");
/// let last = RunFinished::new("t1", "r1").with_outcome(Outcome::interrupt([question]));
/// # drop(last);
/// ```
///
/// Source: AG-UI 1.0, `RUN_FINISHED.outcome`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// The run did its work.
    Success {
        /// Calls of front-end tools that wait for the client, in call order; absent means all
        /// unanswered ones. Unknown before 1.0.
        pending_tool_call_ids: Option<Vec<ToolCallId>>,
    },
    /// The run waits for answers.
    Interrupt {
        /// The questions; at least one, with distinct ids.
        interrupts: Vec<Interrupt>,
    },
    /// The run was stopped on purpose. Unknown before 1.0.
    Cancelled,
}

impl Outcome {
    /// Success without pending calls.
    #[must_use]
    pub const fn success() -> Self {
        Self::Success { pending_tool_call_ids: None }
    }

    /// The run waits for the answers to `interrupts`.
    #[must_use]
    pub fn interrupt(interrupts: impl Into<Vec<Interrupt>>) -> Self {
        Self::Interrupt { interrupts: interrupts.into() }
    }
}

named_schema!(Outcome, |generator| {
    use crate::schema::{Members, list_of, one_of, schema};
    let mut success = Members::new();
    success.constant("type", "success");
    success.optional("pendingToolCallIds", "Unanswered front-end calls.", list_of::<ToolCallId>(generator));
    let mut interrupt = Members::new();
    interrupt.constant("type", "interrupt");
    let items = generator.subschema_for::<Interrupt>().to_value();
    let questions = schema(serde_json::json!({ "type": "array", "items": items, "minItems": 1 }));
    interrupt.required("interrupts", "The questions.", questions);
    let mut cancelled = Members::new();
    cancelled.constant("type", "cancelled");
    let forms = vec![
        success.build("The run did its work."),
        interrupt.build("The run waits for answers."),
        cancelled.build("The run was stopped on purpose."),
    ];
    one_of("How a run that did not fail has ended.", forms)
});

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Success { pending_tool_call_ids } => {
                map.serialize_entry("type", "success")?;
                put(&mut map, "pendingToolCallIds", pending_tool_call_ids.as_ref())?;
            }
            Self::Interrupt { interrupts } => {
                map.serialize_entry("type", "interrupt")?;
                map.serialize_entry("interrupts", interrupts)?;
            }
            Self::Cancelled => map.serialize_entry("type", "cancelled")?,
        }
        map.end()
    }
}

impl Decode for Outcome {
    fn decode(value: &RawValue, at: &Path<'_>, reader: &mut Reader) -> Result<Self, DecodeError> {
        match discriminator(value, &["type"], at)?.as_str() {
            "success" => {
                let fields = Fields::read(value, &["type", "pendingToolCallIds"], at)?;
                Ok(Self::Success { pending_tool_call_ids: fields.plain("pendingToolCallIds", reader)? })
            }
            "interrupt" => {
                let fields = Fields::read(value, &["type", "interrupts"], at)?;
                let interrupts: Vec<Interrupt> = fields.required("interrupts", reader)?;
                if interrupts.is_empty() {
                    return Err(at.key("interrupts").error(DecodeErrorKind::Empty));
                }
                Ok(Self::Interrupt { interrupts })
            }
            "cancelled" => Ok(Self::Cancelled),
            _ => Err(at.error(DecodeErrorKind::UnknownMember)),
        }
    }
}

impl<'de> Deserialize<'de> for Outcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        decode::nested(deserializer)
    }
}

/// How a subagent invocation that did not fail has ended.
///
/// Source: AG-UI 1.0, `SUBAGENT_FINISHED.outcome`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SubagentOutcome {
    /// It did its work.
    Success,
    /// It waits for answers to interrupts of the run.
    Suspended {
        /// The interrupts it waits for.
        interrupt_ids: Option<Vec<InterruptId>>,
    },
}

named_schema!(SubagentOutcome, |generator| {
    use crate::schema::{Members, list_of, one_of};
    let mut success = Members::new();
    success.constant("type", "success");
    let mut suspended = Members::new();
    suspended.constant("type", "suspended");
    suspended.optional("interruptIds", "The interrupts it waits for.", list_of::<InterruptId>(generator));
    let forms = vec![success.build("It did its work."), suspended.build("It waits for answers.")];
    one_of("How a subagent invocation that did not fail has ended.", forms)
});

impl Serialize for SubagentOutcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Success => map.serialize_entry("type", "success")?,
            Self::Suspended { interrupt_ids } => {
                map.serialize_entry("type", "suspended")?;
                put(&mut map, "interruptIds", interrupt_ids.as_ref())?;
            }
        }
        map.end()
    }
}

impl Decode for SubagentOutcome {
    fn decode(value: &RawValue, at: &Path<'_>, reader: &mut Reader) -> Result<Self, DecodeError> {
        match discriminator(value, &["type"], at)?.as_str() {
            "success" => Ok(Self::Success),
            "suspended" => {
                let fields = Fields::read(value, &["type", "interruptIds"], at)?;
                Ok(Self::Suspended { interrupt_ids: fields.plain("interruptIds", reader)? })
            }
            _ => Err(at.error(DecodeErrorKind::UnknownMember)),
        }
    }
}

impl<'de> Deserialize<'de> for SubagentOutcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        decode::nested(deserializer)
    }
}
