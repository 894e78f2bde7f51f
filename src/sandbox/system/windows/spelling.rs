//! Absolute paths and link targets, by their spelling alone. Names are compared without case: this is
//! about names alone, and everything is opened beneath a handle.

use std::ffi::{OsStr, OsString};
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf, Prefix};

use super::handle::Directory;
use crate::sandbox::entry::Step;
use crate::sandbox::spelling::without_dots;

/// The steps of an absolute path beneath a root; `None` if the path is not spelled inside.
pub(crate) fn steps_beneath(root: &Path, absolute: &Path) -> Option<Vec<Step>> {
    strip_root(root, absolute).map(|rest| steps(rest.as_os_str()))
}

pub(crate) fn is_separator(unit: u16) -> bool {
    unit == u16::from(b'\\') || unit == u16::from(b'/')
}

/// The steps of a link's target.
pub(crate) fn steps(target: &OsStr) -> Vec<Step> {
    let wide: Vec<u16> = target.encode_wide().collect();
    let mut steps: Vec<Step> = wide
        .split(|&unit| is_separator(unit))
        .filter(|component| !component.is_empty())
        .map(|component| match OsString::from_wide(component) {
            name if name == "." => Step::Stay,
            name if name == ".." => Step::Up,
            name => Step::Into(name),
        })
        .collect();
    if steps.is_empty() {
        steps.push(Step::Stay);
    }
    steps
}

/// The part of a host's absolute path that lies beneath a root, if it does.
pub(crate) fn part_beneath(_root: &Directory, spelling: &Path, absolute: &str) -> Option<String> {
    let path = Path::new(absolute);
    // `\\?\` and `\\.\` switch Win32's rules off; no host needs them to name a workspace's file.
    if !matches!(prefix(path)?, Prefix::Disk(_) | Prefix::UNC(..)) {
        return None;
    }
    let rest = strip_root(spelling, path).or_else(|| strip_root(spelling, &without_dots(path)))?;
    // A path that is collected has `\` between its names, which a glob takes for an escape.
    let mut part = rest.to_str()?.replace('\\', "/");
    if absolute.ends_with(['/', '\\']) {
        part.push('/');
    }
    Some(part)
}

fn prefix(path: &Path) -> Option<Prefix<'_>> {
    match path.components().next()? {
        Component::Prefix(prefix) => Some(prefix.kind()),
        _ => None,
    }
}

pub(crate) fn strip_root(root: &Path, path: &Path) -> Option<PathBuf> {
    if volume(prefix(root)?)? != volume(prefix(path)?)? {
        return None;
    }
    let below_volume =
        |component: &Component<'_>| !matches!(component, Component::Prefix(_) | Component::RootDir);
    let mut rest = path.components().filter(below_volume);
    for expected in root.components().filter(below_volume) {
        let name = rest.next()?;
        if name == Component::ParentDir || fold(name.as_os_str()) != fold(expected.as_os_str()) {
            return None;
        }
    }
    Some(rest.collect())
}

/// A drive or share, however it is spelled.
fn volume(prefix: Prefix<'_>) -> Option<(String, String)> {
    match prefix {
        Prefix::Disk(letter) | Prefix::VerbatimDisk(letter) => {
            Some((String::new(), char::from(letter).to_lowercase().collect()))
        }
        Prefix::UNC(server, share) | Prefix::VerbatimUNC(server, share) => {
            Some((fold(server), fold(share)))
        }
        _ => None,
    }
}

fn fold(name: &OsStr) -> String {
    name.to_string_lossy().to_lowercase()
}
