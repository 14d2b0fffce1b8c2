//! A kernel that misbehaves: one stream, one ending, whatever comes (cases D).

mod calls;
mod cuts;
mod ends;
mod frames;

use agui_testkit::client::Recording;
use agui_testkit::faulty::{Script, Step};

use crate::stack::{error_code, last, outcome};
use crate::upstream::{CANCEL, Rig, SEND};

/// What a kernel does, how the run ends then, and how often its task has to be cancelled.
struct Case {
    what: &'static str,
    script: Script,
    end: End,
    cancels: usize,
}

/// How a run ends.
#[derive(Debug, PartialEq, Eq)]
enum End {
    /// The text that was shown.
    Success(&'static str),
    /// Code and a piece of the message.
    Error(&'static str, &'static str),
}

fn case(what: &'static str, steps: impl Into<Vec<Step>>, end: End, cancels: usize) -> Case {
    Case { what, script: Script::new().on(SEND, steps), end, cancels }
}

/// Plays each case on a thread of its own; afterwards a good kernel can go on with every thread.
async fn check(flags: &[&str], cases: Vec<Case>) {
    let rig = Rig::start_with(Script::new(), flags).await;
    for (at, case) in cases.iter().enumerate() {
        let before = rig.count(CANCEL);
        rig.play(case.script.clone());
        let run = rig.say(&format!("t{at}"), "r1").await;
        check_end(case.what, &run, &case.end);
        assert_eq!(rig.count(CANCEL) - before, case.cancels, "{}: cancels", case.what);
        rig.kernel.connections().wait_open(0).await.unwrap();
    }
    let cancels = rig.count(CANCEL);
    rig.play(Script::new().always(SEND, Step::good_turn("fine")));
    for (at, case) in cases.iter().enumerate() {
        let run = rig.say(&format!("t{at}"), "r2").await;
        assert_eq!(outcome(&run), "success", "after {}", case.what);
    }
    assert_eq!(rig.count(CANCEL), cancels, "nothing is left to cancel");
}

fn check_end(what: &str, run: &Recording, end: &End) {
    match end {
        End::Success(text) => {
            assert_eq!(outcome(run), "success", "{what}");
            assert_eq!(shown(run), *text, "{what}");
        }
        End::Error(code, words) => {
            assert_eq!(error_code(run), *code, "{what}");
            let message = last(run)["message"].as_str().unwrap();
            assert!(message.contains(words), "{what}: {message}");
        }
    }
}

fn shown(run: &Recording) -> String {
    run.text("TEXT_MESSAGE_CONTENT")
}

fn unavailable(words: &'static str) -> End {
    End::Error("A2A_UNAVAILABLE", words)
}
