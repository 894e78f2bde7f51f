//! The names of temporary files: short, random, unlike any target's, and recognisable for certain.
//!
//! Replacing a file takes a second name in its folder for a moment. A process that is killed in
//! that moment leaves it behind, and it must be told from a file that a user happens to have named
//! alike. So the name carries check digits over the inode numbers of the two files that can stand
//! at it, the new one and, once they are exchanged, the displaced one: a file is a leftover if its
//! name was made for it.

use std::hash::{BuildHasher, Hasher, RandomState};

use crate::hash::sha256;

/// What every temporary's name starts with.
pub(super) const PREFIX: &str = ".rf-";

const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// How many digits, of 5 bits each, the random part and each check have.
const RANDOM_DIGITS: usize = 8;
const CHECK_DIGITS: usize = 6;

/// A new name for a temporary at which a file of one of two inodes may stand.
///
/// An inode that is not known yet is given as [`UNKNOWN`].
pub(super) fn new_name(new_inode: u64, displaced_inode: u64) -> String {
    // The standard library keys each hasher with the system's randomness.
    let random = digits(RandomState::new().build_hasher().finish(), RANDOM_DIGITS);
    let [new, displaced] = [new_inode, displaced_inode].map(|inode| check(&random, inode));
    format!("{PREFIX}{random}{new}{displaced}")
}

/// Stands for an inode that is not known yet, as that of a file that has to be created under some
/// name before it has an inode.
pub(super) const UNKNOWN: u64 = 0;

/// Whether the file of this inode and size is a temporary that was left at this name.
pub(super) fn is_leftover(name: &str, inode: u64, size: u64) -> bool {
    let Some(rest) = name.strip_prefix(PREFIX) else { return false };
    if rest.len() != RANDOM_DIGITS + 2 * CHECK_DIGITS || !rest.is_ascii() {
        return false;
    }
    let (random, checks) = rest.split_at(RANDOM_DIGITS);
    let (new, displaced) = checks.split_at(CHECK_DIGITS);
    let expected = check(random, inode);
    let unnamed = size == 0 && new == check(random, UNKNOWN);
    new == expected || displaced == expected || unnamed
}

fn check(random: &str, inode: u64) -> String {
    let digest = sha256(format!("ringfence temporary {random} {inode}").as_bytes());
    let mut bits = 0;
    for byte in &digest[..8] {
        bits = bits << 8 | u64::from(*byte);
    }
    digits(bits, CHECK_DIGITS)
}

fn digits(mut bits: u64, count: usize) -> String {
    let digit = |_| {
        let digit = DIGITS[usize::try_from(bits % 32).unwrap_or(0)];
        bits /= 32;
        char::from(digit)
    };
    (0..count).map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_made_for_its_two_files() {
        let name = new_name(17, 4711);
        assert!(is_leftover(&name, 17, 5));
        assert!(is_leftover(&name, 4711, 0));
        assert!(!is_leftover(&name, 18, 0));
    }

    #[test]
    fn a_name_that_came_before_its_file_is_known_while_the_file_is_empty() {
        let name = new_name(UNKNOWN, UNKNOWN);
        assert!(is_leftover(&name, 99, 0));
        assert!(!is_leftover(&name, 99, 1));
    }

    #[test]
    fn names_that_a_user_might_choose_are_nobodys_leftovers() {
        for name in
            [".rf-", ".rf-notes.md", ".rf-00000000000000000000", "a.txt", ".rf-ありがとうござい"]
        {
            for inode in 0..100 {
                assert!(!is_leftover(name, inode, 0), "{name}");
            }
        }
    }

    #[test]
    fn names_are_short_and_differ() {
        let names: std::collections::HashSet<_> = (0..1000).map(|_| new_name(1, 2)).collect();
        assert_eq!(names.len(), 1000);
        assert!(names.iter().all(|name| name.len() == 24));
    }
}
