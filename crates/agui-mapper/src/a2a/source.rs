//! What a piece of text belongs to.

use std::borrow::Cow;

use crate::position::ShownText;

/// What a piece of text belongs to, by the agent's own names: it names messages and artifacts independently of
/// each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Source<'a> {
    /// Empty if the agent gives none.
    pub(super) id: &'a str,
    /// Which text of an artifact it is, from 1 on; `None` for a message.
    pub(super) version: Option<u32>,
}

impl<'a> Source<'a> {
    pub(super) const fn message(id: &'a str) -> Self {
        Self { id, version: None }
    }

    pub(super) const fn artifact(id: &'a str, version: u32) -> Self {
        Self { id, version: Some(version) }
    }

    /// What a stored entry is about.
    pub(super) fn of(entry: &'a ShownText) -> Self {
        Self { id: &entry.message_id, version: entry.artifact_version }
    }

    /// What the id of its messages on the stream is made from.
    pub(super) fn stem(self) -> Cow<'a, str> {
        match self.version {
            None => self.id.into(),
            Some(_) if self.id.is_empty() => "artifact".into(),
            Some(0 | 1) => self.id.into(),
            Some(version) => format!("{}#{version}", self.id).into(),
        }
    }
}

/// A [`Source`] that is kept.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Kept {
    id: Box<str>,
    version: Option<u32>,
}

impl Kept {
    pub(super) fn new(source: Source<'_>) -> Self {
        Self { id: source.id.into(), version: source.version }
    }

    pub(super) fn get(&self) -> Source<'_> {
        Source { id: &self.id, version: self.version }
    }
}
