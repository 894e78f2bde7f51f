//! How many entries a call has left out, as an answer tells it (docs/contract.md §9.12).

use crate::tree::{RuleReader, Tally};

/// How many files and folders a call has left out, by kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SkippedCounts {
    /// Binary files.
    pub binary: u64,
    /// Files over the size limit.
    pub too_large: u64,
    /// Entries that the walk has left out.
    pub walk: Tally,
    /// Files that the walk has given and that could not be read or looked at.
    pub unreadable: u64,
    /// `.gitignore` files that were not applied, or only in part. The answer may hold
    /// entries that they ignore.
    pub unheeded: u64,
}

impl SkippedCounts {
    /// These and others.
    #[must_use]
    pub fn and(&self, others: &Self) -> Self {
        Self {
            binary: self.binary + others.binary,
            too_large: self.too_large + others.too_large,
            walk: self.walk.and(&others.walk),
            unreadable: self.unreadable + others.unreadable,
            unheeded: self.unheeded + others.unheeded,
        }
    }

    /// One text for each kind, in the order of the contract, and only where the number is not 0.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let kinds = [
            ("skipped_binary_files", self.binary),
            ("skipped_size_limit_files", self.too_large),
            ("skipped_default_excludes", self.walk.default_excludes),
            ("skipped_ignored_entries", self.walk.ignored),
            ("skipped_hidden_entries", self.walk.hidden),
            ("skipped_links", self.walk.links),
            ("skipped_unreadable", self.walk.unreadable + self.unreadable),
            ("unheeded_gitignore_files", self.unheeded),
        ];
        let counted = kinds.into_iter().filter(|(_, count)| *count > 0);
        counted.map(|(kind, count)| format!("{kind}={count}")).collect()
    }
}

/// How many `.gitignore` files a walk has not heeded, or not as a whole; and one more if the time for
/// their rules was used up.
#[must_use]
pub fn unheeded_files(rules: RuleReader) -> u64 {
    let is_out_of_time = rules.is_out_of_time();
    rules.into_unheeded().len() as u64 + u64::from(is_out_of_time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_text_in_the_order_of_the_contract() {
        let walk = Tally { default_excludes: 3, ignored: 4, hidden: 5, links: 6, unreadable: 7 };
        let left_out = SkippedCounts { binary: 1, too_large: 2, walk, unreadable: 10, unheeded: 8 };
        assert_eq!(
            left_out.warnings(),
            [
                "skipped_binary_files=1",
                "skipped_size_limit_files=2",
                "skipped_default_excludes=3",
                "skipped_ignored_entries=4",
                "skipped_hidden_entries=5",
                "skipped_links=6",
                "skipped_unreadable=17",
                "unheeded_gitignore_files=8",
            ]
        );
        assert!(SkippedCounts::default().warnings().is_empty());
    }
}
