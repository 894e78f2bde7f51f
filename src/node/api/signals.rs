//! The `signal` of options and contexts.

use napi::Env;

use super::argument::Argument;
use crate::argument::ArgumentError;
use crate::node::call::abort::{AbortSignal, Signals};
use crate::node::call::run::NotStarted;

/// Reads `signal` out of each of the objects. A holder that is no object has none.
///
/// If a signal is aborted already, the call ends here, even if it has other mistakes. If a
/// `signal` is no signal, that is the inner error, because other mistakes come before it.
pub fn read_signals<'env, T>(
    env: &'env Env,
    holders: [Option<Argument<'env>>; 2],
) -> Result<Result<Signals<'env>, ArgumentError>, NotStarted<'env, T>> {
    let [first, second] = holders.map(|holder| read_signal(env, holder));
    for signal in [&first, &second] {
        if let Ok(Some(signal)) = signal
            && let Some(reason) = signal.reason_if_aborted(env)
        {
            return Err(NotStarted::Aborted(reason));
        }
    }
    Ok(first.and_then(|first| Ok(Signals([first, second?]))))
}

fn read_signal<'env>(
    env: &'env Env,
    holder: Option<Argument<'env>>,
) -> Result<Option<AbortSignal<'env>>, ArgumentError> {
    let Some(Ok(holder)) = holder.map(Argument::object) else { return Ok(None) };
    let Some(argument) = holder.property(c"signal", "signal")? else { return Ok(None) };
    let object = argument.object().ok().and_then(|object| AbortSignal::of(env, object.value()));
    object.map(Some).ok_or_else(|| argument.refuse("must be an AbortSignal"))
}
