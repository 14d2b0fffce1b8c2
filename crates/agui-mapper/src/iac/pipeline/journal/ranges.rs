//! A set of sequence numbers that are mostly consecutive.

/// Most ranges that are kept; two neighbours are joined when there are more.
///
/// Each gap between ranges is a place where events were missed or merged, so there are few of them at a time.
const MAX_RANGES: usize = 4096;

/// Sequence numbers as ranges, both ends included, in order.
#[derive(Debug, Default)]
pub(super) struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// All numbers from 1.
    pub(super) fn up_to(highest: u64) -> Self {
        if highest == 0 { Self::default() } else { Self(vec![(1, highest)]) }
    }

    pub(super) fn highest(&self) -> u64 {
        self.0.last().map_or(0, |(_, end)| *end)
    }

    pub(super) fn contains(&self, number: u64) -> bool {
        let at = self.0.partition_point(|(start, _)| *start <= number);
        at > 0 && self.0[at - 1].1 >= number
    }

    /// Adds a number; 0 is no sequence and is not kept.
    pub(super) fn insert(&mut self, number: u64) {
        if number == 0 {
            return;
        }
        let at = self.0.partition_point(|(start, _)| *start <= number);
        if at > 0 && self.0[at - 1].1 >= number {
            return;
        }
        let joins_before = at > 0 && self.0[at - 1].1 + 1 == number;
        let joins_after = self.0.get(at).is_some_and(|(start, _)| number.checked_add(1) == Some(*start));
        match (joins_before, joins_after) {
            (true, true) => {
                self.0[at - 1].1 = self.0[at].1;
                self.0.remove(at);
            }
            (true, false) => self.0[at - 1].1 = number,
            (false, true) => self.0[at].0 = number,
            (false, false) => self.0.insert(at, (number, number)),
        }
        if self.0.len() > MAX_RANGES {
            let (start, _) = self.0.remove(0);
            self.0[0].0 = start;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_joined() {
        let mut it = Ranges::up_to(3);
        for number in [5, 7, 6, 0, 2, 9] {
            it.insert(number);
        }
        assert_eq!(it.0, [(1, 3), (5, 7), (9, 9)]);
        it.insert(4);
        it.insert(8);
        assert_eq!(it.0, [(1, 9)]);
        assert_eq!((it.highest(), it.contains(9), it.contains(10), it.contains(0)), (9, true, false, false));
    }

    #[test]
    fn the_highest_number_of_all_is_no_problem() {
        let mut it = Ranges::default();
        it.insert(u64::MAX);
        it.insert(u64::MAX - 1);
        assert_eq!(it.0, [(u64::MAX - 1, u64::MAX)]);
    }
}
