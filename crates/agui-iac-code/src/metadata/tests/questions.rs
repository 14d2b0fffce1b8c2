//! Questions to the user.

use super::*;

const PERMISSION: &str = r#"{"schemaVersion":1.0,"kind":"permission","requestTaskId":"T1","contextId":"C1",
    "inputId":"permission-0a","toolUseId":"call_1","toolName":"bash","title":"Run a local shell command",
    "purpose":"why","effect":"local_execution","target":"here","isReadOnly":false,"prompt":"Allow once?",
    "safeSummary":"bash: {}","options":[{"id":"allow_once","label":"Allow once"},{"id":"deny","label":"Deny"}],
    "language":"en","required":true,"deploymentSummary":{"region":"cn-hangzhou"},"operation":{"action":"Create"},
    "displayParameters":{"format":"json","value":{"id":1234567890123456789}},"internalNote":"/srv/x"}"#;

#[test]
fn a_permission_is_read() {
    let text = metadata(&format!(r#""input":{PERMISSION}"#));

    let input = read(&text).input.unwrap();

    assert_eq!((input.kind, input.kind_name.as_ref()), (InputKind::Permission, "permission"));
    let texts = [
        (&input.request_task_id, "T1"),
        (&input.context_id, "C1"),
        (&input.input_id, "permission-0a"),
        (&input.tool_use_id, "call_1"),
        (&input.tool_name, "bash"),
        (&input.title, "Run a local shell command"),
        (&input.purpose, "why"),
        (&input.effect, "local_execution"),
        (&input.target, "here"),
        (&input.prompt, "Allow once?"),
        (&input.safe_summary, "bash: {}"),
        (&input.language, "en"),
    ];
    for (found, expected) in texts {
        assert_eq!(found.as_deref(), Some(expected));
    }
    assert_eq!((input.is_read_only, input.required, input.pending), (Some(false), Some(true), None));
    assert_eq!(input.deployment_summary.unwrap().get(), r#"{"region":"cn-hangzhou"}"#);
    assert_eq!(input.operation.unwrap().get(), r#"{"action":"Create"}"#);
    assert_eq!(
        input.display_parameters.unwrap().get(),
        r#"{"format":"json","value":{"id":1234567890123456789}}"#
    );
    let options: Vec<_> = input.options.iter().map(|it| (it.id.as_deref(), it.label.as_deref())).collect();
    assert_eq!(options, [(Some("allow_once"), Some("Allow once")), (Some("deny"), Some("Deny"))]);
    assert!(input.is_open() && !input.is_sideband());
}

#[test]
fn a_question_of_the_model_and_a_resource_selection_are_read() {
    let text = metadata(
        r#""input":{"kind":"ask_user_question","inputId":"ask-call_7","toolUseId":"call_7","question":"Which zone?",
        "allowFreeText":true,"freeTextPrompt":"Or describe it","options":[{"id":"a","label":"Zone A",
        "description":"1 node","totalMonthlyCost":10}]},
        "inputRequired":{"kind":"cloud_resource_selection","inputId":"resource-00","toolUseId":"call_3",
        "selector":{"id":"vpc","associationProperty":"ALIYUN::ECS::VPC::VPCId","outputKind":"id",
        "associationPropertyMetadata":{},"source":null,"profileHash":"ab"}}"#,
    );

    let update = read(&text);

    let asked = update.input.as_deref().unwrap();
    assert_eq!((asked.kind, asked.prompt.as_deref()), (InputKind::AskUserQuestion, Some("Which zone?")));
    assert_eq!(
        (asked.allow_free_text, asked.free_text_prompt.as_deref()),
        (Some(true), Some("Or describe it"))
    );
    let option = &asked.options[0];
    assert_eq!(
        (option.summary.as_deref(), option.total_monthly_cost.as_deref()),
        (Some("1 node"), Some("10"))
    );
    let selection = update.input_required.as_deref().unwrap();
    assert_eq!(selection.kind, InputKind::CloudResourceSelection);
    let selector = selection.selector.as_deref().unwrap();
    let texts = [&selector.id, &selector.association_property, &selector.output_kind, &selector.profile_hash];
    assert_eq!(texts.map(|text| text.as_deref().unwrap()), ["vpc", "ALIYUN::ECS::VPC::VPCId", "id", "ab"]);
    assert_eq!(selector.source.unwrap().get(), "null");
    assert_eq!(update.open_inputs().len(), 2);
}

#[test]
fn a_kind_of_the_future_keeps_its_name() {
    let text = metadata(r#""input":{"kind":"captcha","inputId":"x"}"#);

    let input = read(&text).input.unwrap();

    assert_eq!((input.kind, input.kind_name.as_ref()), (InputKind::Other, "captcha"));
    assert!(input.is_open());
}

#[test]
fn open_questions_are_listed_once() {
    let text = metadata(
        r#""input":{"kind":"cloud_resource_selection","inputId":"a"},
        "inputRequired":{"kind":"cloud_resource_selection","inputId":"a"},
        "pendingPermissions":[{"kind":"permission","inputId":"b","required":true},
        {"kind":"permission","inputId":"c","required":false},{"kind":"permission","inputId":"d","pending":false},
        {"kind":"permission","inputId":"b"},{"kind":"permission","inputId":"e","required":null}]"#,
    );

    let update = read(&text);

    let open: Vec<_> = update.open_inputs().iter().map(|input| input.interrupt_id().into_owned()).collect();
    assert_eq!(open, ["a", "b", "e"]);
    assert_eq!(update.pending_permissions.len(), 5);
}

#[test]
fn a_question_without_id_gets_the_same_one_every_time() {
    let cases = [
        (r#"{"kind":"permission","inputId":"p","toolUseId":"c"}"#, "p"),
        (r#"{"kind":"permission","inputId":"","toolUseId":"c"}"#, "permission-c"),
        (r#"{"kind":"permission","toolUseId":"c","eventId":"evt-9"}"#, "permission-c"),
        (r#"{"kind":"permission","inputId":null,"eventId":"evt-9"}"#, "input-evt-9"),
        (r#"{"kind":"ask_user_question","toolUseId":"c"}"#, "ask-c"),
        (r#"{"kind":"candidate_selection","eventId":"evt-9","toolUseId":"c"}"#, "input-evt-9"),
        (r#"{"kind":"deployment_confirmation","toolUseId":"c"}"#, "input-c"),
        (r#"{"kind":"pipeline_pause_confirmation","requestTaskId":"T1"}"#, "input-T1"),
        ("{}", "input-unknown"),
    ];
    for (text, id) in cases {
        let input = Input::read(raw(text), &mut Notes::default()).unwrap();
        assert_eq!(input.interrupt_id(), id, "{text}");
    }
}

#[test]
fn the_answer_to_a_candidates_permission_goes_beside_the_stream() {
    let cases = [
        (r#"{"kind":"permission","subPipelineId":"sub-0"}"#, true),
        (r#"{"kind":"permission","scope":"candidate"}"#, true),
        (r#"{"kind":"permission","scope":"candidate_step"}"#, true),
        (r#"{"kind":"permission","scope":"step"}"#, false),
        (r#"{"kind":"permission"}"#, false),
        (r#"{"kind":"ask_user_question","subPipelineId":"sub-0"}"#, false),
    ];
    for (text, sideband) in cases {
        let input = Input::read(raw(text), &mut Notes::default()).unwrap();
        assert_eq!(input.is_sideband(), sideband, "{text}");
    }
}

#[test]
fn c67_public_members_keep_their_text_and_leave_the_rest_out() {
    let input = Input::read(raw(PERMISSION), &mut Notes::default()).unwrap();

    let public = serde_json::to_string(&input.public_members()).unwrap();

    assert!(
        public.starts_with(r#"{"schemaVersion":1.0,"kind":"permission","requestTaskId":"T1","#),
        "{public}"
    );
    assert!(public.ends_with(r#""displayParameters":{"format":"json","value":{"id":1234567890123456789}}}"#));
    assert!(!public.contains("internalNote"));
    let again: &RawValue = raw(&public);
    let reread = Input::read(again, &mut Notes::default()).unwrap();
    assert_eq!(
        Input { raw: Raw::default(), options: Vec::new(), ..reread },
        Input { raw: Raw::default(), options: Vec::new(), ..input }
    );
}

#[test]
fn public_members_are_written_once() {
    let input = Input::read(raw(r#"{"kind":"a","x":1,"kind":"permission"}"#), &mut Notes::default()).unwrap();

    assert_eq!(serde_json::to_string(&input.public_members()).unwrap(), r#"{"kind":"permission"}"#);
}
