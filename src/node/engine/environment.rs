//! The state that a thread keeps for a JavaScript environment.
//!
//! State is keyed by the `napi_env` address. Addresses are reused, so a cleanup hook drops the state
//! when the environment ends.

use std::any::Any;
use std::cell::RefCell;
use std::mem;
use std::rc::Rc;

use napi::Env;

/// The address of an environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnvironmentId(usize);

struct Environment {
    id: EnvironmentId,
    /// At most one of each type.
    states: Vec<Rc<dyn Any>>,
}

thread_local! {
    /// A thread rarely has more than one environment, so a search is cheaper than a hash.
    static LIVE: RefCell<Vec<Environment>> = const { RefCell::new(Vec::new()) };
}

/// The id of an environment. From the first call on, its end is noticed.
pub fn id(env: &Env) -> napi::Result<EnvironmentId> {
    let id = EnvironmentId(env.raw() as usize);
    if !is_live(id) {
        LIVE.with_borrow_mut(|live| live.push(Environment { id, states: Vec::new() }));
        env.add_env_cleanup_hook(id, end)?;
    }
    Ok(id)
}

/// Whether the environment, which must be one of this thread, has not ended.
pub fn is_live(id: EnvironmentId) -> bool {
    let is_among = |live: &RefCell<Vec<Environment>>| live.borrow().iter().any(|one| one.id == id);
    LIVE.try_with(is_among).unwrap_or(false)
}

/// The environment's state of type `T`, which is made by the first call.
pub fn state<T: Default + 'static>(env: &Env) -> napi::Result<Rc<T>> {
    let id = id(env)?;
    let known = with_states(id, |states| {
        let state = states.iter().find(|state| state.is::<T>())?;
        Rc::clone(state).downcast::<T>().ok()
    });
    if let Some(state) = known.flatten() {
        return Ok(state);
    }
    let state = Rc::<T>::default();
    let kept: Rc<dyn Any> = state.clone();
    with_states(id, |states| states.push(kept));
    Ok(state)
}

fn with_states<R>(
    id: EnvironmentId,
    use_them: impl FnOnce(&mut Vec<Rc<dyn Any>>) -> R,
) -> Option<R> {
    LIVE.with_borrow_mut(|live| {
        let environment = live.iter_mut().find(|one| one.id == id)?;
        Some(use_them(&mut environment.states))
    })
}

fn end(id: EnvironmentId) {
    // State may hold references. Node does not free those that an environment leaves behind, and
    // they delete themselves only as long as the environment is live.
    let states = with_states(id, mem::take);
    drop(states);
    LIVE.with_borrow_mut(|live| live.retain(|one| one.id != id));
}
