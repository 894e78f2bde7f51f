//! The paths of a folder's entries, one after the other in one buffer.

use std::ffi::OsStr;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

/// The buffer. `PathBuf::pop` would parse the path for each entry.
pub(super) struct EntryPaths {
    /// The folder's path and a separator, then the name of the entry.
    text: String,
    /// How long the first part is.
    folder: usize,
    /// The path of an entry whose name is not UTF-8.
    not_utf8: PathBuf,
}

impl EntryPaths {
    /// The paths in a folder, whose own path is UTF-8.
    pub(super) fn of(folder: &Path) -> Self {
        let mut text = folder.to_string_lossy().into_owned();
        if !text.is_empty() {
            text.push(MAIN_SEPARATOR);
        }
        Self { folder: text.len(), text, not_utf8: PathBuf::new() }
    }

    /// The path of an entry.
    pub(super) fn at(&mut self, name: &OsStr) -> &Path {
        self.text.truncate(self.folder);
        if let Some(name) = name.to_str() {
            self.text.push_str(name);
            return Path::new(&self.text);
        }
        self.not_utf8 = Path::new(&self.text).join(name);
        &self.not_utf8
    }
}
