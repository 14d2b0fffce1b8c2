//! What the kernel was asked, next to what the recorded adapter asked it.

use std::collections::BTreeSet;

use agui_testkit::LoggedRequest;
use agui_testkit::replay::Trace;
use serde_json::{Value, json};

use super::canon::Item;
use super::changes::{self, Change};
use super::play::{KERNEL_TOKEN, Played};
use super::script::RECORDED_WORKSPACE;

const RESTORE: &str = "POST /iac-code/session/ensure-restored";
const STATE: &str = "GET /iac-code/pipeline/state";

/// Requests that only one of the two makes at that place, and why.
struct Deviation {
    traces: &'static [&'static str],
    by: By,
    kinds: &'static [&'static str],
    reason: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Us,
    Them,
    /// At another place than the other.
    Either,
}

const DEVIATIONS: &[Deviation] = &[
    Deviation {
        traces: &[
            "f4_question_invalid",
            "h_resume_validation",
            "k_admission",
            "n1_restart_agui",
            "p_languages",
        ],
        by: By::Them,
        kinds: &[RESTORE, "GetTask", STATE],
        reason: "answers that do not fit are refused before the kernel is asked (S8.5)",
    },
    Deviation {
        traces: &["f3_question_cancelled"],
        by: By::Them,
        kinds: &[RESTORE, "GetTask", STATE],
        reason: "a question that is given up together with its task needs no restored session",
    },
    Deviation {
        traces: &[
            "o10_pipeline_rich",
            "o12_rollback",
            "o15_cleanup_only",
            "o1_pipeline",
            "o2_pipeline_two",
            "o4_pipeline_restart",
        ],
        by: By::Either,
        kinds: &["SubscribeToTask", STATE],
        reason: "what was missed is read before the stream is followed, not when the run ends (weakness 41)",
    },
    Deviation {
        traces: &["o9_solution_first"],
        by: By::Them,
        kinds: &[STATE],
        reason: "nothing was missed, so nothing is read when the run ends (weakness 41)",
    },
    Deviation {
        traces: &["o2_pipeline_two"],
        by: By::Either,
        kinds: &["SendMessage", "GetTask"],
        reason: "the answer to the one question that was shown is sent at once, not one run later (weakness 40)",
    },
    Deviation {
        traces: &["j4_disconnect_streaming", "o14_pipeline_disconnect"],
        by: By::Us,
        kinds: &["CancelTask"],
        reason: "a disconnect cancels the task (S12.2, weakness 1)",
    },
    Deviation {
        traces: &["o14_pipeline_disconnect"],
        by: By::Us,
        kinds: &["GetTask"],
        reason: "a stream that ends while the task works on does not tell its end: the kernel is asked",
    },
    Deviation {
        traces: &["m6_a2a_dies"],
        by: By::Us,
        kinds: &["GetTask", "CancelTask"],
        reason: "the kernel is asked what became of the task; the next run cancels what is left (weakness 6)",
    },
    Deviation {
        traces: &["n5_a2a_state_lost"],
        by: By::Us,
        kinds: &["GetTask"],
        reason: "a session that is refused is lost only if its task is gone, too: the kernel is asked",
    },
    Deviation {
        traces: &["n5_a2a_state_lost"],
        by: By::Us,
        kinds: &["SendStreamingMessage"],
        reason: "a thread whose session is lost takes the next message (case C07)",
    },
    Deviation {
        traces: &["l_images", "s_props"],
        by: By::Them,
        kinds: &["SendStreamingMessage"],
        reason: "a message that cannot be used is refused before it is sent (S2.11, S2.12)",
    },
];

impl Deviation {
    fn covers(&self, trace: &str, ours: bool, kind: &str) -> bool {
        let by = self.by == By::Either || ours == (self.by == By::Us);
        by && self.traces.contains(&trace) && self.kinds.contains(&kind)
    }
}

/// Requests that mean the same in other words, and why.
struct Rewording {
    trace: &'static str,
    reason: &'static str,
    same: fn(&Change, &Change) -> bool,
}

const REWORDINGS: &[Rewording] = &[
    Rewording {
        trace: "o10_pipeline_rich",
        reason: "rich presentation has another name at the kernel (S3.0, weakness 31)",
        same: |theirs, mine| {
            let name = "/body/params/message/metadata/iac_code/candidatePresentation";
            let renamed = theirs.text(name) == "rich" && mine.text(name) == "rich-v1";
            renamed && theirs.without(&[name]) == mine.without(&[name])
        },
    },
    Rewording {
        trace: "s_props",
        reason: "properties are passed on as the client wrote them, blanks and regions of languages too",
        same: |theirs, mine| {
            let mut tidy = mine.item.clone();
            tidy.value.pointer_mut("/body/params/message/metadata/iac_code").map(tidied);
            theirs.item == tidy
        },
    },
    Rewording {
        trace: "l_images",
        reason: "images are scaled down by another encoder",
        same: |theirs, mine| {
            let bytes = "/body/params/message/parts/0/data/bytes";
            let thread = theirs.text("/body/params/message/metadata/iac_code/rosInvocationId");
            thread == "inv-thread-l-large" && theirs.without(&[bytes]) == mine.without(&[bytes])
        },
    },
];

/// Properties as the recorded adapter would have written them.
fn tidied(properties: &mut Value) {
    let Value::Object(members) = properties else { return };
    for (name, value) in members.iter_mut() {
        if let Value::String(text) = value {
            let kept = if name == "preferredLanguage" { text.split('-').next() } else { Some(text.trim()) };
            *text = kept.unwrap_or_default().to_owned();
        }
        tidied(value);
    }
    members.retain(|_, value| value != "");
}

/// The requests that only one of the two made without a reason; and the reasons that hold here.
pub(super) fn compare(trace: &str, played: &Played) -> (Vec<String>, BTreeSet<&'static str>) {
    let recorded = Trace::fixture(trace).unwrap();
    let theirs: Vec<Item> = recorded.exchanges.iter().map(|exchange| item(&exchange.request, "")).collect();
    let ours: Vec<Item> = played.requests.iter().map(|request| item(request, &played.workspace)).collect();
    let mut changes = changes::between(&theirs, &ours);
    let mut reasons = BTreeSet::new();
    for rewording in REWORDINGS.iter().filter(|rewording| rewording.trace == trace) {
        while let Some((recorded, ours)) = changes::pair(&changes, rewording.same) {
            changes.remove(recorded.max(ours));
            changes.remove(recorded.min(ours));
            reasons.insert(rewording.reason);
        }
    }
    changes.retain(|change| {
        let mut deviations = DEVIATIONS.iter();
        let deviation = deviations.find(|deviation| deviation.covers(trace, change.added, &change.item.kind));
        reasons.extend(deviation.map(|deviation| deviation.reason));
        deviation.is_none()
    });
    (changes.iter().map(ToString::to_string).collect(), reasons)
}

/// Every reason that is given for this trace.
pub(super) fn given(trace: &str) -> BTreeSet<&'static str> {
    let deviations = DEVIATIONS.iter().filter(|deviation| deviation.traces.contains(&trace));
    let rewordings = REWORDINGS.iter().filter(|rewording| rewording.trace == trace);
    deviations.map(|deviation| deviation.reason).chain(rewordings.map(|rewording| rewording.reason)).collect()
}

/// Whether ours makes such requests where the recorded adapter made none.
pub(super) fn is_known_addition(trace: &str, kind: &str) -> bool {
    DEVIATIONS.iter().any(|deviation| deviation.covers(trace, true, kind))
}

/// Checks what every request has to say.
pub(super) fn check(request: &LoggedRequest) {
    assert_eq!(request.header("a2a-version"), Some("1.0"), "{}", request.kind());
    let authorization = format!("Bearer {KERNEL_TOKEN}");
    assert_eq!(request.header("authorization"), Some(authorization.as_str()), "{}", request.kind());
}

/// A request without what every adapter chooses by itself.
pub(super) fn item(request: &LoggedRequest, workspace: &str) -> Item {
    let text = request.json.to_string();
    let text = if workspace.is_empty() { text } else { text.replace(workspace, RECORDED_WORKSPACE) };
    let mut value: Value = serde_json::from_str(&text).unwrap();
    if let Some(members) = value.as_object_mut() {
        members.remove("id");
        members.remove("jsonrpc");
        members.remove("method");
    }
    if let Some(message) = value.pointer_mut("/params/message") {
        // Both are derived from the run and the question, in different ways.
        if message["messageId"].as_str().unwrap().starts_with("agui-resume-") {
            message["messageId"] = json!("agui-resume");
        }
        properties(&mut message["metadata"]["iac_code"]);
    }
    let query = request.target.split_once('?').map(|(_, query)| query.split('&').collect::<BTreeSet<_>>());
    let value = match query {
        Some(query) => json!({ "query": query }),
        None => json!({ "body": value }),
    };
    Item { kind: request.kind(), value }
}

/// Hides what the recording hides, and what the recorded adapter says without being asked (weakness 36).
fn properties(properties: &mut Value) {
    let members = properties.as_object_mut().unwrap();
    members.retain(|name, value| match name.as_str() {
        "preferredLanguage" => value != "en",
        "cleanupOnly" => value != false,
        _ => true,
    });
    for secret in [
        "alibaba_cloud_access_key_id",
        "alibaba_cloud_access_key_secret",
        "alibaba_cloud_security_token",
        "iac_code_api_key",
        "llm_headers",
    ] {
        if let Some(value) = members.get_mut(secret).filter(|value| **value != "") {
            *value = json!("[REDACTED]");
        }
    }
}
