//! Sharing few entries out among many folders.

/// How many entries each folder shows, if the folders have `counts` entries and may show `budget`
/// together. A folder that is cut shows at most one entry less than any other folder.
///
/// With a larger budget no folder shows less.
pub(super) fn share(counts: &[usize], budget: usize) -> Vec<usize> {
    let level = water_level(counts, budget);
    let mut rest = budget - counts.iter().map(|&count| count.min(level)).sum::<usize>();
    let mut take_one_more = |count: usize| {
        let takes = count > level && rest > 0;
        rest -= usize::from(takes);
        usize::from(takes)
    };
    counts.iter().map(|&count| count.min(level) + take_one_more(count)).collect()
}

/// The largest `n` for which the budget suffices if each folder shows `n` entries, or all that it
/// has.
pub(super) fn water_level(counts: &[usize], budget: usize) -> usize {
    let mut ascending = counts.to_vec();
    ascending.sort_unstable();
    let mut left = budget;
    for (index, &count) in ascending.iter().enumerate() {
        let sharers = ascending.len() - index;
        if count > left / sharers {
            return left / sharers;
        }
        left -= count;
    }
    usize::MAX
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_folders_show_all_and_large_ones_share_the_rest() {
        assert_eq!(share(&[5000, 3, 10], 100), [87, 3, 10]);
        assert_eq!(share(&[50, 50, 1], 20), [10, 9, 1]);
        assert_eq!(share(&[4, 4, 4], 2), [1, 1, 0]);
        assert_eq!(share(&[2, 0, 3], 100), [2, 0, 3]);
        assert_eq!(share(&[], 100), [0; 0]);
    }

    proptest! {
        #[test]
        fn nothing_is_wasted_and_nobody_is_favoured(
            counts in prop::collection::vec(0_usize..50, 0..20),
            budget in 0_usize..400,
        ) {
            let shares = share(&counts, budget);
            let total: usize = counts.iter().sum();
            prop_assert_eq!(shares.iter().sum::<usize>(), total.min(budget));
            for (index, &mine) in shares.iter().enumerate() {
                prop_assert!(mine <= counts[index]);
                let most = shares.iter().max().copied().unwrap_or(0);
                prop_assert!(mine == counts[index] || mine + 1 >= most);
            }
        }

        #[test]
        fn more_to_share_is_less_for_nobody(
            counts in prop::collection::vec(0_usize..50, 0..20),
            budget in 0_usize..400,
            more in 0_usize..100,
        ) {
            let (before, after) = (share(&counts, budget), share(&counts, budget + more));
            prop_assert!(before.iter().zip(&after).all(|(before, after)| before <= after));
        }

        #[test]
        fn another_folder_raises_no_level(
            counts in prop::collection::vec(0_usize..50, 1..20),
            budget in 0_usize..400,
        ) {
            let all_but_one = &counts[1..];
            prop_assert!(water_level(&counts, budget) <= water_level(all_but_one, budget));
        }
    }
}
