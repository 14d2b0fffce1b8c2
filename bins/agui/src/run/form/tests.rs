use super::*;
use agui_core::JsonObject;

fn form(schema: &Value) -> Form {
    let schema = JsonObject::from_serialize(schema).unwrap();
    Form::new(&Interrupt::new("i", "input_required").with_response_schema(schema))
}

/// Every prompt, complaint and the end of a dialogue, one a line.
fn play(schema: &Value, lines: &[&str]) -> String {
    let mut form = form(schema);
    let mut seen = String::new();
    for line in lines {
        seen.push_str(&format!("{}{line}\n", form.prompt()));
        match form.line(line) {
            Step::Next => {}
            Step::Again(why) => seen.push_str(&format!("! {why}\n")),
            Step::Done(value) => {
                return seen
                    + &format!(
                        "= {}",
                        value.map_or_else(|| "nothing".to_owned(), |json| json.get().to_owned())
                    );
            }
            Step::Cancelled => return seen + "cancelled",
        }
    }
    seen + "open"
}

#[test]
fn a_decision_is_a_numbered_choice() {
    let schema = json!({"type": "object", "additionalProperties": false, "required": ["decision"],
        "properties": {"decision": {"type": "string", "enum": ["allow_once", "deny"]}}});
    let list = "decision:\n  1) allow_once\n  2) deny\nchoice: ";
    assert_eq!(
        play(&schema, &["", "3", "2"]),
        format!(
            "{list}\n! a number from 1 to 2\n{list}3\n! a number from 1 to 2\n{list}2\n= {{\"decision\":\"deny\"}}"
        )
    );
    assert_eq!(
        play(&schema, &["allow_once"]),
        format!("{list}allow_once\n= {{\"decision\":\"allow_once\"}}")
    );
}

#[test]
fn alternatives_are_chosen_first() {
    let schema = json!({"oneOf": [
        {"type": "object", "required": ["selectedId"], "additionalProperties": false,
         "properties": {"selectedId": {"type": "string", "const": "small", "title": "Small site"}}},
        {"type": "object", "required": ["selectedId"], "additionalProperties": false,
         "properties": {"selectedId": {"type": "string", "const": "large"}}},
        {"type": "object", "required": ["freeText"], "additionalProperties": false,
         "properties": {"freeText": {"type": "string", "minLength": 1}}}]});
    let list = "  1) Small site\n  2) large\n  3) freeText …\nchoice: ";
    assert_eq!(play(&schema, &["1"]), format!("{list}1\n= {{\"selectedId\":\"small\"}}"));
    assert_eq!(
        play(&schema, &["3", "both"]),
        format!("{list}3\nfreeText: both\n= {{\"freeText\":\"both\"}}")
    );
    let seen = play(&schema, &["3", "", "both"]);
    assert_eq!(
        seen,
        format!(
            "{list}3\nfreeText: \n! \"\" is shorter than 1 character\nfreeText: both\n= {{\"freeText\":\"both\"}}"
        )
    );
}

#[test]
fn an_object_asks_field_by_field_with_defaults_and_kinds() {
    let schema = json!({"type": "object", "required": ["name", "count"], "properties": {
        "note": {"type": ["string", "null"], "description": "for the log"},
        "count": {"type": "integer", "minimum": 1, "default": 2},
        "name": {"$ref": "#/$defs/name"},
        "share": {"type": "number"},
        "sure": {"type": "boolean"},
        "zones": {"type": "array", "items": {"enum": ["a", "b", "c"]}},
        "extra": {"type": "object"}},
        "$defs": {"name": {"type": "string", "title": "Name of the site", "pattern": "^[a-z]+$"}}});
    assert_eq!(
        play(&schema, &["shop", "x", "", "{\"k\":[1]}", "hi", "0.5", "maybe", "y", "4", "1, c"]),
        "Name of the site: shop\n\
         count (whole number, empty for 2): x\n! a whole number\n\
         count (whole number, empty for 2): \n\
         extra (JSON, empty for none): {\"k\":[1]}\n\
         note: for the log (empty for none): hi\n\
         share (number, empty for none): 0.5\n\
         sure (y/n, empty for none): maybe\n! y or n\n\
         sure (y/n, empty for none): y\n\
         zones:\n  1) a\n  2) b\n  3) c\nchoice (numbers with commas, empty for none): 4\n! numbers from 1 to 3, with commas between\n\
         zones:\n  1) a\n  2) b\n  3) c\nchoice (numbers with commas, empty for none): 1, c\n\
         = {\"count\":2,\"extra\":{\"k\":[1]},\"name\":\"shop\",\"note\":\"hi\",\"share\":0.5,\"sure\":true,\"zones\":[\"a\",\"c\"]}"
    );
    let seen = play(&schema, &["Shop", "shop", "0"]);
    assert!(seen.contains("Name of the site: Shop\n! ") && seen.contains("empty for 2): 0\n! "), "{seen}");
}

#[test]
fn an_answer_that_only_the_whole_schema_refuses_is_asked_for_anew() {
    let schema = json!({"type": "object", "required": ["from", "to"], "not": {"required": ["note"]},
        "properties": {"from": {"type": "integer"}, "to": {"type": "integer"}, "note": {"type": "string"}}});
    let seen = play(&schema, &["1", "2", "x", "3", "4", ""]);
    assert!(
        seen.contains("note (empty for none): x\n! ") && seen.ends_with("= {\"from\":3,\"to\":4}"),
        "{seen}"
    );
}

#[test]
fn single_values_need_no_object() {
    let cases = [
        (json!({"type": "boolean"}), "n", "= false"),
        (json!({"type": "string"}), "12", "= \"12\""),
        (json!({"type": "number"}), "12", "= 12"),
        (json!({"type": "integer"}), "1.5", "! a whole number\nopen"),
        (json!({"oneOf": [{"const": 1, "title": "one"}, {"const": 2}]}), "one", "= 1"),
        (json!({"enum": ["2", "1"]}), "1", "= \"1\""),
        (json!({"type": "array", "items": {"type": "string"}}), "[\"x\"]", "= [\"x\"]"),
        (json!({"type": "null"}), "null", "= null"),
        (json!({}), "{\"a\":1}", "= {\"a\":1}"),
    ];
    for (schema, line, end) in cases {
        let seen = play(&schema, &[line]);
        assert!(seen.ends_with(end), "{schema}: {seen}");
    }
}

#[test]
fn a_secret_is_hidden_and_no_fault_quotes_it() {
    let schema = json!({"type": "object", "required": ["pin", "user"], "not": {"required": ["note"]}, "properties": {
        "user": {"type": "string"},
        "pin": {"$ref": "#/$defs/pin"},
        "apiToken": {"type": "string", "default": "t0ken"},
        "note": {"type": "string"}},
        "$defs": {"pin": {"type": "string", "writeOnly": true, "pattern": "^[0-9]+$"}}});
    let seen = play(&schema, &["hunter2", "1234", "me", "", "x"]);
    for secret in ["hunter2\"", "1234\"", "t0ken"] {
        assert!(!seen.contains(secret), "{secret} in {seen}");
    }
    assert!(seen.contains("apiToken (empty for the default, hidden): "), "{seen}");
    assert!(seen.contains("! value does not match"), "{seen}");

    let mut asked = form(&schema);
    assert!(asked.is_secret());
    assert_eq!((asked.shown("hunter2"), asked.shown("/json {}")), ("", ""));
    assert_eq!(asked.line("1234"), Step::Next);
    assert!(!asked.is_secret());
    assert_eq!((asked.shown("me"), asked.shown(" /json {}")), ("me", ""));
    // The number of an entry says nothing.
    let list = form(&json!({"enum": ["a", "b"], "writeOnly": true}));
    assert!(!list.is_secret());
    assert!(form(&json!({"type": "string", "format": "password"})).is_secret());
}

#[test]
fn a_question_can_be_left_and_answered_raw() {
    let schema = json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}});
    assert!(play(&schema, &["/cancel"]).ends_with("cancelled"));
    assert!(play(&schema, &["/json {\"a\":1}"]).ends_with("= {\"a\":1}"));
    assert!(play(&schema, &["/json {\"a\":\"x\"}"]).contains("! /a: "));
    assert!(play(&schema, &["/json {"]).contains("! not JSON"));
}

#[test]
fn without_a_schema_anything_is_an_answer() {
    for (line, expected) in [("", None), ("yes please", Some("\"yes please\"")), ("[1]", Some("[1]"))] {
        let mut form = Form::new(&Interrupt::new("i", "confirmation"));
        let expected = expected.map(|text| Json::from_string(text.to_owned()).unwrap());
        assert_eq!(form.line(line), Step::Done(expected), "{line}");
    }
}

#[test]
fn what_the_agent_writes_is_harmless() {
    let escape = "\u{1b}]0;x\u{7}";
    let schema = json!({"type": "object", "properties": {"a": {"title": escape, "enum": [escape]}}});
    let schema = JsonObject::from_serialize(&schema).unwrap();
    let interrupt = Interrupt::new(escape, escape)
        .with_message(escape)
        .with_expires_at(escape)
        .with_response_schema(schema);
    let form = Form::new(&interrupt);
    let shown = format!("{}{}", form.intro(), form.prompt());
    assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{shown:?}");
}
