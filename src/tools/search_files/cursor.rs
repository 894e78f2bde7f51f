//! Where a page ends: the text that `next` gives and `after` takes.

use std::fmt;

use super::item::Item;
use crate::tools::failure::Failure;
use crate::tools::walk_arguments::{is_item_path, no_next};

/// The place of an item: `LINE:COLUMN:PATH` of a match, `:PATH` of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    pub path: String,
    /// The line and the column of the match.
    pub at: Option<(u64, u64)>,
}

impl Cursor {
    pub fn of(item: &Item) -> Self {
        let at = match item {
            Item::Match(found) => Some((found.line, found.column)),
            Item::File(_) => None,
        };
        Self { path: item.path().to_owned(), at }
    }

    pub fn parse(text: &str) -> Result<Self, Failure> {
        Self::read(text).ok_or_else(no_next)
    }

    fn read(text: &str) -> Option<Self> {
        let (at, path) = if let Some(path) = text.strip_prefix(':') {
            (None, path)
        } else {
            let (line, rest) = text.split_once(':')?;
            let (column, path) = rest.split_once(':')?;
            (Some((positive(line)?, positive(column)?)), path)
        };
        is_item_path(path).then(|| Self { path: path.to_owned(), at })
    }
}

fn positive(digits: &str) -> Option<u64> {
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    digits.parse().ok().filter(|_| is_plain)
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.at {
            write!(f, "{line}:{column}")?;
        }
        write!(f, ":{}", self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::Cursor;

    #[test]
    fn a_place_comes_back_from_its_text() {
        for text in [":a", "1:2:src/a.ts", "12:1:a:b", ":1:2:x", r"1:1:\\srv\x", ":\u{2028}"] {
            assert_eq!(Cursor::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_text_that_was_no_next_is_refused() {
        for text in [
            "", ":", "a", "1:a", "0:1:a", "1:0:a", "01:1:a", "+1:1:a", "1:1:../a", "1:1:/a", ":a/",
            ":.", ":a//b",
        ] {
            assert!(Cursor::parse(text).is_err(), "{text:?}");
        }
    }
}
