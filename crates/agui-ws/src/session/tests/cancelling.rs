use super::*;

fn order(bench: &mut Bench) -> CancelOrder {
    match bench.actions().pop() {
        Some(Action::Cancel(order)) => *order,
        other => panic!("{other:?}"),
    }
}

fn cancelled() -> Result<Json, Option<Problem>> {
    Ok(Json::from_string(r#"{"status":"cancelled"}"#.to_owned()).unwrap())
}

#[test]
fn without_a_control_the_run_is_dropped_and_ended_at_once() {
    for message in [
        r#"{"type":"cancel"}"#,
        r#"{"type":"cancel","runId":"r1"}"#,
        r#"{"type":"cancel","runId":"r1","threadId":"t","executionId":"e","rosInvocationId":"i"}"#,
    ] {
        let mut bench = Bench::new(WsConfig::new());
        bench.run("t", "r1");
        bench.give(opening("t", "r1"));
        bench.sent();
        bench.give([text("never sent")]);
        bench.receive(message);
        bench.receive(message);
        assert!(!bench.session.wants_events(bench.now));
        let error = r#"{"type":"RUN_ERROR","message":"The execution was cancelled.","code":"CANCELLED"}"#;
        assert_eq!(bench.sent(), [ENDING[0], error]);
        assert_eq!(bench.acts(), ["start r1", "stop r1 3 cancelled"]);
        bench.run("t", "r2");
        assert_eq!(bench.acts(), ["start r2"]);
    }
}

#[test]
fn a_cancel_before_the_agent_answers_refuses_the_run() {
    let mut bench = Bench::new(WsConfig::new());
    bench.receive(&input("t", "r1"));
    bench.receive(r#"{"type":"cancel","runId":"r1"}"#);
    let refusal = r#"{"type":"RUN_ERROR","message":"The execution was cancelled.","code":"CANCELLED","threadId":"t","runId":"r1","metadata":{"refusal":true}}"#;
    assert_eq!(bench.sent(), [refusal]);
    assert_eq!(bench.acts(), ["start r1", "stop r1 0 cancelled"]);
}

#[test]
fn a_cancel_of_another_run_is_answered_inside_the_open_one() {
    let mut bench = Bench::new(WsConfig::new());
    bench.run("t", "r1");
    bench.receive(r#"{"type":"cancel","runId":"r9","executionId":"e"}"#);
    assert_eq!(bench.sent(), [""; 0], "nothing may come before RUN_STARTED");
    bench.give(opening("t", "r1"));
    let answer = r#"{"type":"CUSTOM","name":"agui.cancel.v1","value":{"runId":"r9","executionId":"e","error":{"code":"EXECUTION_NOT_FOUND","message":"The execution was not found."}}}"#;
    assert_eq!(bench.sent(), [OPENING[0], answer, OPENING[1], OPENING[2]]);
    assert_eq!(bench.acts(), ["start r1"]);
}

#[test]
fn a_cancel_where_nothing_runs_is_refused() {
    let mut bench = Bench::new(WsConfig::new());
    bench.receive(r#"{"type":"cancel","runId":"r9"}"#);
    let refusal = r#"{"type":"RUN_ERROR","message":"The execution was not found.","code":"EXECUTION_NOT_FOUND","runId":"r9","metadata":{"refusal":true}}"#;
    assert_eq!(bench.sent(), [refusal]);
}

#[test]
fn a_control_gets_the_message_and_the_run_that_is_open() {
    let mut bench = Bench::new(WsConfig::new());
    bench.run("t", "r1");
    bench.receive_for(r#"{"type":"cancel","executionId":"e","rosInvocationId":"i"}"#, CancelBy::Control);
    let order = order(&mut bench);
    assert_eq!(order.of_run, Some(1));
    assert_eq!(order.message.open_run, Some(OpenRun::new("t", "r1")));
    bench.give(opening("t", "r1"));
    bench.sent();
    bench.session.handle_cancelled(order, cancelled());
    let answer = r#"{"type":"CUSTOM","name":"agui.cancel.v1","value":{"executionId":"e","result":{"status":"cancelled"}}}"#;
    assert_eq!(bench.sent(), [answer]);
    assert!(bench.session.wants_events(bench.now), "the agent ends the run in its own words");
}

#[test]
fn a_control_that_fails_is_told_inside_the_run() {
    let mut bench = Bench::new(WsConfig::new());
    bench.run("t", "r1");
    bench.give(opening("t", "r1"));
    bench.sent();
    bench.receive_for(r#"{"type":"cancel"}"#, CancelBy::Control);
    let first = order(&mut bench);
    bench.receive_for(r#"{"type":"cancel"}"#, CancelBy::Control);
    let second = order(&mut bench);
    bench.session.handle_cancelled(first, Err(Some(Problem::new(503, "A2A_UNAVAILABLE", "Not now."))));
    bench.session.handle_cancelled(second, Err(None));
    let answer = |code: &str, message: &str| {
        format!(
            r#"{{"type":"CUSTOM","name":"agui.cancel.v1","value":{{"error":{{"code":"{code}","message":"{message}"}}}}}}"#
        )
    };
    let broke_off = answer("INTERNAL_ERROR", "An internal error occurred.");
    assert_eq!(bench.sent(), [answer("A2A_UNAVAILABLE", "Not now."), broke_off]);
}

#[test]
fn the_end_of_the_run_answers_a_cancel_that_comes_later() {
    for outcome in [cancelled(), Err(None)] {
        let mut bench = Bench::new(WsConfig::new());
        bench.run("t", "r1");
        bench.receive_for(r#"{"type":"cancel","runId":"r1"}"#, CancelBy::Control);
        let order = order(&mut bench);
        bench.give([RunStarted::new("t", "r1").into(), RunFinished::new("t", "r1").into()]);
        bench.sent();
        bench.session.handle_cancelled(order, outcome);
        assert_eq!(bench.sent(), [""; 0]);
    }
}

#[test]
fn a_cancel_of_no_run_here_is_answered_in_a_run_of_its_own() {
    let table = [
        (
            r#"{"type":"cancel","executionId":"e","threadId":"t9"}"#,
            "t9",
            r#""threadId":"t9","executionId":"e""#,
        ),
        (r#"{"type":"cancel","executionId":"e"}"#, "cancel", r#""executionId":"e""#),
    ];
    for (message, thread, named) in table {
        let mut bench = Bench::new(WsConfig::new());
        bench.receive_for(message, CancelBy::Control);
        let order = order(&mut bench);
        assert_eq!((order.of_run, &order.message.open_run), (None, &None));
        bench.session.handle_cancelled(order, cancelled());
        assert_eq!(
            bench.sent(),
            [
                format!(r#"{{"type":"RUN_STARTED","threadId":"{thread}","runId":"cancel-1"}}"#),
                format!(
                    r#"{{"type":"CUSTOM","name":"agui.cancel.v1","value":{{{named},"result":{{"status":"cancelled"}}}}}}"#
                ),
                format!(r#"{{"type":"RUN_FINISHED","threadId":"{thread}","runId":"cancel-1"}}"#),
            ]
        );
    }
}
