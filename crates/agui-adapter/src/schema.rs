//! Payloads against the schema that their question was published with.

use agui_core::{Json, JsonObject};
use jsonschema::PatternOptions;

/// Whether `payload` conforms to `schema` (JSON Schema 2020-12).
///
/// Remote references are refused and patterns are matched in linear time, so that no schema can make the
/// check reach out or take long. A schema that is itself broken admits nothing.
pub(crate) fn conforms(schema: &JsonObject, payload: &Json) -> bool {
    let (Ok(schema), Ok(payload)) = (schema.parse(), payload.parse()) else { return false };
    let validator = jsonschema::draft202012::options()
        .with_pattern_options(PatternOptions::regex())
        .should_validate_formats(false)
        .build(&schema);
    validator.is_ok_and(|validator| validator.is_valid(&payload))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(schema: &str, payload: &str) -> bool {
        let schema = JsonObject::from_string(schema.to_owned()).unwrap();
        conforms(&schema, &Json::from_string(payload.to_owned()).unwrap())
    }

    #[test]
    fn s7_2_a_permission_takes_its_two_decisions_and_nothing_else() {
        let schema = r#"{"type":"object","properties":{"decision":{"type":"string","enum":["allow_once","deny"]}},
            "required":["decision"],"additionalProperties":false}"#;
        for payload in [r#"{"decision":"allow_once"}"#, r#"{"decision":"deny"}"#] {
            assert!(check(schema, payload), "{payload}");
        }
        let bad = [
            "null",
            "\"\"",
            "{}",
            "[]",
            r#"{"decision":"ALLOW_ONCE"}"#,
            r#"{"decision":null}"#,
            r#"{"decision":"deny","reason":null}"#,
            r#"{"decision":"allow_once","note":"x"}"#,
        ];
        for payload in bad {
            assert!(!check(schema, payload), "{payload}");
        }
    }

    #[test]
    fn s8_3_references_elsewhere_and_broken_schemas_admit_nothing() {
        assert!(!check(r#"{"$ref":"http://192.0.2.1/schema.json"}"#, "{}"));
        assert!(!check(r#"{"$ref":"file:///etc/hostname"}"#, "{}"));
        assert!(!check(r#"{"type":12}"#, "{}"));
        assert!(check(r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"object"}}}"##, "{}"));
    }

    #[test]
    fn s8_3_a_pattern_cannot_take_exponential_time() {
        let long = format!("\"{}!\"", "a".repeat(50_000));
        assert!(!check(r#"{"type":"string","pattern":"^(a+)+$"}"#, &long));
    }
}
