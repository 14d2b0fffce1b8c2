use std::collections::{BTreeMap, BTreeSet};

use agui_iac_code::IacCodeProps;

use super::*;

/// The messages of a catalogue with the names of the arguments that stand in each, its own only.
fn messages(language: Language) -> BTreeMap<String, BTreeSet<String>> {
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut current = String::new();
    for line in source(language).lines().filter(|line| !line.starts_with('#')) {
        if let Some((id, _)) = line.split_once(" =").filter(|_| !line.starts_with(' ')) {
            current = id.to_owned();
            assert!(all.insert(current.clone(), BTreeSet::new()).is_none(), "{language}: {id} twice");
        }
        for argument in line.split('$').skip(1) {
            let name: String = argument.chars().take_while(char::is_ascii_alphanumeric).collect();
            all.get_mut(&current).unwrap().insert(name);
        }
    }
    all
}

fn sample(name: &'static str) -> (&'static str, MessageArg) {
    let arg = match name {
        "seconds" => MessageArg::Number(3),
        "kind" => MessageArg::Text("missing".into()),
        _ => MessageArg::Text(format!("<{name}>").into()),
    };
    (name, arg)
}

#[test]
fn every_language_has_exactly_the_keys_of_the_error_table() {
    let keys: BTreeSet<&str> = MessageKey::ALL.iter().map(|key| key.as_str()).collect();
    for language in Language::ALL {
        let messages = messages(language);
        let found: BTreeSet<&str> = messages.keys().map(String::as_str).collect();
        assert_eq!(found, keys, "{language}");
    }
}

#[test]
fn every_text_takes_the_arguments_of_its_key() {
    for language in Language::ALL {
        let messages = messages(language);
        for key in MessageKey::ALL {
            let mut expected: BTreeSet<&str> = key.args().iter().copied().collect();
            // These two show their field through the text they refer to.
            if matches!(key, MessageKey::InputEnvelope | MessageKey::InputExtension) {
                assert_eq!(key.args(), MessageKey::FieldProblem.args());
                expected.clear();
            }
            let found: BTreeSet<&str> = messages[key.as_str()].iter().map(String::as_str).collect();
            assert_eq!(found, expected, "{language} {key}");
        }
    }
}

#[test]
fn every_text_is_formatted_without_errors_and_without_isolation_marks() {
    for language in Language::ALL {
        assert!(FluentResource::try_new(source(language).to_owned()).is_ok(), "{language}");
        for key in MessageKey::ALL {
            let args: Vec<_> = key.args().iter().map(|name| sample(name)).collect();
            let mut values = FluentArgs::new();
            for (name, arg) in &args {
                values.set(*name, value(arg));
            }
            let bundle = bundle(language);
            let pattern = bundle.get_message(key.as_str()).unwrap().value().unwrap();
            let mut errors = Vec::new();
            let text = bundle.format_pattern(pattern, Some(&values), &mut errors);

            assert!(errors.is_empty(), "{language} {key}: {errors:?}");
            assert_eq!(format(language, *key, &args), text, "{language} {key}");
            assert!(!text.contains(['\u{2068}', '\u{2069}', '{', '}', '$']), "{language} {key}: {text}");
            assert!(!text.trim().is_empty() && text.trim() == text, "{language} {key}: {text:?}");
            for name in key.args().iter().filter(|name| **name != "kind") {
                let shown = if *name == "seconds" { "3".to_owned() } else { format!("<{name}>") };
                assert!(text.contains(&shown), "{language} {key}: {text}");
            }
        }
    }
}

#[test]
fn no_language_borrows_its_sentences_from_english() {
    for key in MessageKey::ALL {
        let args: Vec<_> = key.args().iter().map(|name| sample(name)).collect();
        let english = format(Language::En, *key, &args);
        // One word can be spelled the same in two languages, a sentence cannot.
        if english.split(' ').count() < 2 {
            continue;
        }
        for language in Language::ALL.into_iter().filter(|language| *language != Language::En) {
            assert_ne!(format(language, *key, &args), english, "{language} {key}");
        }
    }
}

#[test]
fn every_problem_of_a_field_has_words_of_its_own() {
    let kinds = ["missing", "wrong-type", "unknown-key", "out-of-range", "duplicate-key", "syntax", "??"];
    for language in Language::ALL {
        let texts: BTreeSet<String> = kinds
            .iter()
            .map(|kind| {
                let args =
                    [("pointer", MessageArg::Text("/a".into())), ("kind", MessageArg::Text((*kind).into()))];
                format(language, MessageKey::FieldProblem, &args).into_owned()
            })
            .collect();
        assert_eq!(texts.len(), kinds.len(), "{language}: {texts:?}");
    }
}

#[test]
fn english_keeps_the_texts_that_clients_know() {
    let cases = [
        (MessageKey::Unauthorized, "A valid bearer token is required."),
        (MessageKey::ContentType, "Content-Type must be application/json."),
        (MessageKey::RunBodyTooLarge, "The AG-UI request body is too large."),
        (MessageKey::CancelBodyTooLarge, "The cancel request body is too large."),
        (MessageKey::RunBodyNotJson, "The request body is not valid JSON."),
        (MessageKey::CancelBodyNotJson, "The cancel request body is not valid JSON."),
        (MessageKey::RunBodyNotObject, "RunAgentInput must be a JSON object."),
        (MessageKey::CancelBodyNotObject, "The cancel request must be a JSON object."),
        (MessageKey::CancelIds, "threadId and rosInvocationId are required."),
        (MessageKey::StateUnavailable, "The AG-UI adapter state is unavailable."),
        (MessageKey::ExecutionGone, "The execution to resume is no longer available."),
        (MessageKey::RunIdUsed, "The AG-UI run id has already been used."),
        (MessageKey::ThreadBusy, "The AG-UI thread already has an active run."),
        (MessageKey::ThreadBinding, "The AG-UI thread is already bound to another workspace or caller."),
        (MessageKey::ResumeRequired, "The AG-UI thread is waiting for interrupt responses."),
        (MessageKey::ResumeMismatch, "The resume request does not match the interrupted run."),
        (MessageKey::ResumeDuplicate, "The resume contains duplicate interrupt ids."),
        (MessageKey::ResumeIncomplete, "The resume must resolve every pending interrupt exactly once."),
        (MessageKey::UnknownInterrupt, "The resume references an unknown interrupt."),
        (MessageKey::PayloadMissing, "A resolved interrupt requires a payload."),
        (MessageKey::PayloadInvalid, "The interrupt response payload is invalid."),
        (MessageKey::AnswerMissing, "The interrupt response does not contain an answer."),
        (MessageKey::AlreadyApplied, "The interrupt response has already been applied."),
        (MessageKey::TaskGone, "The A2A task to resume is unavailable."),
        (MessageKey::SessionGone, "The iac-code session to resume is unavailable."),
        (MessageKey::PersistExecution, "The execution mapping could not be committed."),
        (MessageKey::PersistSession, "The execution session mapping could not be committed."),
        (MessageKey::PersistInterrupt, "The interrupted execution state could not be committed."),
        (MessageKey::PersistAnswer, "The accepted interrupt response could not be committed."),
        (MessageKey::A2aUnavailable, "The local A2A execution service is unavailable."),
        (MessageKey::AnswerNotAccepted, "The A2A interrupt response was not accepted."),
        (MessageKey::PermissionNotAccepted, "The A2A permission response was not accepted."),
        (MessageKey::AnswerRejected, "The local A2A execution service rejected the interrupt response."),
        (MessageKey::ContextChanged, "The A2A context identity changed unexpectedly."),
        (MessageKey::TaskChanged, "The A2A task identity changed unexpectedly."),
        (MessageKey::TaskMismatch, "The A2A task identity does not match the interrupted run."),
        (MessageKey::SessionChanged, "The iac-code session identity changed unexpectedly."),
        (MessageKey::InterruptTask, "An interrupt belongs to another A2A task."),
        (MessageKey::InterruptContext, "An interrupt belongs to another A2A context."),
        (MessageKey::ExecutionFailed, "The A2A execution failed."),
        (MessageKey::Cancelled, "The execution was cancelled."),
        (MessageKey::CancelledByAnswer, "The execution was cancelled by the interrupt response."),
        (MessageKey::ExecutionNotFound, "The execution was not found."),
        (MessageKey::InterruptPermission, "Permission required"),
        (MessageKey::InterruptInput, "Input required"),
        (MessageKey::OptionAllowOnce, "Allow once"),
        (MessageKey::OptionDeny, "Deny"),
    ];
    for (key, expected) in cases {
        assert_eq!(text(Language::En, key), expected, "{key}");
    }
}

#[test]
fn s2_12_the_known_texts_about_input_are_followed_by_the_field() {
    let cwd = "/forwardedProps/iacCode/cwd";
    let cases = [
        (MessageKey::InputTools, "Client-provided tools are not supported.", "/tools"),
        (MessageKey::WorkspaceNotAbsolute, "The iac-code workspace must be an absolute path.", cwd),
        (MessageKey::WorkspaceInvalid, "The iac-code workspace is invalid.", cwd),
        (MessageKey::WorkspaceOutside, "The iac-code workspace is outside the allowed roots.", cwd),
        (MessageKey::WorkspaceNotDirectory, "The iac-code workspace is not a directory.", cwd),
        (MessageKey::WorkspaceNotCreated, "The iac-code workspace cannot be created.", cwd),
        (MessageKey::MessageMissing, "A new run requires a user message.", "/messages"),
        (MessageKey::MessageContent, "The user message content is invalid.", "<pointer>"),
        (MessageKey::MessagePart, "Only text and inline data images are supported.", "<pointer>"),
        (MessageKey::MediaRemote, "Remote media URLs are not supported.", "<pointer>"),
        (MessageKey::ImageType, "The image media type is not supported.", "<pointer>"),
        (MessageKey::ImageBase64, "The image data is not valid base64.", "<pointer>"),
        (MessageKey::ImageTooLarge, "An image exceeds the maximum size.", "<pointer>"),
        (MessageKey::ImagesTooLarge, "The total image content exceeds the maximum size.", "/messages"),
        (MessageKey::ImageInvalid, "The image data is invalid.", "<pointer>"),
    ];
    for (key, known, pointer) in cases {
        let args: Vec<_> = key.args().iter().map(|name| sample(name)).collect();
        assert_eq!(format(Language::En, key, &args), format!("{known} Field: {pointer}"));
        for language in Language::ALL {
            assert!(format(language, key, &args).ends_with(pointer), "{language} {key}");
        }
    }
}

#[test]
fn s2_12_an_error_is_told_in_the_language_of_the_reader_with_its_field() {
    let error = IacCodeProps::decode(Some(r#"{"iacCode":{"schemaVersion":1,"cwd":7}}"#)).unwrap_err();
    let invalid = ErrorNotice::from(&error);

    let texts: Vec<_> = Language::ALL.into_iter().map(|language| notice(language, &invalid)).collect();

    assert_eq!(
        texts,
        [
            "Invalid iac-code forwarded properties. The field /forwardedProps/iacCode/cwd has the wrong type.",
            "iac-code 转发属性无效。字段 /forwardedProps/iacCode/cwd 的类型不正确。",
            "Las propiedades reenviadas de iac-code no son válidas. El campo /forwardedProps/iacCode/cwd no es \
             del tipo correcto.",
            "Les propriétés iac-code transmises ne sont pas valides. Le champ /forwardedProps/iacCode/cwd n’a \
             pas le bon type.",
            "Die weitergeleiteten iac-code-Eigenschaften sind ungültig. Das Feld /forwardedProps/iacCode/cwd \
             hat den falschen Typ.",
            "転送された iac-code プロパティが無効です。フィールド /forwardedProps/iacCode/cwd の型が正しくありません。",
            "As propriedades encaminhadas do iac-code não são válidas. O campo /forwardedProps/iacCode/cwd \
             não é do tipo correto.",
        ]
    );
}

#[test]
fn numbers_follow_the_plural_rules_and_have_no_separators() {
    let cases = [
        (Language::En, 1, "Too many requests. Try again in 1 second."),
        (Language::En, 0, "Too many requests. Try again in 0 seconds."),
        (Language::En, 3600, "Too many requests. Try again in 3600 seconds."),
        (Language::Fr, 0, "Trop de requêtes. Réessayez dans 0 seconde."),
        (Language::Fr, 2, "Trop de requêtes. Réessayez dans 2 secondes."),
        (Language::De, 1, "Zu viele Anfragen. Versuchen Sie es in 1 Sekunde erneut."),
        (Language::Ja, 1, "リクエストが多すぎます。1 秒後にもう一度お試しください。"),
    ];
    for (language, seconds, expected) in cases {
        let args = [("seconds", MessageArg::Number(seconds))];
        assert_eq!(format(language, MessageKey::RateLimitedFor, &args), expected);
    }
}

#[test]
fn an_argument_is_put_in_as_it_is() {
    let pointer = "/a{ $kind }~1\u{202e}\"<b>";
    let args = [("pointer", MessageArg::Text(pointer.into()))];

    let text = format(Language::En, MessageKey::ImageInvalid, &args);

    assert_eq!(text, format!("The image data is invalid. Field: {pointer}"));
}

#[test]
fn the_catalogues_are_shared_by_threads() {
    let texts: Vec<String> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| text(Language::Es, MessageKey::OptionAllowOnce).into_owned()))
            .collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });

    assert_eq!(texts, ["Permitir una vez"; 4]);
}
