//! JSON pointers into the run input as the client sent it.

use agui_core::Skipped;

/// Pointers to the newest user message: decoding left out what nobody knows, so places have shifted.
#[derive(Debug)]
pub(super) struct Pointers {
    message: usize,
    /// Places of the parts that were left out, ascending.
    skipped_parts: Vec<usize>,
}

impl Pointers {
    /// `at` is the place of the message among those that were decoded.
    pub(super) fn new(skipped: &[Skipped], at: usize) -> Self {
        let message = original(places(skipped, "/messages/"), at);
        let skipped_parts = places(skipped, &format!("/messages/{message}/content/"));
        Self { message, skipped_parts }
    }

    pub(super) fn content(&self) -> String {
        format!("/messages/{}/content", self.message)
    }

    /// `at` is the place of the part among those that were decoded.
    pub(super) fn part(&self, at: usize) -> String {
        format!("{}/{}", self.content(), original(self.skipped_parts.clone(), at))
    }
}

/// The places in the list at `prefix` that were left out, ascending.
fn places(skipped: &[Skipped], prefix: &str) -> Vec<usize> {
    let rests = skipped.iter().filter_map(|skipped| skipped.pointer.strip_prefix(prefix));
    let mut places: Vec<usize> = rests.filter_map(|rest| rest.parse().ok()).collect();
    places.sort_unstable();
    places
}

/// The place that an element had before others were left out.
fn original(skipped: Vec<usize>, at: usize) -> usize {
    skipped.into_iter().fold(at, |at, place| if place <= at { at + 1 } else { at })
}
