//! The budget of an answer, shared evenly among its windows.

use std::num::NonZeroU64;

/// A number of bytes that windows share.
#[derive(Debug)]
pub(super) struct Budget {
    total: usize,
    /// The sizes of the windows, smallest first.
    sizes: Vec<usize>,
}

impl Budget {
    pub(super) fn new(total: NonZeroU64) -> Self {
        Self { total: usize::try_from(total.get()).unwrap_or(usize::MAX), sizes: Vec::new() }
    }

    /// One more window has to share the budget.
    pub(super) fn add(&mut self, size: usize) {
        let place = self.sizes.partition_point(|&other| other < size);
        self.sizes.insert(place, size);
    }

    /// The most bytes that a window may have: the largest number at which all windows, none counted
    /// with more than that, fit into the budget. `None` if they fit as they are.
    pub(super) fn share(&self) -> Option<usize> {
        let mut left = self.total;
        for (served, &size) in self.sizes.iter().enumerate() {
            // An even share of what the smaller windows have left.
            let share = left / (self.sizes.len() - served);
            if size > share {
                return Some(share);
            }
            left -= size;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn share(total: u64, sizes: &[usize]) -> Option<usize> {
        let mut budget = Budget::new(total.try_into().unwrap());
        for &size in sizes {
            budget.add(size);
        }
        budget.share()
    }

    /// By the definition in docs/contract.md §13, one number after the other.
    fn model(total: usize, sizes: &[usize]) -> Option<usize> {
        let taken = |share: usize| sizes.iter().map(|&size| size.min(share)).sum::<usize>();
        if sizes.iter().sum::<usize>() <= total {
            return None;
        }
        (0..=total).rev().find(|&share| taken(share) <= total)
    }

    #[test]
    fn what_small_windows_leave_goes_to_the_larger_ones() {
        assert_eq!(share(100, &[10, 200, 300]), Some(45));
        assert_eq!(share(100, &[40, 10, 300]), Some(50));
        assert_eq!(share(100, &[300]), Some(100));
        assert_eq!(share(2, &[9, 9, 9]), Some(0));
    }

    #[test]
    fn windows_that_fit_are_not_cut() {
        assert_eq!(share(100, &[]), None);
        assert_eq!(share(100, &[40, 60]), None);
        assert_eq!(share(1, &[0, 0, 1]), None);
    }

    proptest! {
        #[test]
        fn a_share_is_the_one_of_the_definition(
            total in 1_usize..200,
            sizes in prop::collection::vec(0_usize..60, 0..12),
        ) {
            prop_assert_eq!(share(total as u64, &sizes), model(total, &sizes));
        }

        #[test]
        fn a_further_window_never_makes_the_share_larger(
            total in 1_u64..200,
            sizes in prop::collection::vec(0_usize..60, 1..12),
        ) {
            let shares: Vec<_> = (0..=sizes.len())
                .map(|count| share(total, &sizes[..count]).unwrap_or(usize::MAX))
                .collect();
            prop_assert!(shares.is_sorted_by(|before, after| before >= after), "{:?}", shares);
        }
    }
}
