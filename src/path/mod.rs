//! `WorkspacePath`: a model's path, parsed once, refused once.
//!
//! The rules are those of docs/contract.md §3. They are lexical: nothing here
//! touches a disk, and a path that passes can still meet a symbolic link, which is the
//! [sandbox](crate::sandbox)'s business.
//!
//! ```
//! use ringfence::path::{PathRefusal, WorkspacePath};
//!
//! let path = WorkspacePath::parse(r"src\.\net//../main.rs")?;
//! assert_eq!(path.as_str(), "src/main.rs");
//! assert_eq!(WorkspacePath::parse("src/../../etc/passwd"), Err(PathRefusal::AboveRoot));
//! # Ok::<(), PathRefusal>(())
//! ```

pub mod invisible;
pub mod misspelling;
pub mod spelled_root;

use std::fmt;

use invisible::{Escaped, is_invisible};
use misspelling::Misspelling;

/// A path that cannot leave the workspace by its spelling.
///
/// It is relative to the workspace root, its components are separated by `/`, and none of them is
/// empty, `.` or `..`. Names are kept to the byte: nothing is trimmed, case-folded,
/// Unicode-normalised, `~`-expanded or percent-decoded.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WorkspacePath {
    relative: String,
    must_be_directory: bool,
}

/// Why a path is refused by its spelling alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathRefusal {
    /// Empty, or nothing but white space.
    #[error("path must not be empty or blank")]
    Blank,
    /// Holds U+0000, which no system allows in a name.
    #[error("path must not contain a NUL character")]
    Nul,
    /// Its `..` components rise above the root, even if later ones come back.
    #[error("path leaves the workspace: its `..` components rise above the root")]
    AboveRoot,
    /// Absolute, and not inside the root where an absolute path may be.
    #[error("path is absolute and not inside the workspace; give it relative to the root")]
    Absolute,
    /// `C:\…`, `C:/…`, `\\server\…`, `\\?\…`: refused on every system, so that a workspace
    /// behaves alike wherever it is opened.
    #[error("path names a Windows drive, network share or device; give it relative to the root")]
    DriveOrShare,
    /// A component that Windows would read as something else than a plain name.
    #[error("path has a component that Windows gives another meaning: {0}")]
    WindowsName(WindowsNameRule),
}

/// The rule of Windows' name space that a component breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WindowsNameRule {
    /// `nul`, `con`, `com1.txt`, …
    #[error("a reserved device name")]
    Device,
    /// `a.txt::$DATA`, `C:a`
    #[error("`:` names a drive or a stream")]
    Colon,
    /// `a.txt.`, `a.txt `: the system drops the dot or space at the end.
    #[error("a name must not end in a dot or a space")]
    TrailingDotOrSpace,
    /// `<>"|?*` and control characters.
    #[error("a character that no name may hold")]
    ForbiddenCharacter,
}

/// The system by whose rules names are checked.
///
/// The rules of the system that the process runs on are [`NameRules::NATIVE`]; the other set can
/// be named so that each is tested everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameRules {
    /// Any character but `/`, `\` and NUL.
    Posix,
    /// Win32 names: no devices, streams, trailing dots or spaces.
    Windows,
}

impl NameRules {
    /// The rules of the running system.
    pub const NATIVE: Self = if cfg!(windows) { Self::Windows } else { Self::Posix };
}

impl WorkspacePath {
    /// Parses a path relative to the root; an absolute one is refused.
    ///
    /// `\` separates like `/`; empty and `.` components vanish; `..` takes back the component
    /// before it, without a look at the disk, and may not rise above the root.
    ///
    /// # Errors
    ///
    /// [`PathRefusal`] says which rule the spelling breaks.
    pub fn parse(text: &str) -> Result<Self, PathRefusal> {
        Self::parse_under(NameRules::NATIVE, text)
    }

    /// [`WorkspacePath::parse`] by the name rules of a given system.
    ///
    /// # Errors
    ///
    /// As [`WorkspacePath::parse`].
    pub fn parse_under(rules: NameRules, text: &str) -> Result<Self, PathRefusal> {
        refuse_unreadable(text)?;
        if names_drive_or_share(text) {
            return Err(PathRefusal::DriveOrShare);
        }
        if text.starts_with(is_separator) {
            return Err(PathRefusal::Absolute);
        }
        Self::collapse(rules, text)
    }

    /// Parses a path that may also be absolute, as hosts pass it that have resolved the model's
    /// path themselves.
    ///
    /// For an absolute path, `inside` gives the part that lies beneath the root, or `None` if the
    /// path lies elsewhere. That part is checked like any relative path, so that a path that
    /// enters the root and leaves it again is refused.
    ///
    /// # Errors
    ///
    /// As [`WorkspacePath::parse`].
    pub fn parse_allowing_absolute(
        text: &str,
        inside: impl FnOnce(&str) -> Option<String>,
    ) -> Result<Self, PathRefusal> {
        match Self::parse(text) {
            // On Windows an absolute path has a drive or a share; elsewhere it must have none.
            Err(refusal)
                if refusal == PathRefusal::Absolute
                    || cfg!(windows) && refusal == PathRefusal::DriveOrShare =>
            {
                let beneath = inside(text).ok_or(refusal)?;
                if names_drive_or_share(&beneath) {
                    return Err(PathRefusal::DriveOrShare);
                }
                Self::collapse(NameRules::NATIVE, &beneath)
            }
            parsed => parsed,
        }
    }

    /// Parses a path that lies beneath the root whatever it looks like, such as the names of a
    /// `file:` URI: a blank one is a name of blanks.
    ///
    /// # Errors
    ///
    /// As [`WorkspacePath::parse`].
    pub fn parse_beneath(text: &str) -> Result<Self, PathRefusal> {
        Self::collapse(NameRules::NATIVE, text)
    }

    fn collapse(rules: NameRules, text: &str) -> Result<Self, PathRefusal> {
        let mut relative = String::with_capacity(text.len());
        let mut must_be_directory = false;
        for component in text.split(is_separator) {
            must_be_directory = matches!(component, "" | "." | "..");
            match component {
                "" | "." => {}
                ".." if relative.is_empty() => return Err(PathRefusal::AboveRoot),
                ".." => relative.truncate(relative.rfind('/').unwrap_or(0)),
                name => {
                    if rules == NameRules::Windows {
                        check_windows_name(name).map_err(PathRefusal::WindowsName)?;
                    }
                    if !relative.is_empty() {
                        relative.push('/');
                    }
                    relative.push_str(name);
                }
            }
        }
        Ok(Self { relative, must_be_directory })
    }

    /// The workspace root.
    #[must_use]
    pub fn root() -> Self {
        Self { relative: String::new(), must_be_directory: true }
    }

    /// The path, components separated by `/`; empty for the root itself.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.relative
    }

    /// The path as it is shown: the root as `.`, everything else as [`WorkspacePath::as_str`].
    #[must_use]
    pub fn as_shown(&self) -> &str {
        if self.is_root() { "." } else { &self.relative }
    }

    /// Whether this is the workspace root itself.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.relative.is_empty()
    }

    /// Whether the spelling demands a directory: it ended in `/`, `/.` or `/..`.
    #[must_use]
    pub fn must_be_directory(&self) -> bool {
        self.must_be_directory
    }

    /// The folder that the first `count` names lead to.
    #[must_use]
    pub fn first(&self, count: usize) -> Self {
        let names: Vec<_> = self.names().take(count).collect();
        Self { relative: names.join("/"), must_be_directory: true }
    }

    /// The path that leads on from the folder of the first `count` names.
    #[must_use]
    pub fn after(&self, count: usize) -> Self {
        let names: Vec<_> = self.names().skip(count).collect();
        Self { relative: names.join("/"), must_be_directory: self.must_be_directory }
    }

    /// The names from the root down; none for the root itself.
    #[must_use]
    pub fn names(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.relative.split('/').filter(|name| !name.is_empty())
    }
}

/// Shows [`WorkspacePath::as_shown`].
impl fmt::Display for WorkspacePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_shown())
    }
}

/// A path of which a tool changes what stands there: stricter than a [`WorkspacePath`] for the same
/// reasons as a [`NewFilePath`], but it may be absolute inside the root, and may name a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryPath {
    path: WorkspacePath,
    /// The path that the access rules judge in place of this one, which is a spare name for a moment.
    stands_for: Option<WorkspacePath>,
}

/// A path at which a file may be created: stricter than a [`WorkspacePath`], because people and
/// programs must find the new file again under the name that was meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFilePath(WorkspacePath);

/// Why no file is created at a path, by its spelling alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NewFileRefusal {
    /// The path is refused for reading, too.
    #[error(transparent)]
    Path(#[from] PathRefusal),
    /// A shell or a URL parser would read it as another path.
    #[error(transparent)]
    Misspelt(#[from] Misspelling),
    /// The workspace root, or a spelling that ends in `/`, `/.` or `/..`.
    #[error("path must name a file, not a folder")]
    NamesFolder,
    /// C0 or C1 controls, DEL.
    #[error("path must not contain control characters")]
    ControlCharacter,
    /// A character of [`is_invisible`]: two names would look alike.
    #[error("path must not contain the invisible character U+{:04X}", u32::from(*.0))]
    Invisible(char),
    /// A model that writes `~/a.txt` means a home directory, which is not in the workspace.
    #[error("path must not start with `~`: it is not expanded")]
    Tilde,
    /// No system that this library runs on takes longer ones.
    #[error("path has a name of more than {MAX_NAME_BYTES} bytes")]
    NameTooLong,
    /// More than the system takes in one call.
    #[error("path is longer than {MAX_PATH_BYTES} bytes")]
    PathTooLong,
}

/// The longest name, in bytes of UTF-8, that a new file or folder may have.
pub const MAX_NAME_BYTES: usize = 255;

/// The longest path, in bytes of UTF-8, at which a file may be created: Linux' `PATH_MAX` without
/// its NUL.
pub const MAX_PATH_BYTES: usize = 4095;

impl NewFilePath {
    /// Parses the path of a file to create. Absolute paths are refused, even inside the root.
    ///
    /// # Errors
    ///
    /// [`NewFileRefusal`] says which rule the spelling breaks.
    pub fn parse(text: &str) -> Result<Self, NewFileRefusal> {
        let path = parse_plainly_spelled(text)?;
        if path.is_root() || path.must_be_directory() {
            return Err(NewFileRefusal::NamesFolder);
        }
        check_names(&path)?;
        Ok(Self(path))
    }

    /// The path itself.
    #[must_use]
    pub fn as_path(&self) -> &WorkspacePath {
        &self.0
    }
}

impl EntryPath {
    /// Parses the path of an entry to change. For an absolute path, `inside` gives the part that lies
    /// beneath the root, or `None` if the path lies elsewhere; the rules hold for that part.
    ///
    /// # Errors
    ///
    /// [`NewFileRefusal`] says which rule the spelling breaks.
    pub fn parse(
        text: &str,
        inside: impl FnOnce(&str) -> Option<String>,
    ) -> Result<Self, NewFileRefusal> {
        let beneath = if is_absolute_anywhere(text) { inside(text) } else { None };
        let path = match beneath {
            // The root itself.
            Some(beneath) if beneath.is_empty() => WorkspacePath::root(),
            Some(beneath) => parse_plainly_spelled(&beneath)?,
            None => parse_plainly_spelled(text)?,
        };
        check_names(&path)?;
        Ok(Self { path, stands_for: None })
    }

    /// The path itself.
    #[must_use]
    pub fn as_path(&self) -> &WorkspacePath {
        &self.path
    }

    /// The same path, at which something stands for a while that is to get another one.
    #[must_use]
    pub fn standing_for(self, other: &Self) -> Self {
        Self { stands_for: Some(other.judged_as().clone()), ..self }
    }

    /// The path for which the access rules hold.
    #[must_use]
    pub fn judged_as(&self) -> &WorkspacePath {
        self.stands_for.as_ref().unwrap_or(&self.path)
    }
}

/// Parses a path whose spelling no program and no reader takes for another.
fn parse_plainly_spelled(text: &str) -> Result<WorkspacePath, NewFileRefusal> {
    let parsed = WorkspacePath::parse(text);
    if let Err(refusal @ (PathRefusal::Blank | PathRefusal::Nul)) = parsed {
        return Err(refusal.into());
    }
    // Also in a component that a `..` takes back: the path was meant to be another.
    for character in text.chars() {
        if character.is_control() {
            return Err(NewFileRefusal::ControlCharacter);
        }
        if is_invisible(character) {
            return Err(NewFileRefusal::Invisible(character));
        }
    }
    if let Some(misspelling) = Misspelling::of(text) {
        return Err(misspelling.into());
    }
    let path = parsed?;
    // `C:` and `C:x` are drives to Windows, and files to no other program that was told of them.
    if matches!(path.as_str().as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic()) {
        return Err(PathRefusal::DriveOrShare.into());
    }
    Ok(path)
}

/// Checks the names of a path against the rules of all systems.
fn check_names(path: &WorkspacePath) -> Result<(), NewFileRefusal> {
    if path.names().next() == Some("~") {
        return Err(NewFileRefusal::Tilde);
    }
    if path.names().any(|name| name.len() > MAX_NAME_BYTES) {
        return Err(NewFileRefusal::NameTooLong);
    }
    if path.as_str().len() > MAX_PATH_BYTES {
        return Err(NewFileRefusal::PathTooLong);
    }
    Ok(())
}

/// Whether a character separates components: `\` as well as `/`, on every system.
fn is_separator(character: char) -> bool {
    matches!(character, '/' | '\\')
}

/// Whether a path is rooted, on a drive, or on a share on any system: if so, it must not be shown.
#[must_use]
pub fn is_absolute_anywhere(text: &str) -> bool {
    text.starts_with(is_separator) || names_drive_or_share(text)
}

/// A path as it may be shown: relative, or of an absolute one its last name alone.
#[must_use]
pub fn shown_path(path: &str) -> String {
    if is_absolute_anywhere(path) {
        return last_name(path);
    }
    WorkspacePath::parse(path).map_or_else(|_| path.to_owned(), |parsed| parsed.to_string())
}

/// The last name of a path that must not be shown whole, as `…/name`.
#[must_use]
pub fn last_name(path: &str) -> String {
    let last = path.rsplit(is_separator).find(|name| !name.is_empty()).unwrap_or_default();
    format!("…/{last}")
}

/// A path in a message: on one line, and not longer than a message may be.
#[derive(Debug, Clone, Copy)]
pub struct Printable<'path>(pub &'path str);

impl Printable<'_> {
    /// How many characters are kept at either end of a longer path.
    const KEPT: usize = 512;
}

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = self.0.char_indices().nth(Self::KEPT);
        let tail = self.0.char_indices().nth_back(Self::KEPT);
        match (head, tail) {
            (Some((head, _)), Some((tail, _))) if head < tail => {
                write!(f, "{}…{}", Escaped(&self.0[..head]), Escaped(&self.0[tail..]))
            }
            _ => Escaped(self.0).fmt(f),
        }
    }
}

fn refuse_unreadable(text: &str) -> Result<(), PathRefusal> {
    if text.chars().all(char::is_whitespace) {
        return Err(PathRefusal::Blank);
    }
    if text.contains('\0') {
        return Err(PathRefusal::Nul);
    }
    Ok(())
}

/// `C:\`, `C:/`, `\\server`, `\\?\`, and the mixed forms that Windows reads as a share.
///
/// `//server/share` is left to the rule for absolute paths: on POSIX it is the plain path
/// `/server/share`, and either way it is inside the root or refused.
fn names_drive_or_share(text: &str) -> bool {
    match text.as_bytes() {
        [letter, b':', b'/' | b'\\', ..] => letter.is_ascii_alphabetic(),
        [b'\\', b'/' | b'\\', ..] | [b'/', b'\\', ..] => true,
        _ => false,
    }
}

/// The reserved names and forbidden characters of
/// <https://learn.microsoft.com/windows/win32/fileio/naming-a-file>.
fn check_windows_name(name: &str) -> Result<(), WindowsNameRule> {
    if name.contains(':') {
        return Err(WindowsNameRule::Colon);
    }
    if name.ends_with(['.', ' ']) {
        return Err(WindowsNameRule::TrailingDotOrSpace);
    }
    if name.contains(|c: char| matches!(c, '<' | '>' | '"' | '|' | '?' | '*') || c < ' ') {
        return Err(WindowsNameRule::ForbiddenCharacter);
    }
    // The system looks at the part before the first dot, less trailing spaces: `nul .txt` is the
    // null device too.
    let stem = name.split('.').next().unwrap_or(name).trim_end_matches(' ');
    if is_device(stem) { Err(WindowsNameRule::Device) } else { Ok(()) }
}

fn is_device(stem: &str) -> bool {
    const DEVICES: [&str; 6] = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];
    let numbered = |prefix: &str| {
        stem.get(..3).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
            // The superscript digits count as digits here.
            && matches!(stem.get(3..), Some("0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³"))
    };
    DEVICES.iter().any(|device| stem.eq_ignore_ascii_case(device))
        || numbered("COM")
        || numbered("LPT")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn posix(text: &str) -> Result<String, PathRefusal> {
        WorkspacePath::parse_under(NameRules::Posix, text).map(|path| path.relative)
    }

    fn windows(text: &str) -> Result<String, PathRefusal> {
        WorkspacePath::parse_under(NameRules::Windows, text).map(|path| path.relative)
    }

    #[test]
    fn both_slashes_separate_and_empty_and_dot_components_vanish() {
        assert_eq!(posix(r"src\\a//./b/c.ts").unwrap(), "src/a/b/c.ts");
    }

    #[test]
    fn dots_that_are_names_stay_names() {
        for name in ["..foo", "a..b", "...", "[id]", "aux.c", "~", "a%2Fb", " a ", "C:", "C:foo"] {
            assert_eq!(posix(name).unwrap(), name);
        }
    }

    #[test]
    fn dot_dot_takes_back_a_component_that_need_not_exist() {
        assert_eq!(posix("a/../b.txt").unwrap(), "b.txt");
    }

    #[test]
    fn a_path_that_leaves_and_comes_back_is_refused() {
        for path in ["..", "../ws/a", "a/../../ws/a", r"a\..\..", "./../a"] {
            assert_eq!(posix(path), Err(PathRefusal::AboveRoot), "{path}");
        }
    }

    #[test]
    fn windows_drives_and_shares_are_refused_on_every_system() {
        for path in [r"C:\a", "c:/a", r"\\server\share\a", r"\\?\C:\a", r"\\.\nul", r"/\server\a"] {
            assert_eq!(posix(path), Err(PathRefusal::DriveOrShare), "{path}");
            assert_eq!(windows(path), Err(PathRefusal::DriveOrShare), "{path}");
        }
    }

    #[test]
    fn blank_and_nul_are_the_callers_mistake() {
        for path in ["", " ", "\t\n", "\u{a0}"] {
            assert_eq!(posix(path), Err(PathRefusal::Blank), "{path:?}");
        }
        assert_eq!(posix("a\0b"), Err(PathRefusal::Nul));
        assert_eq!(posix("../\0"), Err(PathRefusal::Nul));
    }

    #[test]
    fn a_trailing_separator_or_dot_demands_a_directory() {
        for (path, expected) in [
            ("a/", true),
            ("a/.", true),
            ("a/b/..", true),
            (".", true),
            ("a", false),
            ("./a", false),
        ] {
            let parsed = WorkspacePath::parse_under(NameRules::Posix, path).unwrap();
            assert_eq!(parsed.must_be_directory(), expected, "{path}");
        }
    }

    #[test]
    fn windows_names_with_another_meaning_are_refused_there() {
        for (path, rule) in [
            ("nul", WindowsNameRule::Device),
            ("src/AUX.c", WindowsNameRule::Device),
            ("com1.txt", WindowsNameRule::Device),
            ("LPT³", WindowsNameRule::Device),
            ("nul .txt", WindowsNameRule::Device),
            ("a.txt::$DATA", WindowsNameRule::Colon),
            ("C:a", WindowsNameRule::Colon),
            ("a.txt.", WindowsNameRule::TrailingDotOrSpace),
            ("a /b", WindowsNameRule::TrailingDotOrSpace),
            ("...", WindowsNameRule::TrailingDotOrSpace),
            ("a?b", WindowsNameRule::ForbiddenCharacter),
            ("a\u{1}b", WindowsNameRule::ForbiddenCharacter),
        ] {
            assert_eq!(windows(path), Err(PathRefusal::WindowsName(rule)), "{path}");
        }
        for name in ["console", "com10", "comx", "nulls.txt", "..foo", "[id]"] {
            assert_eq!(windows(name).unwrap(), name);
        }
    }

    #[test]
    fn an_absolute_path_is_parsed_from_where_the_root_ends() {
        let inside = |text: &str| text.strip_prefix("/ws/").map(str::to_owned);
        let parse = |text| WorkspacePath::parse_allowing_absolute(text, inside);
        assert_eq!(parse("/ws/a/../b").unwrap().as_str(), "b");
        assert_eq!(parse("/ws/../ws/b"), Err(PathRefusal::AboveRoot));
        assert_eq!(parse("/elsewhere"), Err(PathRefusal::Absolute));
        assert_eq!(parse("/ws/C:/b"), Err(PathRefusal::DriveOrShare));
        assert_eq!(parse("a").unwrap().as_str(), "a");
    }

    #[test]
    fn a_new_file_needs_a_name_that_shows_what_it_is() {
        use NewFileRefusal as Refusal;
        for (path, refusal) in [
            ("", Refusal::Path(PathRefusal::Blank)),
            ("../x", Refusal::Path(PathRefusal::AboveRoot)),
            ("/x", Refusal::Path(PathRefusal::Absolute)),
            (".", Refusal::NamesFolder),
            ("a/", Refusal::NamesFolder),
            ("a/.", Refusal::NamesFolder),
            ("a/b/..", Refusal::NamesFolder),
            ("rules.md\n", Refusal::ControlCharacter),
            ("a\u{7f}", Refusal::ControlCharacter),
            ("a\u{85}b/c", Refusal::ControlCharacter),
            ("a\u{202e}b", Refusal::Invisible('\u{202e}')),
            ("a\u{200b}", Refusal::Invisible('\u{200b}')),
            ("\u{feff}a", Refusal::Invisible('\u{feff}')),
            ("~/a", Refusal::Tilde),
            ("~", Refusal::Tilde),
            (&"n".repeat(256), Refusal::NameTooLong),
            (&"n/".repeat(2500), Refusal::NamesFolder),
            (&("n/".repeat(2500) + "n"), Refusal::PathTooLong),
        ] {
            assert_eq!(NewFilePath::parse(path), Err(refusal), "{path:?}");
        }
        let long = "あ".repeat(85);
        for path in ["~a", "a/~", "a\u{200d}b", "a\u{200c}b", "a\u{a0}b", &long, &"n".repeat(255)] {
            assert_eq!(NewFilePath::parse(path).unwrap().as_path().as_str(), path);
        }
    }

    /// What a path means, computed by counting instead of collapsing.
    fn model(text: &str) -> Option<Vec<String>> {
        let text = text.replace('\\', "/");
        let mut kept: Vec<String> = Vec::new();
        for component in text.split('/') {
            if component == ".." && kept.is_empty() {
                return None;
            }
            if component == ".." {
                kept.truncate(kept.len() - 1);
            } else if !component.is_empty() && component != "." {
                kept.push(component.to_owned());
            }
        }
        Some(kept)
    }

    proptest! {
        #[test]
        fn parsing_agrees_with_the_model(text in r"([a-c.~% :]{0,3}[/\\]?){1,8}") {
            let parsed = posix(&text);
            match parsed {
                Err(PathRefusal::Blank) => prop_assert!(text.trim().is_empty()),
                Err(PathRefusal::Absolute | PathRefusal::DriveOrShare) => {
                    prop_assert!(is_absolute_anywhere(&text));
                }
                Err(_) => prop_assert_eq!(model(&text), None),
                Ok(relative) => prop_assert_eq!(Some(relative), model(&text).map(|names| names.join("/"))),
            }
        }

        #[test]
        fn what_parses_is_safe_and_parses_to_itself(text in any::<String>()) {
            for rules in [NameRules::Posix, NameRules::Windows] {
                let Ok(path) = WorkspacePath::parse_under(rules, &text) else { continue };
                for name in path.names() {
                    prop_assert!(!name.contains(['/', '\\', '\0']) && !matches!(name, "" | "." | ".."));
                }
                // A first name such as `C:` or one of spaces only would read differently alone.
                if !path.is_root() && !is_absolute_anywhere(path.as_str()) && !path.as_str().trim().is_empty() {
                    let again = WorkspacePath::parse_under(rules, path.as_str());
                    prop_assert_eq!(again.map(|path| path.relative), Ok(path.relative));
                }
            }
        }
    }
}
