use agui_core::{Decoded, decode_event};

use super::*;

fn show(screen: &mut Screen, records: &[&str]) -> String {
    let mut out = String::new();
    for record in records {
        match decode_event(record.as_bytes()).unwrap() {
            Decoded::Known(event) => screen.event(&event, &mut out),
            other => panic!("{other:?}"),
        }
    }
    screen.summary(&mut out);
    out
}

const STREAM: &[&str] = &[
    r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#,
    r#"{"type":"REASONING_MESSAGE_START","messageId":"x","role":"reasoning"}"#,
    r#"{"type":"REASONING_MESSAGE_CONTENT","messageId":"x","delta":"Let me "}"#,
    r#"{"type":"REASONING_MESSAGE_CONTENT","messageId":"x","delta":"see."}"#,
    r#"{"type":"REASONING_MESSAGE_END","messageId":"x"}"#,
    r#"{"type":"STEP_STARTED","stepName":"look"}"#,
    r#"{"type":"TEXT_MESSAGE_START","messageId":"m"}"#,
    r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"I look"}"#,
    r#"{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"read","parentMessageId":"m"}"#,
    r#"{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{\"path\":"}"#,
    r#"{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"\"a\"}"}"#,
    r#"{"type":"TOOL_CALL_END","toolCallId":"c"}"#,
    r#"{"type":"TOOL_CALL_RESULT","messageId":"o","toolCallId":"c","content":"line 1\nline 2"}"#,
    r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":" and\nthen."}"#,
    r#"{"type":"TEXT_MESSAGE_END","messageId":"m"}"#,
    r#"{"type":"STEP_FINISHED","stepName":"look"}"#,
    r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"plan","content":{"n":1}}"#,
    r#"{"type":"CUSTOM","name":"app.x","value":5}"#,
    r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":{"ok":true},"usage":[{"model":"big","inputTokens":5,"outputTokens":2}]}"#,
    r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","usage":[{"model":"big","inputTokens":7}]}"#,
];

#[test]
fn a_run_reads_like_a_conversation() {
    let shown = show(&mut Screen::new(Colour::Plain, Detail::Usual), STREAM);
    assert_eq!(
        shown,
        "Let me see.\n▸ look\nI look\n→ read({\"path\":\"a\"})\n← read: line 1 line 2\n and\nthen.\n✓ look\n\
         · plan {\"n\":1}\n= {\"ok\":true}\ntokens: in 12, out 2 (big)\n"
    );
    let shown = show(&mut Screen::new(Colour::Plain, Detail::All), STREAM);
    assert!(shown.contains("· app.x 5\n"));
}

#[test]
fn colours_are_closed_before_anything_else_is_written() {
    let shown = show(&mut Screen::new(Colour::Ansi, Detail::Usual), STREAM);
    assert!(
        shown.starts_with("\u{1b}[2mLet me see.\u{1b}[0m\n\u{1b}[2m▸ look\u{1b}[0m\nI look\n"),
        "{shown:?}"
    );
    assert_eq!(shown.matches("\u{1b}[0m").count() * 2, shown.matches('\u{1b}').count());
}

#[test]
fn a_failure_has_its_code() {
    let error = r#"{"type":"RUN_ERROR","message":"the model is gone","code":"MODEL"}"#;
    let text = r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"half"}"#;
    let shown = show(&mut Screen::new(Colour::Plain, Detail::Usual), &[text, error]);
    assert_eq!(shown, "half\n✗ the model is gone [MODEL]\n");
}

#[test]
fn no_event_gets_a_control_character_through() {
    let harm = r"\u001b]0;x\u0007\u009b2J\u202e";
    let records = [
        r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"@"}"#,
        r#"{"type":"REASONING_MESSAGE_CONTENT","messageId":"x","delta":"@"}"#,
        r#"{"type":"TOOL_CALL_START","toolCallId":"@","toolCallName":"@"}"#,
        r#"{"type":"TOOL_CALL_ARGS","toolCallId":"@","delta":"@"}"#,
        r#"{"type":"TOOL_CALL_END","toolCallId":"@"}"#,
        r#"{"type":"TOOL_CALL_RESULT","messageId":"o","toolCallId":"@","content":"@"}"#,
        r#"{"type":"TOOL_CALL_RESULT","messageId":"o","toolCallId":"other@","content":"@"}"#,
        r#"{"type":"STEP_STARTED","stepName":"@"}"#,
        r#"{"type":"STEP_FINISHED","stepName":"@"}"#,
        r#"{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"@"}"#,
        r#"{"type":"SUBAGENT_ERROR","subagentRunId":"s","message":"@"}"#,
        r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"@","content":{"@":"@"}}"#,
        r#"{"type":"ACTIVITY_DELTA","messageId":"a","activityType":"@","patch":[{"op":"add","path":"/@","value":"@"}]}"#,
        r#"{"type":"CUSTOM","name":"@","value":"@"}"#,
        r#"{"type":"RAW","source":"@","event":"@"}"#,
        r#"{"type":"STATE_SNAPSHOT","snapshot":"@"}"#,
        r#"{"type":"STATE_DELTA","delta":[{"op":"add","path":"/@","value":"@"}]}"#,
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"@","role":"assistant","content":"@"}]}"#,
        r#"{"type":"RUN_ERROR","message":"@","code":"@"}"#,
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":"@","usage":[{"model":"@","provider":"@"}]}"#,
    ];
    for record in records {
        // Raw C1 and direction marks as well as escaped ones; C0 has to be escaped in JSON.
        for harm in [harm, "\u{9b}2J\u{202e}\u{7f}"] {
            let mut screen = Screen::new(Colour::Plain, Detail::All);
            let shown = show(&mut screen, &[record.replace('@', harm).as_str()]);
            let bad = shown.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
            assert_eq!(bad, None, "{record}: {shown:?}");
        }
    }
}

#[test]
fn an_answer_that_comes_as_a_snapshot_only_is_shown_once() {
    let snapshot = r#"{"type":"MESSAGES_SNAPSHOT","messages":[
        {"id":"a0","role":"assistant","content":"before"},{"id":"u","role":"user","content":"hi"},
        {"id":"a1","role":"assistant","content":"said"},{"id":"a2","role":"assistant","content":"only here"}]}"#;
    let stream = [
        r#"{"type":"TEXT_MESSAGE_START","messageId":"a1"}"#,
        r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"a1","delta":"said"}"#,
        r#"{"type":"TEXT_MESSAGE_END","messageId":"a1"}"#,
        snapshot,
        snapshot,
    ];
    assert_eq!(show(&mut Screen::new(Colour::Plain, Detail::Usual), &stream), "said\nonly here\n");
}

#[test]
fn progress_is_shown_without_being_asked_for() {
    let progress = r#"{"type":"CUSTOM","name":"app.progress.v1","value":{"percent":50}}"#;
    let shown = show(&mut Screen::new(Colour::Plain, Detail::Usual), &[progress]);
    assert_eq!(shown, "· app.progress.v1 {\"percent\":50}\n");
}
