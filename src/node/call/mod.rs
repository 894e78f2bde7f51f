//! How a call runs: from its arguments, which have been read, to a settled promise.
//!
//! | file | content |
//! | --- | --- |
//! | [`run`] | a call on the calling thread, on a worker, or at once if nothing has to be waited for |
//! | [`with_host`] | a call that asks code of the host on its way |
//! | [`turn`] | how much of a turn of the event loop may go into answering at once |
//! | [`workers`] | jobs on the threads of the pool |
//! | [`abort`] | the signals of a call |
//! | [`pending`] | a promise that a worker and a signal both want to settle |
//! | [`progress`] | telling a host how far a worker has come |
//! | [`outcome`] | the outcome of a call, and settling a promise with it |
//! | [`panic`] | a panic becomes a value |

pub mod abort;
pub mod outcome;
pub mod panic;
pub mod pending;
pub mod progress;
pub mod run;
pub mod turn;
pub mod with_host;
pub mod workers;
