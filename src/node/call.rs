//! How a call runs: at once, or on a worker thread with a promise for its answer; and that
//! neither ends the process, whatever happens inside.

use std::cell::{Cell, OnceCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use napi::bindgen_prelude::Unknown;
use napi::{Env, Task};

use super::abort::{Signals, Subscriptions};
use super::dialogue::Waiting;
use super::raw::{Deferred, OnJsThread, to_js};
use super::turn;

/// How many bytes of an answer are no burden: they are copied at once.
const SMALL: usize = 64 << 10;

/// An answer in JavaScript's form: to return or resolve with, or to throw or reject with.
pub(super) type Converted<'env> = napi::Result<Result<Unknown<'env>, Unknown<'env>>>;

/// What a piece of work comes to.
pub(super) trait Outcome: Sized + 'static {
    /// The answer in JavaScript's form.
    fn into_js(self, env: &Env) -> Converted<'_>;

    /// The answer after a panic.
    fn bug() -> Self;

    /// Whether this is the answer of work that was told to stop and did.
    fn was_aborted(&self) -> bool {
        false
    }

    /// How many bytes [`Outcome::into_js`] copies, roughly.
    fn bytes(&self) -> usize {
        0
    }
}

/// An [`Outcome`] of whatever type: what happens on a worker and after it is compiled once, not once
/// for each function of the addon.
pub(super) trait AnyOutcome {
    /// As [`Outcome::into_js`].
    fn into_js(self: Box<Self>, env: &Env) -> Converted<'_>;

    /// As [`Outcome::was_aborted`].
    fn was_aborted(&self) -> bool;

    /// As [`Outcome::bytes`].
    fn bytes(&self) -> usize;
}

impl<T: Outcome> AnyOutcome for T {
    fn into_js(self: Box<Self>, env: &Env) -> Converted<'_> {
        Outcome::into_js(*self, env)
    }

    fn was_aborted(&self) -> bool {
        Outcome::was_aborted(self)
    }

    fn bytes(&self) -> usize {
        Outcome::bytes(self)
    }
}

/// How the answer of a call is made that has none.
pub(super) type Bug = fn() -> Box<dyn AnyOutcome>;

pub(super) fn bug<T: Outcome>() -> Box<dyn AnyOutcome> {
    Box::new(T::bug())
}

/// A call whose arguments have been read.
pub(super) struct Call<'env, W> {
    /// The work; it runs on a worker, or here.
    pub(super) work: W,
    /// The caller's signals.
    pub(super) signals: Signals<'env>,
    /// What an abort does to a call under way.
    pub(super) on_abort: OnAbort,
}

impl<'env, W> Call<'env, W> {
    /// The same call with other work.
    pub(super) fn map<V>(self, change: impl FnOnce(W) -> V) -> Call<'env, V> {
        let Self { work, signals, on_abort } = self;
        Call { work: change(work), signals, on_abort }
    }
}

/// What an abort does to a call under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnAbort {
    /// The promise is rejected at once; whatever the work comes to is dropped.
    Reject,
    /// The work is told, and its answer says whether it stopped in time: what it has changed
    /// must not be denied.
    AskWork,
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
    W: FnOnce(&AtomicBool) -> T,
    T: Outcome,
{
    // Nobody can abort any more while the JavaScript thread is busy here.
    run_here(env, prepare, |work| work(&AtomicBool::new(false)).into_js(env))
}

/// Runs the call here, by the way that waits for nothing if that gives the answer.
pub(super) fn run_at_once_or_sync<'env, R, T: Outcome>(
    env: &'env Env,
    prepare: impl FnOnce() -> Result<Call<'env, R>, NotStarted<'env, T>>,
    answer: impl FnOnce(&'env Env, &R) -> Option<Converted<'env>>,
    work: impl FnOnce(R) -> T,
) -> napi::Result<Unknown<'env>> {
    run_here(env, prepare, |request| {
        answer(env, &request).unwrap_or_else(|| work(request).into_js(env))
    })
}

fn run_here<'env, R, T: Outcome>(
    env: &'env Env,
    prepare: impl FnOnce() -> Result<Call<'env, R>, NotStarted<'env, T>>,
    run: impl FnOnce(R) -> Converted<'env>,
) -> napi::Result<Unknown<'env>> {
    let outcome = guard(|| {
        let call = prepare()?;
        match call.signals.reason_if_aborted(env) {
            Some(reason) => Err(NotStarted::Aborted(reason)),
            None => Ok(run(call.work)),
        }
    });
    let answer = match outcome {
        Some(Ok(answer)) => answer?,
        Some(Err(NotStarted::Refused(outcome))) => outcome.into_js(env)?,
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
    W: FnOnce(&AtomicBool) -> T + Send + 'static,
    T: Outcome + Send,
{
    promise_of(env, prepare, spawn)
}

/// How a call runs that may have its answer at once.
pub(super) struct AtOnce<R, T> {
    /// The answer, if nothing has to be waited for.
    pub(super) answer: TryAnswer<R>,
    /// The same for a call that has waited for its turn together with others, if the answer is small:
    /// many large ones are better had by many workers.
    pub(super) small_answer: TryAnswer<R>,
    /// The answer, whatever it takes.
    pub(super) work: fn(R) -> T,
}

type TryAnswer<R> = for<'env> fn(&'env Env, &R) -> Option<Converted<'env>>;

/// Runs the call here if it has its answer at once and the event loop has had its turn, and on a
/// worker otherwise: returns a promise, whatever comes.
pub(super) fn run_at_once_or_async<'env, R, T>(
    env: &'env Env,
    prepare: impl FnOnce() -> Result<Call<'env, R>, NotStarted<'env, T>>,
    AtOnce { answer, small_answer, work }: AtOnce<R, T>,
) -> napi::Result<Unknown<'env>>
where
    R: Send + 'static,
    T: Outcome + Send,
{
    promise_of(env, prepare, |env, call, deferred| {
        if !call.signals.is_empty() {
            // Who passes a signal may abort right after the call, and counts on being heard.
            spawn(env, call.map(|request| move |_: &AtomicBool| work(request)), deferred);
        } else if let Some(time) = turn::take_time(env) {
            time.spend(env, || answer_or_spawn(env, call.work, answer, work, deferred));
        } else {
            let request = call.work;
            let piece =
                move |env: &Env| answer_or_spawn(env, request, small_answer, work, deferred);
            turn::wait_for_turn(env, Box::new(piece));
        }
    })
}

fn answer_or_spawn<R, T>(
    env: &Env,
    request: R,
    answer: TryAnswer<R>,
    work: fn(R) -> T,
    deferred: Deferred,
) where
    R: Send + 'static,
    T: Outcome + Send,
{
    if let Some(answer) = guard(|| answer(env, &request)).flatten() {
        // It fails only where the environment is ending, and nobody waits any more.
        let _ = settle(env, deferred, answer, bug::<T>);
    } else {
        let work = move |_: &AtomicBool| work(request);
        spawn(env, Call { work, signals: Signals::NONE, on_abort: OnAbort::Reject }, deferred);
    }
}

/// The promise of a call that `start` begins once its arguments are read.
pub(super) fn promise_of<'env, W, T: Outcome>(
    env: &'env Env,
    prepare: impl FnOnce() -> Result<Call<'env, W>, NotStarted<'env, T>>,
    start: impl FnOnce(&'env Env, Call<'env, W>, Deferred),
) -> napi::Result<Unknown<'env>> {
    let (deferred, promise) = Deferred::new(env)?;
    match guard(prepare) {
        Some(Ok(call)) => match call.signals.reason_if_aborted(env) {
            Some(reason) => deferred.reject(env, reason)?,
            None => start(env, call, deferred),
        },
        Some(Err(NotStarted::Refused(outcome))) => {
            settle(env, deferred, outcome.into_js(env), bug::<T>)?;
        }
        Some(Err(NotStarted::Aborted(reason))) => deferred.reject(env, reason)?,
        None => settle(env, deferred, T::bug().into_js(env), bug::<T>)?,
    }
    Ok(promise)
}

fn spawn<'env, W, T>(env: &'env Env, call: Call<'env, W>, deferred: Deferred)
where
    W: FnOnce(&AtomicBool) -> T + Send + 'static,
    T: Outcome + Send,
{
    let call = call.map(|work| -> Work {
        Box::new(|aborted| Box::new(guard(|| work(aborted)).unwrap_or_else(T::bug)))
    });
    spawn_job(env, call, deferred, bug::<T>);
}

fn spawn_job<'env>(env: &'env Env, call: Call<'env, Work>, deferred: Deferred, bug: Bug) {
    let pending = PendingCall::new(deferred, call.on_abort);
    let aborted = Arc::clone(&pending.aborted);
    let started = call.signals.subscribe(env, &pending).and_then(|subscriptions| {
        let waiting = OnJsThread::new(Some((Rc::clone(&pending), subscriptions)), env);
        env.spawn(Job { work: Some(call.work), aborted, waiting, bug })
    });
    if started.is_err() {
        settle_pending(env, &pending, bug);
    }
}

/// A promise in flight. The worker's answer and the caller's signals share it: whoever comes first
/// settles it.
pub(super) struct PendingCall {
    deferred: Cell<Option<Deferred>>,
    aborted: Arc<AtomicBool>,
    on_abort: OnAbort,
    /// What waits for JavaScript, and has to be told that nobody waits for it any more.
    dialogue: OnceCell<Weak<dyn Waiting>>,
}

impl PendingCall {
    pub(super) fn new(deferred: Deferred, on_abort: OnAbort) -> Rc<Self> {
        Rc::new(Self {
            deferred: Cell::new(Some(deferred)),
            aborted: Arc::default(),
            on_abort,
            dialogue: OnceCell::new(),
        })
    }

    /// Names what has to go on when the call is aborted.
    pub(super) fn wake_on_abort(&self, dialogue: Weak<dyn Waiting>) {
        // A call has one dialogue at the most.
        let _ = self.dialogue.set(dialogue);
    }

    /// Whether the caller has been answered.
    pub(super) fn is_settled(&self) -> bool {
        let deferred = self.deferred.take();
        let is_settled = deferred.is_none();
        self.deferred.set(deferred);
        is_settled
    }

    /// One of the call's signals has fired.
    pub(super) fn abort<'env>(&self, env: &'env Env, reason: impl FnOnce() -> Unknown<'env>) {
        self.aborted.store(true, Ordering::Relaxed);
        if self.on_abort == OnAbort::Reject
            && let Some(deferred) = self.deferred.take()
        {
            // It fails only where the environment is ending, and nobody waits any more.
            let _ = deferred.reject(env, reason());
        }
        if let Some(dialogue) = self.dialogue.get().and_then(Weak::upgrade) {
            dialogue.go_on(env);
        }
    }

    /// Answers the caller, in this turn of the event loop or a later one. `None` is work that was
    /// told to stop, and did.
    pub(super) fn settle_in_turn(
        env: &Env,
        pending: Rc<Self>,
        subscriptions: Option<Subscriptions>,
        outcome: Option<Box<dyn AnyOutcome>>,
        bug: Bug,
    ) {
        let is_small = outcome.as_ref().map_or(0, |outcome| outcome.bytes()) < SMALL;
        let settle = move |env: &Env| {
            // Until now an abort could still come first.
            let reason = match (&outcome, &subscriptions) {
                (None, Some(subscriptions)) => subscriptions.reason_if_aborted(env),
                _ => None,
            };
            if let Some(subscriptions) = subscriptions {
                subscriptions.end(env);
            }
            let Some(deferred) = pending.deferred.take() else { return };
            // It fails only where the environment is ending, and nobody waits any more.
            let _ = match reason {
                Some(reason) => deferred.reject(env, reason),
                None => settle(env, deferred, outcome.unwrap_or_else(bug).into_js(env), bug),
            };
        };
        if is_small {
            settle(env);
        } else if let Some(time) = turn::take_time(env) {
            time.spend(env, || settle(env));
        } else {
            turn::wait_for_turn(env, Box::new(settle));
        }
    }
}

/// Tells a caller who has not been answered yet that there is no answer.
pub(super) fn settle_pending(env: &Env, pending: &PendingCall, bug: Bug) {
    if let Some(deferred) = pending.deferred.take() {
        // It fails only where the environment is ending, and nobody waits any more.
        let _ = settle(env, deferred, bug().into_js(env), bug);
    }
}

/// What a worker does.
type Work = Box<dyn FnOnce(&AtomicBool) -> Box<dyn AnyOutcome + Send> + Send>;

/// The work, and on its way the promise that waits for it.
struct Job {
    work: Option<Work>,
    aborted: Arc<AtomicBool>,
    waiting: OnJsThread<Option<(Rc<PendingCall>, Subscriptions)>>,
    bug: Bug,
}

impl Task for Job {
    /// `None`: aborted before it began.
    type Output = Option<Box<dyn AnyOutcome + Send>>;
    type JsValue = ();

    fn compute(&mut self) -> napi::Result<Self::Output> {
        if self.aborted.load(Ordering::Relaxed) {
            return Ok(None);
        }
        Ok(self.work.take().map(|work| work(&self.aborted)))
    }

    fn resolve(&mut self, env: Env, outcome: Self::Output) -> napi::Result<()> {
        let Some((pending, subscriptions)) = self.waiting.get(&env).take() else { return Ok(()) };
        let outcome = outcome.filter(|outcome| !outcome.was_aborted());
        let outcome = outcome.map(|outcome| -> Box<dyn AnyOutcome> { outcome });
        PendingCall::settle_in_turn(&env, pending, Some(subscriptions), outcome, self.bug);
        Ok(())
    }
}

fn settle(env: &Env, deferred: Deferred, answer: Converted<'_>, bug: Bug) -> napi::Result<()> {
    // Where the engine could not make the answer, the promise must not stay pending for that.
    match answer.or_else(|_| bug().into_js(env)) {
        Ok(Ok(value)) => deferred.resolve(env, value),
        Ok(Err(reason)) => deferred.reject(env, reason),
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
