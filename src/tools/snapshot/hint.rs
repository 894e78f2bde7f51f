//! The hint of a snapshot: a sentence on `.gitignore` files that were not heeded.

use super::shown::shown;
use crate::tree::{MAX_RULE_TIME, RuleReader, Unheeded, WhyUnheeded};

/// How many files are told of, one by one.
const MAX_FILES: usize = 5;

/// The hint of a snapshot; `None` where every file was heeded.
pub(super) fn hint(rules: RuleReader) -> Option<String> {
    let is_out_of_time = rules.is_out_of_time();
    let mut remarks: Vec<String> = rules.into_unheeded().iter().map(remark).collect();
    if is_out_of_time {
        remarks.insert(
            0,
            format!(
                "matching the rules of .gitignore files took more than {} seconds; from then on \
                 they were not heeded, so some of what they ignore may be listed",
                MAX_RULE_TIME.as_secs()
            ),
        );
    }
    let more = remarks.len().saturating_sub(MAX_FILES);
    remarks.truncate(MAX_FILES);
    if more > 0 {
        remarks.push(format!("and so of {more} more .gitignore files"));
    }
    (!remarks.is_empty()).then(|| remarks.join("; "))
}

fn remark(unheeded: &Unheeded) -> String {
    let folders: String =
        unheeded.folder.iter().map(|name| shown(name).into_owned() + "/").collect();
    let what = match unheeded.why {
        WhyUnheeded::Unreadable => "could not be read".to_owned(),
        WhyUnheeded::TooLarge => "has more than 16 MiB and is not heeded".to_owned(),
        WhyUnheeded::TooLargeInAll => {
            "is not heeded, since all .gitignore files together have more than 64 MiB".to_owned()
        }
        WhyUnheeded::Lines(count) => {
            let rules = if count == 1 { "rule" } else { "rules" };
            format!(
                "has {count} {rules} that could not be heeded: too many or too long, not UTF-8, or \
                 a class of characters beyond ASCII"
            )
        }
    };
    format!("{folders}.gitignore {what}")
}
