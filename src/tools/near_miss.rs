//! Near misses: existing paths that a model may have meant by a path at which nothing stands.
//!
//! If a model asks for `src/Main.ts` and is told of `src/main.ts`, it repairs its call at once. If it is told
//! nothing, it lists the folder or gives up. Near misses are only shown: no other file is read in place of
//! the one that was asked for. They come from one folder, the deepest one of
//! the path that exists, listed beneath the root like everything else.

use std::ffi::OsStr;
use std::ops::ControlFlow;

use unicode_normalization::UnicodeNormalization;

use crate::path::invisible;
use crate::path::misspelling::respellings;
use crate::path::{NewFilePath, WorkspacePath};
use crate::sandbox::{EntryKind, ListedFolder, OpenError, Sandbox};

/// How many are shown.
pub const MAX_SHOWN: usize = 3;

/// How many entries of a folder are looked at: comparing so many takes a tenth of a second at most.
const MAX_ENTRIES: usize = 10_000;

/// Longer names are compared as a whole only. The cost of a comparison grows with both lengths.
const MAX_COMPARED: usize = 64;

/// Longer names, in bytes, are near to none: no system has them, and each comparison would read them all.
const MAX_WANTED: usize = 1024;

/// How many missing folders are climbed to find one that exists.
const MAX_CLIMBED: usize = 8;

/// The paths, relative to the root, that are nearest to one at which nothing stands; folders end
/// in `/`. First come the respellings of the path as it was given, if something stands there. The
/// list is empty if something stands at the path, if no name is like it, or if the folder may not
/// be listed.
#[must_use]
pub fn near_misses(sandbox: &Sandbox, given: &str, missing: &WorkspacePath) -> Vec<String> {
    let Err(OpenError::NotFound | OpenError::NotFolder | OpenError::NameTooLong) =
        sandbox.open_file(missing)
    else {
        return Vec::new();
    };
    let meant: Vec<_> =
        respellings(given).iter().filter_map(|path| beneath(sandbox, path)).collect();
    let mut near: Vec<String> =
        meant.iter().filter_map(|path| standing(sandbox, path)).take(MAX_SHOWN).collect();
    for path in std::iter::once(missing).chain(&meant) {
        for miss in near_names(sandbox, path) {
            if near.len() < MAX_SHOWN && !near.contains(&miss) {
                near.push(miss);
            }
        }
    }
    near
}

/// The place of a respelt path; one that begins with `/` may have been meant from the root.
fn beneath(sandbox: &Sandbox, path: &str) -> Option<WorkspacePath> {
    let located =
        sandbox.locate(path).or_else(|_| WorkspacePath::parse(path.trim_start_matches('/')));
    located.ok().filter(|path| !path.is_root())
}

/// A path as it is shown, if something stands there.
fn standing(sandbox: &Sandbox, path: &WorkspacePath) -> Option<String> {
    let end = match sandbox.open_file(path) {
        Ok(_) => "",
        Err(OpenError::IsDirectory) => "/",
        Err(_) => return None,
    };
    path.names().all(is_showable).then(|| format!("{path}{end}"))
}

/// The paths whose names are near to those of a path.
fn near_names(sandbox: &Sandbox, missing: &WorkspacePath) -> Vec<String> {
    let names: Vec<&str> = missing.as_str().split('/').collect();
    for depth in (0..names.len()).rev().take(MAX_CLIMBED) {
        let (folder, wanted) = (names[..depth].join("/"), names[depth]);
        let Ok(path) = WorkspacePath::parse_beneath(&folder) else { return Vec::new() };
        match sandbox.open_folder(&path) {
            Ok(opened) => {
                let only_folders = depth + 1 < names.len();
                let near = nearest(opened, wanted, only_folders);
                let place =
                    |name| if folder.is_empty() { name } else { format!("{folder}/{name}") };
                return near.into_iter().map(place).collect();
            }
            Err(OpenError::NotFound) => {}
            Err(_) => return Vec::new(),
        }
    }
    Vec::new()
}

/// The names of a folder that are nearest to one.
fn nearest(mut folder: ListedFolder<'_>, wanted: &str, only_folders: bool) -> Vec<String> {
    if wanted.len() > MAX_WANTED {
        return Vec::new();
    }
    let mut near: Vec<(usize, String)> = Vec::new();
    let (mut looked_at, mut is_there) = (0, false);
    let listed = folder.visit(&mut |entry| {
        is_there |= entry.name() == OsStr::new(wanted);
        looked_at += 1;
        if is_there || looked_at > MAX_ENTRIES {
            return ControlFlow::Break(());
        }
        let end = match entry.kind() {
            EntryKind::Folder => "/",
            EntryKind::Link => "",
            EntryKind::File if !only_folders => "",
            _ => return ControlFlow::Continue(()),
        };
        if let Some(name) = entry.name().to_str().filter(|name| is_showable(name))
            && let Some(distance) = distance(wanted, name)
        {
            near.push((distance, format!("{name}{end}")));
        }
        ControlFlow::Continue(())
    });
    if is_there || listed.is_err() {
        return Vec::new();
    }
    near.sort_unstable();
    near.truncate(MAX_SHOWN);
    near.into_iter().map(|(_, name)| name).collect()
}

/// Whether a name can be shown to a model, and sent back by it: names come from the disk and may
/// be hostile.
fn is_showable(name: &str) -> bool {
    !name.contains('\\') && invisible::is_showable(name) && NewFilePath::parse(name).is_ok()
}

/// How far a name is from the one that was asked for; `None` if it is not near.
fn distance(wanted: &str, name: &str) -> Option<usize> {
    let (wanted, name) = (comparable(wanted), comparable(name));
    if without_separators(&wanted) == without_separators(&name) {
        return Some(0);
    }
    // `main.js` for `main.ts`, `utils` for `utils.ts`.
    if !stem(&wanted).is_empty() && stem(&wanted) == stem(&name) {
        return Some(1);
    }
    let shorter = wanted.chars().count().min(name.chars().count());
    let longer = wanted.chars().count().max(name.chars().count());
    // A third of the shorter name, as rustc allows misspelt identifiers.
    let allowed = (shorter / 3).max(1);
    if longer > MAX_COMPARED || longer - shorter > allowed {
        return None;
    }
    let edits = strsim::osa_distance(&wanted, &name);
    (edits <= allowed && edits < shorter).then_some(1 + edits)
}

/// A name without its case, and with each accented letter as a letter and its accent: macOS keeps names
/// in that form, others as they were written, and they look alike.
fn comparable(name: &str) -> String {
    let lowercase = name.to_lowercase();
    if lowercase.is_ascii() { lowercase } else { lowercase.nfd().collect() }
}

fn without_separators(name: &str) -> String {
    name.chars().filter(|character| !matches!(character, '-' | '_' | ' ')).collect()
}

fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

#[cfg(test)]
mod tests;
