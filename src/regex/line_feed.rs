//! Whether a pattern names a line feed, which no line holds.

/// Whether a pattern names a line feed: as the character itself, `\n`, `\x0A`, `\u{A}` and the like.
/// One in a negated class does not count.
pub fn is_named_in(pattern: &str, literal: bool) -> bool {
    if literal {
        return pattern.contains('\n');
    }
    let mut rest = pattern;
    // One element for each open class: whether it, or one around it, is negated.
    let mut classes: Vec<bool> = Vec::new();
    while let Some(character) = rest.chars().next() {
        let is_negated = classes.last().copied().unwrap_or_default();
        rest = &rest[character.len_utf8()..];
        match character {
            '\\' => {
                let (is_line_feed, length) = escape(rest);
                if is_line_feed && !is_negated {
                    return true;
                }
                rest = &rest[length..];
            }
            '\n' if !is_negated => return true,
            '[' => {
                let negates = rest.starts_with('^');
                classes.push(negates || is_negated);
                rest = &rest[usize::from(negates)..];
                // The first `]` of a class is an element of it.
                rest = rest.strip_prefix(']').unwrap_or(rest);
            }
            ']' => drop(classes.pop()),
            _ => {}
        }
    }
    false
}

/// Whether an escape stands for a line feed, and how many bytes follow its backslash.
fn escape(rest: &str) -> (bool, usize) {
    let Some(kind) = rest.chars().next() else { return (false, 0) };
    let digits = match kind {
        'n' => return (true, 1),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => return (kind == '\n', kind.len_utf8()),
    };
    let rest = &rest[1..];
    let (hex, length) = match rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
        Some((hex, _)) => (hex, hex.len() + 2),
        None => match rest.get(..digits) {
            Some(hex) => (hex, digits),
            None => return (false, 1),
        },
    };
    (u32::from_str_radix(hex, 16) == Ok(0xA), 1 + length)
}

#[cfg(test)]
mod tests {
    use super::is_named_in;

    #[test]
    fn every_spelling_of_a_line_feed_names_it() {
        for pattern in [
            "a\\nb",
            "a\nb",
            "\\x0A",
            "\\x{a}",
            "\\u000a",
            "\\u{A}",
            "\\U0000000A",
            "[\\n]",
            "[]\\n]",
        ] {
            assert!(is_named_in(pattern, false), "{pattern:?}");
        }
    }

    #[test]
    fn a_negated_class_and_an_escaped_backslash_name_none() {
        for pattern in ["[^\\n]", "[^a[\\n]]", "\\\\n", "\\s", "\\x0B", "\\u00A0", "\\", "\\x"] {
            assert!(!is_named_in(pattern, false), "{pattern:?}");
        }
        assert!(!is_named_in("\\n", true));
        assert!(is_named_in("a\nb", true));
    }
}
