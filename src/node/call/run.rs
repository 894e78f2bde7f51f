//! How a call runs: on the calling thread, on a worker with a promise for the outcome, or at once if
//! nothing has to be waited for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use napi::Env;
use napi::bindgen_prelude::Unknown;

use super::abort::Signals;
use super::outcome::{AnyOutcome, Bug, JsResult, Outcome, bug_of, settle};
use super::panic::guard;
use super::pending::{OnAbort, PendingCall};
use super::turn::{Probe, Turn};
use super::workers;
use crate::node::engine::environment;
use crate::node::engine::raw::{Deferred, to_js};

/// A call whose arguments have been read.
pub struct Call<'env, W> {
    /// The work of the call.
    pub work: W,
    /// The caller's signals.
    pub signals: Signals<'env>,
    /// The effect of an abort.
    pub on_abort: OnAbort,
}

/// Why a call ends before its work begins.
pub enum NotStarted<'env, T> {
    /// An argument is wrong; this is the outcome.
    Refused(T),
    /// The caller's signal was aborted already, for this reason.
    Aborted(Unknown<'env>),
}

/// The result of reading the arguments.
pub type Prepared<'env, W, T> = Result<Call<'env, W>, NotStarted<'env, T>>;

impl<'env, W> Call<'env, W> {
    /// A call that an abort rejects at once.
    pub fn new(signals: Signals<'env>, work: W) -> Self {
        Self { work, signals, on_abort: OnAbort::Reject }
    }

    /// The same call with other work.
    pub fn map<V>(self, change: impl FnOnce(W) -> V) -> Call<'env, V> {
        let Self { work, signals, on_abort } = self;
        Call { work: change(work), signals, on_abort }
    }
}

/// Runs the call on this thread: returns its result, or throws its error.
pub fn run_sync<'env, W, T>(
    env: &'env Env,
    prepare: impl FnOnce() -> Prepared<'env, W, T>,
) -> napi::Result<Unknown<'env>>
where
    W: FnOnce(&AtomicBool) -> T,
    T: Outcome,
{
    // No code that could abort runs while this thread is busy here.
    run_here(env, prepare, |work| work(&AtomicBool::new(false)).into_js(env))
}

/// Runs the call on this thread, by `attempt` if that has the answer without waiting, else by `work`.
pub fn run_at_once_or_sync<'env, R, T: Outcome>(
    env: &'env Env,
    prepare: impl FnOnce() -> Prepared<'env, R, T>,
    attempt: impl FnOnce(&'env Env, R) -> Result<JsResult<'env>, R>,
    work: impl FnOnce(R) -> T,
) -> napi::Result<Unknown<'env>> {
    run_here(env, prepare, |request| {
        attempt(env, request).unwrap_or_else(|request| work(request).into_js(env))
    })
}

fn run_here<'env, R, T: Outcome>(
    env: &'env Env,
    prepare: impl FnOnce() -> Prepared<'env, R, T>,
    run: impl FnOnce(R) -> JsResult<'env>,
) -> napi::Result<Unknown<'env>> {
    let answer = guard(|| {
        let call = prepare()?;
        match call.signals.reason_if_aborted(env) {
            Some(reason) => Err(NotStarted::Aborted(reason)),
            None => Ok(run(call.work)),
        }
    });
    let answer = match answer {
        Some(Ok(answer)) => answer?,
        Some(Err(NotStarted::Refused(outcome))) => outcome.into_js(env)?,
        Some(Err(NotStarted::Aborted(reason))) => Err(reason),
        None => T::bug().into_js(env)?,
    };
    match answer {
        Ok(value) => Ok(value),
        Err(thrown) => {
            // The value itself is thrown: napi-rs would wrap it into an `Error` by its `toString`.
            env.throw(thrown)?;
            to_js(env, ())
        }
    }
}

/// Runs the call on a worker and returns a promise. It never throws.
pub fn run_async<'env, W, T>(
    env: &'env Env,
    prepare: impl FnOnce() -> Prepared<'env, W, T>,
) -> napi::Result<Unknown<'env>>
where
    W: FnOnce(&AtomicBool) -> T + Send + 'static,
    T: Outcome + Send,
{
    let prepare = || match prepare() {
        Ok(call) => Ok(call.map(work_of)),
        Err(NotStarted::Refused(outcome)) => Err(NotStarted::Refused(AnyOutcome::of(outcome))),
        Err(NotStarted::Aborted(reason)) => Err(NotStarted::Aborted(reason)),
    };
    promise_of_any(env, guard(prepare), bug_of::<T>)
}

/// Work of any call, for a worker.
type AnyWork = Box<dyn FnOnce(&AtomicBool) -> AnyOutcome + Send>;

fn work_of<T: Outcome + Send>(work: impl FnOnce(&AtomicBool) -> T + Send + 'static) -> AnyWork {
    Box::new(|aborted| AnyOutcome::of(work(aborted)))
}

/// The promise of a call that runs on a worker. `prepared` is `None` after a panic.
fn promise_of_any<'env>(
    env: &'env Env,
    prepared: Option<Prepared<'env, AnyWork, AnyOutcome>>,
    bug: Bug,
) -> napi::Result<Unknown<'env>> {
    let (deferred, promise) = Deferred::new(env)?;
    match prepared {
        Some(Ok(call)) => match call.signals.reason_if_aborted(env) {
            Some(reason) => deferred.reject(env, reason)?,
            None => run_on_worker(env, call, deferred, bug),
        },
        Some(Err(NotStarted::Refused(outcome))) => {
            let answer = outcome.unless_aborted().map_or_else(|| bug(env), |into_js| into_js(env));
            settle(env, deferred, answer, bug)?;
        }
        Some(Err(NotStarted::Aborted(reason))) => deferred.reject(env, reason)?,
        None => settle(env, deferred, bug(env), bug)?,
    }
    Ok(promise)
}

/// Runs the call by `attempt` if the present turn of the event loop has time for it and it has the
/// answer without waiting, else by `work` on a worker. Returns a promise and never throws.
///
/// A call with a signal goes to a worker: its caller may abort it right after the call.
pub fn run_at_once_or_async<'env, R, T>(
    env: &'env Env,
    prepare: impl FnOnce() -> Prepared<'env, R, T>,
    attempt: impl FnOnce(&'env Env, R) -> Result<JsResult<'env>, R>,
    work: impl FnOnce(R, &AtomicBool) -> T + Send + 'static,
) -> napi::Result<Unknown<'env>>
where
    R: Send + 'static,
    T: Outcome + Send,
{
    promise_of(env, prepare, |env, call, deferred| match attempt_in_turn(env, call, attempt) {
        Ok(answer) => {
            let answer = answer.unwrap_or_else(|| T::bug().into_js(env));
            // It fails only where the environment is ending.
            let _ = settle(env, deferred, answer, bug_of::<T>);
        }
        Err(call) => {
            let call = call.map(|request| work_of(move |aborted| work(request, aborted)));
            run_on_worker(env, call, deferred, bug_of::<T>);
        }
    })
}

/// The answer, `None` after a panic; or the call, if it has to go to a worker.
fn attempt_in_turn<'env, R>(
    env: &'env Env,
    call: Call<'env, R>,
    attempt: impl FnOnce(&'env Env, R) -> Result<JsResult<'env>, R>,
) -> Result<Option<JsResult<'env>>, Call<'env, R>> {
    let turn = environment::state::<Turn>(env).unwrap_or_default();
    let start = Instant::now();
    let send = |probe: Probe| workers::run(env, move || probe.run(), |_, _| ());
    if !call.signals.is_empty() || !turn.admit(start, send) {
        return Err(call);
    }
    let Call { work: request, signals, on_abort } = call;
    let attempted = guard(|| attempt(env, request));
    turn.spend(start);
    attempted.transpose().map_err(|request| Call { work: request, signals, on_abort })
}

/// The promise of a call that `start` begins once its arguments are read.
pub fn promise_of<'env, W, T: Outcome>(
    env: &'env Env,
    prepare: impl FnOnce() -> Prepared<'env, W, T>,
    start: impl FnOnce(&'env Env, Call<'env, W>, Deferred),
) -> napi::Result<Unknown<'env>> {
    let (deferred, promise) = Deferred::new(env)?;
    match guard(prepare) {
        Some(Ok(call)) => match call.signals.reason_if_aborted(env) {
            Some(reason) => deferred.reject(env, reason)?,
            None => start(env, call, deferred),
        },
        Some(Err(NotStarted::Refused(outcome))) => {
            settle(env, deferred, outcome.into_js(env), bug_of::<T>)?;
        }
        Some(Err(NotStarted::Aborted(reason))) => deferred.reject(env, reason)?,
        None => settle(env, deferred, bug_of::<T>(env), bug_of::<T>)?,
    }
    Ok(promise)
}

fn run_on_worker<'env>(env: &'env Env, call: Call<'env, AnyWork>, deferred: Deferred, bug: Bug) {
    let Call { work, signals, on_abort } = call;
    let pending = PendingCall::new(env, deferred, on_abort);
    let Ok(subscriptions) = signals.subscribe(env, &pending) else {
        return pending.settle(env, None, None, bug);
    };
    let aborted = Arc::clone(&pending.aborted);
    let work = move || (!aborted.load(Ordering::Relaxed)).then(|| work(&aborted));
    workers::run(env, work, move |env, outcome| {
        let outcome = outcome.flatten().and_then(AnyOutcome::unless_aborted);
        pending.settle(env, Some(subscriptions), outcome, bug);
    });
}
