//! The recorded conversations, replayed through the server.
//!
//! Each trace of `fixtures/traces` holds what clients of the Python adapter sent, what that adapter asked
//! the kernel, and what the kernel answered. The server gets the same requests from the client and the same
//! answers from the kernel; what it makes of them is pinned.

mod canon;
mod changes;
mod differences;
mod explain;
mod lines;
mod names;
mod play;
mod requests;
mod script;

use std::collections::BTreeSet;

use play::play;

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
    insta::assert_snapshot!(name, lines::document(&played));
    let (mut notes, mut unexplained) = (BTreeSet::new(), Vec::new());
    for (recorded, outcome) in played.script.recorded.iter().zip(&played.outcomes) {
        let ours = canon::ours(outcome, &played.workspace);
        let (more_notes, left) = differences::compare(name, &canon::recorded(recorded), &ours);
        notes.extend(more_notes.into_iter().map(|note| note.as_str().to_owned()));
        let run = recorded.json()["runId"].as_str().unwrap_or(&recorded.path).to_owned();
        unexplained.extend(left.iter().map(|change| format!("{run}: {change}")));
    }
    for line in requests::compare(name, &played) { println!("%% {name} {line}"); }
    println!("%% {name} {:?} {:?}", played.problems, played.unmatched);
    for r in &played.requests { println!("## {name} {} {}", r.kind(), r.target); }
    println!("@@ {name} {notes:?}");
    for line in &unexplained { println!("@@ {name} {line}"); }
}
