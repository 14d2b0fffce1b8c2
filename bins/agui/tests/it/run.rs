//! `agui run`, with input and output that are no terminal.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::program::{Finished, agui, agui_with_input, command};
use crate::testbed::Testbed;

fn run(bed: &Testbed, rest: &[&str], input: &str) -> Finished {
    let url = bed.url();
    agui_with_input(&[&["run", &url], rest].concat(), input)
}

fn events(out: &str) -> Vec<Value> {
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_run_is_shown_as_it_goes() {
    let bed = Testbed::start();
    let shown = run(&bed, &["hello there", "--thread", "t-1"], "");
    assert_eq!(shown.err, "");
    assert_eq!(
        shown.out,
        "▸ look\nLet me see.\n→ read_file({\"path\":\"a.txt\"})\n← read_file: hello\n✓ look\nYou said hello.\n\
         tokens: in 12, out 3 (big)\n"
    );
    assert_eq!(shown.code, 0);
    let input = &bed.inputs()[0];
    assert_eq!((&input["threadId"], &input["protocolVersion"]), (&json!("t-1"), &json!("1.0")));
}

#[test]
fn the_exit_code_tells_how_it_ended() {
    let bed = Testbed::start();
    let cases = [
        ("hello", 0, ""),
        ("fail", 1, ""),
        ("cut", 1, ""),
        ("cancel", 4, ""),
        ("ask", 3, "agui: interrupt q-1 waits for an answer: --thread T --answer q-1=JSON\n"),
        (
            "refuse",
            2,
            "agui: agent refused the run with status 409 (THREAD_BUSY: Somebody else is talking.)\n",
        ),
    ];
    for (word, code, err) in cases {
        let ended = run(&bed, &[word, "--no-input", "--thread", "T"], "");
        assert_eq!((ended.code, ended.err.as_str()), (code, err), "{word}: {}", ended.out);
    }
    let gone = agui(&["run", "http://127.0.0.1:1/", "hello"]);
    assert_eq!(gone.code, 2);
    assert!(gone.err.starts_with("agui: agent cannot be reached: "), "{}", gone.err);
    assert_eq!(agui(&["run", &bed.url()]).code, 2, "nothing to say");
    assert_eq!(agui(&["run", &bed.url(), "x", "--state", "{"]).code, 2);
    assert_eq!(agui(&["walk"]).code, 2);
}

#[test]
fn a_form_asks_until_the_answer_fits_its_schema() {
    let bed = Testbed::start();
    let shown = run(&bed, &["ask"], "3\n2\nx\nshop\nmany\n3\ny\n2,1\n");
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let size = "Size:\n  1) small\n  2) large\nchoice: ";
    let count = "count (whole number, empty for 1): ";
    let begin = format!(
        "? What shall I build?\n  [q-1, input_required]\n{size}3\n! a number from 1 to 2\n\
         {size}2\nname: x\n! \"x\" is shorter than 2 characters\nname: shop\n{count}many\n! a whole number\n\
         {count}3\nbackup (y/n, empty for none): y\nzones:\n  1) a\n  2) b\n\
         choice (numbers with commas, empty for none): 2,1\n"
    );
    let answer = json!({"size": "large", "name": "shop", "count": 3, "backup": true, "zones": ["b", "a"]});
    let resumed = bed.inputs().pop().unwrap();
    assert_eq!(resumed["resume"], json!([{"interruptId": "q-1", "status": "resolved", "payload": answer}]));
    assert_eq!(shown.out, format!("{begin}answer: resolved {answer}\n"));
}

#[test]
fn a_question_can_be_left() {
    let bed = Testbed::start();
    let shown = run(&bed, &["ask"], "/cancel\n");
    assert_eq!(shown.code, 0);
    assert!(shown.out.ends_with("answer: cancelled nothing\n"), "{}", shown.out);
    let shown = run(&bed, &["ask"], "1\n");
    assert_eq!(shown.code, 3, "the input has ended: {}", shown.out);
}

#[test]
fn a_secret_from_a_pipe_is_not_repeated() {
    let bed = Testbed::start();
    let begin = "? Who are you?\n  [vault, input_required]\nuser: me\ncode (hidden): \n\
         ! value is shorter than 4 characters\ncode (hidden): \nnote (empty for none): \ntaken\n";
    let shown = run(&bed, &["vault"], "me\ns3c\ns3cr3t-code\n\n");
    assert_eq!((shown.code, shown.out.as_str(), shown.err.as_str()), (0, begin, ""));
    let shown = run(&bed, &["vault"], "/json {\"user\":\"me\",\"code\":\"s3cr3t-code\"}\n");
    assert_eq!(shown.out, "? Who are you?\n  [vault, input_required]\nuser: \ntaken\n");
    let shown = run(&bed, &["vault"], "/json {\"user\":7,\"code\":\"s3cr3t-code\"}\n");
    assert!(shown.code == 3 && !shown.out.contains("s3cr3t-code"), "{}", shown.out);
}

#[test]
fn the_binary_encoding_shows_the_same() {
    let bed = Testbed::start();
    let text = run(&bed, &["hello"], "");
    assert_eq!(bed.header("accept").as_deref(), Some("text/event-stream"));
    let binary = run(&bed, &["hello", "--encoding", "binary"], "");
    let accept = bed.header("accept");
    assert!(accept.is_some_and(|accept| accept.starts_with("application/vnd.ag-ui.event+proto")));
    assert_eq!((binary.code, binary.out), (0, text.out));
    assert_eq!(run(&bed, &["cut", "--encoding", "binary"], "").code, 1);
}

#[test]
fn a_warning_is_one_line_whatever_the_agent_says() {
    let bed = Testbed::start();
    let ended = run(&bed, &["lie"], "");
    let expected = "agui: agent refused the run with status 403 \
         (NO WAY: no agui: 5 events recorded  ␛[2Jdone\u{fffd}twice)\n";
    assert_eq!((ended.code, ended.err.as_str()), (2, expected));
}

#[test]
fn scripts_get_json_lines_and_give_answers() {
    let bed = Testbed::start();
    let answer = r#"q-1={"size":"small","name":"db","count":2}"#;
    let ended = run(&bed, &["ask", "--json", "--answer", answer], "");
    assert_eq!((ended.code, ended.err.as_str()), (0, ""));
    let types: Vec<Value> = events(&ended.out).iter().map(|event| event["type"].clone()).collect();
    let expected = [
        "RUN_STARTED",
        "RUN_FINISHED",
        "RUN_STARTED",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
        "RUN_FINISHED",
    ];
    assert_eq!(types, expected);

    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("answers.json");
    std::fs::write(&file, r#"{"input_required": {"size": "small", "name": "db", "count": 2}}"#).unwrap();
    let ended = run(&bed, &["ask", "--answers", file.to_str().unwrap()], "");
    assert_eq!(ended.code, 0, "{}", ended.err);
}

#[test]
fn a_later_process_answers_what_an_earlier_one_was_asked() {
    let bed = Testbed::start();
    let asked = run(&bed, &["ask", "--json", "--thread", "T"], "");
    assert_eq!(asked.code, 3);
    let interrupt = events(&asked.out).pop().unwrap()["outcome"]["interrupts"][0].clone();
    assert_eq!(interrupt["id"], "q-1");
    let answered = run(&bed, &["--thread", "T", "--answer", "q-1=cancel"], "");
    assert_eq!((answered.code, answered.out.as_str()), (0, "answer: cancelled nothing\n"));
}

#[test]
fn an_answer_that_the_agent_does_not_take_is_not_sent_again() {
    let bed = Testbed::start();
    let ended = run(&bed, &["--thread", "T", "--answer", "deaf=1", "--no-input"], "");
    assert_eq!(
        (ended.code, ended.err.as_str()),
        (3, "agui: interrupt deaf waits for an answer: --thread T --answer deaf=JSON\n")
    );
    assert_eq!(bed.inputs().len(), 1);
}

#[test]
fn tools_of_the_user_are_asked_for_their_results() {
    let bed = Testbed::start();
    let tools = r#"[{"name":"add","description":"adds","parameters":{"type":"array"}}]"#;
    let ended = run(&bed, &["add", "--tools", tools], "3\n");
    assert_eq!((ended.code, ended.out.as_str()), (0, "→ add([1,2])\n? result of add: 3\nsum: 3\n"));
    let ended = run(&bed, &["add", "--tools", tools, "--answer", "add=3"], "");
    assert_eq!((ended.code, ended.out.as_str()), (0, "→ add([1,2])\nsum: 3\n"));
    assert_eq!(run(&bed, &["add", "--tools", tools, "--json"], "").code, 3);
    assert_eq!(bed.inputs()[0]["tools"][0]["name"], "add");
}

#[test]
fn nothing_that_an_agent_sends_controls_the_terminal() {
    let bed = Testbed::start();
    for flags in [&["evil"][..], &["evil", "--json"]] {
        let shown = run(&bed, flags, "");
        let harmful = |c: &char| c.is_control() && *c != '\n';
        assert_eq!(shown.out.chars().find(harmful), None, "{:?}", shown.out);
        assert_eq!(shown.err.chars().find(harmful), None, "{:?}", shown.err);
        assert!(shown.out.contains("owned") && shown.out.contains("failed"));
        assert_eq!(shown.code, 1);
    }
}

#[test]
fn requests_carry_what_the_flags_say() {
    let bed = Testbed::start();
    let dir = tempfile::tempdir().unwrap();
    let image = dir.path().join("a.png");
    std::fs::write(&image, b"\x89PNG\r\n\x1a\nrest").unwrap();
    let props = dir.path().join("props.json");
    std::fs::write(&props, r#"{"app":{"n":1.50}}"#).unwrap();
    let props = format!("@{}", props.display());
    let url = bed.url();
    let arguments = [
        "run",
        &url,
        "-",
        "--attach",
        image.to_str().unwrap(),
        "--props",
        &props,
        "--state",
        "{\"a\":1}",
        "--header",
        "x-tenant: acme",
        "--bearer-env",
        "TEST_TOKEN",
        "--legacy",
    ];
    let mut started = command(&arguments);
    started.env("TEST_TOKEN", "t0ken").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = started.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"hello").unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    let input = &bed.inputs()[0];
    let content = json!([{"type": "text", "text": "hello"},
        {"type": "image", "source": {"type": "data", "value": "iVBORw0KGgpyZXN0", "mimeType": "image/png"}}]);
    assert_eq!(input["messages"][0]["content"], content);
    assert_eq!((&input["forwardedProps"], &input["state"]), (&json!({"app": {"n": 1.5}}), &json!({"a": 1})));
    assert_eq!(input.get("protocolVersion"), None);
    assert_eq!(bed.header("x-tenant").as_deref(), Some("acme"));
}
