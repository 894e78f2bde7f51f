//! Rewrites a pattern so that a search in a whole text finds in each line the matches that the pattern
//! has in that line alone.

use regex_syntax::hir::{
    Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look,
    Repetition,
};

/// The pattern with no word character before its match or after it, as `rg --word-regexp` has it.
pub fn as_word(hir: Hir) -> Hir {
    Hir::concat(vec![
        Hir::look(Look::WordStartHalfUnicode),
        hir,
        Hir::look(Look::WordEndHalfUnicode),
    ])
}

/// The pattern whose matches hold no line feed, and which takes the ends of a line for those of the text.
pub fn within_lines(hir: &Hir) -> Hir {
    rewrite(hir, &|leaf| match leaf {
        HirKind::Literal(literal) if literal.0.contains(&b'\n') => Some(Hir::fail()),
        HirKind::Class(class) => Some(Hir::class(without_line_feed(class))),
        HirKind::Look(Look::Start) => Some(Hir::look(Look::StartLF)),
        HirKind::Look(Look::End) => Some(Hir::look(Look::EndLF)),
        _ => None,
    })
}

/// How many classes a pattern has when its repetitions are written out. A literal counts as one class for
/// each 64 bytes, because hardly ever more than one place in it is reached at once.
pub fn parts(hir: &Hir) -> u64 {
    match hir.kind() {
        HirKind::Empty => 0,
        HirKind::Literal(literal) => 1 + literal.0.len() as u64 / 64,
        HirKind::Class(_) | HirKind::Look(_) => 1,
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min).max(1);
            parts(&repetition.sub).saturating_mul(times.into())
        }
        HirKind::Capture(capture) => parts(&capture.sub),
        HirKind::Concat(all) | HirKind::Alternation(all) => {
            all.iter().map(parts).fold(0, u64::saturating_add)
        }
    }
}

/// A pattern with leaves that are replaced where `replace` has something else for them.
fn rewrite(hir: &Hir, replace: &dyn Fn(&HirKind) -> Option<Hir>) -> Hir {
    let part = |part: &Hir| rewrite(part, replace);
    match hir.kind() {
        HirKind::Repetition(repetition) => Hir::repetition(Repetition {
            sub: Box::new(part(&repetition.sub)),
            ..repetition.clone()
        }),
        // Groups matter to captures alone, and there are none.
        HirKind::Capture(capture) => part(&capture.sub),
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(part).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(part).collect()),
        leaf => replace(leaf).unwrap_or_else(|| hir.clone()),
    }
}

fn without_line_feed(class: &Class) -> Class {
    match class {
        Class::Unicode(class) => {
            let mut rest = class.clone();
            rest.difference(&ClassUnicode::new([ClassUnicodeRange::new('\n', '\n')]));
            Class::Unicode(rest)
        }
        Class::Bytes(class) => {
            let mut rest = class.clone();
            rest.difference(&ClassBytes::new([ClassBytesRange::new(b'\n', b'\n')]));
            Class::Bytes(rest)
        }
    }
}
