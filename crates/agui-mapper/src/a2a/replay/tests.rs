use super::*;

fn replay(texts: &[(&str, &str)]) -> Replay {
    Replay::new(texts.iter().map(|(kernel, text)| digest::shown(kernel, text)).collect(), Vec::new())
}

/// Feeds deltas of one message and gives what goes out after each, `None` being held.
fn feed(replay: &mut Replay, kernel: &str, deltas: &[&str]) -> Vec<Option<String>> {
    deltas.iter().map(|delta| replay.filter(kernel, delta).map(Cow::into_owned)).collect()
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn w42_a_whole_text_in_one_delta_is_recognised() {
    let mut it = replay(&[("m", "I will do it.")]);
    assert_eq!(feed(&mut it, "m", &["I will do it. Now.", " Done."]), [some(" Now."), some(" Done.")]);
}

#[test]
fn w42_a_text_split_in_other_places_is_recognised() {
    let mut it = replay(&[("m", "I will do it.")]);
    assert_eq!(
        feed(&mut it, "m", &["I w", "ill do", " it. After", "wards"]),
        [None, None, some(" After"), some("wards")]
    );
}

#[test]
fn w42_texts_of_several_runs_are_recognised_together() {
    let mut it = replay(&[("m", "First part. "), ("x", "other"), ("m", "Second part.")]);
    assert_eq!(feed(&mut it, "m", &["First part. Second ", "part. Third."]), [None, some(" Third.")]);
}

#[test]
fn w42_a_short_text_is_never_taken_for_a_replay() {
    for deltas in [&["OK, starting"][..], &["OK", ", starting"]] {
        let mut it = replay(&[("m", "OK")]);
        let out: String = feed(&mut it, "m", deltas).into_iter().flatten().collect();
        assert_eq!(out, "OK, starting");
    }
}

#[test]
fn w42_another_message_is_never_cut() {
    let mut it = replay(&[("m1", "I will do it.")]);
    assert_eq!(feed(&mut it, "m2", &["I will do it. Again."]), [some("I will do it. Again.")]);
}

#[test]
fn a_text_that_begins_alike_goes_out_soon_and_whole() {
    let mut it = replay(&[("m", "Let me check the zones of the region first.")]);
    let out = feed(&mut it, "m", &["Let", " me", " create", " the", " stack"]);
    assert_eq!(out, [None, None, some("Let me create"), some(" the"), some(" stack")]);
}

#[test]
fn held_text_is_given_back_when_the_message_ends_early() {
    let mut it = replay(&[("m", "Let me check the zones.")]);
    assert_eq!(feed(&mut it, "m", &["Let me"]), [None]);
    assert_eq!(it.held_message(), Some("m"));
    assert_eq!(it.release(), Some(("m".into(), "Let me".to_owned())));
    assert_eq!(feed(&mut it, "m", &[" check"]), [some(" check")]);
}

#[test]
fn multi_byte_text_is_compared_by_bytes_and_cut_between_characters() {
    let mut it = replay(&[("m", "\u{4f60}\u{597d}\u{4e16}\u{754c}")]);
    assert_eq!(
        feed(&mut it, "m", &["\u{4f60}\u{597d}", "\u{4e16}\u{754c}\u{1f600}"]),
        [None, some("\u{1f600}")]
    );
}

#[test]
fn w42_a_bare_digest_counts_for_a_whole_text_only() {
    let digest = digest::whole(b"I will do it.");
    let cases = [("I will do it.", None), ("I will do it. Now.", some("I will do it. Now."))];
    for (delta, out) in cases {
        let mut it = Replay::new(Vec::new(), vec![digest.clone()]);
        assert_eq!(feed(&mut it, "m", &[delta]), [out], "{delta}");
    }
}

#[test]
fn without_earlier_runs_nothing_is_held() {
    let mut it = Replay::default();
    assert_eq!(feed(&mut it, "m", &["a", "b"]), [some("a"), some("b")]);
}
