//! Shared by the two kinds of pattern lists: those of a `.gitignore` and those of a host.

/// The verdict on a path, by the last pattern of a list that matches it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It selects the path.
    Selected,
    /// It begins with `!`, and takes the path back.
    Reincluded,
}

/// Whether a class, `[…]`, names a character of more than one byte. Such a class would match one of
/// the bytes.
pub(super) fn has_class_beyond_ascii(pattern: &str) -> bool {
    let mut characters = pattern.chars();
    let mut is_in_class = false;
    while let Some(character) = characters.next() {
        match character {
            '\\' if !is_in_class => {
                characters.next();
            }
            '[' if !is_in_class => {
                is_in_class = true;
                // A `]` that stands first is an element of the class.
                let rest = characters.as_str();
                let rest = rest.strip_prefix(['!', '^']).unwrap_or(rest);
                characters = rest.strip_prefix(']').unwrap_or(rest).chars();
            }
            ']' => is_in_class = false,
            character if is_in_class && !character.is_ascii() => return true,
            _ => {}
        }
    }
    false
}
