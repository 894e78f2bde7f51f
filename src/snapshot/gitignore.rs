//! `.gitignore` files (gitignore(5)): what their patterns mean, as Git itself reads them.
//!
//! A pattern is compiled into steps that are matched without recursion, in time that grows with
//! the pattern's length times the path's: whoever can put a `.gitignore` into a workspace cannot
//! make its snapshot last for ever. Compared with `git check-ignore` by the tests, its oddities
//! included.

use std::sync::Arc;

use crate::sandbox::{EntryName, ListedFolder};

/// The largest `.gitignore` that is heeded, in bytes.
const MAX_BYTES: u64 = 64 << 10;

/// The patterns of a folder's `.gitignore`, and the rules of the folder above.
pub(super) struct Rules {
    patterns: Vec<Pattern>,
    /// How many bytes of a path lead to the folder, its final `/` included.
    base: usize,
    above: Option<Arc<Rules>>,
}

/// The path that names lead to, and a `/`; empty for the root.
pub(super) fn path_of(names: &[&EntryName]) -> Vec<u8> {
    let mut path = Vec::new();
    for name in names {
        path.extend(name.as_os_str().as_encoded_bytes());
        path.push(b'/');
    }
    path
}

impl Rules {
    /// The rules that hold in a folder, to which `base` bytes of a path lead. A `.gitignore` that is a link is not followed, which is
    /// Git's rule too; one that is too large or cannot be read says nothing.
    pub(super) fn in_folder(
        folder: &ListedFolder<'_>,
        base: usize,
        above: Option<Arc<Self>>,
    ) -> Arc<Self> {
        let file = folder.open_file(&EntryName::gitignore());
        let bytes = file.ok().and_then(|file| file.read_to_end(MAX_BYTES).ok());
        let patterns = bytes.map(|bytes| parse(&bytes)).unwrap_or_default();
        match above {
            Some(above) if patterns.is_empty() => above,
            above => Arc::new(Self { patterns, base, above }),
        }
    }

    /// Whether the entry at a path in the folder is ignored; that no folder on the way is, is for
    /// the caller to know. The last pattern that matches decides, in the innermost file that has
    /// one.
    pub(super) fn ignore(&self, path: &[u8], is_folder: bool) -> bool {
        let relative = &path[self.base..];
        let decided =
            self.patterns.iter().rev().find(|pattern| pattern.matches(relative, is_folder));
        match (decided, &self.above) {
            (Some(pattern), _) => !pattern.is_negative,
            (None, Some(above)) => above.ignore(path, is_folder),
            (None, None) => false,
        }
    }
}

/// The patterns of a file, in order.
fn parse(file: &[u8]) -> Vec<Pattern> {
    let file = file.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(file);
    file.split(|&byte| byte == b'\n').filter_map(Pattern::parse_line).collect()
}

/// One line of a `.gitignore`.
struct Pattern {
    is_negative: bool,
    /// It ended in `/`: only a folder matches.
    must_be_folder: bool,
    /// It has no other `/`: the last name alone is looked at.
    is_about_names: bool,
    /// What a path begins with, to the byte, before `steps` say how it goes on.
    start: Vec<u8>,
    steps: Vec<Step>,
}

/// What comes next in a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    /// This byte.
    Byte(u8),
    /// `?`: any byte but `/`.
    AnyByte,
    /// `[…]`: one of these bytes, never `/`.
    OneOf(Box<ByteSet>),
    /// `*`: any number of bytes other than `/`.
    Star,
    /// `**`: any number of bytes.
    Anything,
    /// `**/`: nothing, or any number of bytes and a `/`.
    Folders,
}

impl Pattern {
    /// Parses a line; `None` if it is empty, a comment, or matches nothing because it is malformed.
    fn parse_line(line: &[u8]) -> Option<Self> {
        if line.is_empty() || line[0] == b'#' {
            return None;
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // Git's lines are C strings.
        let line = line.split(|&byte| byte == 0).next().unwrap_or(line);
        let line = trim_spaces(line);
        let (is_negative, pattern) =
            line.strip_prefix(b"!").map_or((false, line), |rest| (true, rest));
        let (must_be_folder, pattern) =
            pattern.strip_suffix(b"/").map_or((false, pattern), |rest| (true, rest));
        let is_about_names = !pattern.contains(&b'/');
        let pattern = pattern.strip_prefix(b"/").unwrap_or(pattern);
        // Git compares what has no wildcards first and then takes the rest for a pattern of its
        // own, so that `a/b**/c` has a `**/` at its start.
        let is_special = |byte: &u8| matches!(byte, b'*' | b'?' | b'[' | b'\\');
        let start = pattern.iter().position(is_special).unwrap_or(pattern.len());
        let (start, rest) =
            if is_about_names { (&[][..], pattern) } else { pattern.split_at(start) };
        let steps = compile(rest)?;
        Some(Self { is_negative, must_be_folder, is_about_names, start: start.to_vec(), steps })
    }

    /// Whether it matches a path that is relative to the file's folder.
    fn matches(&self, path: &[u8], is_folder: bool) -> bool {
        if self.must_be_folder && !is_folder {
            return false;
        }
        if self.is_about_names {
            let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
            return steps_match(&self.steps, name);
        }
        path.strip_prefix(self.start.as_slice()).is_some_and(|rest| steps_match(&self.steps, rest))
    }
}

/// A line without the spaces at its end, unless a backslash keeps them.
fn trim_spaces(line: &[u8]) -> &[u8] {
    let mut end = 0;
    let mut at = 0;
    while at < line.len() {
        match line[at] {
            b' ' => {}
            b'\\' if at + 1 == line.len() => return line,
            b'\\' => {
                at += 1;
                end = at + 1;
            }
            _ => end = at + 1,
        }
        at += 1;
    }
    &line[..end]
}

/// Compiles a pattern as Git's `wildmatch` reads it; `None` if it is malformed, and matches nothing.
fn compile(pattern: &[u8]) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let mut at = 0;
    while at < pattern.len() {
        match pattern[at] {
            b'\\' => {
                steps.push(Step::Byte(*pattern.get(at + 1)?));
                at += 2;
            }
            b'?' => {
                steps.push(Step::AnyByte);
                at += 1;
            }
            b'[' => {
                let (set, length) = ByteSet::parse(&pattern[at + 1..])?;
                steps.push(Step::OneOf(Box::new(set)));
                at += 1 + length;
            }
            b'*' => {
                let (step, length) = compile_stars(pattern, at);
                steps.push(step);
                at += length;
            }
            byte => {
                steps.push(Step::Byte(byte));
                at += 1;
            }
        }
    }
    Some(steps)
}

/// One or more `*` at a place in a pattern: what they mean, and how many bytes that takes. More
/// than one mean something of their own only between slashes.
fn compile_stars(pattern: &[u8], at: usize) -> (Step, usize) {
    let stars = pattern[at..].iter().take_while(|&&byte| byte == b'*').count();
    let begins = at == 0 || pattern[at - 1] == b'/';
    match &pattern[at + stars..] {
        _ if stars == 1 || !begins => (Step::Star, stars),
        [] | [b'\\', b'/', ..] => (Step::Anything, stars),
        [b'/', ..] => (Step::Folders, stars + 1),
        _ => (Step::Star, stars),
    }
}

/// Whether a whole text goes as the steps say.
///
/// Where a step fails, the last wildcard takes one byte more and the steps after it begin anew;
/// where a `*` can take no more because of a `/`, the last of the wildcards that can. To go back
/// further would find nothing: what lies between two of them has been found as early as it can be.
fn steps_match(steps: &[Step], text: &[u8]) -> bool {
    let mut here = Place { step: 0, at: 0 };
    let mut star: Option<Place> = None;
    let mut wide: Option<Place> = None;
    loop {
        match steps.get(here.step) {
            Some(Step::Star) => {
                here.step += 1;
                star = Some(here);
                continue;
            }
            Some(Step::Anything | Step::Folders) => {
                here.step += 1;
                (star, wide) = (None, Some(here));
                continue;
            }
            Some(step) if text.get(here.at).is_some_and(|&byte| step.takes(byte)) => {
                here = Place { step: here.step + 1, at: here.at + 1 };
                continue;
            }
            None if here.at == text.len() => return true,
            _ => {}
        }
        let again = star.as_mut().and_then(|star| star.widen(text)).or_else(|| {
            star = None;
            let wide = wide.as_mut()?;
            match steps[wide.step - 1] {
                Step::Folders => wide.widen_to_slash(text),
                _ => wide.widen_by_any(text),
            }
        });
        match again {
            Some(place) => here = place,
            None => return false,
        }
    }
}

impl Step {
    /// Whether a step of one byte takes this one.
    fn takes(&self, byte: u8) -> bool {
        match self {
            Self::Byte(expected) => byte == *expected,
            Self::AnyByte => byte != b'/',
            Self::OneOf(set) => byte != b'/' && set.contains(byte),
            Self::Star | Self::Anything | Self::Folders => false,
        }
    }
}

/// A place in the steps and in the text; behind a wildcard, where the text goes on after it.
#[derive(Debug, Clone, Copy)]
struct Place {
    step: usize,
    at: usize,
}

impl Place {
    fn widen(&mut self, text: &[u8]) -> Option<Self> {
        if *text.get(self.at)? == b'/' {
            return None;
        }
        self.widen_by_any(text)
    }

    fn widen_by_any(&mut self, text: &[u8]) -> Option<Self> {
        (self.at < text.len()).then(|| {
            self.at += 1;
            *self
        })
    }

    fn widen_to_slash(&mut self, text: &[u8]) -> Option<Self> {
        self.at += memchr::memchr(b'/', text.get(self.at..)?)? + 1;
        Some(*self)
    }
}

/// A set of bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct ByteSet([u64; 4]);

impl ByteSet {
    fn add(&mut self, byte: u8) {
        self.0[usize::from(byte / 64)] |= 1 << (byte % 64);
    }

    fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte / 64)] & 1 << (byte % 64) != 0
    }

    /// Parses what follows a `[`, and says how many bytes that takes, the `]` included. A `]` that
    /// comes first is a member; `!` or `^` before it all means any byte but these.
    fn parse(text: &[u8]) -> Option<(Self, usize)> {
        let is_negated = matches!(text.first(), Some(b'!' | b'^'));
        let first = usize::from(is_negated);
        let mut set = Self::default();
        let mut at = first;
        // What a range may begin with; nothing after a range or a class.
        let mut previous = None;
        while at == first || *text.get(at)? != b']' {
            let rest = &text[at..];
            let (length, member) = match (rest, previous) {
                ([b'-', last, ..], Some(from)) if *last != b']' => {
                    let (length, last) = parse_member(&rest[1..])?;
                    (from..=last).for_each(|byte| set.add(byte));
                    (1 + length, None)
                }
                ([b'[', b':', ..], _) => set.add_class_or_bracket(rest)?,
                _ => {
                    let (length, member) = parse_member(rest)?;
                    set.add(member);
                    (length, Some(member))
                }
            };
            at += length;
            previous = member;
        }
        if is_negated {
            set.0.iter_mut().for_each(|bits| *bits = !*bits);
        }
        Some((set, at + 1))
    }

    /// Adds the class that a text begins with, such as `[:alpha:]`, or no more than its `[` if it
    /// only begins like one. The length of either, and what a range may begin with then.
    fn add_class_or_bracket(&mut self, text: &[u8]) -> Option<(usize, Option<u8>)> {
        let end = memchr::memchr(b']', text)?;
        if let Some(class) = text.get(2..end).and_then(|class| class.strip_suffix(b":")) {
            self.add_class(class)?;
            return Some((end + 1, None));
        }
        self.add(b'[');
        Some((1, Some(b'[')))
    }

    /// Adds a class of ASCII such as `alpha`; `None` if there is none of that name.
    fn add_class(&mut self, name: &[u8]) -> Option<()> {
        let holds: fn(&u8) -> bool = match name {
            b"alnum" => u8::is_ascii_alphanumeric,
            b"alpha" => u8::is_ascii_alphabetic,
            b"blank" => |byte| matches!(byte, b' ' | b'\t'),
            b"cntrl" => u8::is_ascii_control,
            b"digit" => u8::is_ascii_digit,
            b"graph" => u8::is_ascii_graphic,
            b"lower" => u8::is_ascii_lowercase,
            b"print" => |byte| matches!(byte, b' '..=b'~'),
            b"punct" => u8::is_ascii_punctuation,
            // C's `isspace` of Git, which knows neither VT nor FF.
            b"space" => |byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'),
            b"upper" => u8::is_ascii_uppercase,
            b"xdigit" => u8::is_ascii_hexdigit,
            _ => return None,
        };
        (0..=u8::MAX).filter(holds).for_each(|byte| self.add(byte));
        Some(())
    }
}

/// A byte of a set, after a backslash or as it is, and how many bytes that takes.
fn parse_member(text: &[u8]) -> Option<(usize, u8)> {
    match *text.first()? {
        b'\\' => Some((2, *text.get(1)?)),
        byte => Some((1, byte)),
    }
}

#[cfg(test)]
mod tests;
