//! `AbortSignal`, as the caller made it: an aborted one is noticed, one listener is added for all
//! the calls that wait on a signal and taken away after the last, and `onabort` is left alone.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use napi::bindgen_prelude::{
    FnArgs, FromNapiValue, Function, FunctionRef, Object, ObjectRef, Unknown,
};
use napi::{Env, JsValue, ValueType};

use super::call::{NotStarted, PendingCall};
use super::environment;
use super::raw;
use super::value::Argument;
use crate::argument::ArgumentError;

/// The signals of one call: one may come in its options, one in its context.
pub(super) struct Signals<'env>([Option<AbortSignal<'env>>; 2]);

impl<'env> Signals<'env> {
    /// No signal: a call that nobody can abort.
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
            if let Ok(Some(signal)) = signal
                && let Some(reason) = signal.reason_if_aborted(env)
            {
                return Err(NotStarted::Aborted(reason));
            }
        }
        Ok(first.and_then(|first| Ok(Self([first, second?]))))
    }

    /// Whether nobody can abort the call.
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// The signal of the first holder, as it was read.
    pub(super) fn first(&self) -> Option<Unknown<'env>> {
        self.0[0].as_ref().map(|signal| signal.object)
    }

    /// Why the call is aborted, if it is by now: reading arguments runs getters, which can abort.
    pub(super) fn reason_if_aborted(&self, env: &'env Env) -> Option<Unknown<'env>> {
        self.0.iter().flatten().find_map(|signal| signal.reason_if_aborted(env))
    }

    /// Has the call told when one of the signals fires.
    pub(super) fn subscribe(
        self,
        env: &Env,
        call: &Rc<PendingCall>,
    ) -> napi::Result<Subscriptions> {
        let mut subscriptions = Subscriptions::default();
        for signal in self.0.into_iter().flatten() {
            subscriptions.add(Watch::of(env, &signal)?, call);
        }
        // `addEventListener` may be anybody's, and abort the signal itself.
        if let Some(reason) = subscriptions.reason_if_aborted(env) {
            call.abort(env, || reason);
        }
        Ok(subscriptions)
    }
}

/// A signal, or a polyfill that looks like one.
struct AbortSignal<'env> {
    object: Unknown<'env>,
    add_listener: ListenerMethod<'env>,
}

/// `addEventListener` and `removeEventListener`.
type ListenerMethod<'env> =
    Function<'env, FnArgs<(&'static str, Function<'env, (), ()>)>, Unknown<'env>>;

impl<'env> AbortSignal<'env> {
    fn read(env: &'env Env, holder: Option<Argument<'env>>) -> Result<Option<Self>, ArgumentError> {
        let Some(Ok(holder)) = holder.map(Argument::object) else { return Ok(None) };
        let Some(argument) = holder.property(c"signal", "signal")? else { return Ok(None) };
        let not_a_signal = || argument.refuse("must be an AbortSignal");
        let object = argument.object().map_err(|_| not_a_signal())?.value();
        let add = listener_method(env, object, c"addEventListener").ok_or_else(not_a_signal)?;
        is_aborted(env, object).ok_or_else(not_a_signal)?;
        Ok(Some(Self { object, add_listener: add }))
    }

    fn reason_if_aborted(&self, env: &'env Env) -> Option<Unknown<'env>> {
        is_aborted(env, self.object)?.then(|| reason(env, self.object))
    }
}

fn listener_method<'env>(
    env: &'env Env,
    signal: Unknown<'env>,
    name: &'static std::ffi::CStr,
) -> Option<ListenerMethod<'env>> {
    let method = raw::get_property(env, signal, name)?;
    let is_function = method.get_type().is_ok_and(|kind| kind == ValueType::Function);
    if is_function { ListenerMethod::from_unknown(method).ok() } else { None }
}

/// `None` if it is no signal.
fn is_aborted(env: &Env, signal: Unknown<'_>) -> Option<bool> {
    let aborted = raw::get_property(env, signal, c"aborted")?;
    let is_boolean = aborted.get_type().is_ok_and(|kind| kind == ValueType::Boolean);
    if is_boolean { bool::from_unknown(aborted).ok() } else { None }
}

/// The signal's reason; the signal itself where a polyfill's getter throws.
fn reason<'env>(env: &'env Env, signal: Unknown<'env>) -> Unknown<'env> {
    raw::get_property(env, signal, c"reason").unwrap_or(signal)
}

thread_local! {
    /// The signals that calls are waiting on.
    static WATCHES: RefCell<Vec<Rc<Watch>>> = RefCell::default();
}

/// How many signals are looked through for one that is watched already. Finding it costs a
/// comparison each, and a program with more signals than that has hardly one for many calls.
const MAX_COMPARED: usize = 64;

/// One signal, the one listener on it, and the calls that it is for. (Node warns of a leak at the
/// eleventh listener.)
struct Watch {
    environment: usize,
    /// Both are gone once the last call has ended.
    signal: RefCell<Option<ObjectRef<false>>>,
    listener: RefCell<Option<FunctionRef<(), ()>>>,
    calls: RefCell<HashMap<u64, Rc<PendingCall>>>,
    next_call: Cell<u64>,
}

impl Watch {
    /// The watch on a signal, which may be there already.
    fn of(env: &Env, signal: &AbortSignal<'_>) -> napi::Result<Rc<Self>> {
        if let Some(watch) = Self::find(env, signal.object) {
            return Ok(watch);
        }
        let object = Object::from_raw(env.raw(), signal.object.raw());
        let watch = Rc::new(Self {
            environment: environment::key(env)?,
            signal: RefCell::new(Some(object.create_ref()?)),
            listener: RefCell::default(),
            calls: RefCell::default(),
            next_call: Cell::default(),
        });
        let fired = Rc::downgrade(&watch);
        let listener: Function<'_, (), ()> =
            env.create_function_from_closure("onAbort", move |call| {
                if let Some(watch) = fired.upgrade() {
                    watch.fire(call.env);
                }
                Ok(())
            })?;
        *watch.listener.borrow_mut() = Some(listener.create_ref()?);
        WATCHES.with_borrow_mut(|watches| watches.push(Rc::clone(&watch)));
        // A polyfill whose `addEventListener` throws is one that never fires.
        let _ = signal.add_listener.apply(object, FnArgs { data: ("abort", listener) });
        raw::clear_exception(env);
        Ok(watch)
    }

    fn find(env: &Env, signal: Unknown<'_>) -> Option<Rc<Self>> {
        WATCHES.with_borrow(|watches| {
            let mut latest = watches.iter().rev().take(MAX_COMPARED);
            latest.find(|watch| watch.is_on(env, signal)).cloned()
        })
    }

    fn is_on(&self, env: &Env, signal: Unknown<'_>) -> bool {
        self.environment == env.raw() as usize
            && self.signal(env).is_some_and(|own| env.strict_equals(own, signal).unwrap_or(false))
    }

    fn signal<'env>(&self, env: &'env Env) -> Option<Unknown<'env>> {
        let object = self.signal.borrow().as_ref()?.get_value(env).ok()?;
        raw::to_js(env, object).ok()
    }

    fn fire(self: &Rc<Self>, env: &Env) {
        let Some(signal) = self.signal(env) else { return };
        let calls: Vec<_> =
            self.calls.borrow().iter().map(|(id, call)| (*id, Rc::clone(call))).collect();
        for (id, call) in calls {
            call.abort(env, || reason(env, signal));
            // Whatever the call still waited for may be gone, and never end it.
            if call.is_settled() {
                self.end(env, id);
            }
        }
    }

    fn reason_if_aborted<'env>(&self, env: &'env Env) -> Option<Unknown<'env>> {
        let signal = self.signal(env)?;
        is_aborted(env, signal)?.then(|| reason(env, signal))
    }

    /// A call has ended. After the last one the listener goes: a signal that outlives many calls
    /// must not collect them.
    fn end(self: &Rc<Self>, env: &Env, call: u64) {
        self.calls.borrow_mut().remove(&call);
        if !self.calls.borrow().is_empty() {
            return;
        }
        WATCHES.with_borrow_mut(|watches| watches.retain(|watch| !Rc::ptr_eq(watch, self)));
        let listener = self.listener.borrow_mut().take();
        if let (Some(signal), Some(listener)) = (self.signal(env), listener)
            && let Some(remove) = listener_method(env, signal, c"removeEventListener")
            && let Ok(listener) = listener.borrow_back(env)
        {
            let _ = remove.apply(signal, FnArgs { data: ("abort", listener) });
            raw::clear_exception(env);
        }
        let signal = self.signal.borrow_mut().take();
        // A reference that cannot be let go is gone with its environment.
        let _ = signal.map(|signal| signal.unref(env));
    }
}

/// What a call waits on; must be ended.
#[derive(Default)]
pub(super) struct Subscriptions(Vec<(Rc<Watch>, u64)>);

impl Subscriptions {
    fn add(&mut self, watch: Rc<Watch>, call: &Rc<PendingCall>) {
        let id = watch.next_call.get();
        watch.next_call.set(id + 1);
        watch.calls.borrow_mut().insert(id, Rc::clone(call));
        self.0.push((watch, id));
    }

    /// Why the first of the signals that has fired did.
    pub(super) fn reason_if_aborted<'env>(&self, env: &'env Env) -> Option<Unknown<'env>> {
        self.0.iter().find_map(|(watch, _)| watch.reason_if_aborted(env))
    }

    /// The call has ended.
    pub(super) fn end(self, env: &Env) {
        for (watch, call) in self.0 {
            watch.end(env, call);
        }
    }
}

/// Forgets what belonged to an environment that has ended.
pub(super) fn forget(environment: usize) {
    WATCHES.with_borrow_mut(|watches| watches.retain(|watch| watch.environment != environment));
}
