//! History that has left the document: `<key>.runs/<first two hexadecimal digits of the entry's key>`.
//!
//! Files of lines, only ever appended to. A line is one of
//!
//! ```text
//! r <sha256 of the run id> <request digest> <check>
//! t <sha256 of the id of an ended execution> <check>
//! a <sha256 of the interrupt id> <sha256 of its execution id> <answer digest> <check>
//! ```
//!
//! The check covers the line and the thread id, so that a damaged or a foreign file is noticed: every
//! line of a file is checked before the file may say that something is unknown. Half a line at the end is
//! what a crash leaves; its entry is still in the document. An entry may stand there twice after a save
//! that failed between history and document; the last one counts.

use std::collections::BTreeMap;

use agui_core::{InterruptId, RunId, ThreadId};

use crate::digest::Digest;
use crate::error::Corruption;
use crate::id::ExecutionId;
use crate::record::RetiredHistory;

/// Hexadecimal digits of a check.
const CHECK_DIGITS: usize = 16;

/// What is looked for.
#[derive(Debug, Clone)]
pub(super) struct Lookup {
    kind: &'static str,
    key: Digest,
    scope: Option<Digest>,
}

/// What an entry says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) digest: Option<Digest>,
}

impl Lookup {
    pub(super) fn run(run: &RunId) -> Self {
        Self { kind: "r", key: Digest::of(run.as_str().as_bytes()), scope: None }
    }

    pub(super) fn execution(execution: &ExecutionId) -> Self {
        Self { kind: "t", key: Digest::of(execution.as_str().as_bytes()), scope: None }
    }

    pub(super) fn answer(interrupt: &InterruptId, execution: Option<&ExecutionId>) -> Self {
        let scope = execution.map(|execution| Digest::of(execution.as_str().as_bytes()));
        Self { kind: "a", key: Digest::of(interrupt.as_str().as_bytes()), scope }
    }

    /// The file that would hold the entry.
    pub(super) fn file(&self) -> String {
        file_of(&self.key)
    }

    /// The newest fitting entry of a history file.
    pub(super) fn find(&self, thread: &ThreadId, content: &[u8]) -> Result<Option<Found>, Corruption> {
        let mut found = None;
        for line in content.split_inclusive(|byte| *byte == b'\n') {
            let whole = line.strip_suffix(b"\n");
            let entry = std::str::from_utf8(whole.unwrap_or(line)).ok().and_then(|line| parse(thread, line));
            match (entry, whole) {
                (Some(entry), _) if self.fits(&entry) => found = Some(Found { digest: entry.digest }),
                (Some(_), _) | (None, None) => {}
                (None, Some(_)) => return Err(Corruption::HistoryLine),
            }
        }
        Ok(found)
    }

    fn fits(&self, entry: &Entry<'_>) -> bool {
        entry.kind == self.kind
            && entry.key == self.key
            && (self.scope.is_none() || self.scope == entry.scope)
    }
}

struct Entry<'a> {
    kind: &'a str,
    key: Digest,
    scope: Option<Digest>,
    digest: Option<Digest>,
}

/// The lines of what was retired, by file.
pub(super) fn lines(thread: &ThreadId, retired: &RetiredHistory) -> BTreeMap<String, String> {
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    let mut add = |lookup: &Lookup, digest: Option<&Digest>| {
        let mut line = lookup.kind.to_owned();
        for field in [Some(&lookup.key), lookup.scope.as_ref(), digest].into_iter().flatten() {
            line.push(' ');
            line.push_str(&field.to_string());
        }
        let check = check(thread, &line);
        let file = files.entry(lookup.file()).or_default();
        file.push_str(&format!("{line} {check}\n"));
    };
    for run in &retired.runs {
        add(&Lookup::run(&run.run_id), Some(&run.digest));
    }
    for execution in &retired.executions {
        add(&Lookup::execution(execution), None);
    }
    for answer in &retired.answers {
        add(&Lookup::answer(&answer.interrupt_id, Some(&answer.execution_id)), Some(&answer.digest));
    }
    files
}

fn parse<'a>(thread: &ThreadId, line: &'a str) -> Option<Entry<'a>> {
    let (body, line_check) = line.rsplit_once(' ')?;
    if line_check != check(thread, body) {
        return None;
    }
    let mut fields = body.split(' ');
    let kind = fields.next()?;
    let mut digests = Vec::new();
    for field in fields {
        digests.push(field.parse().ok()?);
    }
    let (key, scope, digest) = match (kind, digests.as_slice()) {
        ("r", &[key, digest]) => (key, None, Some(digest)),
        ("t", &[key]) => (key, None, None),
        ("a", &[key, scope, digest]) => (key, Some(scope), Some(digest)),
        _ => return None,
    };
    Some(Entry { kind, key, scope, digest })
}

fn check(thread: &ThreadId, body: &str) -> String {
    let mut check = Digest::of(format!("{thread}\0{body}").as_bytes()).to_string();
    check.truncate(CHECK_DIGITS);
    check
}

fn file_of(key: &Digest) -> String {
    let [first, ..] = key.as_bytes();
    format!("{first:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{AppliedAnswer, RecordedRun};

    fn thread() -> ThreadId {
        ThreadId::from("t")
    }

    fn retired() -> RetiredHistory {
        RetiredHistory {
            runs: vec![
                RecordedRun::new("r1".into(), Digest::of(b"1")),
                RecordedRun::new("r1".into(), Digest::of(b"2")),
            ],
            answers: vec![
                AppliedAnswer::new("e1".into(), "i".into(), Digest::of(b"a1")),
                AppliedAnswer::new("e2".into(), "i".into(), Digest::of(b"a2")),
            ],
            executions: vec!["e1".into()],
        }
    }

    fn all() -> String {
        lines(&thread(), &retired()).into_values().collect()
    }

    fn digest_of(lookup: &Lookup, content: &str) -> Result<Option<Option<Digest>>, Corruption> {
        Ok(lookup.find(&thread(), content.as_bytes())?.map(|found| found.digest))
    }

    #[test]
    fn entries_are_found_by_kind_key_and_scope_and_the_last_one_counts() {
        let cases = [
            (Lookup::run(&"r1".into()), Some(Some(Digest::of(b"2")))),
            (Lookup::run(&"e1".into()), None),
            (Lookup::execution(&"e1".into()), Some(None)),
            (Lookup::execution(&"e2".into()), None),
            (Lookup::answer(&"i".into(), None), Some(Some(Digest::of(b"a2")))),
            (Lookup::answer(&"i".into(), Some(&"e1".into())), Some(Some(Digest::of(b"a1")))),
            (Lookup::answer(&"i".into(), Some(&"e3".into())), None),
        ];
        for (lookup, expected) in cases {
            assert_eq!(digest_of(&lookup, &all()), Ok(expected), "{lookup:?}");
        }
    }

    #[test]
    fn the_file_is_named_by_the_first_byte_of_the_key() {
        // SHA-256 of "r1" begins with these digits.
        let name = Digest::of(b"r1").to_string()[..2].to_owned();
        assert_eq!(Lookup::run(&"r1".into()).file(), name);
        assert!(lines(&thread(), &retired()).contains_key(&name));
    }

    #[test]
    fn half_a_line_at_the_end_is_no_damage() {
        let content = all();
        let whole = content.trim_end().rfind('\n').unwrap() + 1;
        for end in whole..content.len() {
            assert!(digest_of(&Lookup::run(&"other".into()), &content[..end]).is_ok(), "{end}");
        }
    }

    #[test]
    fn a_damaged_line_is_an_error_and_not_an_unknown_entry() {
        let content = all();
        let lookup = Lookup::run(&"other".into());
        assert_eq!(digest_of(&lookup, &content), Ok(None));
        let newlines: Vec<usize> = content.match_indices('\n').map(|(at, _)| at).collect();
        for at in (0..content.len()).filter(|at| !newlines.contains(at)) {
            let mut damaged = content.clone().into_bytes();
            damaged[at] ^= 1;
            assert_eq!(lookup.find(&thread(), &damaged), Err(Corruption::HistoryLine), "{at}");
        }
        assert_eq!(digest_of(&lookup, "\n"), Err(Corruption::HistoryLine));
        let foreign = lookup.find(&"another thread".into(), content.as_bytes());
        assert_eq!(foreign, Err(Corruption::HistoryLine));
    }
}
