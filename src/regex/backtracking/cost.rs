//! What a pattern can cost in one step of the engine.

use fancy_regex::Expr;

use crate::regex::MAX_PARTS;

/// How many parts a pattern has when its repetitions are written out, as
/// [`line_pattern::parts`](crate::regex::line_pattern::parts) counts them.
pub fn parts(expr: &Expr) -> u64 {
    match expr {
        Expr::Literal { val, .. } => 1 + val.len() as u64 / 64,
        Expr::Repeat { child, lo, hi, .. } => {
            let times = if *hi == usize::MAX { *lo } else { *hi };
            parts(child).saturating_mul(times.max(1) as u64)
        }
        other if other.is_leaf_node() => 1,
        other => other.children_iter().map(parts).fold(0, u64::saturating_add),
    }
}

/// The parts of a pattern that automata match in one step each: those without look-around and references.
#[derive(Debug, Default)]
pub struct Steps {
    /// The highest cost of a step whose match has a greatest length: its number of parts times this length.
    finite: u64,
    /// How many parts a step has at most that can read the whole line.
    endless: u64,
    /// How many values the engine keeps at most for each time that a repetition begins anew.
    pub kept: u64,
}

impl Steps {
    pub fn of(expr: &Expr) -> Self {
        let mut steps = Self::default();
        steps.add(expr);
        steps
    }

    /// The highest cost of a step in a line of so many bytes.
    pub fn cost(&self, bytes: usize) -> u64 {
        let bytes = bytes as u64;
        self.finite.min(MAX_PARTS.saturating_mul(bytes)).max(self.endless.saturating_mul(bytes))
    }

    fn add(&mut self, expr: &Expr) {
        self.kept += match expr {
            Expr::Group(_) | Expr::Repeat { .. } | Expr::AtomicGroup(_) => 2,
            _ => 0,
        };
        if !expr.has_descendant_or_self(is_hard) {
            self.add_step([expr]);
        } else if let Expr::Concat(all) = expr {
            // The engine joins neighbours.
            self.add_step(all.iter().filter(|part| !part.has_descendant_or_self(is_hard)));
        }
        expr.children_iter().for_each(|child| self.add(child));
    }

    fn add_step<'expr>(&mut self, all: impl IntoIterator<Item = &'expr Expr>) {
        let (mut count, mut longest) = (0_u64, Some(0_u64));
        for part in all {
            count = count.saturating_add(parts(part));
            longest =
                longest.zip(longest_match(part)).map(|(one, other)| one.saturating_add(other));
        }
        match longest {
            Some(longest) => self.finite = self.finite.max(count.saturating_mul(longest)),
            None => self.endless = self.endless.max(count),
        }
    }
}

/// Whether the engine matches this itself, whatever is around it.
fn is_hard(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::LookAround(..)
            | Expr::Backref { .. }
            | Expr::AtomicGroup(_)
            | Expr::KeepOut
            | Expr::ContinueFromPreviousMatchEnd
            | Expr::Conditional { .. }
            | Expr::Absent(_)
    )
}

/// How many bytes a match has at most; `None` if there is no limit.
fn longest_match(expr: &Expr) -> Option<u64> {
    match expr {
        // Another case can have more bytes, three at most for one.
        Expr::Literal { val, .. } => Some(3 * val.len() as u64),
        Expr::Assertion(_) | Expr::Empty => Some(0),
        Expr::Repeat { child, hi, .. } => match longest_match(child)? {
            0 => Some(0),
            _ if *hi == usize::MAX => None,
            longest => Some(longest.saturating_mul(*hi as u64)),
        },
        Expr::Any { .. } | Expr::Delegate { .. } => Some(4),
        Expr::Concat(all) => {
            all.iter().try_fold(0_u64, |sum, part| Some(sum.saturating_add(longest_match(part)?)))
        }
        Expr::Alt(all) => all.iter().try_fold(0, |most, part| Some(longest_match(part)?.max(most))),
        Expr::Group(child) => longest_match(child),
        _ => None,
    }
}
