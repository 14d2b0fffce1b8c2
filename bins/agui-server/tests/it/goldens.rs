//! The recorded conversations, replayed through the server.
//!
//! Each trace of `fixtures/traces` holds what clients of the Python adapter sent, what that adapter asked
//! the kernel, and what the kernel answered. The server gets the same requests from the client and the same
//! answers from the kernel; what it makes of them is pinned.
//!
//! A replay is as fast as the server. What depends on the clock of the recording is not seen here: the
//! comment after 15 s of silence (`r_heartbeat`), and how long a kernel was down (`m6`, `m7`, `n5`).

mod canon;
mod changes;
mod differences;
mod explain;
mod export;
mod lines;
mod names;
mod play;
mod requests;
mod script;

use std::collections::BTreeSet;

use agui_testkit::replay::fixtures_dir;
use differences::Note;
use play::{Played, play};

/// One test a trace.
macro_rules! goldens {
    ($($name:ident)*) => {
        $(
            #[tokio::test]
            async fn $name() {
                golden(stringify!($name)).await;
            }
        )*

        /// The traces that have a test.
        const TRACES: &[&str] = &[$(stringify!($name)),*];
    };
}

goldens! {
    a_plain_text b_reasoning c_allow_once d_deny e_cancelled f1_question_selected f2_question_freetext
    f3_question_cancelled f4_question_invalid g_two_permissions h_resume_validation i_cancel
    j2_disconnect_interrupted j4_disconnect_streaming j_disconnect k_admission l_images m1_llm_400 m2_llm_500
    m4_a2a_down m5_wrong_token m6_a2a_dies m7_cancel_a2a_down n1_restart_agui n2_restart_both
    n4_kill_agui_midrun n5_a2a_state_lost n6_bad_state_file o10_pipeline_rich o12_rollback
    o14_pipeline_disconnect o15_cleanup_only o1_pipeline o2_pipeline_two o4_pipeline_restart
    o5_pipeline_guidance o6_pipeline_cancel o8_pipeline_llm_error o9_solution_first p_languages
    q2_long_synthetic q_long_output r_heartbeat s_props t_parallel_threads
}

async fn golden(name: &str) {
    let played = play(name).await;
    export::export(name, &played);
    insta::assert_snapshot!(name, lines::document(&played));
    check_requests(name, &played);
    check_differences(name, &played);
}

/// What the kernel was asked is what it was asked in the recording, but for the deviations with a reason.
fn check_requests(name: &str, played: &Played) {
    assert_eq!(played.problems, [], "the recording went on without something");
    let (unexplained, reasons) = requests::compare(name, played);
    assert!(unexplained.is_empty(), "{name}:\n{}", unexplained.join("\n"));
    assert_eq!(reasons, requests::given(name), "{name}: reasons that hold, and that are given");
    for kind in &played.unmatched {
        assert!(requests::is_known_addition(name, kind), "{name}: the recording has no (more) {kind}");
    }
    played.requests.iter().for_each(requests::check);
}

/// What clients got is what they got in the recording, but for the documented differences.
fn check_differences(name: &str, played: &Played) {
    let (mut notes, mut unexplained) = (BTreeSet::new(), Vec::new());
    for (recorded, outcome) in played.script.recorded.iter().zip(&played.outcomes) {
        let ours = canon::ours(outcome, &played.workspace);
        let (more_notes, left) = differences::compare(name, &canon::recorded(recorded), &ours);
        notes.extend(more_notes.into_iter().map(|note| note.as_str().to_owned()));
        let run = recorded.json()["runId"].as_str().unwrap_or(&recorded.path).to_owned();
        unexplained.extend(left.iter().map(|change| format!("{run}: {change}")));
    }
    assert!(unexplained.is_empty(), "{name}: differences without an entry:\n{}", unexplained.join("\n"));
    let documented = differences::documented().into_iter().filter(|(_, traces)| traces.contains(name));
    let documented: BTreeSet<String> = documented.map(|(kind, _)| kind).collect();
    assert_eq!(notes, documented, "{name}: kinds of difference that were met, and that are documented");
}

#[test]
fn every_recorded_trace_has_a_test() {
    let mut names: Vec<String> = std::fs::read_dir(fixtures_dir())
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    let mut traces = TRACES.to_vec();
    traces.sort_unstable();
    assert_eq!(traces, names);
}

#[test]
fn every_kind_of_difference_is_explained_once_with_traces_that_exist() {
    let documented = differences::documented();
    let kinds: Vec<&str> = documented.keys().map(String::as_str).collect();
    let known: Vec<&str> = Note::ALL.iter().map(|note| note.as_str()).collect();
    assert_eq!(kinds, known);
    for (kind, traces) in &documented {
        assert!(!traces.is_empty(), "{kind}");
        for trace in traces {
            assert!(TRACES.contains(&trace.as_str()), "{kind}: {trace}");
        }
    }
}
