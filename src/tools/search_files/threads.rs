//! The search of a tree by several threads, with its results in order.
//!
//! The calling thread walks and hands out the files in batches. If the threads have enough to do, it
//! searches a batch itself. The results join the page in the order of the walk. Once the page is
//! certain, all threads stop.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, TrySendError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::file::{Found, Searcher};
use super::item::{Item, MAX_UNITS};
use super::page::{Batch, Page};
use super::{Progress, Search, failure_of};
use crate::deadline::Stop;
use crate::sandbox::EntryKind;
use crate::tools::failure::Failure;
use crate::tree::{Tally, Walk, WalkEntry, WalkError, WalkItem};

/// More threads than this find little more: they wait for the one that walks.
const MAX_THREADS: usize = 8;

/// How many files the first batches have, so that a page of a common word is certain soon.
const FILES_AT_FIRST: usize = 16;

/// How many files later batches have.
const FILES: usize = 64;

/// How many batches wait for each thread.
const WAITING: usize = 2;

/// How many UTF-16 units of texts wait for results before them. No more jobs are given out meanwhile.
const MAX_EARLY_UNITS: usize = 8 << 20;

/// How often progress is told.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// Files that follow each other, each with the walk's tally up to it.
struct Job<'run> {
    index: usize,
    files: Vec<(WalkEntry<'run>, Tally)>,
}

/// The result of a job, and its place in the order.
type Done = (usize, Result<Batch, Stop>);

/// The state that all threads share.
struct Shared<'search> {
    search: &'search Search<'search>,
    /// The page is certain.
    is_certain: AtomicBool,
    scanned: AtomicU64,
}

pub fn search(
    search: &Search<'_>,
    walk: Walk<'_>,
    on_progress: &dyn Fn(Progress),
) -> Result<Page, Failure> {
    let shared = Shared { search, is_certain: AtomicBool::new(false), scanned: AtomicU64::new(0) };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS) - 1;
    let (jobs, queue) = mpsc::sync_channel(threads * WAITING);
    let queue = Mutex::new(queue);
    thread::scope(|scope| {
        let (results, done) = mpsc::channel();
        let mut order = InOrder::new(&shared, done, on_progress);
        let mut searcher = Searcher::new(search);
        let mut batches = Batches { walk, next: 0 };
        let mut running = 0;
        while order.has_room()?
            && let Some(job) = batches.next_job().map_err(|error| search.failure_of(error))?
        {
            // A small tree needs no further thread.
            if running < threads && job.index > 0 {
                let (queue, results, shared) = (&queue, results.clone(), &shared);
                scope.spawn(move || work(queue, &results, shared));
                running += 1;
            }
            let sent = if running == 0 { Err(job) } else { try_send(&jobs, job) };
            if let Err(job) = sent {
                let result = shared.run(&job, &mut searcher);
                order.add((job.index, result))?;
            }
            order.take_finished()?;
        }
        drop((jobs, results));
        order.wait()?;
        let mut page = order.page;
        page.end_walk(batches.walk.tally());
        Ok(page)
    })
}

fn try_send<'run>(jobs: &mpsc::SyncSender<Job<'run>>, job: Job<'run>) -> Result<(), Job<'run>> {
    jobs.try_send(job).map_err(|error| match error {
        TrySendError::Full(job) | TrySendError::Disconnected(job) => job,
    })
}

/// Does jobs until there are no more.
fn work(queue: &Mutex<Receiver<Job<'_>>>, results: &Sender<Done>, shared: &Shared<'_>) {
    let mut searcher = Searcher::new(shared.search);
    loop {
        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        let result = shared.run(&job, &mut searcher);
        if results.send((job.index, result)).is_err() {
            return;
        }
    }
}

impl Shared<'_> {
    /// Searches the files of a job, as far as one page can need them.
    fn run(&self, job: &Job<'_>, searcher: &mut Searcher<'_>) -> Result<Batch, Stop> {
        let mut batch = Batch::default();
        let mut items = 0;
        for (entry, tally) in &job.files {
            if self.is_certain.load(Ordering::Relaxed) {
                return Err(Stop::Cancelled);
            }
            self.search.deadline.check()?;
            let found = searcher.search_entry(&entry.path, entry.open_file())?;
            batch.counts.count(&found);
            batch.counts.left_out.walk = *tally;
            let Found::Items(found) = found else { continue };
            self.scanned.fetch_add(1, Ordering::Relaxed);
            if found.is_empty() {
                continue;
            }
            items += found.len();
            batch.units += found.iter().map(Item::units).sum::<usize>();
            batch.files.push((found, batch.counts));
            if items > self.search.options.max_results || batch.units > MAX_UNITS {
                break;
            }
        }
        Ok(batch)
    }
}

/// The walk, cut into jobs.
struct Batches<'run> {
    walk: Walk<'run>,
    next: usize,
}

impl<'run> Batches<'run> {
    fn next_job(&mut self) -> Result<Option<Job<'run>>, WalkError> {
        let size = if self.next < FILES_AT_FIRST { FILES_AT_FIRST } else { FILES };
        let mut files = Vec::with_capacity(size);
        while files.len() < size
            && let Some(step) = self.walk.next()
        {
            if let WalkItem::Entry(entry) = step?
                && entry.kind == EntryKind::File
            {
                files.push((entry, self.walk.tally()));
            }
        }
        let index = self.next;
        self.next += 1;
        Ok((!files.is_empty()).then_some(Job { index, files }))
    }
}

/// Joins results to the page in the order of their jobs.
struct InOrder<'search> {
    shared: &'search Shared<'search>,
    done: Receiver<Done>,
    early: BTreeMap<usize, Result<Batch, Stop>>,
    /// How many units the texts of `early` have.
    early_units: usize,
    next: usize,
    page: Page,
    on_progress: &'search dyn Fn(Progress),
    told: Instant,
}

impl<'search> InOrder<'search> {
    fn new(
        shared: &'search Shared<'search>,
        done: Receiver<Done>,
        on_progress: &'search dyn Fn(Progress),
    ) -> Self {
        let page = Page::new(shared.search.options.max_results);
        let told = Instant::now();
        Self {
            shared,
            done,
            early: BTreeMap::new(),
            early_units: 0,
            next: 0,
            page,
            on_progress,
            told,
        }
    }

    fn add(&mut self, (index, result): Done) -> Result<(), Failure> {
        self.early_units += result.as_ref().map_or(0, |batch| batch.units);
        self.early.insert(index, result);
        while !self.page.is_truncated()
            && let Some(result) = self.early.remove(&self.next)
        {
            let batch = result.inspect_err(|_| self.stop_all()).map_err(failure_of)?;
            self.early_units -= batch.units;
            self.page.add(batch);
            self.next += 1;
        }
        if self.page.is_truncated() {
            self.stop_all();
        }
        self.tell_progress();
        Ok(())
    }

    fn stop_all(&self) {
        self.shared.is_certain.store(true, Ordering::Relaxed);
    }

    /// Whether more jobs may be given out. Waits while too many texts wait for a result before them.
    fn has_room(&mut self) -> Result<bool, Failure> {
        while self.early_units > MAX_EARLY_UNITS && !self.page.is_truncated() {
            match self.done.recv_timeout(PROGRESS_EVERY) {
                Ok(done) => self.add(done)?,
                Err(_) => self.tell_progress(),
            }
        }
        Ok(!self.page.is_truncated())
    }

    /// Takes the results that are there.
    fn take_finished(&mut self) -> Result<(), Failure> {
        while let Ok(done) = self.done.try_recv() {
            self.add(done)?;
        }
        Ok(())
    }

    /// Takes all results that are still to come.
    fn wait(&mut self) -> Result<(), Failure> {
        while !self.page.is_truncated() {
            match self.done.recv_timeout(PROGRESS_EVERY) {
                Ok(done) => self.add(done)?,
                Err(RecvTimeoutError::Timeout) => self.tell_progress(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        Ok(())
    }

    fn tell_progress(&mut self) {
        if self.told.elapsed() < PROGRESS_EVERY {
            return;
        }
        self.told = Instant::now();
        (self.on_progress)(Progress {
            scanned_files: self.shared.scanned.load(Ordering::Relaxed),
            items: self.page.item_count() as u64,
        });
    }
}
