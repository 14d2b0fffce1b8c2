use super::*;

fn replay(texts: &[(&str, &str)]) -> Replay {
    Replay::new(texts.iter().map(|(kernel, text)| digest::shown(kernel, text)).collect(), Vec::new())
}

/// Feeds deltas of one message and gives what is shown after each, joined by `|`.
fn feed(replay: &mut Replay, kernel: &str, deltas: &[&str]) -> Vec<String> {
    let shown = deltas.iter().map(|delta| match replay.filter(kernel, delta) {
        Filtered::Show(text) => text.to_owned(),
        Filtered::Nothing => String::new(),
        Filtered::ShowHeld(pieces) => pieces.join("|"),
    });
    shown.collect()
}

#[test]
fn w42_a_whole_text_in_one_delta_is_recognised() {
    let mut it = replay(&[("m", "I will do it.")]);
    assert_eq!(feed(&mut it, "m", &["I will do it. Now.", " Done."]), [" Now.", " Done."]);
}

#[test]
fn w42_a_text_split_in_other_places_is_recognised() {
    let mut it = replay(&[("m", "I will do it.")]);
    assert_eq!(feed(&mut it, "m", &["I w", "ill do", " it. After", "wards"]), ["", "", " After", "wards"]);
}

#[test]
fn w42_texts_of_several_runs_are_recognised_together() {
    let mut it = replay(&[("m", "First part. "), ("x", "other"), ("m", "Second part.")]);
    assert_eq!(feed(&mut it, "m", &["First part. Second ", "part. Third."]), ["", " Third."]);
}

#[test]
fn w42_a_short_text_is_never_taken_for_a_replay() {
    for deltas in [&["OK, starting"][..], &["OK", ", starting"]] {
        let mut it = replay(&[("m", "OK")]);
        let out = feed(&mut it, "m", deltas).concat().replace('|', "");
        assert_eq!(out, "OK, starting");
    }
}

#[test]
fn w42_another_message_is_never_cut() {
    let mut it = replay(&[("m1", "I will do it.")]);
    assert_eq!(feed(&mut it, "m2", &["I will do it. Again."]), ["I will do it. Again."]);
}

#[test]
fn a_text_that_begins_alike_goes_out_soon_and_whole() {
    let mut it = replay(&[("m", "Let me check the zones of the region first.")]);
    let out = feed(&mut it, "m", &["Let", " me", " create", " the", " stack"]);
    assert_eq!(out, ["", "", "", "Let| me| create| the", " stack"]);
}

#[test]
fn held_text_is_given_back_when_the_message_ends_early() {
    let mut it = replay(&[("m", "Let me check the zones.")]);
    assert_eq!(feed(&mut it, "m", &["Let me"]), [""]);
    assert_eq!(it.held_message(), Some("m"));
    assert_eq!(it.release(), Some(("m".into(), vec!["Let me".to_owned()])));
    assert_eq!(feed(&mut it, "m", &[" check"]), [" check"]);
}

#[test]
fn multi_byte_text_is_compared_by_bytes_and_cut_between_characters() {
    let mut it = replay(&[("m", "\u{4f60}\u{597d}\u{4e16}\u{754c}")]);
    assert_eq!(feed(&mut it, "m", &["\u{4f60}\u{597d}", "\u{4e16}\u{754c}\u{1f600}"]), ["", "\u{1f600}"]);
}

#[test]
fn w42_a_bare_digest_counts_for_a_whole_text_only() {
    let digest = digest::whole(b"I will do it.");
    let cases = [("I will do it.", ""), ("I will do it. Now.", "I will do it. Now.")];
    for (delta, out) in cases {
        let mut it = Replay::new(Vec::new(), vec![digest.clone()]);
        assert_eq!(feed(&mut it, "m", &[delta]), [out], "{delta}");
    }
}

#[test]
fn without_earlier_runs_nothing_is_held() {
    let mut it = Replay::default();
    assert_eq!(feed(&mut it, "m", &["a", "b"]), ["a", "b"]);
}
