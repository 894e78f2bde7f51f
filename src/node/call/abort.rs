//! The abort signals of a call.
//!
//! A signal may be aborted before the call. All the calls that wait on one signal share one listener,
//! which is removed after the last of them: Node warns of a leak at the eleventh listener. The
//! program's own `onabort` is left alone.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::{Rc, Weak};

use napi::bindgen_prelude::{FnArgs, FromNapiValue, Function, Unknown};
use napi::{Env, ValueType};

use crate::node::engine::environment;
use crate::node::engine::object::is_of;
use crate::node::engine::raw::{self, Reference, to_js};

/// A call that can be aborted.
pub trait Abortable {
    /// One of the call's signals has fired.
    fn abort(&self, env: &Env, reason: Unknown<'_>);

    /// Whether the caller has its answer.
    fn is_settled(&self) -> bool;
}

/// The signals of one call: one may come in its options, another in its context.
pub struct Signals<'env>(pub [Option<AbortSignal<'env>>; 2]);

impl<'env> Signals<'env> {
    /// No signal: the call cannot be aborted.
    pub const NONE: Self = Self([None, None]);

    /// Whether the call cannot be aborted.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// The first signal, as the caller passed it.
    pub fn first_object(&self) -> Option<Unknown<'env>> {
        self.0[0].as_ref().map(|signal| signal.object)
    }

    /// The reason of the first signal that is aborted by now. Reading arguments runs getters, and
    /// these can abort.
    pub fn reason_if_aborted(&self, env: &'env Env) -> Option<Unknown<'env>> {
        self.0.iter().flatten().find_map(|signal| signal.reason_if_aborted(env))
    }

    /// Tells the call when one of the signals fires.
    pub fn subscribe(
        self,
        env: &Env,
        call: &Rc<impl Abortable + 'static>,
    ) -> napi::Result<Subscriptions> {
        let mut subscriptions = Subscriptions::default();
        for signal in self.0.into_iter().flatten() {
            let call: Rc<dyn Abortable> = call.clone();
            subscriptions.add(Watch::of(env, &signal)?, call);
        }
        // A polyfill's `addEventListener` may abort the signal.
        if let Some(reason) = subscriptions.reason_if_aborted(env) {
            call.abort(env, reason);
        }
        Ok(subscriptions)
    }
}

/// An `AbortSignal`, or a polyfill that looks like one.
pub struct AbortSignal<'env> {
    object: Unknown<'env>,
    add_listener: ListenerMethod<'env>,
}

/// `addEventListener` and `removeEventListener`.
type ListenerMethod<'env> = Function<'env, FnArgs<(&'static str, Unknown<'env>)>, Unknown<'env>>;

impl<'env> AbortSignal<'env> {
    /// The signal; `None` if the object is none.
    pub fn of(env: &'env Env, object: Unknown<'env>) -> Option<Self> {
        let add_listener = listener_method(env, object, c"addEventListener")?;
        is_aborted(env, object).map(|_| Self { object, add_listener })
    }

    /// The signal's reason, if it is aborted.
    pub fn reason_if_aborted(&self, env: &'env Env) -> Option<Unknown<'env>> {
        is_aborted(env, self.object)?.then(|| reason(env, self.object))
    }
}

fn listener_method<'env>(
    env: &'env Env,
    signal: Unknown<'env>,
    name: &'static std::ffi::CStr,
) -> Option<ListenerMethod<'env>> {
    let method = raw::get_property(env, signal, name)?;
    if is_of(method, ValueType::Function) {
        ListenerMethod::from_unknown(method).ok()
    } else {
        None
    }
}

/// `None` if the object is no signal.
fn is_aborted(env: &Env, signal: Unknown<'_>) -> Option<bool> {
    let aborted = raw::get_property(env, signal, c"aborted")?;
    if is_of(aborted, ValueType::Boolean) { bool::from_unknown(aborted).ok() } else { None }
}

/// The signal's reason; the signal itself where a polyfill's getter throws.
fn reason<'env>(env: &'env Env, signal: Unknown<'env>) -> Unknown<'env> {
    raw::get_property(env, signal, c"reason").unwrap_or(signal)
}

/// The signals that calls of an environment wait on.
#[derive(Default)]
struct Watches(RefCell<Vec<Rc<Watch>>>);

/// How many watched signals are compared with a new call's signal. Each comparison costs time, and a
/// program with more signals than that rarely shares one of them.
const MAX_COMPARED: usize = 64;

/// One signal, the listener on it, and the calls that wait on it.
struct Watch {
    /// Where it is found as long as calls wait on it.
    watches: Weak<Watches>,
    /// The signal and the listener; `None` once the last call has ended.
    listening: RefCell<Option<Listening>>,
    calls: RefCell<HashMap<u64, Rc<dyn Abortable>>>,
    next_call: Cell<u64>,
}

struct Listening {
    signal: Reference,
    listener: Reference,
}

impl Watch {
    /// The watch on a signal: one that is there already, or a new one.
    fn of(env: &Env, signal: &AbortSignal<'_>) -> napi::Result<Rc<Self>> {
        let watches = environment::state::<Watches>(env)?;
        let known = {
            let watches = watches.0.borrow();
            let mut latest = watches.iter().rev().take(MAX_COMPARED);
            latest.find(|watch| watch.is_on(env, signal.object)).cloned()
        };
        if let Some(watch) = known {
            return Ok(watch);
        }
        let watch = Rc::new(Self {
            watches: Rc::downgrade(&watches),
            listening: RefCell::default(),
            calls: RefCell::default(),
            next_call: Cell::default(),
        });
        let fired = Rc::downgrade(&watch);
        let listener = env.create_function_from_closure::<(), (), _>("onAbort", move |call| {
            if let Some(watch) = fired.upgrade() {
                watch.fire(call.env);
            }
            Ok(())
        })?;
        let listener = to_js(env, listener)?;
        let listening = Listening {
            signal: Reference::new(env, signal.object)?,
            listener: Reference::new(env, listener)?,
        };
        *watch.listening.borrow_mut() = Some(listening);
        watches.0.borrow_mut().push(Rc::clone(&watch));
        // A polyfill whose `addEventListener` throws counts as a signal that never fires.
        let _ = signal.add_listener.apply(signal.object, FnArgs { data: ("abort", listener) });
        raw::clear_exception(env);
        Ok(watch)
    }

    fn is_on(&self, env: &Env, signal: Unknown<'_>) -> bool {
        self.signal(env).is_some_and(|own| env.strict_equals(own, signal).unwrap_or(false))
    }

    fn signal<'env>(&self, env: &'env Env) -> Option<Unknown<'env>> {
        self.listening.borrow().as_ref()?.signal.value(env).ok()
    }

    fn fire(self: &Rc<Self>, env: &Env) {
        let Some(signal) = self.signal(env) else { return };
        let reason = reason(env, signal);
        let calls: Vec<_> =
            self.calls.borrow().iter().map(|(id, call)| (*id, Rc::clone(call))).collect();
        for (id, call) in calls {
            call.abort(env, reason);
            // A call that was waiting for a promise of the host may never end by itself.
            if call.is_settled() {
                self.end(env, id);
            }
        }
    }

    fn reason_if_aborted<'env>(&self, env: &'env Env) -> Option<Unknown<'env>> {
        let signal = self.signal(env)?;
        is_aborted(env, signal)?.then(|| reason(env, signal))
    }

    /// A call has ended. The last one removes the listener: a signal that outlives many calls must
    /// not collect listeners.
    fn end(self: &Rc<Self>, env: &Env, call: u64) {
        let ended = self.calls.borrow_mut().remove(&call);
        drop(ended);
        if !self.calls.borrow().is_empty() {
            return;
        }
        if let Some(watches) = self.watches.upgrade() {
            watches.0.borrow_mut().retain(|watch| !Rc::ptr_eq(watch, self));
        }
        let Some(Listening { signal, listener }) = self.listening.borrow_mut().take() else {
            return;
        };
        if let (Ok(signal), Ok(listener)) = (signal.value(env), listener.value(env))
            && let Some(remove) = listener_method(env, signal, c"removeEventListener")
        {
            let _ = remove.apply(signal, FnArgs { data: ("abort", listener) });
            raw::clear_exception(env);
        }
    }
}

/// The signals that a call under way waits on. They must be ended with it.
#[derive(Default)]
pub struct Subscriptions(Vec<(Rc<Watch>, u64)>);

impl Subscriptions {
    fn add(&mut self, watch: Rc<Watch>, call: Rc<dyn Abortable>) {
        let id = watch.next_call.get();
        watch.next_call.set(id + 1);
        watch.calls.borrow_mut().insert(id, call);
        self.0.push((watch, id));
    }

    /// The reason of the first signal that has fired.
    pub fn reason_if_aborted<'env>(&self, env: &'env Env) -> Option<Unknown<'env>> {
        self.0.iter().find_map(|(watch, _)| watch.reason_if_aborted(env))
    }

    /// The call has ended.
    pub fn end(self, env: &Env) {
        for (watch, call) in self.0 {
            watch.end(env, call);
        }
    }
}
