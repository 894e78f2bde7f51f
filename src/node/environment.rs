//! What this thread keeps for its JavaScript environments, and that it goes with them.

use std::cell::RefCell;

use napi::Env;

use super::{abort, object_literal, turn};

thread_local! {
    /// One or two of them at the most: to compare is cheaper than to hash.
    static KNOWN: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// What an environment's things are kept under: its address, which another environment may have
/// once this one has ended. So it is seen to that nothing is left by then.
pub(super) fn key(env: &Env) -> napi::Result<usize> {
    let key = env.raw() as usize;
    if !is_live(key) {
        KNOWN.with_borrow_mut(|known| known.push(key));
        env.add_env_cleanup_hook(key, |key| {
            // Node does not free the references that an environment leaves behind, so these are deleted
            // while it still lives.
            object_literal::forget(key);
            KNOWN.with_borrow_mut(|known| known.retain(|&live| live != key));
            abort::forget(key);
            turn::forget(key);
        })?;
    }
    Ok(key)
}

/// Whether the environment of a key, which belongs to this thread, has not ended.
pub(super) fn is_live(key: usize) -> bool {
    KNOWN.try_with(|known| known.borrow().contains(&key)).unwrap_or(false)
}
