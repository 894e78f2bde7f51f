//! Making the changes of a plan on disk, all of them or none.
//!
//! Each change is made in the `confirm` of the one before ([`Callbacks`]). So all changes are visible before one of
//! them becomes final, and if one fails, those before it take themselves back. They need no room on the disk for that.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::io;
use std::time::{Duration, Instant};

use super::Action;
use super::plan::{Content, Plan, PlannedFile, exists};
use crate::hash::Sha256Digest;
use crate::path::EntryPath;
use crate::sandbox::{
    Callbacks, EntryError, Expected, MoveEnd, MoveOptions, NewContent, OpenError, RemoveOptions,
    Sandbox, Stray, WriteError,
};
use crate::tools::entry_change::{contended, failure_at};
use crate::tools::failure::{Detail, ErrorCode, Failure};

/// Why a patch was not written.
pub enum NotWritten {
    /// Another program has changed a file since it was read. Nothing is written.
    Changed,
    /// A new path is taken, although the plan found it free: another program has made a file there, or two paths of the
    /// patch name the same file. Nothing is written.
    Taken(Failure),
    Failed(Failure),
}

impl From<Failure> for NotWritten {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// One change of one path.
enum Step<'plan> {
    /// The bytes of a file, or its execute bits, are exchanged for others.
    Replace {
        path: &'plan EntryPath,
        before: &'plan [u8],
        after: &'plan [u8],
        executable: Option<bool>,
    },
    /// A file or link is removed.
    Remove { path: &'plan EntryPath, expected: Option<Sha256Digest> },
    /// A file or link is moved.
    Move { from: Cow<'plan, EntryPath>, to: Cow<'plan, EntryPath>, expected: Option<Sha256Digest> },
    /// A file is made.
    Add { path: &'plan EntryPath, bytes: &'plan [u8], executable: Option<bool> },
}

impl Step<'_> {
    /// The path at which the change shows.
    fn path(&self) -> &EntryPath {
        match self {
            Self::Replace { path, .. } | Self::Remove { path, .. } | Self::Add { path, .. } => path,
            Self::Move { to, .. } => to,
        }
    }

    fn action(&self) -> Action {
        match self {
            Self::Replace { .. } => Action::Update,
            Self::Remove { .. } => Action::Delete,
            Self::Move { .. } => Action::Move,
            Self::Add { .. } => Action::Add,
        }
    }
}

/// Makes the changes of a plan.
///
/// # Errors
///
/// [`NotWritten`]. Nothing has changed on disk, except with `PARTIAL`, and where the message says so.
pub fn write(
    sandbox: &Sandbox,
    plan: &Plan,
    durable: bool,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Result<(), NotWritten> {
    let steps = steps_of(sandbox, plan);
    let run = |steps| Writing::of(sandbox, steps, durable, cancelled).run();
    if steps.len() <= MAX_STEPS_ON_THREAD {
        return run(steps);
    }
    let stack = STACK_OF_STEP.saturating_mul(steps.len());
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(stack);
        let thread = thread.spawn_scoped(scope, || run(steps));
        let thread = thread.map_err(|error| Failure::from(WriteError::System(error)))?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// How many steps are made on the thread of the call. More of them get a thread of their own, because each step stands
/// in the one before.
const MAX_STEPS_ON_THREAD: usize = 32;

/// How much stack a step gets on a thread of its own. It takes up to 5 KiB, in a debug build up to 25 KiB. Memory that is
/// not used is not taken from the system.
const STACK_OF_STEP: usize = 64 << 10;

struct Writing<'call> {
    sandbox: &'call Sandbox,
    steps: Vec<Step<'call>>,
    durable: bool,
    cancelled: &'call dyn Fn() -> bool,
    /// Which of the steps are made and stay.
    standing: Vec<Cell<bool>>,
    first_error: RefCell<Option<NotWritten>>,
    /// Sentences about files that were left beside, because other programs used a file while a step was taken back, and
    /// about faults after a change.
    left: RefCell<Vec<String>>,
}

impl<'call> Writing<'call> {
    fn of(
        sandbox: &'call Sandbox,
        steps: Vec<Step<'call>>,
        durable: bool,
        cancelled: &'call dyn Fn() -> bool,
    ) -> Self {
        let standing = steps.iter().map(|_| Cell::new(false)).collect();
        let (first_error, left) = (RefCell::new(None), RefCell::new(Vec::new()));
        Self { sandbox, steps, durable, cancelled, standing, first_error, left }
    }

    fn run(&self) -> Result<(), NotWritten> {
        self.make_from(0);
        self.outcome()
    }

    /// Makes a step, and in its `confirm` all later ones. Says whether they stay.
    fn make_from(&self, index: usize) -> bool {
        let Some(step) = self.steps.get(index) else { return self.reaches_disk() };
        let confirm = || self.make_from(index + 1);
        let callbacks = Callbacks { cancelled: self.cancelled, confirm: Some(&confirm) };
        let made = match self.make(step, callbacks) {
            Ok(()) => true,
            Err(error) => self.note(step, error),
        };
        self.standing[index].set(made);
        made
    }

    /// Notes an error of a step. Says whether the change stands all the same.
    fn note(&self, step: &Step<'_>, error: StepError) -> bool {
        // A step that was taken back ends with an error, too. The first error is the cause.
        self.first_error.borrow_mut().get_or_insert(error.reason);
        let Some(Left { sentence, remains }) = error.left else { return false };
        self.left.borrow_mut().push(format!("{}: {sentence}", step.path().as_path()));
        match remains {
            Remains::Nothing => false,
            Remains::Change => true,
            Remains::Unknown => self.stands_now(step),
        }
    }

    /// Whether a change is to be seen on disk, of which the error does not say whether it was taken back.
    fn stands_now(&self, step: &Step<'_>) -> bool {
        let is_gone = |path: &EntryPath| {
            let there = self.sandbox.remove_entry(
                path,
                &RemoveOptions { dry_run: true, ..RemoveOptions::default() },
                Callbacks::without_confirm(&|| false),
            );
            match there {
                Err(EntryError::Open(OpenError::NotFound)) => Some(true),
                Ok(_) => Some(false),
                Err(_) => None,
            }
        };
        let is_gone = |path: &EntryPath| persist(|| is_gone(path)).unwrap_or(false);
        let holds = |path: &EntryPath, bytes: &[u8]| {
            persist(|| match self.sandbox.open_file(path.as_path()) {
                Ok(mut file) => file.holds(bytes).ok(),
                Err(OpenError::NotFound) => Some(false),
                Err(_) => None,
            })
            .unwrap_or(false)
        };
        match step {
            Step::Replace { path, before, after, .. } => before == after || !holds(path, before),
            Step::Add { path, .. } => !is_gone(path),
            Step::Remove { path, .. } => is_gone(path),
            Step::Move { from, to, .. } => is_gone(from) && !is_gone(to),
        }
    }

    /// Lets the removed and the new names reach the disk. Files that are written do so on their own.
    fn reaches_disk(&self) -> bool {
        let synced = self.steps.iter().filter(|_| self.durable).try_for_each(|step| match step {
            Step::Remove { path, .. } => self.sandbox.sync_folder_of(path),
            Step::Move { from, to, .. } => {
                self.sandbox.sync_folder_of(from)?;
                self.sandbox.sync_folder_of(to)
            }
            Step::Replace { .. } | Step::Add { .. } => Ok(()),
        });
        let Err(error) = synced else { return true };
        let failure = Failure::from(WriteError::System(error));
        self.first_error.borrow_mut().get_or_insert(failure.into());
        false
    }

    fn make(&self, step: &Step<'_>, callbacks: Callbacks<'_>) -> Result<(), StepError> {
        let content = |bytes, expected, executable| NewContent {
            bytes,
            overwrite: true,
            expected,
            durable: self.durable,
            executable,
        };
        match step {
            Step::Replace { path, before, after, executable } => {
                let content = content(after, Some(Expected::Bytes(before)), *executable);
                let replaced = self.sandbox.replace_file(path, &content, callbacks);
                replaced.map(drop).map_err(|error| StepError::of_write(error, path))
            }
            Step::Add { path, bytes, executable } => {
                let content = content(bytes, None, *executable);
                let created = self.sandbox.create_new_file(path, &content, callbacks);
                created.map(drop).map_err(|error| StepError::of_write(error, path))
            }
            Step::Remove { path, expected } => {
                // The names reach the disk together, before any of the changes is final.
                let options = RemoveOptions { expected: *expected, ..RemoveOptions::default() };
                let removed = self.sandbox.remove_entry(path, &options, callbacks);
                removed.map(drop).map_err(|error| self.of_entry(error, path))
            }
            Step::Move { from, to, expected } => {
                let options = MoveOptions { expected: *expected, ..MoveOptions::default() };
                let moved = self.sandbox.move_entry(from, to, &options, callbacks);
                moved.map(drop).map_err(|error| match error.end {
                    MoveEnd::From => self.of_entry(error.error, from),
                    MoveEnd::To => self.of_entry(error.error, to),
                })
            }
        }
    }

    fn of_entry(&self, error: EntryError, path: &EntryPath) -> StepError {
        let left = match &error {
            EntryError::Write(WriteError::Kept { stray, .. }) => Some(Left::of(stray)),
            EntryError::Kept(_) => {
                Some(Left { sentence: error.to_string(), remains: Remains::Unknown })
            }
            EntryError::Unsynced(_) => {
                Some(Left { sentence: error.to_string(), remains: Remains::Change })
            }
            _ => None,
        };
        let reason = match error {
            EntryError::Exists { .. } => NotWritten::Taken(exists(path)),
            EntryError::Write(
                WriteError::Changed | WriteError::TooLargeToCompare | WriteError::Unreadable,
            )
            | EntryError::NotComparable
            | EntryError::NotEmpty { .. }
            | EntryError::Open(OpenError::NotFound) => NotWritten::Changed,
            EntryError::Write(WriteError::Kept { because, .. }) => {
                return StepError { left, ..StepError::of_write(*because, path) };
            }
            EntryError::System(error) if is_out_of_handles(&error) => out_of_handles().into(),
            error => failure_at(error, self.sandbox, path.as_path(), None, self.cancelled).into(),
        };
        StepError { left, reason }
    }

    /// The changes that stand.
    fn standing(&self) -> Vec<&Step<'call>> {
        let stands = std::iter::zip(&self.steps, &self.standing).filter(|(_, stands)| stands.get());
        stands.map(|(step, _)| step).collect()
    }

    fn outcome(&self) -> Result<(), NotWritten> {
        let Some(error) = self.first_error.take() else { return Ok(()) };
        let left = self.left.take();
        let standing = self.standing();
        if standing.is_empty() && left.is_empty() {
            return Err(error);
        }
        let because = match error {
            NotWritten::Changed | NotWritten::Taken(_) => contended(),
            // The error of a cancelled call is never shown.
            NotWritten::Failed(failure) if failure.is_cancelled() => {
                Failure::new(ErrorCode::Internal, "the call was aborted")
            }
            NotWritten::Failed(failure) => failure,
        };
        let because = if left.is_empty() { because } else { because.and(&left.join("; ")) };
        // The patch is not applied anew: no answer has a place for what is left beside.
        if standing.is_empty() {
            return Err(because.into());
        }
        let is_whole = self.standing.iter().all(Cell::get);
        Err(partial(&because, &standing, is_whole).into())
    }
}

/// Asks a system that fails for a while, until it answers.
fn persist<T>(ask: impl Fn() -> Option<T>) -> Option<T> {
    const MAX_TRIES: u32 = 1000;
    const MAX_TIME: Duration = Duration::from_secs(2);
    let begun = Instant::now();
    (0..MAX_TRIES).take_while(|_| begun.elapsed() < MAX_TIME).find_map(|_| ask())
}

/// Why a step failed.
struct StepError {
    /// What could not be taken back.
    left: Option<Left>,
    reason: NotWritten,
}

/// What a step has left although it failed.
struct Left {
    sentence: String,
    remains: Remains,
}

/// Whether the change of a failed step remains.
enum Remains {
    /// The old file is back, and a file of another program is kept beside.
    Nothing,
    Change,
    /// The old file may be back.
    Unknown,
}

impl Left {
    fn of(stray: &Stray) -> Self {
        let remains = match stray {
            Stray::Used(_) | Stray::Elsewhere => Remains::Nothing,
            Stray::Awaited(_) | Stray::Standing => Remains::Change,
            Stray::Displaced(_) => Remains::Unknown,
        };
        Self { sentence: stray.to_string(), remains }
    }
}

impl StepError {
    fn of_write(error: WriteError, path: &EntryPath) -> Self {
        let at_path = |error: WriteError| Failure::from(error).at(path.as_path().as_shown()).into();
        match error {
            // When the patch was planned, a file that may be read and compared stood there.
            WriteError::Changed
            | WriteError::NotRegularFile
            | WriteError::TooLargeToCompare
            | WriteError::Unreadable => Self { left: None, reason: NotWritten::Changed },
            WriteError::Exists => Self { left: None, reason: NotWritten::Taken(exists(path)) },
            WriteError::Kept { because, stray } => {
                Self { left: Some(Left::of(&stray)), ..Self::of_write(*because, path) }
            }
            WriteError::System(error) if is_out_of_handles(&error) => {
                Self { left: None, reason: out_of_handles().into() }
            }
            error @ WriteError::Flawed(_) => {
                let left = Left { sentence: error.to_string(), remains: Remains::Change };
                Self { left: Some(left), reason: at_path(error) }
            }
            error => Self { left: None, reason: at_path(error) },
        }
    }
}

fn is_out_of_handles(error: &io::Error) -> bool {
    // EMFILE and ENFILE; on Windows, whose numbers are others, ERROR_TOO_MANY_OPEN_FILES.
    let numbers: &[i32] = if cfg!(windows) { &[4] } else { &[24, 23] };
    error.raw_os_error().is_some_and(|number| numbers.contains(&number))
}

fn out_of_handles() -> Failure {
    let sentence = "the patch needs more open files at a time than the process may have: make several patches of it, \
                    of fewer files each";
    Failure::new(ErrorCode::Internal, sentence)
}

/// The failure of a patch of which some changes stand, or all of them, but not as they should.
fn partial(because: &Failure, standing: &[&Step<'_>], is_whole: bool) -> Failure {
    let told: Vec<_> = standing
        .iter()
        .map(|step| format!("{} {}", step.action().as_str(), step.path().as_path()))
        .collect();
    let sentence = if is_whole {
        format!(
            "the whole patch is applied, but not as it should be ({because}): {}",
            told.join(", ")
        )
    } else {
        format!(
            "the patch failed ({because}), and not all of it could be taken back. These changes remain: {}. Read \
             these files before the next step",
            told.join(", ")
        )
    };
    let applied = standing.iter().map(|step| {
        Detail::Object(vec![
            ("path", Detail::Text(step.path().as_path().to_string())),
            ("action", Detail::Text(step.action().as_str().to_owned())),
        ])
    });
    Failure::new(ErrorCode::Partial, sentence).with("applied", Detail::List(applied.collect()))
}

/// The steps of a plan. First come those that leave every name as it is, then those that free names, and then those
/// that take them.
fn steps_of<'plan>(sandbox: &Sandbox, plan: &'plan Plan) -> Vec<Step<'plan>> {
    let mut steps: Vec<_> = plan.files.iter().filter_map(replacement_of).collect();
    steps.extend(plan.files.iter().filter_map(removal_of));
    steps.extend(moves_of(sandbox, &plan.files));
    steps.extend(plan.files.iter().filter_map(addition_of));
    steps
}

fn replacement_of(file: &PlannedFile) -> Option<Step<'_>> {
    let origin = file.origin.as_ref()?;
    // The file behind a link stays where the link is removed.
    let is_kept = file.path.is_some() || origin.is_link;
    let (before, after) = (origin.content.bytes()?, file.content.bytes()?);
    let is_changed = before != after || file.executable.is_some();
    let path = &origin.path;
    (is_kept && is_changed).then_some(Step::Replace {
        path,
        before,
        after,
        executable: file.executable,
    })
}

fn removal_of(file: &PlannedFile) -> Option<Step<'_>> {
    let origin = file.origin.as_ref().filter(|_| file.path.is_none())?;
    Some(Step::Remove { path: &origin.path, expected: origin.digest_of_entry() })
}

fn addition_of(file: &PlannedFile) -> Option<Step<'_>> {
    let (None, Some(path), Content::Bytes(bytes, _)) = (&file.origin, &file.path, &file.content)
    else {
        return None;
    };
    Some(Step::Add { path, bytes, executable: file.executable })
}

/// The moves, each after the one that frees its new name. Where they form a circle, one of them goes by a spare name.
fn moves_of<'plan>(sandbox: &Sandbox, files: &'plan [PlannedFile]) -> Vec<Step<'plan>> {
    let mut waiting: Vec<_> = files.iter().filter_map(PendingMove::of).collect();
    let mut taken: HashSet<_> =
        waiting.iter().map(|pending| pending.from.as_path().clone()).collect();
    let mut steps = Vec::new();
    while let Some(last) = waiting.len().checked_sub(1) {
        let free = waiting.iter().position(|pending| !taken.contains(pending.to.as_path()));
        let PendingMove { from, to, expected } = waiting.swap_remove(free.unwrap_or(last));
        taken.remove(from.as_path());
        if free.is_some() {
            steps.push(Step::Move { from, to: Cow::Borrowed(to), expected });
            continue;
        }
        let spare = sandbox.spare_path_beside(to);
        steps.push(Step::Move { from, to: Cow::Owned(spare.clone()), expected });
        // The step to the spare name has compared the file and holds it locked, so another comparison would wait.
        waiting.push(PendingMove { from: Cow::Owned(spare), to, expected: None });
    }
    steps
}

struct PendingMove<'plan> {
    from: Cow<'plan, EntryPath>,
    to: &'plan EntryPath,
    expected: Option<Sha256Digest>,
}

impl<'plan> PendingMove<'plan> {
    fn of(file: &'plan PlannedFile) -> Option<Self> {
        let (origin, to) = (file.origin.as_ref()?, file.path.as_ref()?);
        if origin.path.as_path().as_str() == to.as_path().as_str() {
            return None;
        }
        // The step that has replaced the file holds it locked, and no other can compare it.
        let is_replaced = replacement_of(file).is_some();
        let expected = if is_replaced { None } else { origin.digest_of_entry() };
        Some(Self { from: Cow::Borrowed(&origin.path), to, expected })
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
