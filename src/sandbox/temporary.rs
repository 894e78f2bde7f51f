//! The names of temporary files. They are short and random, and a sweep recognises them for
//! certain.
//!
//! Replacing or removing an entry takes a second name in its folder for a moment. If the process is killed in
//! that moment, the entry stays at that name. Such a leftover must not be confused with a user's file
//! whose name happens to look alike. So the name has check digits over the identities of the two files
//! that can stand at it: the new one and, after the exchange, the displaced one. A file is a leftover if
//! the name at which it stands was made for it.

use std::hash::{BuildHasher, Hasher, RandomState};

use crate::hash::sha256;

/// The beginning of every temporary's name.
pub(super) const PREFIX: &str = ".rf-";

const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// How many digits, of 5 bits each, the random part and each check have.
const RANDOM_DIGITS: usize = 8;
const CHECK_DIGITS: usize = 6;

/// The identity of a file among all files of its file system, past ones included. Inode numbers are
/// reused, so the time of birth belongs to it, in nanoseconds since 1970; it is 0 on systems that do not
/// know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) inode: u64,
    pub(super) born: u128,
}

impl Identity {
    /// The identity of a file that does not exist yet. A file must be created under some name before it
    /// has one.
    pub(super) const UNKNOWN: Self = Self { inode: 0, born: 0 };
}

/// A new name for a temporary at which one of two files may stand.
pub(super) fn new_name(new: Identity, displaced: Identity) -> String {
    // The standard library keys each hasher with the system's randomness.
    named(&digits(RandomState::new().build_hasher().finish(), RANDOM_DIGITS), new, displaced)
}

/// A new name for an entry that is kept. No sweep removes it, because the name is made for another entry.
pub(super) fn name_to_keep() -> String {
    let no_entry = Identity { inode: u64::MAX, born: 0 };
    new_name(no_entry, no_entry)
}

/// The name of the empty file that the writers of one file contend for. It is the same for all of them,
/// and a sweep recognises it like the name of a temporary whose file has no identity yet.
#[cfg(any(windows, test))]
pub(super) fn writer_lock_name(Identity { inode, born }: Identity) -> String {
    let bits = leading_bits(&format!("ringfence turn {inode} {born}"));
    named(&digits(bits, RANDOM_DIGITS), Identity::UNKNOWN, Identity::UNKNOWN)
}

fn named(random: &str, new: Identity, displaced: Identity) -> String {
    let [new, displaced] = [new, displaced].map(|identity| check(random, identity));
    format!("{PREFIX}{random}{new}{displaced}")
}

/// Whether a name has the form of a temporary's.
pub(super) fn looks_like_one(name: &str) -> bool {
    let length = PREFIX.len() + RANDOM_DIGITS + 2 * CHECK_DIGITS;
    name.len() == length && name.starts_with(PREFIX) && name.is_ascii()
}

/// Whether the file of this identity and size is a temporary that was left at this name.
pub(super) fn is_leftover(name: &str, identity: Identity, size: u64) -> bool {
    if !looks_like_one(name) {
        return false;
    }
    let (random, checks) = name[PREFIX.len()..].split_at(RANDOM_DIGITS);
    let (new, displaced) = checks.split_at(CHECK_DIGITS);
    let expected = check(random, identity);
    let unnamed = size == 0 && new == check(random, Identity::UNKNOWN);
    new == expected || displaced == expected || unnamed
}

fn check(random: &str, Identity { inode, born }: Identity) -> String {
    digits(leading_bits(&format!("ringfence temporary {random} {inode} {born}")), CHECK_DIGITS)
}

fn leading_bits(text: &str) -> u64 {
    sha256(text.as_bytes())[..8].iter().fold(0, |bits, byte| bits << 8 | u64::from(*byte))
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

    const NEW: Identity = Identity { inode: 17, born: 1000 };
    const OLD: Identity = Identity { inode: 4711, born: 500 };

    #[test]
    fn a_name_is_made_for_its_two_files() {
        let name = new_name(NEW, OLD);
        assert!(is_leftover(&name, NEW, 5));
        assert!(is_leftover(&name, OLD, 0));
        assert!(!is_leftover(&name, Identity { inode: 18, ..NEW }, 0));
    }

    #[test]
    fn a_file_that_was_given_a_used_inode_is_another_file() {
        let name = new_name(NEW, OLD);
        assert!(!is_leftover(&name, Identity { born: 1001, ..NEW }, 0));
    }

    #[test]
    fn a_name_that_came_before_its_file_is_known_while_the_file_is_empty() {
        let name = new_name(Identity::UNKNOWN, Identity::UNKNOWN);
        assert!(is_leftover(&name, NEW, 0));
        assert!(!is_leftover(&name, NEW, 1));
    }

    #[test]
    fn a_writer_lock_has_one_name_per_file_and_is_known_while_it_is_empty() {
        let name = writer_lock_name(NEW);
        assert_eq!(name, writer_lock_name(NEW));
        assert_ne!(name, writer_lock_name(OLD));
        assert!(is_leftover(&name, OLD, 0));
        assert!(!is_leftover(&name, OLD, 1));
    }

    #[test]
    fn a_name_that_a_user_might_choose_is_no_leftover() {
        for name in
            [".rf-", ".rf-notes.md", ".rf-00000000000000000000", "a.txt", ".rf-ありがとうござい"]
        {
            for inode in 0..100 {
                assert!(!is_leftover(name, Identity { inode, born: 0 }, 0), "{name}");
            }
        }
    }

    #[test]
    fn names_are_short_and_differ() {
        let names: std::collections::HashSet<_> = (0..1000).map(|_| new_name(NEW, OLD)).collect();
        assert_eq!(names.len(), 1000);
        assert!(names.iter().all(|name| name.len() == 24));
    }
}
