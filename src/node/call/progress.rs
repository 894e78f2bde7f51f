//! Telling a host, on the thread of its event loop, how far a worker has come.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use napi::Env;
use napi::bindgen_prelude::{FnArgs, Function, FunctionCallContext};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};

use crate::node::engine::object::plain;
use crate::node::engine::raw::{self, Reference, to_js};

/// The two numbers that are told.
type Numbers = FnArgs<(f64, f64)>;

/// A host's function that a worker calls without waiting for it. It keeps no process alive.
pub struct OnProgress {
    function: ThreadsafeFunction<(f64, f64), (), Numbers, napi::Status, false, true>,
    has_ended: Arc<AtomicBool>,
}

impl OnProgress {
    /// Calls of the function get an object with these two keys. An error that
    /// the function throws, or with which its promise rejects, is ignored.
    pub fn new(env: &Env, function: Reference, keys: [&'static str; 2]) -> napi::Result<Self> {
        let has_ended = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&has_ended);
        let tell = move |call: FunctionCallContext<'_>| {
            let env: &Env = call.env;
            if !ended.load(Ordering::Relaxed) {
                let numbers = [to_js(env, call.get::<f64>(0)?)?, to_js(env, call.get::<f64>(1)?)?];
                let progress = plain(env, &[(keys[0], numbers[0]), (keys[1], numbers[1])])?;
                raw::call_and_forget(env, function.value(env)?, progress);
            }
            Ok(())
        };
        let tell: Function<'_, Numbers, ()> =
            env.create_function_from_closure("onProgress", tell)?;
        let function = tell
            .build_threadsafe_function::<(f64, f64)>()
            .weak::<true>()
            .build_callback(|call| Ok(call.value.into()))?;
        Ok(Self { function, has_ended })
    }

    /// Has the function called soon.
    pub fn tell(&self, numbers: (f64, f64)) {
        self.function.call(numbers, ThreadsafeFunctionCallMode::NonBlocking);
    }
}

impl Drop for OnProgress {
    /// Once the worker is done, nothing more is told: the call may have its answer.
    fn drop(&mut self) {
        self.has_ended.store(true, Ordering::Relaxed);
    }
}
