//! Whether a path spells out a workspace's root, which is shown to no model.

/// If a root has at least so many names and a path holds all of them in a row, the path spells out
/// the root. A shorter root, such as `/tmp` or `/srv/app`, may occur in a path by coincidence.
const NO_COINCIDENCE: usize = 3;

/// Whether a path holds an absolute spelling of a root, compared by components. The root may stand
/// at the start of an absolute path, after `..` that lead up, or after characters that end no
/// name, as in `file:///root/a` and `"/root/a"`. The names of a short root further down, as `tmp`
/// in `packages/tmp`, do not count.
#[must_use]
pub fn spells_root(path: &str, root: &str) -> bool {
    let root: Vec<&str> = components(root).collect();
    // `/` alone gives nothing away.
    if root.is_empty() {
        return false;
    }
    let names: Vec<&str> = components(path).collect();
    let has_drive = cfg!(windows) && path.as_bytes().get(1) == Some(&b':');
    let is_rooted = path.starts_with(['/', '\\']) || has_drive;
    let mut place = Position { depth: 0, is_absolute: is_rooted };
    for at in 0..names.len() {
        let is_absolute = place.is_absolute && place.depth == 0;
        let may_be_root = is_absolute || at > 0 && root.len() >= NO_COINCIDENCE;
        if may_be_root && begins_with(&names[at..], &root) {
            return true;
        }
        place.enter(names[at]);
    }
    false
}

/// The part of an absolute path that lies beneath a root, by spelling, if it does. `..` counts
/// until the root is entered. The caller parses the part after that, and refuses one that leaves
/// the root again.
#[must_use]
pub fn part_beneath(absolute: &str, root: &str) -> Option<String> {
    // A name of the root may hold a backslash: its own spelling is inside.
    if let Some(rest) = absolute.strip_prefix(root.trim_end_matches('/'))
        && (rest.is_empty() || rest.starts_with(['/', '\\']))
    {
        return Some(rest.trim_start_matches(['/', '\\']).to_owned());
    }
    let root: Vec<&str> = components(root).collect();
    let mut names: Vec<&str> = Vec::new();
    let mut rest = absolute;
    while !rest.is_empty() {
        let (name, after) = rest.split_once(['/', '\\']).unwrap_or((rest, ""));
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            name => names.push(name),
        }
        if names.len() == root.len()
            && names.iter().zip(&root).all(|(name, of_root)| is_equal(name, of_root))
        {
            return Some(after.trim_start_matches(['/', '\\']).to_owned());
        }
        rest = after;
    }
    None
}

fn components(path: &str) -> impl Iterator<Item = &str> {
    path.split(['/', '\\']).filter(|name| !matches!(*name, "" | "."))
}

/// The position in a path, component by component.
struct Position {
    /// How many names deep the position is, counted from the root that `is_absolute` tells.
    depth: usize,
    /// Whether that root is the file system's. If not, it is the workspace's.
    is_absolute: bool,
}

impl Position {
    fn enter(&mut self, name: &str) {
        if name == ".." && self.depth == 0 {
            self.is_absolute = true;
        } else if name == ".." {
            self.depth -= 1;
        } else if name.ends_with(ends_no_name) {
            *self = Self { depth: 0, is_absolute: true };
        } else {
            self.depth += 1;
        }
    }
}

/// Whether a character stands before an absolute path rather than at the end of a folder's name.
fn ends_no_name(character: char) -> bool {
    matches!(
        character,
        ':' | '='
            | ','
            | ';'
            | '|'
            | '"'
            | '\''
            | '`'
            | '('
            | '['
            | '{'
            | '<'
            | '>'
            | ' '
            | '\t'
            | '\n'
    )
}

fn begins_with(names: &[&str], root: &[&str]) -> bool {
    names.len() >= root.len()
        && names.iter().zip(root).enumerate().all(|(index, (name, of_root))| {
            // `/root:12`, as compilers name a line.
            let before_colon =
                || name.split_once(':').is_some_and(|(name, _)| is_same(name, of_root));
            is_same(name, of_root) || index + 1 == root.len() && before_colon()
        })
}

/// Whether two names are one to the running system, percent-encoded or not.
fn is_same(name: &str, of_root: &str) -> bool {
    is_equal(name, of_root) || name.contains('%') && is_equal(&percent_decoded(name), of_root)
}

fn is_equal(name: &str, of_root: &str) -> bool {
    name == of_root || cfg!(windows) && name.to_lowercase() == of_root.to_lowercase()
}

/// A name with its escapes read; those that are none stay.
fn percent_decoded(name: &str) -> String {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let [first, after @ ..] = rest {
        let escaped = (*first == b'%').then(|| after.get(..2)).flatten().and_then(hex_byte);
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex_byte(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absolute_spelling_is_found() {
        for path in [
            "/tmp/ws/a.txt",
            "/tmp/ws",
            "//tmp/./ws/a",
            r"\tmp\ws\a",
            "../../../tmp/ws/x",
            "a/../../tmp/ws/x",
            "file:///tmp/ws/a.txt",
            "file:/tmp/ws/a.txt",
            "\"/tmp/ws/a.txt\"",
            "cat /tmp/ws/a.txt",
            "x=/tmp/ws/a",
            "file:///tmp/w%73/a.txt",
        ] {
            assert!(spells_root(path, "/tmp/ws"), "{path}");
        }
        assert!(spells_root("dir/home/user/ws/x", "/home/user/ws"));
        assert!(spells_root("at/home/user/ws:12", "/home/user/ws"));
        assert!(spells_root("file:///srv/my%20project/x", "/srv/my project"));
        assert!(spells_root("/srv/%E3%81%82/x", "/srv/あ"));
    }

    #[cfg(windows)]
    #[test]
    fn a_drive_begins_an_absolute_spelling() {
        for path in [r"C:\Users\me\ws\a", "c:/users/ME/ws", "file:///C:/Users/me/ws/a"] {
            assert!(spells_root(path, r"C:\Users\me\ws"), "{path}");
        }
        assert!(!spells_root(r"D:\Users\me\ws\a", r"C:\Users\me\ws"));
    }

    #[test]
    fn what_lies_beneath_a_root_is_told_by_spelling() {
        let part = |absolute| part_beneath(absolute, "/srv/ws");
        assert_eq!(part("/srv/ws/a/../../b").as_deref(), Some("a/../../b"));
        assert_eq!(part(r"\srv\ws\a").as_deref(), Some("a"));
        assert_eq!(part("/srv/x/../ws//a/").as_deref(), Some("a/"));
        assert_eq!(part("/srv/ws").as_deref(), Some(""));
        assert_eq!(part("/srv/ws2/a"), None);
        assert_eq!(part("/srv"), None);
        assert_eq!(part_beneath(r"/srv/we\ird/a", r"/srv/we\ird").as_deref(), Some("a"));
        assert_eq!(part_beneath("/a", "/").as_deref(), Some("a"));
    }

    #[test]
    fn the_same_names_elsewhere_are_not() {
        for (path, root) in [
            ("packages/tmp/missing.ts", "/tmp"),
            ("tmp/missing.ts", "/tmp"),
            ("src/app/src/x", "/src"),
            ("app/(group)/app/x", "/app"),
            ("../x/tmp/a", "/tmp"),
            ("packages/srv/app/x", "/srv/app"),
            ("home/user/ws/x", "/home/user/ws"),
            ("/tmp2/a", "/tmp"),
            ("/var/tmp/a", "/tmp"),
            ("/anything", "/"),
            ("a%", "/tmp"),
        ] {
            assert!(!spells_root(path, root), "{path} does not spell {root}");
        }
    }
}
