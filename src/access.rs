//! Access rules: the paths that tools may not read or change (docs/contract.md §14).
//!
//! The rules are lists of patterns, as in a `.gitignore`, relative to the workspace's root. This module compares
//! paths with them. The [sandbox](crate::sandbox) asks about each path by which it reaches an entry.
//!
//! ```
//! use std::path::Path;
//!
//! use ringfence::access::{Access, AccessRules, Judgement, RuleLists};
//!
//! let deny = Some(vec![".env".to_owned(), "keys/".to_owned()]);
//! let lists = RuleLists { deny, ..RuleLists::default() };
//! let rules = AccessRules::parse(lists).unwrap();
//! let judge = |path| rules.judge(Path::new(path), Access::Read);
//! assert!(judge("app/.ENV").is_refused());
//! assert!(judge("keys/a.pem").is_refused());
//! assert_eq!(judge("keys"), Judgement { refuses_folder: true, ..Judgement::default() });
//! assert!(judge("src/main.rs").is_allowed());
//! ```

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use unicode_normalization::UnicodeNormalization;

use crate::glob::{Case, Glob, GlobError, GlobFlaw, GlobSet, GlobSetBuilder, Verdict, check_size};

/// The lists of a host, as it gave them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct RuleLists {
    /// Paths that are neither read nor changed, nor shown.
    pub deny: Option<Vec<String>>,
    /// Paths that are not changed.
    pub read_only: Option<Vec<String>>,
    /// If given, only these paths are changed.
    pub write_only: Option<Vec<String>>,
}

/// The rules of a host.
#[derive(Debug)]
pub struct AccessRules {
    parsed: Arc<Parsed>,
    approved: Approved,
}

#[derive(Debug)]
struct Parsed {
    lists: RuleLists,
    deny: Protected,
    read_only: Protected,
    write_only: Option<PathList>,
}

/// The paths that `read_only` does not protect, because a person has approved a change there.
#[derive(Debug)]
enum Approved {
    /// These, and all that lies beneath them.
    Only(Vec<PathBuf>),
    /// All. Keeps each path at which a change is judged, to be approved.
    Asking(Mutex<Vec<PathBuf>>),
}

impl Approved {
    fn covers(&self, path: &Path) -> bool {
        match self {
            Self::Only(approved) => approved.iter().any(|approved| path.starts_with(approved)),
            Self::Asking(asked) => {
                asked.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
                true
            }
        }
    }

    fn paths(&self) -> Vec<PathBuf> {
        match self {
            Self::Only(approved) => approved.clone(),
            Self::Asking(asked) => asked.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}

/// What a call does with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It reads or lists what stands there.
    Read,
    /// It makes, changes, moves or removes what stands there.
    Change,
}

/// Whether the rules refuse the access to a path. That can depend on what stands there, and on the way to it. An
/// absent name counts as a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Judgement {
    /// Whether they refuse it if a file or a link stands there.
    pub refuses_file: bool,
    /// Whether they refuse it if a folder stands there.
    pub refuses_folder: bool,
    /// Whether they refuse a file or a link at the name of a folder on the way. So whether a folder stands there must
    /// not be told.
    pub hides_ancestors: bool,
}

/// Why a list is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleError {
    /// The key of the list in `rules`.
    pub list: &'static str,
    /// Which pattern is at fault; `None` if it is the whole list.
    pub index: Option<usize>,
    /// The rule that it breaks, which is worded to follow the name of an argument.
    pub rule: &'static str,
}

impl AccessRules {
    /// Parses the lists of a host.
    ///
    /// # Errors
    ///
    /// [`RuleError`] for the first pattern that is at fault.
    pub fn parse(lists: RuleLists) -> Result<Self, RuleError> {
        let write_only = lists.write_only.as_deref();
        let parsed = Parsed {
            deny: Protected::parse("deny", lists.deny.as_deref().unwrap_or_default())?,
            read_only: Protected::parse(
                "read_only",
                lists.read_only.as_deref().unwrap_or_default(),
            )?,
            write_only: write_only
                .map(|list| PathList::parse("write_only", list, ascii_caseless))
                .transpose()?,
            lists,
        };
        Ok(Self { parsed: Arc::new(parsed), approved: Approved::Only(Vec::new()) })
    }

    /// The same rules, by which nothing is `read_only`. They keep each path at which a change is judged, for
    /// [`AccessRules::approving`].
    #[must_use]
    pub fn asking(&self) -> Self {
        Self { parsed: Arc::clone(&self.parsed), approved: Approved::Asking(Mutex::default()) }
    }

    /// The same rules, by which the paths that `asking` has kept are not `read_only`, nor what lies beneath them.
    #[must_use]
    pub fn approving(&self, asking: &Self) -> Self {
        let approved = Approved::Only(asking.approved.paths());
        Self { parsed: Arc::clone(&self.parsed), approved }
    }

    /// The lists as the host gave them.
    #[must_use]
    pub fn lists(&self) -> &RuleLists {
        &self.parsed.lists
    }

    /// Judges the access to a path, which is relative to the root and has no `..`. A folder that a pattern
    /// matches takes all beneath it along.
    #[must_use]
    pub fn judge(&self, path: &Path, access: Access) -> Judgement {
        let given = path;
        let path = ComparedPath::of(path);
        let denied = self.parsed.deny.judge(&path);
        if access == Access::Read || denied.is_refused() {
            return denied;
        }
        let is_approved = self.approved.covers(given);
        let protected =
            if is_approved { denied } else { denied.or(self.parsed.read_only.judge(&path)) };
        match &self.parsed.write_only {
            Some(list) => {
                let is_selected = |verdict| verdict == Some(Verdict::Selected);
                let writable = path.judge(|spelling, _| list.decide(spelling).map(is_selected));
                protected.or(writable.inverted())
            }
            None => protected,
        }
    }

    /// Whether `deny` matches an entry of a folder that is not denied itself.
    #[must_use]
    pub fn denies_entry(&self, path: &Path, is_folder: bool) -> bool {
        if self.parsed.deny.spelled.0.is_empty() {
            return false;
        }
        let path = ComparedPath::of(path);
        let [of_file, of_folder] =
            self.parsed.deny.selects(&path.spelling, path.caseless.as_deref());
        if is_folder { of_folder } else { of_file }
    }
}

impl Judgement {
    /// The access is refused, whatever stands there.
    pub const REFUSED: Self =
        Self { refuses_file: true, refuses_folder: true, hides_ancestors: false };

    /// Whether the access is allowed, whatever stands there and on the way.
    #[must_use]
    pub fn is_allowed(self) -> bool {
        self == Self::default()
    }

    /// Whether the access is refused, whatever stands there.
    #[must_use]
    pub fn is_refused(self) -> bool {
        self.refuses_file && self.refuses_folder
    }

    /// The judgement of rules of which each may refuse.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            refuses_file: self.refuses_file || other.refuses_file,
            refuses_folder: self.refuses_folder || other.refuses_folder,
            hides_ancestors: self.hides_ancestors || other.hides_ancestors,
        }
    }

    /// The judgement by a list of the only paths that are allowed.
    fn inverted(self) -> Self {
        let (refuses_file, refuses_folder) = (!self.refuses_file, !self.refuses_folder);
        Self { refuses_file, refuses_folder, hides_ancestors: false }
    }
}

/// A path in the two forms in which it is compared.
struct ComparedPath<'path> {
    /// By [`ascii_caseless`].
    spelling: Cow<'path, Path>,
    /// By [`caseless`], with as many components. `None` if it is the same as the spelling.
    caseless: Option<String>,
}

impl<'path> ComparedPath<'path> {
    fn of(path: &'path Path) -> Self {
        let Some(text) = path.to_str() else {
            // A name that is not UTF-8 is compared byte by byte.
            let spelling = Cow::Owned(path.as_os_str().to_ascii_lowercase().into());
            return Self {
                spelling,
                caseless: Some(caseless(&path.to_string_lossy()).into_owned()),
            };
        };
        if cfg!(windows) && text.contains('\\') {
            let text = text.replace('\\', "/");
            let spelling = Cow::Owned(PathBuf::from(&*ascii_caseless(&text)));
            return Self { spelling, caseless: Self::caseless_of(&text) };
        }
        let spelling = match ascii_caseless(text) {
            Cow::Borrowed(text) => Cow::Borrowed(Path::new(text)),
            Cow::Owned(text) => Cow::Owned(PathBuf::from(text)),
        };
        Self { spelling, caseless: Self::caseless_of(text) }
    }

    fn caseless_of(text: &str) -> Option<String> {
        (!text.is_ascii()).then(|| caseless(text).into_owned())
    }

    /// Judges the path by whether a list selects a file and a folder at a path, whatever the folders above are. The
    /// list gets each folder on the way, too, in both forms.
    fn judge(&self, selects: impl Fn(&Path, Option<&str>) -> [bool; 2]) -> Judgement {
        if self.spelling.as_os_str().is_empty() {
            return Judgement::default();
        }
        let mut caseless = self.caseless.as_deref();
        let [refuses_file, refuses_folder] = selects(&self.spelling, caseless);
        let mut hides_ancestors = false;
        for folder in self.spelling.ancestors().skip(1) {
            if folder.as_os_str().is_empty() {
                break;
            }
            caseless = caseless.map(|path| path.rsplit_once('/').map_or("", |(above, _)| above));
            let [of_file, of_folder] = selects(folder, caseless);
            if of_folder {
                return Judgement::REFUSED;
            }
            hides_ancestors |= of_file;
        }
        Judgement { refuses_file, refuses_folder, hides_ancestors }
    }
}

/// The paths that a list protects: those that its patterns match as they are spelled, and further ones that a file
/// system without case may take for the same. An exception takes back only what is spelled like it.
#[derive(Debug)]
struct Protected {
    spelled: PathList,
    caseless: PathList,
    /// Whether a pattern has letters beyond ASCII, of which the other case may be ASCII: `\u{DF}` is `SS` in upper case.
    is_beyond_ascii: bool,
}

impl Protected {
    fn parse(list: &'static str, patterns: &[String]) -> Result<Self, RuleError> {
        let spelled = PathList::parse(list, patterns, ascii_caseless)?;
        // A pattern of ignorable characters alone is none in this form.
        let globs = patterns.iter().filter_map(|pattern| parse(pattern, caseless).ok());
        let caseless = PathList::of(globs).map_err(|flaw| flaw.of_list(list))?;
        let is_beyond_ascii = !patterns.iter().all(|pattern| pattern.is_ascii());
        Ok(Self { spelled, caseless, is_beyond_ascii })
    }

    fn judge(&self, path: &ComparedPath<'_>) -> Judgement {
        if self.spelled.0.is_empty() {
            return Judgement::default();
        }
        path.judge(|spelling, caseless| self.selects(spelling, caseless))
    }

    fn selects(&self, spelling: &Path, caseless: Option<&str>) -> [bool; 2] {
        let spelled = self.spelled.decide(spelling);
        [false, true].map(|is_folder| match (spelled[usize::from(is_folder)], caseless) {
            (Some(verdict), _) => verdict == Verdict::Selected,
            (None, Some(path)) => {
                self.caseless.matches_without_exceptions(Path::new(path), is_folder)
            }
            // An ASCII path is the same in both forms.
            (None, None) => {
                self.is_beyond_ascii
                    && self.caseless.matches_without_exceptions(spelling, is_folder)
            }
        })
    }
}

/// Patterns of which the last one that matches decides.
#[derive(Debug)]
struct PathList(Vec<GlobSet>);

impl PathList {
    fn parse(list: &'static str, patterns: &[String], fold: Fold) -> Result<Self, RuleError> {
        check_size(patterns).map_err(|error| error.of_list(list))?;
        let mut globs = Vec::with_capacity(patterns.len());
        for (index, pattern) in patterns.iter().enumerate() {
            let at = |flaw| GlobError { index: Some(index), flaw }.of_list(list);
            globs.push(parse(pattern, fold).map_err(at)?);
        }
        Self::of(globs).map_err(|error| error.of_list(list))
    }

    fn of(globs: impl IntoIterator<Item = Glob>) -> Result<Self, GlobError> {
        let whole_list = |flaw| GlobError { index: None, flaw };
        let mut sets = Vec::new();
        let mut part = GlobSetBuilder::default();
        for glob in globs {
            if part.push(glob) {
                sets.push(std::mem::take(&mut part).finish(Case::Sensitive).map_err(whole_list)?);
            }
        }
        if !part.is_empty() {
            sets.push(part.finish(Case::Sensitive).map_err(whole_list)?);
        }
        Ok(Self(sets))
    }

    /// The verdicts on a file and on a folder at a path, whatever the folders above are.
    fn decide(&self, path: &Path) -> [Option<Verdict>; 2] {
        let mut verdicts = [None; 2];
        for set in self.0.iter().rev() {
            let [of_file, of_folder] = set.decide_both(path);
            verdicts = [verdicts[0].or(of_file), verdicts[1].or(of_folder)];
            if verdicts.iter().all(Option::is_some) {
                break;
            }
        }
        verdicts
    }

    fn matches_without_exceptions(&self, path: &Path, is_folder: bool) -> bool {
        self.0.iter().any(|set| set.matches_without_exceptions(path, is_folder))
    }
}

impl GlobError {
    fn of_list(self, list: &'static str) -> RuleError {
        let rule = match self.flaw {
            GlobFlaw::Outside => "must not lead out of the workspace",
            GlobFlaw::Malformed(rule) => rule,
        };
        RuleError { list, index: self.index, rule }
    }
}

/// Gives texts that mean the same name one form.
type Fold = fn(&str) -> Cow<'_, str>;

fn parse(pattern: &str, fold: Fold) -> Result<Glob, GlobFlaw> {
    if pattern.starts_with('#') {
        return Err(GlobFlaw::Malformed("must not begin with `#`: a list has no comments"));
    }
    if pattern.contains("[:") {
        return Err(GlobFlaw::Malformed("must not have a class of characters such as `[:alpha:]`"));
    }
    if pattern.strip_prefix('!').unwrap_or(pattern).starts_with("//") {
        return Err(GlobFlaw::Malformed("must not begin with `//`"));
    }
    let pattern = without_final_spaces(pattern);
    let mut parts = pattern.split(['/', '{', ',', '}']);
    if pattern.contains('{') && parts.any(|part| part == "..") {
        return Err(GlobFlaw::Outside);
    }
    if pattern.contains("/,") || pattern.contains("/}") {
        return Err(GlobFlaw::Malformed(
            "must not have `/` at the end of what stands between `{` and `}`",
        ));
    }
    if pattern.contains("{/") || pattern.contains('{') && pattern.contains(",/") {
        return Err(GlobFlaw::Malformed(
            "must not have `/` at the start of what stands between `{` and `}`",
        ));
    }
    // A range between brackets is not changed. Without brackets, names and endings are looked up in tables, which
    // the matcher cannot do where it ignores case itself.
    let (pattern, case) = if pattern.contains('[') {
        (Cow::Owned(pattern.nfc().collect()), Case::Ascii)
    } else {
        (fold(pattern), Case::Sensitive)
    };
    let glob = Glob::parse(&pattern, case, |_| None)?.0;
    if pattern.contains(['\r', '\n']) || pattern.ends_with('\t') {
        return Err(GlobFlaw::Malformed(
            "must not hold a line end, nor end in a tab: no name would match",
        ));
    }
    Ok(glob)
}

/// As in a `.gitignore`, spaces at the end do not belong to the pattern, unless `\` stands before them.
fn without_final_spaces(pattern: &str) -> &str {
    let rest = pattern.trim_end_matches(' ');
    let backslashes = rest.bytes().rev().take_while(|&byte| byte == b'\\').count();
    let is_escaped = backslashes % 2 == 1 && rest.len() < pattern.len();
    if is_escaped { &pattern[..=rest.len()] } else { rest }
}

/// A text in NFC, with ASCII letters in lower case.
fn ascii_caseless(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        let is_lower = !text.bytes().any(|byte| byte.is_ascii_uppercase());
        return if is_lower { text.into() } else { text.to_ascii_lowercase().into() };
    }
    text.nfc().map(|character| character.to_ascii_lowercase()).collect::<String>().into()
}

/// A text in NFC, without the case of any letter, and without characters that are ignorable. On file systems that
/// ignore case, `\u{17F}sh` and `s\u{200D}sh` are names of `ssh`. Only by way of its upper case does U+017F become `s`,
/// and only by way of its lower case before does U+1E9E become `ss`.
fn caseless(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return ascii_caseless(text);
    }
    let seen = text.nfc().filter(|character| !is_ignorable(*character));
    let lower = seen.flat_map(char::to_lowercase);
    lower.flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfc().collect::<String>().into()
}

/// Unicode's `Default_Ignorable_Code_Point` (DerivedCoreProperties.txt): HFS+, and ext4 and f2fs in folders without
/// case, leave such characters aside when they compare names.
fn is_ignorable(character: char) -> bool {
    matches!(
        u32::from(character),
        0xAD | 0x34F | 0x61C | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F | 0x200B..=0x200F
            | 0x202A..=0x202E | 0x2060..=0x206F | 0x3164 | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0
            | 0xFFF0..=0xFFF8 | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A | 0xE0000..=0xE0FFF
    )
}

#[cfg(test)]
mod tests;
