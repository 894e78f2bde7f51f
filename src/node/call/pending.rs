//! A call that has returned its promise and has no answer yet.

use std::cell::{Cell, OnceCell};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use napi::Env;
use napi::bindgen_prelude::Unknown;

use super::abort::{Abortable, Subscriptions};
use super::outcome::{Bug, ToJs, settle};
use super::workers;
use crate::node::engine::error_object::CallerStack;
use crate::node::engine::raw::Deferred;

/// The effect of an abort on a call under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnAbort {
    /// The promise is rejected at once. The work may go on; its outcome is dropped.
    Reject,
    /// The work is told to stop. Its outcome says whether it did, because a change that was made
    /// must be reported.
    AskWork,
}

/// A call that goes on when something it waits for has come.
pub trait Resume {
    /// Goes on with the call.
    fn resume(&self, env: &Env);
}

/// A promise that both the work and a signal may settle; the first one does.
pub struct PendingCall {
    deferred: Cell<Option<Deferred>>,
    /// Set by a signal, read by the work.
    pub aborted: Arc<AtomicBool>,
    on_abort: OnAbort,
    /// Taken by the answer: a host's listeners may outlive it.
    stack: Cell<Option<CallerStack>>,
    resumed_by_abort: OnceCell<Weak<dyn Resume>>,
}

impl PendingCall {
    /// The call that this promise stands for.
    pub fn new(env: &Env, deferred: Deferred, on_abort: OnAbort) -> Rc<Self> {
        let stack = if workers::are_crowded(env) { None } else { CallerStack::capture(env) };
        Rc::new(Self {
            deferred: Cell::new(Some(deferred)),
            aborted: Arc::default(),
            on_abort,
            stack: Cell::new(stack),
            resumed_by_abort: OnceCell::new(),
        })
    }

    /// Sets the call that an abort resumes. That call then stops waiting for its host.
    pub fn resume_on_abort(&self, call: Weak<dyn Resume>) {
        // It is set once, by the only constructor of a call that waits for its host.
        let _ = self.resumed_by_abort.set(call);
    }

    /// Answers the caller, unless it has been answered. `None` stands for work that stopped because it
    /// was aborted, and for work that panicked; then `bug` makes the answer, unless the call was aborted.
    pub fn settle(
        &self,
        env: &Env,
        subscriptions: Option<Subscriptions>,
        outcome: Option<ToJs>,
        bug: Bug,
    ) {
        let reason = match (&outcome, &subscriptions) {
            (None, Some(subscriptions)) => subscriptions.reason_if_aborted(env),
            _ => None,
        };
        if let Some(subscriptions) = subscriptions {
            subscriptions.end(env);
        }
        let stack = self.stack.take();
        let Some(deferred) = self.deferred.take() else { return };
        // See `settle` and `Deferred`: these fail only where the environment is ending.
        let _ = if let Some(reason) = reason {
            deferred.reject(env, reason)
        } else {
            let answer = outcome.map_or_else(|| bug(env), |into_js| into_js(env));
            if let (Ok(Err(error)), Some(stack)) = (&answer, stack) {
                stack.put_on(env, *error);
            }
            settle(env, deferred, answer, bug)
        };
    }
}

impl Abortable for PendingCall {
    fn abort(&self, env: &Env, reason: Unknown<'_>) {
        self.aborted.store(true, Ordering::Relaxed);
        if self.on_abort == OnAbort::Reject
            && let Some(deferred) = self.deferred.take()
        {
            self.stack.set(None);
            // It fails only where the environment is ending.
            let _ = deferred.reject(env, reason);
        }
        if let Some(call) = self.resumed_by_abort.get().and_then(Weak::upgrade) {
            call.resume(env);
        }
    }

    fn is_settled(&self) -> bool {
        let deferred = self.deferred.take();
        let is_settled = deferred.is_none();
        self.deferred.set(deferred);
        is_settled
    }
}
