//! The key `rules` of a context: which paths tools may not read or change.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use napi_derive::napi;

use super::argument::Argument;
use crate::access::{AccessRules, RuleError, RuleLists};
use crate::argument::{ArgumentError, Got};
use crate::path::spelled_root::part_beneath;
use crate::sandbox::Sandbox;

/// How many patterns one list may have.
const MAX_PATTERNS: u32 = 1000;

/// How many sets of rules are kept, so that a plain context does not have its rules compiled for each call: 50 patterns
/// take 0.3 ms.
const MAX_KEPT: usize = 16;

static KEPT: Mutex<Vec<Arc<AccessRules>>> = Mutex::new(Vec::new());

/// The rules of a `Workspace`, as its host gave them. A list that it did not give is absent.
#[napi(object, object_from_js = false)]
pub struct RulesOfWorkspace {
    /// Paths that are neither read nor changed.
    pub deny: Option<Vec<String>>,
    /// Paths that are not changed.
    #[napi(js_name = "read_only")]
    pub read_only: Option<Vec<String>>,
    /// The only paths that are changed.
    #[napi(js_name = "write_only")]
    pub write_only: Option<Vec<String>>,
}

impl From<&AccessRules> for RulesOfWorkspace {
    fn from(rules: &AccessRules) -> Self {
        let RuleLists { deny, read_only, write_only } = rules.lists().clone();
        Self { deny, read_only, write_only }
    }
}

/// Reads the key `rules` of a host's object.
pub fn read_rules(object: Argument<'_>) -> Result<Option<Arc<AccessRules>>, ArgumentError> {
    match object.property(c"rules", "rules")? {
        Some(rules) => parse_rules(rules),
        None => Ok(None),
    }
}

/// The same of a context that names its root, which is not open yet. Refuses a pattern that is the path of the root as it
/// is spelled there.
pub fn read_rules_for(
    object: Argument<'_>,
    root: &Path,
) -> Result<Option<Arc<AccessRules>>, ArgumentError> {
    let Some(rules) = read_rules(object)? else { return Ok(None) };
    if may_name_root(&rules) {
        let root = root.to_string_lossy();
        relative_lists(&rules, |path| part_beneath(path, &root))?;
    }
    Ok(Some(rules))
}

/// Reads a value of the form `{ deny, read_only, write_only }`. `None` if it has none of the three lists.
pub fn parse_rules(rules: Argument<'_>) -> Result<Option<Arc<AccessRules>>, ArgumentError> {
    let rules = rules.object()?;
    // A promise, or a Map with the lists in it, has no keys of its own, and would protect nothing.
    if !rules.is_plain_object() {
        return Err(rules.refuse("must be a plain object"));
    }
    // A list under a misspelt key would protect nothing, without a word.
    let is_known = |key: &String| matches!(key.as_str(), "deny" | "read_only" | "write_only");
    if !rules.keys().is_some_and(|keys| keys.iter().all(is_known)) {
        return Err(rules.refuse("must have no keys but deny, read_only and write_only"));
    }
    let list = |list: Argument<'_>| list.strings(MAX_PATTERNS);
    let deny = rules.optional(c"deny", "rules.deny", list)?;
    let read_only = rules.optional(c"read_only", "rules.read_only", list)?;
    let write_only = rules.optional(c"write_only", "rules.write_only", list)?;
    if deny.is_none() && read_only.is_none() && write_only.is_none() {
        return Ok(None);
    }
    compile(RuleLists { deny, read_only, write_only }).map(Some)
}

/// Whether a pattern may begin with the absolute path of a root. Only the open root tells all spellings of its path.
pub fn may_name_root(rules: &AccessRules) -> bool {
    let RuleLists { deny, read_only, write_only } = rules.lists();
    let mut patterns = [deny, read_only, write_only].into_iter().flatten().flatten();
    patterns.any(|pattern| Path::new(split_sign(pattern).1).is_absolute())
}

/// Gives an open root its rules. A pattern that begins with the absolute path of the root, by any spelling, is relative
/// to it.
pub fn with_rules(
    root: Sandbox,
    rules: Option<Arc<AccessRules>>,
) -> Result<Sandbox, ArgumentError> {
    let placed = match rules {
        Some(rules) if may_name_root(&rules) => {
            Some(compile(relative_lists(&rules, |path| root.part_of_pattern(path))?)?)
        }
        rules => rules,
    };
    Ok(root.with_rules(placed))
}

/// The lists of rules, whose absolute patterns are relative to a root. `part_inside` gives the part of an absolute path that
/// lies beneath it.
fn relative_lists(
    rules: &AccessRules,
    part_inside: impl Fn(&str) -> Option<String>,
) -> Result<RuleLists, ArgumentError> {
    let list = |name, patterns: &Option<Vec<String>>| {
        let relative = |(index, pattern): (usize, &String)| {
            relative(pattern, &part_inside).ok_or_else(|| {
                let rule = format!("[{index}] must name something beneath the root");
                ArgumentError::new(name, rule, Got::Unsaid)
            })
        };
        let patterns = patterns.as_ref().map(|list| list.iter().enumerate().map(relative));
        patterns.map(Iterator::collect).transpose()
    };
    let RuleLists { deny, read_only, write_only } = rules.lists();
    Ok(RuleLists {
        deny: list("rules.deny", deny)?,
        read_only: list("rules.read_only", read_only)?,
        write_only: list("rules.write_only", write_only)?,
    })
}

/// A pattern without the absolute path of the root; `None` if it is that path.
fn relative(pattern: &str, part_inside: impl Fn(&str) -> Option<String>) -> Option<String> {
    let (sign, path) = split_sign(pattern);
    let part = Path::new(path).is_absolute().then(|| part_inside(path)).flatten();
    match part.as_deref() {
        Some("" | "/") => None,
        Some(part) => Some(format!("{sign}/{}", part.trim_start_matches('/'))),
        None => Some(pattern.to_owned()),
    }
}

fn split_sign(pattern: &str) -> (&str, &str) {
    pattern.strip_prefix('!').map_or(("", pattern), |path| ("!", path))
}

/// The rules of these lists, which may be kept from an earlier call.
fn compile(lists: RuleLists) -> Result<Arc<AccessRules>, ArgumentError> {
    let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(rules) = kept().iter().find(|rules| *rules.lists() == lists) {
        return Ok(Arc::clone(rules));
    }
    let rules = Arc::new(AccessRules::parse(lists).map_err(argument_error)?);
    let mut kept = kept();
    if kept.len() >= MAX_KEPT {
        kept.remove(0);
    }
    kept.push(Arc::clone(&rules));
    Ok(rules)
}

fn argument_error(RuleError { list, index, rule }: RuleError) -> ArgumentError {
    let name = match list {
        "deny" => "rules.deny",
        "read_only" => "rules.read_only",
        _ => "rules.write_only",
    };
    let rule = index.map_or_else(|| rule.to_owned(), |index| format!("[{index}] {rule}"));
    ArgumentError::new(name, rule, Got::Unsaid)
}
