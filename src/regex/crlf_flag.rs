//! Takes the flag `R` out of patterns. With this flag a carriage return ends a line, too. A searched text has LF
//! for every CRLF, so only a lone carriage return could be meant. That ends no line anywhere else in this
//! project.

use std::borrow::Cow;

use regex_syntax::ast::{Ast, Flag, Flags, FlagsItemKind, GroupKind};

/// Takes the flag out of a pattern that is parsed. The parser bounds how deep a pattern is.
pub fn ignore_in(ast: &mut Ast) {
    match ast {
        Ast::Flags(set) => drop_from(&mut set.flags),
        Ast::Repetition(repetition) => ignore_in(&mut repetition.ast),
        Ast::Group(group) => {
            if let GroupKind::NonCapturing(flags) = &mut group.kind {
                drop_from(flags);
            }
            ignore_in(&mut group.ast);
        }
        Ast::Alternation(all) => all.asts.iter_mut().for_each(ignore_in),
        Ast::Concat(all) => all.asts.iter_mut().for_each(ignore_in),
        _ => {}
    }
}

fn drop_from(flags: &mut Flags) {
    flags.items.retain(|item| item.kind != FlagsItemKind::Flag(Flag::CRLF));
}

/// A pattern for the backtracking engine, whose parser gives no tree that could be changed: each `R` becomes
/// a `u`, which is on anyway. So offsets stay what they are. A `-R` may stay, because nothing sets the flag. A `[`
/// in a comment of the pattern hides the flags behind it.
pub fn ignored_in_text(pattern: &str) -> Cow<'_, str> {
    let mut found = Vec::new();
    let mut classes = 0_usize;
    let mut rest = pattern.char_indices();
    while let Some((at, character)) = rest.next() {
        match character {
            '\\' => drop(rest.next()),
            '[' => {
                classes += 1;
                let inside = rest.as_str();
                // The first `]` of a class is an element of it.
                let elements = inside.strip_prefix('^').unwrap_or(inside);
                let elements = elements.strip_prefix(']').unwrap_or(elements);
                while rest.as_str().len() > elements.len() {
                    rest.next();
                }
            }
            ']' => classes = classes.saturating_sub(1),
            '(' if classes == 0 && rest.as_str().starts_with('?') => {
                let flags = at + 2;
                let set = pattern[flags..]
                    .bytes()
                    .take_while(|byte| byte.is_ascii_whitespace() || b"imsRUux".contains(byte));
                let set = set.count();
                if !pattern[flags + set..].starts_with([')', ':', '-']) {
                    continue;
                }
                let positions = pattern[flags..flags + set].match_indices('R');
                found.extend(positions.map(|(position, _)| flags + position));
            }
            _ => {}
        }
    }
    if found.is_empty() {
        return pattern.into();
    }
    let mut changed = pattern.to_owned();
    for at in found {
        changed.replace_range(at..=at, "u");
    }
    changed.into()
}

#[cfg(test)]
mod tests {
    use super::ignored_in_text;

    #[test]
    fn only_a_flag_that_is_set_is_replaced() {
        for (pattern, expected) in [
            ("(?R)a", "(?u)a"),
            ("(?mR)^a$(?=)", "(?mu)^a$(?=)"),
            ("(?Rm-s:é)(?R:R)", "(?um-s:é)(?u:R)"),
            ("(?x R )R", "(?x u )R"),
            (r"\\(?R)", r"\\(?u)"),
        ] {
            assert_eq!(ignored_in_text(pattern), expected);
        }
        for pattern in [
            r"\(?R)", "[(?R)]", "[](?R)]", "[^](?R)]", "(?-R)", "(?m-R:a)", "(?<R>a)", "(?P<R>a)",
            "(?=R)", "(?", "(", "[(?R)", "(?R", "(?R=)", "\\",
        ] {
            assert_eq!(ignored_in_text(pattern), pattern);
        }
    }
}
