//! Objects whose keys are known when this is written, made by a function of the engine's own.
//!
//! Through Node-API an object is made by setting one property after another, each by a name that the
//! engine has to look up: for the nine of `readFile` that takes Node three times as long as all the rest
//! of the answer, and half as long in Bun. A function that returns an object literal is compiled once, and
//! after that makes the whole in a tenth of the time. Nor does a literal ask the setters that a program
//! may have put on `Object.prototype`.

use std::cell::RefCell;

use napi::Env;
use napi::bindgen_prelude::Unknown;

use super::call::Converted;
use super::environment;
use super::raw::{Kept, call_function};

thread_local! {
    /// With their environments, since a thread may host more than one.
    static FUNCTIONS: RefCell<Vec<Function>> = const { RefCell::new(Vec::new()) };
}

struct Function {
    environment: usize,
    source: &'static str,
    kept: Kept,
}

/// An arrow function that makes an object of its arguments.
pub(super) struct ObjectLiteral {
    /// Its source; nothing in it may come from outside.
    source: &'static str,
}

impl ObjectLiteral {
    pub(super) const fn new(source: &'static str) -> Self {
        Self { source }
    }

    /// The object of these values, or what was thrown instead, as where there is no stack left.
    pub(super) fn make<'env>(&self, env: &'env Env, values: &[Unknown<'_>]) -> Converted<'env> {
        let function = self.function(env)?;
        // An arrow function does not look at its `this`.
        match call_function(env, function, function, values) {
            Ok(object) => Ok(Ok(object)),
            Err(Some(thrown)) => Ok(Err(thrown)),
            Err(None) => Err(napi::Error::from_reason("an object literal failed")),
        }
    }

    fn function<'env>(&self, env: &'env Env) -> napi::Result<Unknown<'env>> {
        let environment = environment::key(env)?;
        FUNCTIONS.with_borrow_mut(|functions| {
            let known = functions
                .iter()
                .find(|known| known.environment == environment && known.source == self.source);
            if let Some(known) = known {
                return known.kept.value(env);
            }
            let function = env.run_script(self.source)?;
            let kept = Kept::new(env, function)?;
            functions.push(Function { environment, source: self.source, kept });
            Ok(function)
        })
    }
}

/// Forgets what belonged to an environment that has ended.
pub(super) fn forget(environment: usize) {
    FUNCTIONS
        .with_borrow_mut(|functions| functions.retain(|known| known.environment != environment));
}
