//! Calls that ask JavaScript on their way: a host's tree, a host's store.
//!
//! Such a call is an `async` block that lives on the JavaScript thread. It waits for two things
//! alone, a promise that a callback gave and the answer of a worker, and both come back to that
//! thread, which goes on with the call where it stopped. So it needs no runtime and no thread of
//! its own, and keeps no process alive that has nothing else to do: like an `async` function of
//! JavaScript.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, Waker};

use napi::bindgen_prelude::{FunctionCallContext, Unknown};
use napi::{Env, Task};
use tokio::sync::oneshot;

use super::abort::Subscriptions;
use super::call::{Call, NotStarted, Outcome, PendingCall, bug, guard, promise_of, settle_pending};
use super::raw::{self, Deferred, Kept, OnJsThread, to_js};

/// Runs a call that asks JavaScript: returns a promise, whatever comes. An abort rejects it at
/// once, and the call goes no further.
pub(super) fn run_dialogue<'env, W, F, T>(
    env: &'env Env,
    prepare: impl FnOnce() -> Result<Call<'env, W>, NotStarted<'env, T>>,
) -> napi::Result<Unknown<'env>>
where
    W: FnOnce(Js) -> F,
    F: Future<Output = T> + 'static,
    T: Outcome,
{
    promise_of(env, prepare, start)
}

fn start<'env, W, F, T>(env: &'env Env, call: Call<'env, W>, deferred: Deferred)
where
    W: FnOnce(Js) -> F,
    F: Future<Output = T> + 'static,
    T: Outcome,
{
    let pending = PendingCall::new(deferred, call.on_abort);
    let dialogue = Rc::new_cyclic(|dialogue: &Weak<Dialogue<T>>| {
        let dialogue: Weak<dyn Waiting> = dialogue.clone();
        pending.wake_on_abort(dialogue.clone());
        let js = Js { env: Env::from_raw(env.raw()), dialogue };
        let future: Pin<Box<dyn Future<Output = T>>> = Box::pin((call.work)(js));
        Dialogue {
            future: RefCell::new(Some(future)),
            pending: Rc::clone(&pending),
            subscriptions: Cell::default(),
            is_running: Cell::default(),
            must_run_again: Cell::default(),
        }
    });
    if let Ok(subscriptions) = call.signals.subscribe(env, &pending) {
        dialogue.subscriptions.set(Some(subscriptions));
        dialogue.go_on(env);
    } else {
        settle_pending(env, &pending, bug::<T>);
    }
}

/// A call under way. Whatever it waits for holds it.
struct Dialogue<T> {
    /// `None` once it has come to an end.
    future: RefCell<Option<Pin<Box<dyn Future<Output = T>>>>>,
    pending: Rc<PendingCall>,
    subscriptions: Cell<Option<Subscriptions>>,
    is_running: Cell<bool>,
    must_run_again: Cell<bool>,
}

/// What can go on once something that it waits for has come.
pub(super) trait Waiting {
    fn go_on(&self, env: &Env);
}

impl<T: Outcome> Waiting for Dialogue<T> {
    fn go_on(&self, env: &Env) {
        if self.is_running.replace(true) {
            // JavaScript that this call asks has made what it waits for come, or has aborted it.
            self.must_run_again.set(true);
            return;
        }
        let outcome = self.poll_while_woken();
        self.is_running.set(false);
        match outcome {
            Some(outcome) => self.end(env, outcome),
            None if self.pending.is_settled() => self.hang_up(env),
            None => {}
        }
    }
}

impl<T: Outcome> Dialogue<T> {
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

    fn end(&self, env: &Env, outcome: T) {
        let subscriptions = self.subscriptions.take();
        let pending = Rc::clone(&self.pending);
        PendingCall::settle_in_turn(env, pending, subscriptions, Some(Box::new(outcome)), bug::<T>);
    }

    /// The caller has been answered already.
    fn hang_up(&self, env: &Env) {
        let unfinished = self.future.borrow_mut().take();
        drop(unfinished);
        if let Some(subscriptions) = self.subscriptions.take() {
            subscriptions.end(env);
        }
    }
}

/// What a dialogue asks through.
pub(super) struct Js {
    env: Env,
    dialogue: Weak<dyn Waiting>,
}

/// What JavaScript threw, or a promise was rejected with; `None` where the engine itself failed.
pub(super) struct Thrown(pub(super) Option<Kept>);

impl Thrown {
    /// Keeps what was thrown.
    pub(super) fn keeping(env: &Env, value: Option<Unknown<'_>>) -> Self {
        Self(value.and_then(|value| Kept::new(env, value).ok()))
    }
}

/// What JavaScript answered, or threw.
pub(super) type Answer<R> = Result<R, Thrown>;

/// Where an answer goes, and how it is read.
type Question<R, Read> = (oneshot::Sender<Answer<R>>, Read);

impl Js {
    /// The environment: valid while the dialogue runs.
    pub(super) fn env(&self) -> &Env {
        &self.env
    }

    /// Calls back into JavaScript. What that comes to, its promise awaited, is read at once, while
    /// its values are at hand.
    pub(super) async fn ask<R: 'static>(
        &self,
        call: impl FnOnce(&Env) -> Result<Unknown<'_>, Option<Unknown<'_>>>,
        read: impl FnOnce(&Env, Unknown<'_>) -> Answer<R> + 'static,
    ) -> Answer<R> {
        let (sender, receiver) = oneshot::channel();
        let asked = call(&self.env).and_then(|value| self.await_promise(value, sender, read));
        asked.map_err(|thrown| Thrown::keeping(&self.env, thrown))?;
        receiver.await.unwrap_or(Err(Thrown(None)))
    }

    /// Has the answer sent once the value, or what its promise comes to, is there.
    fn await_promise<R: 'static>(
        &self,
        value: Unknown<'_>,
        sender: oneshot::Sender<Answer<R>>,
        read: impl FnOnce(&Env, Unknown<'_>) -> Answer<R> + 'static,
    ) -> Result<(), Option<Unknown<'_>>> {
        let env = &self.env;
        let (deferred, promise) = Deferred::new(env).map_err(|_| None)?;
        let waiting = Rc::new(Cell::new(Some((sender, read))));
        let fulfilled = self.when_settled(Rc::clone(&waiting), |env, value, read| read(env, value));
        let rejected =
            self.when_settled(waiting, |env, reason, _| Err(Thrown::keeping(env, Some(reason))));
        let listeners = [fulfilled.map_err(|_| None)?, rejected.map_err(|_| None)?];
        raw::call_method(env, promise, c"then", &listeners)?;
        // Adopts any thenable, as `await` does. What a getter `then` throws comes out here, but the
        // promise has been rejected with it too, and that is listened to.
        let _ = deferred.resolve(env, value);
        raw::clear_exception(env);
        Ok(())
    }

    fn when_settled<R: 'static, Read: 'static>(
        &self,
        waiting: Rc<Cell<Option<Question<R, Read>>>>,
        answer: impl Fn(&Env, Unknown<'_>, Read) -> Answer<R> + 'static,
    ) -> napi::Result<Unknown<'_>> {
        let dialogue = self.dialogue.upgrade();
        let listener = move |call: FunctionCallContext<'_>| {
            let value = call.get::<Unknown<'_>>(0)?;
            let env: &Env = call.env;
            if let Some((sender, read)) = waiting.take() {
                let answer = guard(|| answer(env, value, read)).unwrap_or(Err(Thrown(None)));
                // It is no longer waited for if the call has been aborted.
                let _ = sender.send(answer);
            }
            if let Some(dialogue) = &dialogue {
                dialogue.go_on(env);
            }
            Ok(())
        };
        let listener = self.env.create_function_from_closure::<(), (), _>("onSettled", listener)?;
        to_js(&self.env, listener)
    }

    /// Has a worker do something; `None` if it panicked.
    pub(super) async fn work<R: Send + 'static>(
        &self,
        work: impl FnOnce() -> R + Send + 'static,
    ) -> Option<R> {
        let (sender, receiver) = oneshot::channel();
        let waiting = OnJsThread::new(Some((sender, self.dialogue.upgrade()?)), &self.env);
        self.env.spawn(Errand { work: Some(work), waiting }).ok()?;
        receiver.await.ok().flatten()
    }
}

/// What an errand's answer is for: the sender, and the call that goes on.
type Returns<R> = (oneshot::Sender<Option<R>>, Rc<dyn Waiting>);

/// Work on its way to a worker and back.
struct Errand<W, R> {
    work: Option<W>,
    waiting: OnJsThread<Option<Returns<R>>>,
}

impl<W, R> Task for Errand<W, R>
where
    W: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    type Output = Option<R>;
    type JsValue = ();

    fn compute(&mut self) -> napi::Result<Self::Output> {
        Ok(self.work.take().and_then(guard))
    }

    fn resolve(&mut self, env: Env, output: Self::Output) -> napi::Result<()> {
        if let Some((sender, dialogue)) = self.waiting.get(&env).take() {
            let _ = sender.send(output);
            dialogue.go_on(&env);
        }
        Ok(())
    }
}
