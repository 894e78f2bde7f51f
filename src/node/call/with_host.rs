//! Calls that ask code of the host on their way: a host's tree, a host's store.
//!
//! Such a call is an `async` block on the JavaScript thread. It awaits two things alone: a promise that
//! the host's code returned, and the result of a worker. Both come back to that thread, which then
//! polls the block again. So the call needs no runtime and no thread of its own, and, like an `async`
//! function of JavaScript, it keeps no process alive.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, Waker};

use napi::Env;
use napi::bindgen_prelude::{Function, FunctionCallContext, Unknown};
use tokio::sync::oneshot;

use super::abort::{Abortable, Subscriptions};
use super::outcome::{Outcome, ToJs, bug_of};
use super::panic::guard;
use super::pending::{PendingCall, Resume};
use super::run::{Call, Prepared, promise_of};
use super::workers;
use crate::node::engine::raw::{self, Deferred, to_js};
use crate::node::engine::thrown::Thrown;

/// Runs a call that asks the host: returns a promise and never throws. An abort rejects the promise at
/// once and ends the call.
pub fn run_with_host<'env, W, F, T>(
    env: &'env Env,
    prepare: impl FnOnce() -> Prepared<'env, W, T>,
) -> napi::Result<Unknown<'env>>
where
    W: FnOnce(Host) -> F,
    F: Future<Output = T> + 'static,
    T: Outcome,
{
    promise_of(env, prepare, start)
}

fn start<'env, W, F, T>(env: &'env Env, call: Call<'env, W>, deferred: Deferred)
where
    W: FnOnce(Host) -> F,
    F: Future<Output = T> + 'static,
    T: Outcome,
{
    let pending = PendingCall::new(env, deferred, call.on_abort);
    let host_call = Rc::new_cyclic(|host_call: &Weak<HostCall<T>>| {
        let host_call: Weak<dyn Resume> = host_call.clone();
        pending.resume_on_abort(host_call.clone());
        let host = Host { env: Env::from_raw(env.raw()), call: host_call };
        HostCall {
            future: RefCell::new(Some(Box::pin((call.work)(host)))),
            pending: Rc::clone(&pending),
            subscriptions: Cell::default(),
            is_running: Cell::default(),
            must_run_again: Cell::default(),
        }
    });
    if let Ok(subscriptions) = call.signals.subscribe(env, &pending) {
        host_call.subscriptions.set(Some(subscriptions));
        host_call.resume(env);
    } else {
        pending.settle(env, None, None, bug_of::<T>);
    }
}

/// A call under way. The callbacks that it awaits keep it alive.
struct HostCall<T> {
    /// `None` once the call has ended.
    future: RefCell<Option<Pin<Box<dyn Future<Output = T>>>>>,
    pending: Rc<PendingCall>,
    subscriptions: Cell<Option<Subscriptions>>,
    is_running: Cell<bool>,
    must_run_again: Cell<bool>,
}

impl<T: Outcome> Resume for HostCall<T> {
    fn resume(&self, env: &Env) {
        if self.is_running.replace(true) {
            // This call runs the host's code, and that has settled the promise that the call
            // awaits, or has aborted the call.
            self.must_run_again.set(true);
            return;
        }
        let outcome = self.poll_while_woken();
        self.is_running.set(false);
        match outcome {
            Some(outcome) => {
                let outcome = (!outcome.was_aborted())
                    .then(|| -> ToJs { Box::new(|env| outcome.into_js(env)) });
                self.pending.settle(env, self.subscriptions.take(), outcome, bug_of::<T>);
            }
            None if self.pending.is_settled() => self.abandon(env),
            None => {}
        }
    }
}

impl<T: Outcome> HostCall<T> {
    fn poll_while_woken(&self) -> Option<T> {
        let mut slot = self.future.borrow_mut();
        loop {
            let future = slot.as_mut().filter(|_| !self.pending.is_settled())?;
            self.must_run_again.set(false);
            let polled = guard(|| future.as_mut().poll(&mut Context::from_waker(Waker::noop())));
            match polled {
                Some(Poll::Ready(outcome)) => {
                    *slot = None;
                    return Some(outcome);
                }
                None => {
                    *slot = None;
                    return Some(T::bug());
                }
                Some(Poll::Pending) if self.must_run_again.get() => {}
                Some(Poll::Pending) => return None,
            }
        }
    }

    /// Ends a call whose caller has its answer already.
    fn abandon(&self, env: &Env) {
        let unfinished = self.future.borrow_mut().take();
        drop(unfinished);
        if let Some(subscriptions) = self.subscriptions.take() {
            subscriptions.end(env);
        }
    }
}

/// A call's access to its host's code and to workers.
pub struct Host {
    env: Env,
    call: Weak<dyn Resume>,
}

/// Where the host's answer goes. The listener that is called takes it, and two listeners share it.
type AnswerSlot<R, Read> = Rc<Cell<Option<AnswerReader<R, Read>>>>;

/// Reads the answer, passes it to the call and resumes the call, which it keeps alive until then.
struct AnswerReader<R, Read> {
    read: Read,
    sender: oneshot::Sender<Result<R, Thrown>>,
    call: Rc<dyn Resume>,
}

impl Host {
    /// The environment: valid while the call runs.
    pub fn env(&self) -> &Env {
        &self.env
    }

    /// Calls the host's code and awaits the promise that it returns. `read` reads the answer when it
    /// arrives, while its values are handles of an open scope.
    pub async fn ask<R: 'static>(
        &self,
        call: impl FnOnce(&Env) -> Result<Unknown<'_>, Option<Unknown<'_>>>,
        read: impl FnOnce(&Env, Unknown<'_>) -> Result<R, Thrown> + 'static,
    ) -> Result<R, Thrown> {
        let (sender, answer) = oneshot::channel();
        let call_under_way = self.call.upgrade().ok_or(Thrown(None))?;
        let answerer = AnswerReader { read, sender, call: call_under_way };
        let question = Rc::new(Cell::new(Some(answerer)));
        let asked = call(&self.env).and_then(|value| self.await_promise(value, &question));
        asked.map_err(|thrown| Thrown::keeping(&self.env, thrown))?;
        answer.await.unwrap_or(Err(Thrown(None)))
    }

    /// Puts the answer into the question when the value has settled. The value may be a promise.
    fn await_promise<R: 'static, Read>(
        &self,
        value: Unknown<'_>,
        question: &AnswerSlot<R, Read>,
    ) -> Result<(), Option<Unknown<'_>>>
    where
        Read: FnOnce(&Env, Unknown<'_>) -> Result<R, Thrown> + 'static,
    {
        let env = &self.env;
        let (deferred, promise) = Deferred::new(env).map_err(|_| None)?;
        let fulfilled = self.when_settled(question, |env, value, read| read(env, value));
        let rejected =
            self.when_settled(question, |env, reason, _| Err(Thrown::keeping(env, Some(reason))));
        let listeners = [fulfilled.map_err(|_| None)?, rejected.map_err(|_| None)?];
        raw::call_method(env, promise, c"then", &listeners)?;
        // Resolving adopts any thenable, as `await` does. If its getter `then` throws, the promise
        // is rejected with that error, and the listeners get it. The exception itself is dropped.
        let _ = deferred.resolve(env, value);
        raw::clear_exception(env);
        Ok(())
    }

    fn when_settled<R: 'static, Read: 'static>(
        &self,
        question: &AnswerSlot<R, Read>,
        answer: impl Fn(&Env, Unknown<'_>, Read) -> Result<R, Thrown> + 'static,
    ) -> napi::Result<Unknown<'_>> {
        let question = Rc::clone(question);
        let listener = move |call: FunctionCallContext<'_>| {
            let value = call.get::<Unknown<'_>>(0)?;
            let env: &Env = call.env;
            if let Some(AnswerReader { read, sender, call: host_call }) = question.take() {
                let answer = guard(|| answer(env, value, read)).unwrap_or(Err(Thrown(None)));
                let _ = sender.send(answer); // the call has ended if it was aborted
                host_call.resume(env);
            }
            Ok(())
        };
        let listener = self.env.create_function_from_closure::<(), (), _>("onSettled", listener)?;
        to_js(&self.env, listener)
    }

    /// Has a worker do something; `None` if it panicked.
    ///
    /// The call is resumed by a promise, not by the engine's callback for finished work: the reaction of a
    /// promise runs in the asynchronous context in which it was made. Code of the host that the call
    /// asks afterwards so finds its caller's `AsyncLocalStorage`.
    pub async fn work<R: Send + 'static>(
        &self,
        work: impl FnOnce() -> R + Send + 'static,
    ) -> Option<R> {
        let env = &self.env;
        let listener = to_js(env, self.resume_once()?).ok()?;
        let (deferred, promise) = Deferred::new(env).ok()?;
        if raw::call_method(env, promise, c"then", &[listener]).is_err() {
            let _ = deferred.resolve(env, to_js(env, ()).ok()?);
            return None;
        }
        let (sender, result) = oneshot::channel();
        workers::run(env, work, move |env, done| {
            let _ = sender.send(done); // the call has ended if it was aborted
            if let Ok(undefined) = to_js(env, ()) {
                // It fails only where the environment is ending.
                let _ = deferred.resolve(env, undefined);
            }
        });
        result.await.ok()?
    }

    /// A function that resumes the call, and holds it until then.
    fn resume_once(&self) -> Option<Function<'_, (), ()>> {
        let host_call = Cell::new(Some(self.call.upgrade()?));
        let resume = move |call: FunctionCallContext<'_>| {
            if let Some(host_call) = host_call.take() {
                host_call.resume(call.env);
            }
            Ok(())
        };
        self.env.create_function_from_closure("onWorked", resume).ok()
    }
}
