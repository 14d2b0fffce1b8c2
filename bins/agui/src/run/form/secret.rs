//! Which parts of an answer are not to be seen. Pure.
//!
//! A schema says so by `format: password` or `writeOnly`, or by the name of a member.

use serde_json::{Map, Value};

use super::shape::resolved;
use crate::trace::is_telling;

/// How many schemas are looked at for one question: they may refer to themselves, several times over. What
/// lies beyond counts as secret.
const MAX_SCHEMAS: usize = 4_096;

/// How deep schemas are looked into.
const MAX_DEPTH: usize = 32;

/// Members of a schema that hold schemas for the same value.
const BRANCHES: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Whether what stands under this name and fits this schema is a secret, or holds one.
pub(super) fn is_secret(key: &str, schema: &Value, root: &Value) -> bool {
    is_telling(key) || Walk::new(root, "").holds_secret(schema, MAX_DEPTH)
}

/// Puts `mask` in the place of every secret of an answer, and gives the secrets as text.
pub(crate) fn mask(schema: &Value, answer: &mut Value, mask: &str) -> Vec<String> {
    let mut walk = Walk::new(schema, mask);
    walk.value(schema, answer, MAX_DEPTH);
    walk.found
}

struct Walk<'a> {
    root: &'a Value,
    mask: &'a str,
    found: Vec<String>,
    /// Schemas that may still be looked at.
    left: usize,
}

impl<'a> Walk<'a> {
    const fn new(root: &'a Value, mask: &'a str) -> Self {
        Self { root, mask, found: Vec::new(), left: MAX_SCHEMAS }
    }

    /// The next level, unless it lies beyond the limits.
    fn deeper(&mut self, depth: usize) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        depth.checked_sub(1)
    }

    fn holds_secret(&mut self, schema: &'a Value, depth: usize) -> bool {
        let Some(depth) = self.deeper(depth) else { return self.left == 0 };
        let target = resolved(schema, self.root);
        is_marked(schema)
            || is_marked(target)
            || members(target).any(|(key, member)| is_telling(key) || self.holds_secret(member, depth))
            || target.get("items").is_some_and(|items| self.holds_secret(items, depth))
            || branches(target).any(|branch| self.holds_secret(branch, depth))
    }

    fn value(&mut self, schema: &'a Value, answer: &mut Value, depth: usize) {
        let Some(depth) = self.deeper(depth) else {
            if self.left == 0 {
                self.whole(answer);
            }
            return;
        };
        let target = resolved(schema, self.root);
        if is_marked(schema) || is_marked(target) {
            return self.whole(answer);
        }
        match answer {
            Value::Object(given) => self.object(target, given, depth),
            Value::Array(items) => {
                if let Some(schema) = target.get("items") {
                    items.iter_mut().for_each(|item| self.value(schema, item, depth));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        for branch in branches(target) {
            self.value(branch, answer, depth);
        }
    }

    fn object(&mut self, schema: &'a Value, given: &mut Map<String, Value>, depth: usize) {
        for (key, member) in given {
            if is_telling(key) {
                self.whole(member);
            } else if let Some(schema) = schema.get("properties").and_then(|schemas| schemas.get(key)) {
                self.value(schema, member, depth);
            }
        }
    }

    /// Everything in here is a secret.
    fn whole(&mut self, answer: &mut Value) {
        match answer {
            Value::Array(items) => items.iter_mut().for_each(|item| self.whole(item)),
            Value::Object(members) => members.values_mut().for_each(|member| self.whole(member)),
            Value::String(text) if text == self.mask => {}
            Value::String(text) => {
                self.found.push(std::mem::take(text));
                self.mask.clone_into(text);
            }
            Value::Number(number) => {
                self.found.push(number.to_string());
                *answer = Value::from(self.mask);
            }
            Value::Null | Value::Bool(_) => {}
        }
    }
}

fn is_marked(schema: &Value) -> bool {
    schema.get("format").is_some_and(|format| format == "password")
        || schema.get("writeOnly").is_some_and(|is_write_only| *is_write_only == Value::Bool(true))
}

fn members(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

fn branches(schema: &Value) -> impl Iterator<Item = &Value> {
    BRANCHES.iter().filter_map(|key| schema.get(*key)?.as_array()).flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_secret_is_known_by_its_schema_or_its_name() {
        let root = json!({"$defs": {
            "pin": {"type": "string", "format": "password"},
            "open": {"type": "string"},
            "loop": {"properties": {"next": {"$ref": "#/$defs/loop"}}}}});
        let cases = [
            ("code", json!({"format": "password"}), true),
            ("code", json!({"writeOnly": true}), true),
            ("code", json!({"writeOnly": false, "format": "email"}), false),
            ("db_password", json!({"type": "string"}), true),
            ("code", json!({"$ref": "#/$defs/pin"}), true),
            ("code", json!({"$ref": "#/$defs/open", "writeOnly": true}), true),
            ("code", json!({"$ref": "#/$defs/open"}), false),
            ("code", json!({"$ref": "#/$defs/loop"}), false),
            ("code", json!({"anyOf": [{"type": "null"}, {"format": "password"}]}), true),
            ("login", json!({"properties": {"user": {}, "secret": {}}}), true),
            ("codes", json!({"items": {"format": "password"}}), true),
        ];
        for (key, schema, expected) in cases {
            assert_eq!(is_secret(key, &schema, &root), expected, "{key} {schema}");
        }
    }

    #[test]
    fn schemas_that_refer_to_themselves_end_and_count_as_secret() {
        let many: Vec<Value> = vec![json!({"$ref": "#"}); 50];
        let schema = json!({ "anyOf": many });
        assert!(is_secret("code", &schema, &schema));
        let mut answer = json!("x");
        assert_eq!(mask(&schema, &mut answer, "*"), ["x"]);
    }

    #[test]
    fn the_secrets_of_an_answer_are_masked_wherever_they_stand() {
        let schema = json!({
            "oneOf": [
                {"properties": {"pin": {"type": "integer", "writeOnly": true}}},
                {"properties": {"pin": {"type": "integer", "writeOnly": true}}},
            ],
            "properties": {
                "name": {"type": "string"},
                "keys": {"type": "array", "items": {"format": "password"}},
                "login": {"$ref": "#/$defs/login"},
            },
            "$defs": {"login": {"properties": {"user": {}, "phrase": {"format": "password"}}}},
        });
        let mut answer = json!({
            "name": "shop", "pin": 12, "keys": ["k1", "k2"], "apiToken": "t",
            "login": {"user": "me", "phrase": {"de": "eins", "on": true}},
        });
        let mut secrets = mask(&schema, &mut answer, "*");
        secrets.sort_unstable();
        assert_eq!(secrets, ["12", "eins", "k1", "k2", "t"]);
        let masked = json!({
            "name": "shop", "pin": "*", "keys": ["*", "*"], "apiToken": "*",
            "login": {"user": "me", "phrase": {"de": "*", "on": true}},
        });
        assert_eq!(answer, masked);
    }
}
