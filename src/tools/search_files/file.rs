//! The search of one file.

use std::ops::ControlFlow;
use std::sync::PoisonError;

use super::item::{FileItem, Item, MAX_UNITS, item_of};
use super::lines::{MatchedLine, matched_lines};
use super::{Output, Search};
use crate::deadline::Stop;
use crate::regex::Matcher;
use crate::sandbox::{OpenError, OpenFile, ReadBuffer, ReadError};
use crate::text::{NotSearched, searched_text};

/// Files that are larger are searched one at a time, so that the threads of a call do not add up their memory.
const LARGE_FILE: u64 = 4 << 20;

/// Larger files are not read into the buffer that a thread keeps.
const BUFFERED_FILE: u64 = 1 << 20;

/// The result of a file.
#[derive(Debug)]
pub enum Found {
    /// Its text was searched.
    Items(Vec<Item>),
    /// It is binary.
    Binary,
    /// It is over the size limit.
    TooLarge,
    /// It may not be read, or the system failed.
    Unreadable,
    /// It was removed or replaced meanwhile.
    Gone,
}

/// Searches files, one after the other. Each thread has its own.
pub struct Searcher<'search> {
    search: &'search Search<'search>,
    matcher: Matcher<'search>,
    buffer: ReadBuffer,
}

impl<'search> Searcher<'search> {
    pub fn new(search: &'search Search<'search>) -> Self {
        Self { search, matcher: search.pattern.matcher(), buffer: ReadBuffer::new() }
    }

    /// Searches the file of an entry.
    pub fn search_entry(
        &mut self,
        path: &str,
        opened: Result<OpenFile, OpenError>,
    ) -> Result<Found, Stop> {
        match opened {
            Ok(file) => self.search(path, file),
            Err(
                OpenError::NotFound
                | OpenError::NotFolder
                | OpenError::Escapes
                | OpenError::IsDirectory
                | OpenError::SpecialFile,
            ) => Ok(Found::Gone),
            Err(_) => Ok(Found::Unreadable),
        }
    }

    pub fn search(&mut self, path: &str, file: OpenFile) -> Result<Found, Stop> {
        let limit = self.search.max_file_bytes;
        if file.size() > limit {
            return Ok(Found::TooLarge);
        }
        let _alone = (file.size() > LARGE_FILE)
            .then(|| self.search.large_file.lock().unwrap_or_else(PoisonError::into_inner));
        if file.size() > BUFFERED_FILE {
            return match file.read_to_end(limit) {
                Ok(bytes) => self.search_bytes(path, &bytes),
                Err(error) => Ok(unread(&error)),
            };
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        let found = match file.read_into(limit, &mut buffer) {
            Ok(bytes) => self.search_bytes(path, bytes),
            Err(error) => Ok(unread(&error)),
        };
        self.buffer = buffer;
        found
    }

    fn search_bytes(&mut self, path: &str, bytes: &[u8]) -> Result<Found, Stop> {
        let text = match searched_text(bytes) {
            Ok(text) => text,
            Err(NotSearched::Binary) => return Ok(Found::Binary),
            Err(NotSearched::TooLarge) => return Ok(Found::TooLarge),
        };
        match self.search.options.output {
            Output::Matches => self.matches(path, &text),
            output => self.counts(path, &text, output),
        }
        .map(Found::Items)
    }

    /// The items of a text, as many as one page can need.
    fn matches(&mut self, path: &str, text: &str) -> Result<Vec<Item>, Stop> {
        let Search { options, after, deadline, .. } = self.search;
        let after = after.as_ref().filter(|after| after.path == path).map(|after| after.at);
        let mut items = Vec::new();
        if after == Some(None) {
            return Ok(items);
        }
        let after = after.flatten();
        let mut units = 0;
        matched_lines(text, &mut self.matcher, deadline, &mut |line| {
            if after.is_some_and(|(number, _)| line.number < number) {
                return ControlFlow::Continue(());
            }
            for index in 0..line.matches.len() {
                let item = item_of(path, text, line, index, options);
                if after.is_some_and(|after| (item.line, item.column) <= after) {
                    continue;
                }
                let item = Item::Match(Box::new(item));
                units += item.units();
                items.push(item);
                if items.len() > options.max_results || units > MAX_UNITS {
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        })?;
        Ok(items)
    }

    /// The item of a file with matches.
    fn counts(&mut self, path: &str, text: &str, output: Output) -> Result<Vec<Item>, Stop> {
        let Search { after, deadline, .. } = self.search;
        if after.as_ref().is_some_and(|after| after.path == path) {
            return Ok(Vec::new());
        }
        let (mut matches, mut lines) = (0, 0);
        matched_lines(text, &mut self.matcher, deadline, &mut |line: &MatchedLine| {
            matches += line.count;
            lines += 1;
            ControlFlow::Continue(())
        })?;
        let matching_lines = (output == Output::Counts).then_some(lines);
        let file = FileItem { path: path.to_owned(), matches, matching_lines };
        Ok(if matches > 0 { vec![Item::File(file)] } else { Vec::new() })
    }
}

fn unread(error: &ReadError) -> Found {
    match error {
        ReadError::TooLarge(_) => Found::TooLarge,
        ReadError::Waits => Found::Gone,
        ReadError::Locked | ReadError::System(_) => Found::Unreadable,
    }
}
