//! The parallel walk: every entry beneath a folder, by several threads at once and in no order.
//!
//! It gives the same entries as a [`Walk`](super::Walk), and leaves out the same ones. The system spends
//! most of the time, because it opens and lists the folders. Several threads therefore speed it up. Each
//! thread goes depth first, and gives folders to the queue only while another thread has none.
//!
//! The cost of rules is bounded for a walk as a whole. A parallel walk has no order, so each of its threads gets an
//! equal share of the bounds. If a share is too small, the walk ends with [`ParallelError::NeedsWalk`].

use std::iter;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::entry_paths::EntryPaths;
use super::lister::Lister;
use super::read_folder::{ENTRIES_PER_QUESTION, ReadFolder};
use super::rules::{RuleReader, Rules};
use super::selection::{Fate, Selection, SkipReason};
use super::walk::{WalkEntry, WalkError, is_gone, shown};
use crate::path::WorkspacePath;
use crate::sandbox::{EntryKind, EntryName, ListedFolder, Sandbox};

/// More threads than this wait for the system's own locks.
const MAX_THREADS: usize = 8;

/// Deeper trees take a walk by one thread: the folders on the way to those that wait are held open.
const MAX_DEPTH: usize = 40;

/// Takes the entries that one thread of a parallel walk finds.
pub trait Collect: Send {
    /// An entry that is given.
    fn entry(&mut self, entry: &WalkEntry<'_>);

    /// An entry that is left out and counted. A folder that cannot be read has a `/` after its path,
    /// because a walk counts it where its contents would stand.
    fn left_out(&mut self, path: &str, reason: SkipReason);
}

/// The result of a parallel walk.
#[derive(Debug)]
pub struct ParallelResult<G> {
    /// What each thread has collected.
    pub collected: Vec<G>,
    /// How many names were looked at, those that were left out included.
    pub looked_at: usize,
}

/// Why a parallel walk ends without a result.
#[derive(Debug)]
pub enum ParallelError {
    /// A walk would end for the same reason.
    Walk(WalkError),
    /// The tree is too deep, or its rules are too many: it takes a walk.
    NeedsWalk,
}

impl From<WalkError> for ParallelError {
    fn from(error: WalkError) -> Self {
        Self::Walk(error)
    }
}

/// The folder and the rules of a parallel walk.
#[derive(Clone, Copy)]
pub struct ParallelWalk<'run> {
    /// The workspace.
    pub sandbox: &'run Sandbox,
    /// The folder that the walk begins at, as of [`Walk::begin`](super::Walk::begin).
    pub start: &'run WorkspacePath,
    /// The entries that are given.
    pub selection: &'run Selection,
    /// Whether `.gitignore` files are heeded.
    pub gitignore: bool,
    /// Asked again and again, by every thread.
    pub cancelled: &'run (dyn Fn() -> bool + Sync),
}

/// A folder that is to be read.
struct Pending<'run> {
    above: Arc<ListedFolder<'run>>,
    name: EntryName,
    path: PathBuf,
    depth: usize,
    rules: Option<Arc<Rules>>,
}

impl ParallelWalk<'_> {
    /// Walks. `new` makes the collection of one thread.
    ///
    /// # Errors
    ///
    /// [`ParallelError`].
    pub fn run<G: Collect>(self, new: impl Fn() -> G) -> Result<ParallelResult<G>, ParallelError> {
        let threads = thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        let queue = Queue::new(threads);
        let worker = || Worker::new(self, &queue, threads, new());
        let mut first = worker();
        first.begin(self.sandbox.open_folder(self.start).map_err(WalkError::from)?)?;
        let workers = thread::scope(|scope| {
            let spawn = |_| {
                let worker = worker();
                let spawned = thread::Builder::new().spawn_scoped(scope, || worker.work());
                // The system has no more threads.
                spawned.inspect_err(|_| queue.leave()).ok()
            };
            let others: Vec<_> = (1..threads).filter_map(spawn).collect();
            let first = first.work();
            let others = others.into_iter().map(|thread| {
                // A panic of a thread goes on in this one.
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            iter::once(first).chain(others).collect::<Result<Vec<_>, _>>()
        })?;
        Ok(ParallelResult {
            looked_at: workers.iter().map(|worker| worker.looked_at).sum(),
            collected: workers.into_iter().map(|worker| worker.collected).collect(),
        })
    }
}

/// One thread's part of a parallel walk.
struct Worker<'run, 'queue, G> {
    walk: ParallelWalk<'run>,
    queue: &'queue Queue<'run>,
    default_excludes: bool,
    rules: Option<RuleReader>,
    stack: Vec<Pending<'run>>,
    collected: G,
    looked_at: usize,
}

impl<'run, 'queue, G: Collect> Worker<'run, 'queue, G> {
    fn new(
        walk: ParallelWalk<'run>,
        queue: &'queue Queue<'run>,
        threads: usize,
        collected: G,
    ) -> Self {
        let start = Path::new(walk.start.as_str());
        Self {
            walk,
            queue,
            default_excludes: walk.selection.excludes_by_default(start),
            rules: walk.gitignore.then(|| RuleReader::with_share_of(threads)),
            stack: Vec::new(),
            collected,
            looked_at: 0,
        }
    }

    /// Reads the folder that the walk begins at.
    fn begin(&mut self, folder: ListedFolder<'run>) -> Result<(), ParallelError> {
        let path = PathBuf::from(self.walk.start.as_str());
        let read = ReadFolder::read(folder, usize::MAX, &self.walk.cancelled);
        let above = self.lister().rules_above(self.walk.sandbox, &path);
        self.look_at(read.map_err(WalkError::from)?, &path, 0, above)
    }

    /// Reads folders until no thread has any.
    fn work(mut self) -> Result<Self, ParallelError> {
        let queue = self.queue;
        let _end = EndOnPanic(queue);
        while !queue.is_over()
            && let Some(folder) = self.stack.pop().or_else(|| queue.take())
        {
            if let Err(error) = self.read(folder) {
                queue.end();
                return Err(error);
            }
            if queue.has_idle_thread() && self.stack.len() > 1 {
                // The first ones hold the largest trees.
                let half = self.stack.len() / 2;
                queue.give(self.stack.drain(..half));
            }
        }
        let is_fit = self.rules.take().is_none_or(RuleReader::has_heeded_all);
        if is_fit { Ok(self) } else { Err(ParallelError::NeedsWalk) }
    }

    fn read(&mut self, pending: Pending<'run>) -> Result<(), ParallelError> {
        let Pending { above, name, path, depth, rules } = pending;
        if depth > MAX_DEPTH {
            return Err(ParallelError::NeedsWalk);
        }
        let read = above
            .open_folder(&name)
            .map_err(WalkError::Open)
            .and_then(|folder| Ok(ReadFolder::read(folder, usize::MAX, &self.walk.cancelled)?));
        match read {
            Ok(read) => self.look_at(read, &path, depth, rules),
            Err(WalkError::Open(error)) => {
                if !is_gone(&error) {
                    let path = shown(&path) + "/";
                    self.collected.left_out(&path, SkipReason::Unreadable);
                }
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Collects the entries of a folder, and has its folders wait to be read.
    fn look_at(
        &mut self,
        read: ReadFolder<'run>,
        path: &Path,
        depth: usize,
        above: Option<Arc<Rules>>,
    ) -> Result<(), ParallelError> {
        self.looked_at += read.entries.len();
        let depth = depth + 1;
        let rules = self.lister().rules_of(&read, path, above);
        let folder = Arc::new(read.folder);
        let mut paths = EntryPaths::of(path);
        for (index, (name, kind)) in read.entries.into_iter().enumerate() {
            if index.is_multiple_of(ENTRIES_PER_QUESTION) && (self.walk.cancelled)() {
                return Err(WalkError::Cancelled.into());
            }
            let path = paths.at(name.as_os_str());
            let lister = self.lister();
            let seen = lister.listed_entry(name.as_listed(kind), path, rules.as_deref());
            let fate = self.walk.selection.fate_of(&seen, self.default_excludes);
            match fate {
                Fate::Unwanted => {}
                Fate::Skipped(reason) => self.collected.left_out(&shown(path), reason),
                Fate::Entered | Fate::Given => {
                    let above = || Arc::clone(&folder);
                    if kind == EntryKind::Folder {
                        let (name, path, rules) = (name.clone(), path.to_owned(), rules.clone());
                        self.stack.push(Pending { above: above(), name, path, depth, rules });
                    }
                    if fate == Fate::Given {
                        let entry = WalkEntry::new(shown(path), depth, kind, name, above());
                        self.collected.entry(&entry);
                    }
                }
            }
        }
        Ok(())
    }

    fn lister(&self) -> Lister<'_> {
        Lister { rules: self.rules.as_ref(), cancelled: &self.walk.cancelled }
    }
}

/// The folders that threads give away.
struct Queue<'run> {
    state: Mutex<QueueState<'run>>,
    changed: Condvar,
    /// How many threads wait for a folder. It changes under the lock alone, and so does the next one.
    idle: AtomicUsize,
    is_over: AtomicBool,
}

struct QueueState<'run> {
    folders: Vec<Pending<'run>>,
    threads: usize,
}

impl<'run> Queue<'run> {
    fn new(threads: usize) -> Self {
        Self {
            state: Mutex::new(QueueState { folders: Vec::new(), threads }),
            changed: Condvar::new(),
            idle: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
        }
    }

    fn has_idle_thread(&self) -> bool {
        self.idle.load(Ordering::Relaxed) > 0
    }

    fn give(&self, folders: impl Iterator<Item = Pending<'run>>) {
        self.lock().folders.extend(folders);
        self.changed.notify_all();
    }

    /// A folder, which may have to be waited for. `None` once all threads wait, or one has failed.
    fn take(&self) -> Option<Pending<'run>> {
        let mut state = self.lock();
        loop {
            if self.is_over() {
                return None;
            }
            if let Some(folder) = state.folders.pop() {
                return Some(folder);
            }
            if self.idle.fetch_add(1, Ordering::Relaxed) + 1 == state.threads {
                drop(state);
                self.end();
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            self.idle.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// One thread less: it could not begin. The thread that says so does not wait.
    fn leave(&self) {
        self.lock().threads -= 1;
    }

    fn end(&self) {
        let state = self.lock();
        self.is_over.store(true, Ordering::Relaxed);
        drop(state);
        self.changed.notify_all();
    }

    /// Whether all folders were read, or a thread has failed.
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, QueueState<'run>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Has the other threads end where one panics.
struct EndOnPanic<'queue, 'run>(&'queue Queue<'run>);

impl Drop for EndOnPanic<'_, '_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.end();
        }
    }
}
