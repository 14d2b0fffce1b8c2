//! From a JSON Schema to things to fill in.

use serde_json::{Map, Value};

use super::field::{Choice, Field, Kind, shown};
use super::secret;

/// Deepest chain of references that is followed.
const MAX_REFERENCES: usize = 8;

/// One way to answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Alternative {
    pub(super) label: String,
    pub(super) shape: Shape,
}

/// What an answer consists of.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    /// An object: members that have one value only, and members to fill in.
    Object { fixed: Map<String, Value>, fields: Vec<Field> },
    /// One value.
    Single(Field),
}

/// The ways to answer that a schema admits; at least one.
pub(super) fn alternatives(schema: &Value) -> Vec<Alternative> {
    let root = schema;
    let schema = resolved(schema, root);
    if choices(schema, root).is_none()
        && let Some(branches) = branches(schema).filter(|_| schema.get("properties").is_none())
    {
        let branches = branches.iter().map(|branch| resolved(branch, root));
        return branches.map(|branch| alternative(branch, root)).collect();
    }
    vec![alternative(schema, root)]
}

fn alternative(schema: &Value, root: &Value) -> Alternative {
    let shape = shape(schema, root);
    let label = match (text(schema, "title"), &shape) {
        (Some(title), _) => title,
        (None, Shape::Object { fixed, fields }) => {
            let fixed = fixed.iter().map(|(key, value)| {
                let member = schema.pointer("/properties").and_then(|members| members.get(key));
                member.and_then(|member| text(member, "title")).unwrap_or_else(|| shown(value))
            });
            fixed
                .chain(fields.iter().map(|field| format!("{} …", field.title)))
                .collect::<Vec<_>>()
                .join(", ")
        }
        (None, Shape::Single(field)) => field.title.clone(),
    };
    Alternative { label, shape }
}

fn shape(schema: &Value, root: &Value) -> Shape {
    let Some(members) = schema.get("properties").and_then(Value::as_object) else {
        return Shape::Single(field("", schema, root, true));
    };
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let (mut fixed, mut fields) = (Map::new(), Vec::new());
    for (key, given) in members {
        let member = resolved(given, root);
        let is_required = required.contains(&key.as_str());
        match member.get("const") {
            Some(value) if is_required => {
                fixed.insert(key.clone(), value.clone());
            }
            _ => {
                let mut field = field(key, member, root, is_required);
                // What stands beside a reference counts as well.
                field.is_secret |= field.kind.is_typed() && secret::is_secret(key, given, root);
                fields.push(field);
            }
        }
    }
    // What has to be given comes first, in the order in which the schema lists it.
    let order = |field: &Field| required.iter().position(|name| *name == field.key).unwrap_or(usize::MAX);
    fields.sort_by_key(order);
    Shape::Object { fixed, fields }
}

fn field(key: &str, schema: &Value, root: &Value, is_required: bool) -> Field {
    let mut title = text(schema, "title").unwrap_or_else(|| key.to_owned());
    if let Some(description) = text(schema, "description") {
        title = if title.is_empty() { description } else { format!("{title}: {description}") };
    }
    let kind = kind(schema, root);
    let default = schema.get("default").cloned();
    let is_secret = kind.is_typed() && secret::is_secret(key, schema, root);
    Field { key: key.to_owned(), title, kind, is_required, default, is_secret, schema: schema.clone() }
}

fn kind(schema: &Value, root: &Value) -> Kind {
    if let Some(choices) = choices(schema, root) {
        return Kind::Choice(choices);
    }
    match type_of(schema) {
        Some("string") => Kind::Text,
        Some("integer") => Kind::Integer,
        Some("number") => Kind::Number,
        Some("boolean") => Kind::Boolean,
        Some("array") => {
            let items = schema.get("items").map(|items| resolved(items, root));
            items.and_then(|items| choices(items, root)).map_or(Kind::Json, Kind::Several)
        }
        _ => Kind::Json,
    }
}

/// The values of a closed list: `enum`, `const`, or alternatives that are all constants.
fn choices(schema: &Value, root: &Value) -> Option<Vec<Choice>> {
    let choice = |value: &Value, label: Option<String>| Choice {
        label: label.unwrap_or_else(|| shown(value)),
        value: value.clone(),
    };
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return Some(values.iter().map(|value| choice(value, None)).collect());
    }
    if let Some(value) = schema.get("const") {
        return Some(vec![choice(value, text(schema, "title"))]);
    }
    let branches = branches(schema)?.iter().map(|branch| resolved(branch, root));
    branches.map(|branch| branch.get("const").map(|value| choice(value, text(branch, "title")))).collect()
}

fn branches(schema: &Value) -> Option<&Vec<Value>> {
    let branches = schema.get("oneOf").or_else(|| schema.get("anyOf"))?.as_array()?;
    (!branches.is_empty()).then_some(branches)
}

/// The type; of several the first that is not `null`.
fn type_of(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::String(name) => Some(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).find(|name| *name != "null"),
        _ => None,
    }
}

/// What a local reference points at.
pub(super) fn resolved<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let mut found = schema;
    for _ in 0..MAX_REFERENCES {
        let target = found.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix('#'));
        match target.and_then(|pointer| root.pointer(pointer)) {
            Some(target) => found = target,
            None => break,
        }
    }
    found
}

fn text(schema: &Value, key: &str) -> Option<String> {
    schema.get(key).and_then(Value::as_str).map(str::to_owned)
}
