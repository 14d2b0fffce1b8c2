//! JSON Schemas of answers. [`answers`](crate::answers) accepts exactly what they describe.

use agui_core::JsonObject;
use agui_iac_code::Choice;
use agui_iac_code::metadata::Input;
use serde_json::{Value, json};

use super::OpenInputKind;

/// Whether an answer in one's own words is accepted.
pub(crate) fn takes_free_text(input: &Input<'_>) -> bool {
    input.allow_free_text == Some(true) || input.options.is_empty()
}

pub(super) fn of(kind: OpenInputKind, input: &Input<'_>, choices: &[Choice]) -> Option<JsonObject> {
    let schema = match kind {
        OpenInputKind::Permission => {
            object("decision", &json!({"type": "string", "enum": ["allow_once", "deny"]}))
        }
        OpenInputKind::CloudResourceSelection => resource(),
        _ if kind.takes_a_string() => json!({"type": "string", "minLength": 1}),
        _ => {
            let mut answers: Vec<Value> = choices.iter().map(selected).collect();
            if takes_free_text(input) {
                answers.push(object("freeText", &json!({"type": "string", "minLength": 1})));
            }
            json!({"oneOf": answers})
        }
    };
    JsonObject::from_serialize(&schema).ok()
}

fn selected(choice: &Choice) -> Value {
    object("selectedId", &json!({"type": "string", "const": choice.id, "title": choice.title}))
}

/// An object with exactly one member.
fn object(name: &str, member: &Value) -> Value {
    json!({
        "type": "object",
        "properties": {name: member},
        "required": [name],
        "additionalProperties": false,
    })
}

fn resource() -> Value {
    json!({"oneOf": [
        {
            "type": "object",
            "properties": {
                "status": {"const": "selected"},
                "value": {},
                "label": {"type": "string"},
                "source": {},
                "optionsEmpty": {"type": "boolean"},
            },
            "required": ["value"],
            "additionalProperties": false,
        },
        object("status", &json!({"const": "canceled"})),
    ]})
}
