//! Refuses patterns with too many character classes. The parser makes a list of ranges for each class, some
//! 6 KB for `\w`. It does so before the limit on the compiled pattern applies.

use regex_syntax::ast::{self, Ast, ClassPerlKind, ClassSetItem, Visitor};

use super::PatternFlaw;

/// The weights of all classes together. A compiled pattern holds far fewer.
const MAX_WEIGHT: usize = 1 << 16;

/// The weight of a class with hundreds of ranges.
const LARGE: usize = 256;

/// Checks that a pattern has no more classes than its memory allows.
pub fn check(ast: &Ast) -> Result<(), PatternFlaw> {
    match ast::visit(ast, Weight(0)) {
        Ok(weight) if weight > MAX_WEIGHT => Err(PatternFlaw::too_large()),
        _ => Ok(()),
    }
}

struct Weight(usize);

impl Weight {
    fn add_perl(&mut self, kind: &ClassPerlKind) {
        self.0 += match kind {
            ClassPerlKind::Word => LARGE,
            ClassPerlKind::Digit | ClassPerlKind::Space => LARGE / 8,
        };
    }
}

impl Visitor for Weight {
    type Output = usize;
    type Err = ();

    fn finish(self) -> Result<usize, ()> {
        Ok(self.0)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), ()> {
        match ast {
            Ast::ClassPerl(class) => self.add_perl(&class.kind),
            Ast::ClassUnicode(_) => self.0 += LARGE,
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), ()> {
        match item {
            ClassSetItem::Perl(class) => self.add_perl(&class.kind),
            ClassSetItem::Unicode(_) => self.0 += LARGE,
            _ => self.0 += 1,
        }
        Ok(())
    }
}
