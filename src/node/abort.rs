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

/// The signals of one call: one may come in its options, one in its context.
pub(super) struct Signals<'env>([Option<AbortSignal<'env>>; 2]);

impl<'env> Signals<'env> {
    /// No signal: a call that nobody can abort.
    #[cfg(feature = "test-hooks")]
    pub(super) const NONE: Self = Self([None, None]);

    /// Reads `signal` out of each of the objects. Holders that are no objects have none.
    ///
    /// If one is aborted already the call ends here, whatever else may be wrong with it.
    pub(super) fn read<T>(
        env: &'env Env,
        holders: [Option<Argument<'env>>; 2],
    ) -> Result<Result<Self, ArgumentError>, NotStarted<'env, T>> {
        let [first, second] = holders.map(|holder| AbortSignal::read(env, holder));
        for signal in [&first, &second] {
            if let Ok(Some(AbortSignal { reason: Some(reason), .. })) = signal {
                return Err(NotStarted::Aborted(*reason));
            }
        }
        Ok(first.and_then(|first| Ok(Self([first, second?]))))
    }

    /// Rejects the pending promise when one of the signals fires.
    pub(super) fn listen(
        self,
        env: &Env,
        pending: &Rc<RefCell<Option<Deferred>>>,
        aborted: &Arc<AtomicBool>,
    ) -> napi::Result<Vec<Listener>> {
        let signals = self.0.into_iter().flatten();
        signals.map(|signal| signal.listen(env, Rc::clone(pending), Arc::clone(aborted))).collect()
    }
}

/// A signal, or a polyfill that looks like one.
struct AbortSignal<'env> {
    object: Unknown<'env>,
    /// Why it was aborted, if it was when it was read.
    reason: Option<Unknown<'env>>,
}

impl<'env> AbortSignal<'env> {
    fn read(env: &'env Env, holder: Option<Argument<'env>>) -> Result<Option<Self>, ArgumentError> {
        let Some(Ok(holder)) = holder.map(Argument::object) else { return Ok(None) };
        let Some(argument) = holder.property(c"signal", "signal")? else { return Ok(None) };
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

    fn listen(
        self,
        env: &Env,
        pending: Rc<RefCell<Option<Deferred>>>,
        aborted: Arc<AtomicBool>,
    ) -> napi::Result<Listener> {
        let object = Object::from_raw(env.raw(), self.object.raw());
        let signal = object.create_ref::<false>()?;
        let fired = object.create_ref::<false>()?;
        let on_abort: Function<'_, (), ()> =
            env.create_function_from_closure("onAbort", move |call| {
                aborted.store(true, Ordering::Relaxed);
                let Some(deferred) = pending.borrow_mut().take() else { return Ok(()) };
                let signal = raw::to_js(call.env, fired.get_value(call.env)?)?;
                deferred.reject(call.env, reason(call.env, signal))
            })?;
        let add: ListenerMethod<'_> = object.get_named_property("addEventListener")?;
        // A polyfill whose `addEventListener` throws is one that never fires.
        let _ = add.apply(object, FnArgs { data: ("abort", on_abort) });
        raw::clear_exception(env);
        Ok(Listener { signal, on_abort: on_abort.create_ref()? })
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
}

impl Listener {
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
