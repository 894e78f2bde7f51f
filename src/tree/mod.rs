//! Walks over a workspace's folders, beneath the held root.
//!
//! Every folder is opened beneath the handle of the one that holds it, and no link is followed on
//! the way. `.gitignore` files, globs and default excludes decide which entries a walk leaves out.
//! The work of a walk is bounded, and a caller can cancel it.
//!
//! - [`Lister`] lists one folder, with the rules that hold in it. A tool with an order of its own,
//!   such as the snapshot, builds on it.
//! - [`Walk`] gives the entries beneath a folder one after the other, in the order of their paths,
//!   each with the handle of the folder that holds it.
//! - [`ParallelWalk`] gives the same entries, by several threads at once and in no order.
//! - [`Globs`] are a host's `include` and `exclude`.
//!
//! Imports run one way: `parallel_walk` → `walk` → `selection` → `lister`, `globs` → `rules`, `read_folder` →
//! `order` and `entry_paths` import none of these.

mod entry_paths;
mod gitignore;
mod globs;
mod lister;
mod order;
mod parallel_walk;
mod pattern_list;
mod read_folder;
mod rules;
mod selection;
mod walk;

pub use globs::{Case, GlobError, GlobFlaw, Globs, Verdict};
pub use lister::{ListedEntry, Lister};
pub use order::compare_paths;
pub use parallel_walk::{Collect, ParallelError, ParallelResult, ParallelWalk};
pub use rules::{MAX_RULE_TIME, RuleReader, Rules, Unheeded, WhyUnheeded};
pub use selection::{DEFAULT_EXCLUDES, Selection, SkipReason, Tally};
pub use walk::{Order, Walk, WalkEntry, WalkError, WalkItem, WalkOptions};
