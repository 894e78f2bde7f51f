//! Misspellings: models write paths with a shell's escapes, in quotes, as URIs, or with the
//! prefixes of a diff.
//!
//! Nothing here changes the meaning of a path. If the spelling leaves no doubt, no file is created
//! at such a path. If nothing stands at it, the answer names the path that may have been meant.

/// A spelling that means something else to a shell, a diff or a URL parser than it means here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Misspelling {
    /// `my\ file.txt`: here the file ` file.txt` in the folder `my`.
    #[error(
        "`\\` separates folders, like `/`; write spaces and quotes without a backslash before them"
    )]
    ShellEscape,
    /// `file:///src/main.ts`: here the folder `file:`, and `src` in it.
    #[error(
        "path is written as a URI; write it relative to the workspace root, without the scheme"
    )]
    Uri,
    /// `"src/main.ts"`: here the folder `"src`.
    #[error("path stands in quotes; write it without them")]
    Quotes,
}

impl Misspelling {
    /// The misspelling of a path, if there is one that leaves no doubt.
    #[must_use]
    pub fn of(path: &str) -> Option<Self> {
        if after_scheme(path).is_some() {
            return Some(Self::Uri);
        }
        if unquoted(path).is_some_and(|inner| inner.contains(['/', '\\'])) {
            return Some(Self::Quotes);
        }
        has_shell_escape(path).then_some(Self::ShellEscape)
    }
}

/// The paths that may have been meant by one at which nothing stands, likeliest first. The path
/// itself is not among them, and the disk is not looked at. Those of URIs may begin with a slash,
/// which stands for the workspace's root.
#[must_use]
pub fn respellings(path: &str) -> Vec<String> {
    let bare = bare(path);
    let mut meant = vec![bare.clone()];
    meant.extend(percent_decoded(&bare));
    meant.extend(
        bare.strip_prefix(['a', 'b']).and_then(|rest| rest.strip_prefix('/')).map(Into::into),
    );
    meant.extend(bare.strip_prefix('@').map(Into::into));
    meant.extend(without_line_number(&bare));
    let mut distinct: Vec<String> = Vec::with_capacity(meant.len());
    for respelt in meant {
        if respelt != path && !respelt.is_empty() && !distinct.contains(&respelt) {
            distinct.push(respelt);
        }
    }
    distinct
}

/// A path without white space, quotes and a scheme around it, and without a shell's backslashes.
fn bare(path: &str) -> String {
    let mut bare = path.trim();
    while let Some(inner) = unquoted(bare) {
        bare = inner.trim();
    }
    let bare = match after_scheme(bare) {
        // The slash stays: a host's URI may hold an absolute path.
        Some(rest) if rest.starts_with('/') => &format!("/{}", rest.trim_start_matches('/')),
        Some(rest) => rest,
        None => bare,
    };
    without_shell_escapes(bare)
}

/// The text between two quotes of the same kind.
fn unquoted(path: &str) -> Option<&str> {
    const QUOTES: [(char, char); 6] =
        [('"', '"'), ('\'', '\''), ('`', '`'), ('<', '>'), ('“', '”'), ('‘', '’')];
    QUOTES.iter().find_map(|&(open, close)| path.strip_prefix(open)?.strip_suffix(close))
}

/// The text after `file:`, or after another scheme and `:/`. A single letter is a drive, not a
/// scheme.
fn after_scheme(path: &str) -> Option<&str> {
    let (scheme, rest) = path.split_once(':')?;
    let is_scheme = scheme.len() > 1
        && scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    let is_meant = scheme.eq_ignore_ascii_case("file") || rest.starts_with(['/', '\\']);
    (is_scheme && is_meant).then_some(rest)
}

/// Characters that a shell wants escaped, and with which few names begin. Names such as `(group)`, `[id]`
/// and `$id` do, and a path may have been written with `\` before them to mean folders.
fn is_escaped_by_shells(character: char) -> bool {
    matches!(character, ' ' | ')' | ']' | '}' | '\'' | '"' | '`' | '&' | ';')
}

fn has_shell_escape(path: &str) -> bool {
    path.match_indices('\\').any(|(at, _)| path[at + 1..].starts_with(is_escaped_by_shells))
}

/// A path as a shell would read it, if it has escapes that leave no doubt.
fn without_shell_escapes(path: &str) -> String {
    if !has_shell_escape(path) {
        return path.to_owned();
    }
    let is_escaped = |next: char| is_escaped_by_shells(next) || "([{$!#*?<>|~".contains(next);
    let mut read = String::with_capacity(path.len());
    let mut characters = path.chars().peekable();
    while let Some(character) = characters.next() {
        if character != '\\' || !characters.peek().copied().is_some_and(is_escaped) {
            read.push(character);
        }
    }
    read
}

fn percent_decoded(path: &str) -> Option<String> {
    let mut parts = path.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.as_bytes().split_at_checked(2)?;
        let digits = std::str::from_utf8(digits).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(rest);
    }
    String::from_utf8(bytes).ok()
}

/// `src/main.ts` of `src/main.ts:12` and `src/main.ts:12:5`, as compilers write them.
fn without_line_number(path: &str) -> Option<String> {
    let strip = |path: &str| {
        let (before, number) = path.rsplit_once(':')?;
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| before.to_owned())
    };
    let once = strip(path)?;
    Some(strip(&once).unwrap_or(once))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spellings_that_leave_no_doubt_are_told() {
        for (path, misspelling) in [
            (r"my\ new.txt", Misspelling::ShellEscape),
            (r"a\(1\).txt", Misspelling::ShellEscape),
            (r"it\'s.txt", Misspelling::ShellEscape),
            ("file:///src/x.ts", Misspelling::Uri),
            ("FILE:src/x.ts", Misspelling::Uri),
            ("file:/src/x.ts", Misspelling::Uri),
            ("https://example.com/x.ts", Misspelling::Uri),
            ("sandbox:/mnt/x.txt", Misspelling::Uri),
            ("\"src/main.ts\"", Misspelling::Quotes),
            ("`src/main.ts`", Misspelling::Quotes),
        ] {
            assert_eq!(Misspelling::of(path), Some(misspelling), "{path}");
        }
    }

    #[test]
    fn names_like_any_other_are_no_misspellings() {
        for path in [
            "my new.txt",
            r"src\main.ts",
            r"app\(group)\page.tsx",
            r"app\[id]\$x.tsx",
            "a/src/main.ts",
            "C:",
            "profile:x",
            "std::fmt",
            "\"quoted\"",
            "file",
            "my%20file.txt",
        ] {
            assert_eq!(Misspelling::of(path), None, "{path}");
        }
    }

    #[test]
    fn what_may_have_been_meant_comes_without_the_spelling() {
        for (path, meant) in [
            (r"my\ file.txt", "my file.txt"),
            (r"app/\(group\)/a\ b.txt", "app/(group)/a b.txt"),
            ("a/src/main.ts", "src/main.ts"),
            ("b/src/main.ts", "src/main.ts"),
            ("\"src/main.ts\"", "src/main.ts"),
            ("'`src/main.ts`'", "src/main.ts"),
            ("file:///src/main.ts", "/src/main.ts"),
            ("file:src/main.ts", "src/main.ts"),
            ("file:///my%20file.txt", "/my file.txt"),
            ("my%20file.txt", "my file.txt"),
            (" src/main.ts\n", "src/main.ts"),
            ("src/main.ts:12:5", "src/main.ts"),
            ("@src/main.ts", "src/main.ts"),
        ] {
            let respellings = respellings(path);
            assert!(respellings.iter().any(|respelt| respelt == meant), "{path}: {respellings:?}");
        }
        assert_eq!(respellings("src/main.ts"), [""; 0]);
    }

    proptest! {
        #[test]
        fn any_text_has_respellings_that_are_others(path in any::<String>()) {
            prop_assert!(!respellings(&path).contains(&path));
            let _ = Misspelling::of(&path);
        }
    }
}
