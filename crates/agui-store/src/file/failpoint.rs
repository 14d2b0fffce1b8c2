//! Places at which a test can stop a write.
//!
//! Without the feature `failpoints` nothing is read from the environment and every check is empty.

#[cfg(not(feature = "failpoints"))]
use std::io;

/// A place in a save, in the order in which a save passes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Point {
    BeforeHistory,
    DuringHistory,
    AfterHistory,
    BeforeMarker,
    AfterMarker,
    BeforeTemp,
    DuringTemp,
    BeforeTempSync,
    BeforeRename,
    BeforeDirectorySync,
    Done,
    BeforeUnmark,
}

/// Failpoints that are set: a list `point:action` or `point:action@n`, separated by commas.
///
/// The environment variable `AGUI_FAILPOINT` is such a list; points of other crates in it are ignored.
///
/// Points, in the order in which a save passes them: `store.before_history`, `store.during_history` (half
/// of the lines written), `store.after_history`, `store.before_marker`, `store.after_marker`,
/// `store.before_temp`, `store.during_temp` (half of the document written), `store.before_temp_sync`,
/// `store.before_rename`, `store.before_directory_sync`, `store.done`, `store.before_unmark`. The history
/// points are passed only when history leaves the document, the points before and after the marker only
/// when a thread is parked, and the last point, at which an error does nothing, only when it is not.
///
/// Actions: `kill` ends the process at once, without any clean-up; `error` fails the step; both happen
/// each time, or with `@n` the n-th time only. `busy@n` fails the first n times as a file in use does.
///
/// ```
/// # #[cfg(feature = "failpoints")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use agui_store::{Failpoints, FileStore};
///
/// let third_save_dies: Failpoints = "store.before_rename:kill@3".parse()?;
/// let directory = tempfile::tempdir()?;
/// let store = FileStore::open_with_failpoints(directory.path(), third_save_dies)?;
/// # drop(store);
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "failpoints"))]
/// # fn main() {}
/// ```
#[cfg_attr(not(feature = "failpoints"), expect(unreachable_pub, reason = "public with the feature only"))]
#[derive(Debug, Default)]
pub struct Failpoints {
    #[cfg(feature = "failpoints")]
    armed: Vec<armed::Armed>,
}

#[cfg(feature = "failpoints")]
pub use armed::FailpointsError;

#[cfg(not(feature = "failpoints"))]
impl Failpoints {
    pub(super) fn from_environment() -> io::Result<Self> {
        Ok(Self::default())
    }

    #[expect(clippy::unused_self, reason = "the same signature as with the feature")]
    pub(super) const fn is_set(&self, _: Point) -> bool {
        false
    }

    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "the same signature as with the feature"
    )]
    pub(super) const fn hit(&self, _: Point) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(feature = "failpoints")]
mod armed {
    use std::io;
    use std::str::FromStr;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::{Failpoints, Point};

    const VARIABLE: &str = "AGUI_FAILPOINT";
    const PREFIX: &str = "store.";

    /// The list of failpoints is not written as it should be.
    #[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
    #[error("unknown failpoint or action: {0}")]
    #[non_exhaustive]
    pub struct FailpointsError(Box<str>);

    #[derive(Debug)]
    pub(super) struct Armed {
        point: Point,
        action: Action,
        hits: AtomicU64,
    }

    #[derive(Debug, Clone, Copy)]
    enum Action {
        Kill { at: Option<u64> },
        Error { at: Option<u64> },
        Busy { times: u64 },
    }

    impl Failpoints {
        pub(in super::super) fn from_environment() -> io::Result<Self> {
            let list = std::env::var(VARIABLE).unwrap_or_default();
            let ours: Vec<&str> =
                list.split(',').map(str::trim).filter(|item| item.starts_with(PREFIX)).collect();
            ours.join(",")
                .parse()
                .map_err(|error: FailpointsError| io::Error::new(io::ErrorKind::InvalidInput, error))
        }

        pub(in super::super) fn is_set(&self, point: Point) -> bool {
            self.armed.iter().any(|armed| armed.point == point)
        }

        pub(in super::super) fn hit(&self, point: Point) -> io::Result<()> {
            self.armed.iter().filter(|armed| armed.point == point).try_for_each(Armed::hit)
        }
    }

    impl FromStr for Failpoints {
        type Err = FailpointsError;

        fn from_str(list: &str) -> Result<Self, FailpointsError> {
            let items = list.split(',').map(str::trim).filter(|item| !item.is_empty());
            let armed = items.map(|item| armed(item).ok_or_else(|| FailpointsError(item.into())));
            Ok(Self { armed: armed.collect::<Result<_, _>>()? })
        }
    }

    impl Armed {
        fn hit(&self) -> io::Result<()> {
            let hit = self.hits.fetch_add(1, Ordering::Relaxed) + 1;
            match self.action {
                Action::Kill { at } if at.is_none_or(|at| at == hit) => std::process::abort(),
                Action::Error { at } if at.is_none_or(|at| at == hit) => Err(io::Error::other("failpoint")),
                Action::Busy { times } if hit <= times => Err(io::ErrorKind::ResourceBusy.into()),
                Action::Kill { .. } | Action::Error { .. } | Action::Busy { .. } => Ok(()),
            }
        }
    }

    fn armed(item: &str) -> Option<Armed> {
        let (point, action) = item.strip_prefix(PREFIX)?.split_once(':')?;
        let (action, count) = match action.split_once('@') {
            Some((action, count)) => (action, Some(count.parse().ok()?)),
            None => (action, None),
        };
        let action = match action {
            "kill" => Action::Kill { at: count },
            "error" => Action::Error { at: count },
            "busy" => Action::Busy { times: count? },
            _ => return None,
        };
        let point = match point {
            "before_history" => Point::BeforeHistory,
            "during_history" => Point::DuringHistory,
            "after_history" => Point::AfterHistory,
            "before_marker" => Point::BeforeMarker,
            "after_marker" => Point::AfterMarker,
            "before_temp" => Point::BeforeTemp,
            "during_temp" => Point::DuringTemp,
            "before_temp_sync" => Point::BeforeTempSync,
            "before_rename" => Point::BeforeRename,
            "before_directory_sync" => Point::BeforeDirectorySync,
            "done" => Point::Done,
            "before_unmark" => Point::BeforeUnmark,
            _ => return None,
        };
        Some(Armed { point, action, hits: AtomicU64::new(0) })
    }
}
