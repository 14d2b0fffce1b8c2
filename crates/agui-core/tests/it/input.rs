//! Reading of run requests.

use agui_core::{
    Content, ContentPart, DecodeErrorKind, Expected, MAX_JSON_DEPTH, Message, Reading, ResumeStatus,
    RunAgentInput, Source,
};

fn kind_of(body: &str) -> (String, DecodeErrorKind) {
    let error = RunAgentInput::decode(body.as_bytes()).expect_err(body);
    (error.pointer, error.kind)
}

fn with_messages(messages: &str) -> String {
    format!(r#"{{"threadId":"t","runId":"r","messages":{messages}}}"#)
}

#[test]
fn three_members_are_enough() {
    let input = RunAgentInput::decode(with_messages("[]").as_bytes()).unwrap();
    assert_eq!(input, RunAgentInput::new("t", "r", []));
    assert_eq!(
        serde_json::to_string(&input).unwrap(),
        r#"{"threadId":"t","runId":"r","messages":[],"tools":[],"context":[]}"#
    );
}

#[test]
fn a_full_request_reads_and_writes_without_loss() {
    let body = concat!(
        r#"{"threadId":"t","runId":"r","messages":["#,
        r#"{"role":"developer","id":"1","content":"be brief","name":"n"},"#,
        r#"{"role":"system","id":"2","content":"you are an agent"},"#,
        r#"{"role":"user","id":"3","content":[{"type":"text","text":"a"},{"type":"audio","source":{"type":"url","value":"u","mimeType":"audio/wav"}}]},"#,
        r#"{"role":"assistant","id":"4","content":"","toolCalls":[{"type":"function","id":"c","function":{"name":"f","arguments":"{}"},"encryptedValue":"e","metadata":{"a":null}}]},"#,
        r#"{"role":"tool","id":"5","toolCallId":"c","content":"3","error":"x"},"#,
        r#"{"role":"activity","id":"6","activityType":"s","content":{"hits":3}},"#,
        r#"{"role":"reasoning","id":"7","content":"hm","encryptedValue":"v","subagentRunId":"s"}],"#,
        r#""protocolVersion":"1.0","parentRunId":"p","state":{"n":1.0},"#,
        r#""tools":[{"name":"f","description":"","parameters":{"type":"object"},"metadata":{}}],"#,
        r#""context":[{"description":"d","value":"v"}],"forwardedProps":[0.10],"#,
        r#""resume":[{"interruptId":"i","status":"resolved","payload":false,"metadata":{}},{"interruptId":"j","status":"cancelled"}]}"#,
    );
    let input = RunAgentInput::decode(body.as_bytes()).unwrap();
    assert_eq!(serde_json::to_string(&input).unwrap(), body);
    assert_eq!(input.resume[1].status, ResumeStatus::Cancelled);
    assert!(input.skipped.is_empty());
    assert_eq!(RunAgentInput::from_json(body.as_bytes(), Reading::Exact).unwrap(), input);
}

#[test]
fn c50_history_is_taken_as_clients_store_it() {
    let body = concat!(
        r#"{"threadId":"t","runId":"r","state":null,"forwardedProps":null,"resume":null,"tools":null,"context":null,"createdAt":1,"#,
        r#""messages":[{"role":"assistant","id":"1","content":null,"toolCalls":[],"name":null,"createdAt":"x"},"#,
        r#"{"role":"assistant","id":"2","toolCalls":[{"id":"c","function":{"name":"f","arguments":""}}]},"#,
        r#"{"role":"user","id":"3","content":[{"type":"binary","mimeType":"image/png","data":"aGk=","url":null,"filename":"a.png"}]}]}"#,
    );
    let input = RunAgentInput::decode(body.as_bytes()).unwrap();
    assert!(input.skipped.is_empty());
    let Message::Assistant(assistant) = &input.messages[0] else { panic!("not an assistant") };
    assert_eq!((assistant.content.as_ref(), assistant.tool_calls.len()), (None, 0));
    let Message::User(user) = &input.messages[2] else { panic!("not a user") };
    let Content::Parts(parts) = &user.content else { panic!("no parts") };
    let ContentPart::Binary(binary) = &parts[0] else { panic!("not binary") };
    assert_eq!(
        serde_json::to_string(&binary.to_media().unwrap()).unwrap(),
        r#"{"type":"image","source":{"type":"data","value":"aGk=","mimeType":"image/png"},"metadata":{"filename":"a.png"}}"#
    );
    let written = serde_json::to_string(&input).unwrap();
    assert!(!written.contains("null"), "{written}");
    assert_eq!(kind_of_exact(body), "/messages/0/content");
}

fn kind_of_exact(body: &str) -> String {
    RunAgentInput::from_json(body.as_bytes(), Reading::Exact).expect_err(body).pointer
}

#[test]
fn binary_parts_become_the_part_of_their_media_type() {
    let part = |members: &str| {
        let body = with_messages(&format!(
            r#"[{{"role":"user","id":"u","content":[{{"type":"binary",{members}}}]}}]"#
        ));
        let input = RunAgentInput::decode(body.as_bytes()).unwrap();
        let Message::User(user) = &input.messages[0] else { panic!("not a user") };
        let Content::Parts(parts) = &user.content else { panic!("no parts") };
        let ContentPart::Binary(binary) = &parts[0] else { panic!("not binary") };
        binary.to_media()
    };
    let cases = [
        (r#""mimeType":"audio/wav","url":"u""#, Some("audio")),
        (r#""mimeType":"video/mp4","data":"d","url":"u""#, Some("video")),
        (r#""mimeType":"application/pdf","data":"d""#, Some("document")),
        (r#""mimeType":"image/png","id":"only-a-handle""#, None),
    ];
    for (members, expected) in cases {
        let media = part(members);
        let found = media.as_ref().map(|media| match media {
            ContentPart::Image(_) => "image",
            ContentPart::Audio(_) => "audio",
            ContentPart::Video(part) if matches!(part.source, Source::Data(_)) => "video",
            ContentPart::Document(_) => "document",
            _ => "other",
        });
        assert_eq!(found, expected, "{members}");
    }
}

#[test]
fn unknown_roles_parts_and_sources_are_left_out_with_a_note() {
    let body = with_messages(concat!(
        r#"[{"role":"narrator","id":"0"},"#,
        r#"{"role":"user","id":"1","content":[{"type":"hologram","x":1},{"type":"text","text":"a"},{"type":"image","source":{"type":"cloud","value":"x"}}]},"#,
        r#"{"role":"tool","id":"2","toolCallId":"c","content":[{"type":"hologram"}]}]"#,
    ));
    let input = RunAgentInput::decode(body.as_bytes()).unwrap();
    let pointers: Vec<&str> = input.skipped.iter().map(|skipped| skipped.pointer.as_str()).collect();
    assert_eq!(
        pointers,
        ["/messages/0", "/messages/1/content/0", "/messages/1/content/2/source", "/messages/2/content/0"]
    );
    assert_eq!(
        serde_json::to_string(&input.messages).unwrap(),
        concat!(
            r#"[{"role":"user","id":"1","content":[{"type":"text","text":"a"}]},"#,
            r#"{"role":"tool","id":"2","toolCallId":"c","content":[]}]"#
        )
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn malformed_requests_are_refused_with_the_place_and_without_the_value() {
    use DecodeErrorKind as K;
    let string = K::WrongType(Expected::String);
    let object = K::WrongType(Expected::Object);
    let array = K::WrongType(Expected::Array);
    let cases: &[(&str, &str, K)] = &[
        ("", "", K::Syntax),
        ("{", "", K::Syntax),
        (r#"{"threadId":"SECRET""#, "", K::Syntax),
        ("\u{feff}{}", "", K::Syntax),
        ("[]", "", object),
        ("\"SECRET\"", "", object),
        ("{}", "/threadId", K::Missing),
        (r#"{"threadId":"t"}"#, "/runId", K::Missing),
        (r#"{"threadId":"t","runId":"r"}"#, "/messages", K::Missing),
        (r#"{"threadId":null,"runId":"r","messages":[]}"#, "/threadId", string),
        (r#"{"threadId":5,"runId":"r","messages":[]}"#, "/threadId", string),
        (r#"{"threadId":"\ud83d","runId":"r","messages":[]}"#, "/threadId", K::LoneSurrogate),
        (r#"{"threadId":"a","threadId":"b","runId":"r","messages":[]}"#, "/threadId", K::DuplicateKey),
        (r#"{"threadId":"a","thread\u0049d":"b","runId":"r","messages":[]}"#, "/threadId", K::DuplicateKey),
        (r#"{"threadId":"t","runId":"r","messages":[],"\ud83d":1}"#, "", K::LoneSurrogate),
        (r#"{"threadId":"t","runId":"r","messages":null}"#, "/messages", array),
        (r#"{"threadId":"t","runId":"r","messages":{}}"#, "/messages", array),
        (r#"{"threadId":"t","runId":"r","messages":[null]}"#, "/messages/0", object),
        (r#"{"threadId":"t","runId":"r","messages":[{}]}"#, "/messages/0/role", K::Missing),
        (
            r#"{"threadId":"t","runId":"r","messages":[{"role":"user","content":"SECRET"}]}"#,
            "/messages/0/id",
            K::Missing,
        ),
        (
            r#"{"threadId":"t","runId":"r","messages":[{"role":"user","id":"1","content":42}]}"#,
            "/messages/0/content",
            K::WrongType(Expected::StringOrArray),
        ),
        (
            r#"{"threadId":"t","runId":"r","messages":[{"role":"user","id":"1","content":[{"type":"text"}]}]}"#,
            "/messages/0/content/0/text",
            K::Missing,
        ),
        (
            r#"{"threadId":"t","runId":"r","messages":[{"role":"user","id":"1","content":[{"type":"image","source":{"type":"data","value":"SECRET"}}]}]}"#,
            "/messages/0/content/0/source/mimeType",
            K::Missing,
        ),
        (
            r#"{"threadId":"t","runId":"r","messages":[{"role":"assistant","id":"1","content":["SECRET"]}]}"#,
            "/messages/0/content",
            string,
        ),
        (
            r#"{"threadId":"t","runId":"r","messages":[{"role":"assistant","id":"1","toolCalls":[{"id":"c","type":"x","function":{"name":"f","arguments":"{}"}}]}]}"#,
            "/messages/0/toolCalls/0/type",
            K::NotAllowed,
        ),
        (
            r#"{"threadId":"t","runId":"r","messages":[{"role":"assistant","id":"1","toolCalls":[{"id":"c","function":{"name":"f","arguments":{}}}]}]}"#,
            "/messages/0/toolCalls/0/function/arguments",
            string,
        ),
        (
            r#"{"threadId":"t","runId":"r","messages":[{"role":"tool","id":"1","content":""}]}"#,
            "/messages/0/toolCallId",
            K::Missing,
        ),
        (
            r#"{"threadId":"t","runId":"r","messages":[{"role":"user","id":"1","content":"a","content":"b"}]}"#,
            "/messages/0/content",
            K::DuplicateKey,
        ),
        (r#"{"threadId":"t","runId":"r","messages":[],"tools":{}}"#, "/tools", array),
        (
            r#"{"threadId":"t","runId":"r","messages":[],"tools":[{"name":"f"}]}"#,
            "/tools/0/description",
            K::Missing,
        ),
        (
            r#"{"threadId":"t","runId":"r","messages":[],"context":[{"description":"d","value":null}]}"#,
            "/context/0/value",
            string,
        ),
        (
            r#"{"threadId":"t","runId":"r","messages":[],"resume":[{"interruptId":"i"}]}"#,
            "/resume/0/status",
            K::Missing,
        ),
        (
            r#"{"threadId":"t","runId":"r","messages":[],"resume":[{"interruptId":"i","status":"SECRET"}]}"#,
            "/resume/0/status",
            K::NotAllowed,
        ),
        (
            r#"{"threadId":"t","runId":"r","messages":[],"resume":[{"interruptId":"i","status":"resolved","payload":1,"payload":2}]}"#,
            "/resume/0/payload",
            K::DuplicateKey,
        ),
        (
            r#"{"threadId":"t","runId":"r","messages":[],"resume":[{"interruptId":"i","status":"resolved","metadata":[]}]}"#,
            "/resume/0/metadata",
            object,
        ),
        (r#"{"threadId":"t","runId":"r","messages":[],"protocolVersion":1.0}"#, "/protocolVersion", string),
    ];
    for (body, pointer, kind) in cases {
        assert_eq!(kind_of(body), ((*pointer).to_owned(), *kind), "{body}");
        let error = RunAgentInput::decode(body.as_bytes()).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("SECRET"), "{error}");
    }
}

#[test]
fn c69_hostile_json_is_refused_or_passed_but_never_read_into_the_ground() {
    let deep = |levels: usize| {
        let state = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        format!(r#"{{"threadId":"t","runId":"r","messages":[],"state":{state}}}"#)
    };
    assert!(RunAgentInput::decode(deep(MAX_JSON_DEPTH - 1).as_bytes()).is_ok());
    for levels in [MAX_JSON_DEPTH, 2_000, 20_000] {
        assert_eq!(kind_of(&deep(levels)), (String::new(), DecodeErrorKind::Syntax), "{levels}");
    }
    let unclosed = format!(r#"{{"threadId":{}"#, "[".repeat(200_000));
    assert_eq!(kind_of(&unclosed), (String::new(), DecodeErrorKind::Syntax));

    let number = format!(r#"{{"threadId":"t","runId":"r","messages":[],"state":{}}}"#, "9".repeat(5_000));
    assert_eq!(kind_of(&number), (String::new(), DecodeErrorKind::Syntax));

    let members: Vec<String> = (0..100_000).map(|n| format!("\"k{n}\":0")).collect();
    let wide = format!(r#"{{"threadId":"t","runId":"r","messages":[],{}}}"#, members.join(","));
    assert!(RunAgentInput::decode(wide.as_bytes()).is_ok());

    let invalid = b"{\"threadId\":\"\xff\",\"runId\":\"r\",\"messages\":[]}";
    assert_eq!(RunAgentInput::decode(invalid).unwrap_err().kind, DecodeErrorKind::Syntax);
}

#[test]
fn c44_half_a_surrogate_pair_in_text_reads_as_a_replacement_character() {
    let body = with_messages(r#"[{"role":"user","id":"1","content":"a\ud83d"}]"#);
    let input = RunAgentInput::decode(body.as_bytes()).unwrap();
    let Message::User(user) = &input.messages[0] else { panic!("not a user") };
    assert_eq!(user.content, Content::Text("a\u{FFFD}".to_owned()));
}

#[test]
fn debug_output_of_a_request_holds_no_content() {
    let body = concat!(
        r#"{"threadId":"t","runId":"r","messages":[{"role":"user","id":"u","content":"SECRET"}],"state":"SECRET","#,
        r#""forwardedProps":{"k":"SECRET"},"resume":[{"interruptId":"i","status":"resolved","payload":"SECRET"}]}"#,
    );
    let input = RunAgentInput::decode(body.as_bytes()).unwrap();
    let shown = format!("{input:?}");
    assert!(!shown.contains("SECRET"), "{shown}");
    assert!(shown.contains("messages: 1"), "{shown}");
}
