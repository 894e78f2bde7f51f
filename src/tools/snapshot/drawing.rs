//! A tree as lines and as paths.

use super::Snapshot;
use super::shown::shown;
use super::tree::{Contents, Entry, Listing, ROOT, Tree};
use crate::sandbox::EntryKind;

/// Draws the shown entries of the tree.
pub(super) fn draw(tree: &Tree) -> Snapshot {
    let mut drawing = Drawing::default();
    drawing.draw_folder(tree, ROOT, &mut String::new(), 0);
    // Each line ends with a line feed but the last.
    drawing.snapshot.text.pop();
    drawing.snapshot
}

struct Drawing {
    snapshot: Snapshot,
}

impl Default for Drawing {
    fn default() -> Self {
        let (text, entries) = (String::new(), Vec::new());
        Self { snapshot: Snapshot { text, entries, truncated: false, hint: None } }
    }
}

impl Drawing {
    /// Draws the contents of a folder. `path` is the folder's, and has its old value again
    /// afterwards.
    fn draw_folder(&mut self, tree: &Tree, folder: usize, path: &mut String, depth: usize) {
        let Contents::Listed(listing) = tree.contents(folder) else { return };
        for entry in listing.shown_by_name() {
            let length = path.len();
            path.push_str(&shown(entry.name().as_os_str()));
            self.begin_line(depth, &path[length..]);
            if let Some(inner) = entry.folder() {
                path.push('/');
                self.snapshot.entries.push(path.clone());
                self.end_folder_line(tree.contents(inner));
                self.draw_folder(tree, inner, path, depth + 1);
            } else {
                self.snapshot.entries.push(path.clone());
                self.end_line(mark(entry));
            }
            path.truncate(length);
        }
        if listing.hides() > 0 && listing.shows() > 0 {
            self.begin_line(depth, "");
            self.say_how_many_more(listing);
            self.end_line("");
        }
    }

    fn begin_line(&mut self, depth: usize, name: &str) {
        self.snapshot.text.extend(std::iter::repeat_n("  ", depth));
        self.snapshot.text.push_str(name);
    }

    fn end_line(&mut self, mark: &str) {
        self.snapshot.text.push_str(mark);
        self.snapshot.text.push('\n');
    }

    fn end_folder_line(&mut self, contents: &Contents) {
        self.snapshot.text.push('/');
        match contents {
            Contents::Listed(listing) => {
                if listing.hides() > 0 && listing.shows() == 0 {
                    self.snapshot.text.push(' ');
                    self.say_how_many_more(listing);
                }
                self.end_line("");
            }
            Contents::LeftOut => {
                self.snapshot.truncated = true;
                self.end_line(" …");
            }
            Contents::Unreadable => self.end_line(" (unreadable)"),
            Contents::Gone => self.end_line(" (gone)"),
        }
    }

    fn say_how_many_more(&mut self, listing: &Listing) {
        self.snapshot.truncated = true;
        self.snapshot.text.push_str("… ");
        self.snapshot.text.push_str(&grouped(listing.hides()));
        self.snapshot.text.push_str(" more");
    }
}

fn mark(entry: &Entry) -> &'static str {
    match entry.kind() {
        EntryKind::Link => " (link)",
        EntryKind::Special => " (special file)",
        // A folder has its own marks.
        EntryKind::File | EntryKind::Folder => "",
    }
}

/// A number with a comma before every three digits.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_commas() {
        for (number, text) in
            [(0, "0"), (999, "999"), (1000, "1,000"), (12_345, "12,345"), (1_234_567, "1,234,567")]
        {
            assert_eq!(grouped(number), text);
        }
    }
}
