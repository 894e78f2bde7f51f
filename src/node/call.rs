//! How a call runs: at once, or on a worker thread with a promise for its answer; and that
//! neither ends the process, whatever happens inside.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use napi::bindgen_prelude::Unknown;
use napi::{Env, Task};

use super::abort::{Listener, Signals};
use super::raw::{Deferred, OnJsThread, to_js};
use super::turn::settle_in_turn;

/// What a piece of work comes to.
pub(super) trait Outcome: Send + Sized + 'static {
    /// The answer in JavaScript's form: to return or resolve with, or to throw or reject with.
    fn into_js(self, env: &Env) -> napi::Result<Result<Unknown<'_>, Unknown<'_>>>;

    /// The answer after a panic.
    fn bug() -> Self;

    /// How many bytes [`Outcome::into_js`] copies, roughly.
    fn bytes(&self) -> usize {
        0
    }
}

/// A call whose arguments have been read.
pub(super) struct Call<'env, W> {
    /// The work; it runs on a worker, or here.
    pub(super) work: W,
    /// The caller's signals.
    pub(super) signals: Signals<'env>,
}

/// Why a call ends before its work begins.
pub(super) enum NotStarted<'env, T> {
    /// An argument is wrong.
    Refused(T),
    /// The caller's signal was aborted already, for this reason.
    Aborted(Unknown<'env>),
}

/// Runs the call here: returns its answer, or throws it.
pub(super) fn run_sync<'env, W, T>(
    env: &'env Env,
    prepare: impl FnOnce() -> Result<Call<'env, W>, NotStarted<'env, T>>,
) -> napi::Result<Unknown<'env>>
where
    W: FnOnce() -> T,
    T: Outcome,
{
    let outcome = guard(|| prepare().map(|call| (call.work)()));
    let answer = match outcome {
        Some(Ok(outcome) | Err(NotStarted::Refused(outcome))) => outcome.into_js(env)?,
        Some(Err(NotStarted::Aborted(reason))) => Err(reason),
        None => T::bug().into_js(env)?,
    };
    match answer {
        Ok(value) => Ok(value),
        Err(thrown) => {
            // Thrown as it is: wrapping it into an `Error` would call its `toString`.
            env.throw(thrown)?;
            to_js(env, ())
        }
    }
}

/// Runs the call on a worker: returns a promise, whatever comes.
pub(super) fn run_async<'env, W, T>(
    env: &'env Env,
    prepare: impl FnOnce() -> Result<Call<'env, W>, NotStarted<'env, T>>,
) -> napi::Result<Unknown<'env>>
where
    W: FnOnce() -> T + Send + 'static,
    T: Outcome,
{
    let (deferred, promise) = Deferred::new(env)?;
    match guard(prepare) {
        Some(Ok(call)) => spawn(env, call, deferred)?,
        Some(Err(NotStarted::Refused(outcome))) => settle(env, deferred, outcome)?,
        Some(Err(NotStarted::Aborted(reason))) => deferred.reject(env, reason)?,
        None => settle(env, deferred, T::bug())?,
    }
    Ok(promise)
}

fn spawn<'env, W, T>(env: &'env Env, call: Call<'env, W>, deferred: Deferred) -> napi::Result<()>
where
    W: FnOnce() -> T + Send + 'static,
    T: Outcome,
{
    let deferred = Rc::new(RefCell::new(Some(deferred)));
    let aborted = Arc::new(AtomicBool::new(false));
    let listeners = call.signals.listen(env, &deferred, &aborted)?;
    let pending = OnJsThread::new(Pending { deferred, listeners }, env);
    env.spawn(Job { work: Some(call.work), aborted, pending }).map(drop)
}

/// A promise in flight. An abort listener shares it: whoever comes first settles it.
struct Pending {
    deferred: Rc<RefCell<Option<Deferred>>>,
    listeners: Vec<Listener>,
}

struct Job<W> {
    work: Option<W>,
    aborted: Arc<AtomicBool>,
    pending: OnJsThread<Pending>,
}

impl<W, T> Task for Job<W>
where
    W: FnOnce() -> T + Send + 'static,
    T: Outcome,
{
    /// `None`: aborted before it began.
    type Output = Option<T>;
    type JsValue = ();

    fn compute(&mut self) -> napi::Result<Self::Output> {
        if self.aborted.load(Ordering::Relaxed) {
            return Ok(None);
        }
        Ok(self.work.take().map(|work| guard(work).unwrap_or_else(T::bug)))
    }

    fn resolve(&mut self, env: Env, outcome: Self::Output) -> napi::Result<()> {
        let pending = self.pending.get(&env);
        for listener in pending.listeners.drain(..) {
            listener.remove(&env);
        }
        // Nothing is left to settle if a listener has rejected the promise.
        let deferred = pending.deferred.borrow_mut().take();
        match deferred {
            Some(deferred) => {
                let outcome = outcome.unwrap_or_else(T::bug);
                let bytes = outcome.bytes();
                let settle = Box::new(move |env: &Env| settle(env, deferred, outcome));
                settle_in_turn(&env, bytes, settle)
            }
            None => Ok(()),
        }
    }

    /// `compute` does not fail, so this is a task that was cancelled before it ran.
    fn reject(&mut self, env: Env, _cancelled: napi::Error) -> napi::Result<()> {
        self.resolve(env, None)
    }
}

fn settle<T: Outcome>(env: &Env, deferred: Deferred, outcome: T) -> napi::Result<()> {
    match outcome.into_js(env) {
        Ok(Ok(value)) => deferred.resolve(env, value),
        Ok(Err(reason)) => deferred.reject(env, reason),
        // The engine could not make the answer; a promise must not stay pending for that.
        Err(failure) => {
            let reason = env.create_error(failure)?;
            deferred.reject(env, to_js(env, reason)?)
        }
    }
}

/// Runs something that may panic, though it should not; `None` if it did. Node-API callbacks and
/// worker tasks end the process when a panic leaves them.
pub(super) fn guard<T>(run: impl FnOnce() -> T) -> Option<T> {
    // Whatever a panic leaves half done is dropped with the closure, or shared behind locks.
    catch_unwind(AssertUnwindSafe(run)).ok()
}
