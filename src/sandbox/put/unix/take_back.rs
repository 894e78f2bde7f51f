//! Undoing an exchange while other programs go on changing names. The head of `put/unix/mod.rs` has the
//! terms.

use std::ffi::{OsStr, OsString};
use std::time::{Duration, Instant};

use rustix::io::Errno;

use super::draft::{Draft, keep};
use super::old;
use crate::sandbox::put::content::NewContent;
use crate::sandbox::put::error::{PutError, Stray};
use crate::sandbox::system::unix::Writers;
use crate::sandbox::system::unix::held::{
    EntryId, Held, Removal, exchange_names, find, remove, rename_exclusively,
};
use crate::sandbox::temporary::{self, Identity};

/// How long the draft is looked for. Another program may move it to and fro.
const MAX_WAIT: Duration = Duration::from_millis(500);

/// How many files may stand where others belong. An exchange that came too late adds one, and one that
/// was right removes one.
const MAX_DEPTH: usize = 32;

/// Takes the draft back, and puts the file at the temporary name where it belongs. Gives the error
/// that led here, with the file that is left if not all could be undone.
pub(super) fn take_back(
    draft: &mut Draft<'_>,
    temporary: &OsStr,
    name: &OsStr,
    content: &NewContent<'_>,
    error: PutError,
) -> PutError {
    match TakingBack::begin(draft, temporary, name).and_then(TakingBack::run) {
        Ok(Outcome::Reincluded) => draft.remove_taken(temporary, content, error),
        Ok(Outcome::DraftReplaced(displaced)) => match remove_dead(draft, temporary, &displaced) {
            Some(stray) => error.with(stray),
            None => error,
        },
        Ok(Outcome::PutBack) => error.with(Stray::Elsewhere),
        Err(Stuck) => error.with(Stray::Displaced(keep(draft.folder, temporary))),
    }
}

enum Outcome {
    /// The draft stands at the temporary name.
    Reincluded,
    /// Another program has replaced or removed the draft. Without the exchange it would have done
    /// that to the displaced file, which is still at the temporary name.
    DraftReplaced(Held),
    /// The draft has been moved out of the folder, and the displaced file stands at its name again.
    PutBack,
}

/// The file at the temporary name could not be put where it belongs.
struct Stuck;

impl From<Errno> for Stuck {
    fn from(_: Errno) -> Self {
        Self
    }
}

struct TakingBack<'call, 'folder> {
    draft: &'call Draft<'folder>,
    temporary: &'call OsStr,
    name: &'call OsStr,
    /// The file at the temporary name. It is called the file in hand below.
    hand: Held,
    /// Files that stand where others belong, beside the draft. The first belongs where the draft stands,
    /// each other one where the one before it stands, and the file in hand where the last one stands.
    stand_ins: Vec<Held>,
    /// Names at which files were found.
    guesses: Vec<OsString>,
    begun: Instant,
}

impl<'call, 'folder> TakingBack<'call, 'folder> {
    fn begin(
        draft: &'call Draft<'folder>,
        temporary: &'call OsStr,
        name: &'call OsStr,
    ) -> Result<Self, Stuck> {
        let hand = match Held::at(draft.folder, temporary) {
            Ok(hand) => hand,
            Err(error) => {
                if error != Errno::NOENT {
                    exchange_unseen(draft, temporary, name)?;
                }
                return Err(Stuck);
            }
        };
        let guesses = vec![name.to_owned()];
        let begun = Instant::now();
        Ok(Self { draft, temporary, name, hand, stand_ins: Vec::new(), guesses, begun })
    }

    fn run(mut self) -> Result<Outcome, Stuck> {
        while !self.is_taken_back()? {
            let found = self.find(self.stand_in());
            if found.is_err() && self.stand_ins.is_empty() {
                exchange_unseen(self.draft, self.temporary, self.name)?;
            }
            match found? {
                Some(place) => self.exchange_at(&place)?,
                None if self.are_all_gone() => return Ok(Outcome::DraftReplaced(self.hand)),
                None if self.begun.elapsed() < MAX_WAIT => {
                    std::thread::sleep(Duration::from_micros(50));
                }
                None => return self.put_back_at_name(),
            }
        }
        Ok(Outcome::Reincluded)
    }

    fn is_taken_back(&mut self) -> Result<bool, Stuck> {
        match &self.stand_ins[..] {
            _ if self.hand.id != self.draft.id => Ok(false),
            [] => Ok(true),
            // Draft, second and first form a circle: each belongs where the next one stands. The draft will
            // be removed, so the circle closes without it, and the other two exchange their places.
            [first, second] => {
                let (first, second) = (first.id, second.id);
                self.exchange_with_each_other(first, second)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Lets two files change places. The result is right even if another program does so meanwhile.
    fn exchange_with_each_other(&mut self, one: EntryId, other: EntryId) -> Result<(), Stuck> {
        while self.begun.elapsed() < MAX_WAIT {
            let (one, other) = (self.find(one)?, self.find(other)?);
            // Both are seen at one name if another program has exchanged them between the two looks.
            if let (Some(one), Some(other)) = (one, other)
                && one != other
            {
                exchange_names(self.draft.folder, &one, &other)?;
                return Ok(());
            }
        }
        // Another program has moved or replaced one of them. Without the exchange it would have
        // done that to the other one.
        Ok(())
    }

    /// Whether another program has replaced or removed the draft, and all other stand-ins.
    fn are_all_gone(&self) -> bool {
        self.draft.is_gone() && self.stand_ins.iter().all(Held::is_gone)
    }

    /// The file that stands where the file in hand belongs.
    fn stand_in(&self) -> EntryId {
        self.stand_ins.last().map_or(self.draft.id, |stand_in| stand_in.id)
    }

    /// The name of a file, unless it is not to be found at the moment.
    fn find(&mut self, id: EntryId) -> Result<Option<OsString>, Stuck> {
        let found = find(self.draft.folder, id, &self.guesses)?;
        if let Some(place) = &found
            && !self.guesses.contains(place)
        {
            self.guesses.push(place.clone());
        }
        Ok(found)
    }

    /// Puts the file in hand where its stand-in was found a moment ago.
    fn exchange_at(&mut self, place: &OsStr) -> Result<(), Stuck> {
        match exchange_names(self.draft.folder, self.temporary, place) {
            Ok(()) => {}
            // Another program has moved it away.
            Err(Errno::NOENT) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        let found = Held::at(self.draft.folder, self.temporary)?;
        let is_stand_in = found.id == self.stand_in();
        let put = std::mem::replace(&mut self.hand, found);
        if is_stand_in {
            self.stand_ins.pop();
        } else {
            // The file that was put there now stands where the file that was found belongs.
            self.stand_ins.push(put);
        }
        if self.stand_ins.len() > MAX_DEPTH { Err(Stuck) } else { Ok(()) }
    }

    /// The draft is not to be found, but the name that it had may be free.
    fn put_back_at_name(self) -> Result<Outcome, Stuck> {
        if !self.stand_ins.is_empty() {
            return Err(Stuck);
        }
        rename_exclusively(self.draft.folder, self.temporary, self.name)?;
        Ok(Outcome::PutBack)
    }
}

/// Undoes the exchange although the system does not say which file stands where, and would not say it
/// after another exchange either. This is right unless another program came in between.
fn exchange_unseen(draft: &Draft<'_>, temporary: &OsStr, name: &OsStr) -> Result<(), Stuck> {
    Ok(exchange_names(draft.folder, temporary, name)?)
}

/// Removes the displaced file after another program has replaced or removed the draft: it would have
/// done so to this file. Keeps the file, and says so, if a program still has it open for writing.
fn remove_dead(draft: &Draft<'_>, temporary: &OsStr, dead: &Held) -> Option<Stray> {
    let kept = || Some(Stray::Displaced(keep(draft.folder, temporary)));
    if !dead.is_file() {
        return kept();
    }
    let Ok(file) = old::open_old(draft.folder, temporary) else { return kept() };
    let writers = Writers::of(&file);
    if writers.are_present() {
        return kept();
    }
    let fresh = temporary::new_name(Identity::UNKNOWN, Identity::UNKNOWN);
    match remove(draft.folder, temporary, dead.id, fresh.into(), &|| writers.are_present()) {
        Removal::Removed | Removal::Another => None,
        Removal::Refused(_) | Removal::Stayed => kept(),
        Removal::Displaced(name) => Some(Stray::Displaced(name)),
    }
}
