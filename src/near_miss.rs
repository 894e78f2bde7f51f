//! Near misses: what a model may have meant by a path at which nothing stands.
//!
//! A model that is told `src/main.ts` where it asked for `src/Main.ts` repairs its call at once; one
//! that is told nothing lists the folder, or gives up. Nothing is ever read in place of what was asked
//! for: these are names to show. They come from one folder, the deepest one of the path that exists,
//! listed beneath the root like everything else.

use std::ffi::OsStr;
use std::ops::ControlFlow;

use crate::path::{NewFilePath, WorkspacePath};
use crate::sandbox::{EntryKind, ListedFolder, OpenError, Sandbox};

/// How many are shown.
pub const MAX_SHOWN: usize = 3;

/// How many entries of a folder are looked at: comparing so many takes a tenth of a second at most.
const MAX_ENTRIES: usize = 10_000;

/// Longer names are compared as a whole only; what it costs to compare two grows with both lengths.
const MAX_COMPARED: usize = 64;

/// Longer names, in bytes, are near to none: no system has them, and each comparison would read them all.
const MAX_WANTED: usize = 1024;

/// How many missing folders are climbed to find one that exists.
const MAX_CLIMBED: usize = 8;

/// The paths, relative to the root, that are nearest to one at which nothing stands; folders end in
/// `/`. None where something stands there, where nothing is like it, and where the folder may not be
/// listed.
#[must_use]
pub fn near_misses(sandbox: &Sandbox, missing: &WorkspacePath) -> Vec<String> {
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

/// Whether a name can be shown to a model, and sent back by it: names are the disk's, and as hostile
/// as what they name.
fn is_showable(name: &str) -> bool {
    !name.contains(['\\', '\u{2028}', '\u{2029}']) && NewFilePath::parse(name).is_ok()
}

/// How far a name is from the one that was asked for; `None` if it is not near.
fn distance(wanted: &str, name: &str) -> Option<usize> {
    let (wanted, name) = (wanted.to_lowercase(), name.to_lowercase());
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

fn without_separators(name: &str) -> String {
    name.chars().filter(|character| !matches!(character, '-' | '_' | ' ')).collect()
}

fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

#[cfg(test)]
mod tests;
