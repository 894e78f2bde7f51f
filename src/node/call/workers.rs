//! Jobs on the threads of the engine's pool, a limited number at a time.
//!
//! Engines run every completion that is there before they go on to timers and sockets. A job that is not
//! in the pool cannot complete, so the limit bounds the completions of one turn of the event loop.
//! Measured with 20,000 reads at once: without the limit the loop stands for 86 % of the time on Node 20
//! and for 99.9 % on Bun.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use napi::{Env, Task};

use super::panic::guard;
use super::turn::Turn;
use crate::node::engine::environment;
use crate::node::engine::raw::OnJsThread;

/// How many jobs are in the pool at a time: one for each thread, and one that the thread can begin while
/// the loop handles the completion of the last.
static MAX_IN_POOL: LazyLock<usize> = LazyLock::new(|| {
    // libuv reads this variable and has this maximum. Its default is 4; Bun has a thread per CPU.
    let threads = std::env::var("UV_THREADPOOL_SIZE").ok().and_then(|size| size.parse().ok());
    threads.unwrap_or(4_usize).clamp(1, 1024) * 2
});

/// The completions of jobs may take the thread of the event loop this long before the pool must run empty.
///
/// Bun handles completions as long as more of them arrive, and a large text takes longer to make than to
/// read. With 100 reads of 1 MiB at once, a timer on Bun waits 12 ms with this limit and 28 ms without it
/// (medians of 30 and 15 runs).
const TIME_PER_BATCH: Duration = Duration::from_millis(2);

/// The jobs of an environment.
#[derive(Default)]
struct Workers {
    in_pool: Cell<usize>,
    /// The time of the completions since the pool was last empty.
    spent: Cell<Duration>,
    waiting: RefCell<VecDeque<StartJob>>,
}

/// Puts a job into the pool.
type StartJob = Box<dyn FnOnce(&Env)>;

/// Does `work` on a worker, then `done` on the thread of the event loop. `done` gets the result of
/// the work; `None` if it panicked, or if the engine could not make a job.
pub fn run<R: Send + 'static>(
    env: &Env,
    work: impl FnOnce() -> R + Send + 'static,
    done: impl FnOnce(&Env, Option<R>) + 'static,
) {
    let result = Arc::new(Mutex::new(None));
    let slot = Arc::clone(&result);
    let held =
        |result: &Mutex<Option<R>>| result.lock().unwrap_or_else(PoisonError::into_inner).take();
    run_job(
        env,
        Box::new(move || {
            let found = guard(work);
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = found;
        }),
        Box::new(move |env| done(env, held(&result))),
    );
}

/// [`run`] for every type of result. One job type for all of them keeps the addon 70 KB smaller than one
/// for each.
fn run_job(env: &Env, work: Work, done: Done) {
    let workers = environment::state::<Workers>(env).unwrap_or_default();
    let turn = environment::state::<Turn>(env).unwrap_or_default();
    let completion = Completion { workers: Rc::clone(&workers), turn, done };
    let completion = Rc::new(Cell::new(Some(completion)));
    let start = move |env: &Env| {
        let job =
            Job { work: Some(work), completion: OnJsThread::new(Rc::clone(&completion), env) };
        if env.spawn(job).is_err()
            && let Some(completion) = completion.take()
        {
            completion.workers.in_pool.set(completion.workers.in_pool.get() - 1);
            (completion.done)(env);
        }
    };
    workers.waiting.borrow_mut().push_back(Box::new(start));
    workers.fill_pool(env);
}

/// Whether so many calls wait for a worker that the memory for their stacks adds up.
pub fn are_crowded(env: &Env) -> bool {
    const CROWD: usize = 1000;
    environment::state::<Workers>(env).is_ok_and(|workers| workers.waiting.borrow().len() >= CROWD)
}

impl Workers {
    fn fill_pool(&self, env: &Env) {
        while let Some(start) = self.next() {
            start(env);
        }
    }

    fn next(&self) -> Option<StartJob> {
        if self.in_pool.get() == 0 {
            self.spent.set(Duration::ZERO);
        }
        if self.in_pool.get() >= *MAX_IN_POOL || self.spent.get() >= TIME_PER_BATCH {
            return None;
        }
        let start = self.waiting.borrow_mut().pop_front()?;
        self.in_pool.set(self.in_pool.get() + 1);
        Some(start)
    }
}

/// The part of a job that a worker does.
type Work = Box<dyn FnOnce() + Send>;

/// The part of a job that is done on the thread of the event loop.
type Done = Box<dyn FnOnce(&Env)>;

struct Job {
    work: Option<Work>,
    completion: OnJsThread<Rc<Cell<Option<Completion>>>>,
}

/// The parts of a job that are used on the thread of the event loop when the work is done.
struct Completion {
    workers: Rc<Workers>,
    turn: Rc<Turn>,
    done: Done,
}

impl Task for Job {
    type Output = ();
    type JsValue = ();

    fn compute(&mut self) -> napi::Result<()> {
        if let Some(work) = self.work.take() {
            work();
        }
        Ok(())
    }

    fn resolve(&mut self, env: Env, (): ()) -> napi::Result<()> {
        if let Some(Completion { workers, turn, done }) = self.completion.get(&env).take() {
            turn.renew();
            workers.in_pool.set(workers.in_pool.get() - 1);
            workers.fill_pool(&env);
            let start = Instant::now();
            done(&env);
            workers.spent.set(workers.spent.get() + start.elapsed());
        }
        Ok(())
    }
}
