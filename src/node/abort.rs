//! `AbortSignal`, as the caller made it: an aborted one is noticed, a listener is added and taken
//! away again, and `onabort` is left alone.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use napi::bindgen_prelude::{
    FnArgs, FromNapiValue, Function, FunctionRef, JsObjectValue, Object, ObjectRef, Unknown,
};
use napi::{Env, JsValue, ValueType};

use super::call::NotStarted;
use super::raw::{self, Deferred};
use super::value::Argument;
use crate::argument::ArgumentError;

/// `addEventListener` and `removeEventListener`.
type ListenerMethod<'env> =
    Function<'env, FnArgs<(&'static str, Function<'env, (), ()>)>, Unknown<'env>>;

/// A signal, or a polyfill that looks like one.
pub(super) struct AbortSignal<'env> {
    object: Unknown<'env>,
    /// Why it was aborted, if it was when it was read.
    reason: Option<Unknown<'env>>,
}

impl<'env> AbortSignal<'env> {
    /// Reads `signal` out of an options object, if there is one.
    pub(super) fn read(
        env: &'env Env,
        options: Option<Argument<'env>>,
    ) -> Result<Option<Self>, ArgumentError> {
        let Some(options) = options.map(Argument::object).transpose()? else {
            return Ok(None);
        };
        let Some(argument) = options.property(c"signal", "signal")? else {
            return Ok(None);
        };
        let not_a_signal = || argument.refuse("must be an AbortSignal");
        let object = argument.object().map_err(|_| not_a_signal())?.value();
        let property = |name, kind| {
            raw::get_property(env, object, name)
                .filter(|value| value.get_type().is_ok_and(|found| found == kind))
        };
        let add = property(c"addEventListener", ValueType::Function);
        let aborted = property(c"aborted", ValueType::Boolean).map(bool::from_unknown);
        match (add, aborted) {
            (Some(_), Some(Ok(aborted))) => {
                let reason = aborted.then(|| reason(env, object));
                Ok(Some(Self { object, reason }))
            }
            _ => Err(not_a_signal()),
        }
    }

    /// Stops a call whose signal is aborted already.
    pub(super) fn check<T>(&self) -> Result<(), NotStarted<'env, T>> {
        self.reason.map_or(Ok(()), |reason| Err(NotStarted::Aborted(reason)))
    }

    /// Rejects the pending promise when the signal fires.
    pub(super) fn listen(
        self,
        env: &Env,
        pending: &Rc<RefCell<Option<Deferred>>>,
    ) -> napi::Result<Listener> {
        let signal = Object::from_raw(env.raw(), self.object.raw());
        let signal_ref = signal.create_ref::<false>()?;
        let held = signal.create_ref::<false>()?;
        let pending = Rc::clone(pending);
        let aborted = Arc::new(AtomicBool::new(false));
        let fired = Arc::clone(&aborted);
        let on_abort: Function<'_, (), ()> =
            env.create_function_from_closure("onAbort", move |call| {
                fired.store(true, Ordering::Relaxed);
                let Some(deferred) = pending.borrow_mut().take() else {
                    return Ok(());
                };
                let signal = raw::to_js(call.env, held.get_value(call.env)?)?;
                deferred.reject(call.env, reason(call.env, signal))
            })?;
        let add: ListenerMethod<'_> = signal.get_named_property("addEventListener")?;
        // A polyfill whose `addEventListener` throws is one that never fires.
        let _ = add.apply(signal, FnArgs { data: ("abort", on_abort) });
        raw::clear_exception(env);
        Ok(Listener { signal: signal_ref, on_abort: on_abort.create_ref()?, aborted })
    }
}

/// The signal's reason; the signal itself where a polyfill's getter throws.
fn reason<'env>(env: &'env Env, signal: Unknown<'env>) -> Unknown<'env> {
    raw::get_property(env, signal, c"reason").unwrap_or(signal)
}

/// A listener on a signal, to be taken away when its call is done.
pub(super) struct Listener {
    signal: ObjectRef<false>,
    on_abort: FunctionRef<(), ()>,
    aborted: Arc<AtomicBool>,
}

impl Listener {
    /// Set when the signal fires: work that has not begun need not.
    pub(super) fn aborted_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.aborted)
    }

    /// Takes the listener away; a signal that outlives many calls must not collect them.
    pub(super) fn remove(self, env: &Env) {
        if self.try_remove(env).is_err() {
            raw::clear_exception(env);
        }
    }

    fn try_remove(&self, env: &Env) -> napi::Result<()> {
        let signal = self.signal.get_value(env)?;
        let on_abort = self.on_abort.borrow_back(env)?;
        let remove: ListenerMethod<'_> = signal.get_named_property("removeEventListener")?;
        remove.apply(signal, FnArgs { data: ("abort", on_abort) }).map(drop)
    }
}
