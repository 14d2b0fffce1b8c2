use super::*;

fn raw(text: &str) -> &RawValue {
    serde_json::from_str(text).unwrap()
}

#[test]
fn members_are_given_in_order_with_decoded_names_and_untouched_values() {
    let mut seen = Vec::new();
    let is_object = each_member(
        raw(r#" { "a" : 1.50 , "\u0062" : [ {} ] , "a":null, "\ud800":"lost" } "#),
        |name, value| seen.push((name.to_owned(), value.get().to_owned())),
    );

    let expected = [("a", "1.50"), ("b", "[ {} ]"), ("a", "null")];
    assert!(is_object);
    assert_eq!(seen, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
}

#[test]
fn only_objects_have_members() {
    for text in ["null", "1", "true", "\"{}\"", "[]", "[{}]"] {
        assert!(!each_member(raw(text), |_, _| panic!("a member of {text}")), "{text}");
    }
}

#[test]
fn whole_numbers_may_be_written_as_floats() {
    let cases = [
        ("0", Ok(0)),
        ("3", Ok(3)),
        ("3.0", Ok(3)),
        ("3e0", Ok(3)),
        ("12E1", Ok(120)),
        ("18446744073709551615", Ok(u64::MAX)),
        ("9007199254740991.0", Ok(MAX_EXACT)),
        ("9007199254740993.0", Err(WrongType)),
        ("18446744073709551616", Err(WrongType)),
        ("1E400", Err(WrongType)),
        ("3.5", Err(WrongType)),
        ("-3", Err(WrongType)),
        ("-3.0", Err(WrongType)),
        ("\"3\"", Err(WrongType)),
        ("true", Err(WrongType)),
        ("null", Err(WrongType)),
        ("[]", Err(WrongType)),
    ];
    for (text, expected) in cases {
        assert_eq!(whole_number(raw(text)), expected, "{text}");
    }
}

#[test]
fn strings_are_borrowed_unless_they_have_escapes() {
    assert!(matches!(string(raw("\"pläne\"")), Ok(Cow::Borrowed("pläne"))));
    assert_eq!(string(raw(r#""a\u00e4\n""#)), Ok(Cow::Owned("aä\n".to_owned())));
    for text in ["1", "null", "{}", r#""\ud83d""#, r#""\ud83d x""#] {
        assert_eq!(string(raw(text)), Err(WrongType), "{text}");
    }
}

#[test]
fn a_wrong_member_is_noted_and_leaves_its_neighbours_alone() {
    let mut notes = Notes::default();
    let (mut name, mut count, mut flag) = (None, Some(7), None);
    let is_object = read_members!(
        raw(r#"{"name":"x","count":null,"flag":"yes","unknown":[1e999],"name":5}"#),
        &mut notes, "thing",
        {
            "name" => name, text;
            "count" => count, integer;
            "flag" => flag, boolean;
        }
    );

    assert!(is_object);
    assert_eq!((name, count, flag), (None, None, None));
    let told: Vec<String> = notes.as_slice().iter().map(Note::to_string).collect();
    assert_eq!(told, ["thing.flag", "thing.name"]);
}

#[test]
fn a_bounded_number_of_notes_is_kept() {
    let mut notes = Notes::default();
    for _ in 0..100 {
        notes.add("thing", "member");
    }

    assert_eq!((notes.as_slice().len(), notes.count()), (Notes::LIMIT, 100));
    assert!(!notes.is_empty());
}

#[test]
fn odd_elements_of_a_list_are_left_out() {
    let mut notes = Notes::default();

    let all = list(raw(r#"["a", 1, null, "b"]"#), &mut notes, "things", text).unwrap().unwrap();

    assert_eq!(all, ["a", "b"]);
    assert_eq!(notes.count(), 2);
    assert_eq!(list(raw("{}"), &mut notes, "things", text), Err(WrongType));
}

#[test]
fn printed_raw_text_shows_its_length_only() {
    assert_eq!(format!("{:?}", Raw::new(raw(r#"{"key":"sk-1"}"#))), "Raw(14 bytes)");
}
