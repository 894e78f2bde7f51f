//! The names in the headers of a unified diff.

/// The names of `--- ` and `+++ `; `None` is `/dev/null`.
pub type Names = (Option<String>, Option<String>);

/// Reads a name that extends to the end of its line, or to a tab.
pub fn name(text: &str) -> Result<String, &'static str> {
    if text.starts_with('"') {
        return quoted(text).map(|(name, _)| name);
    }
    let name = text.split('\t').next().unwrap_or_default().trim_end_matches('\r');
    if name.is_empty() {
        return Err("the path is missing in this line");
    }
    Ok(name.to_owned())
}

/// Whether the time stamp behind a name is the beginning of 1970, in whatever time zone, as
/// `1970-01-01 01:00:00.000000000 +0100`.
pub fn is_of_epoch(line: &str) -> bool {
    let minutes = |hours: &str, minutes: &str| {
        Some(hours.parse::<i32>().ok()? * 60 + minutes.parse::<i32>().ok()?)
    };
    let parse = || {
        let mut parts = line.split('\t').nth(1)?.split_whitespace();
        let (date, time, zone) = (parts.next()?, parts.next()?, parts.next()?);
        let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
        let (hours, rest) = clock.split_once(':')?;
        let zone_minutes = minutes(zone.get(1..3)?, zone.get(3..5)?)?;
        let zone_minutes = if zone.starts_with('-') { -zone_minutes } else { zone_minutes };
        let days = match date {
            "1970-01-01" => 0,
            "1969-12-31" => -1,
            _ => return None,
        };
        let is_whole = fraction.bytes().all(|digit| digit == b'0');
        let since = days * 24 * 60 + minutes(hours, rest.strip_suffix(":00")?)? - zone_minutes;
        Some(is_whole && since == 0)
    };
    parse().unwrap_or(false)
}

/// The names of a `diff --git` line: the same one twice but for prefixes, or quoted.
pub fn names_of_git_line(rest: &str) -> Option<(String, String)> {
    let rest = rest.trim_end_matches('\r');
    let (old, new) = if rest.starts_with('"') {
        let (old, rest) = quoted(rest).ok()?;
        (old, name(rest.strip_prefix(' ')?).ok()?)
    } else if let Some((old, new)) = rest.split_once(" \"").filter(|_| rest.ends_with('"')) {
        (old.to_owned(), quoted(&rest[rest.len() - new.len() - 1..]).ok()?.0)
    } else {
        // Prefixes have the same length, so a space in the middle separates the names.
        let middle = rest.len() / 2;
        let (old, new) = (rest.get(..middle)?, rest.get(middle..)?.strip_prefix(' ')?);
        (old.to_owned(), new.to_owned())
    };
    let is_same = match stripped(&old, &new) {
        Some((old, new)) => old == new,
        None => old == new,
    };
    is_same.then_some((old, new))
}

/// A name in quotes like a string of C, and what stands behind it.
fn quoted(text: &str) -> Result<(String, &str), &'static str> {
    const MALFORMED: &str = "the path in quotes is malformed: it ends with a quote, and has backslashes only in \\\", \
                             \\\\, \\t, \\n and the like, or before three octal digits";
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes().iter().enumerate().skip(1);
    while let Some((at, &byte)) = rest.next() {
        match byte {
            b'"' => {
                let name =
                    String::from_utf8(bytes).map_err(|_| "the path in quotes is not UTF-8")?;
                return if name.is_empty() {
                    Err("the path is missing in this line")
                } else {
                    Ok((name, &text[at + 1..]))
                };
            }
            b'\\' => {
                let (byte, digits) = escaped(&text.as_bytes()[at + 1..]).ok_or(MALFORMED)?;
                bytes.push(byte);
                rest.nth(digits - 1);
            }
            byte => bytes.push(byte),
        }
    }
    Err(MALFORMED)
}

/// The byte of an escape without its backslash, and how many characters it has.
fn escaped(escape: &[u8]) -> Option<(u8, usize)> {
    let byte = match *escape.first()? {
        b'a' => 0x07,
        b'b' => 0x08,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 0x0B,
        b'f' => 0x0C,
        b'r' => b'\r',
        byte @ (b'"' | b'\\') => byte,
        b'0'..=b'3' => {
            let digits = std::str::from_utf8(escape.get(..3)?).ok()?;
            return Some((u8::from_str_radix(digits, 8).ok()?, 3));
        }
        _ => return None,
    };
    Some((byte, 1))
}

/// The spellings of a path, the preferred one first; `None` is `/dev/null`.
pub fn spellings(old: Option<&str>, new: Option<&str>) -> Vec<String> {
    let mut paths: Vec<&str> = Vec::new();
    match (old, new) {
        (Some(old), Some(new)) => {
            let stripped = stripped(old, new);
            if let Some((old, new)) = stripped {
                paths.extend(in_order(old, new));
                paths.extend([old, new]);
            } else {
                paths.extend(in_order(old, new));
            }
            paths.extend([old, new]);
        }
        (Some(old), None) => paths.extend([strip("a/", old).unwrap_or(old), old]),
        (None, Some(new)) => paths.extend([strip("b/", new).unwrap_or(new), new]),
        (None, None) => {}
    }
    let mut kept: Vec<String> = Vec::new();
    for path in paths {
        if !kept.iter().any(|it| it == path) {
            kept.push(path.to_owned());
        }
    }
    kept
}

/// Of `x` and `x.orig`, `x` comes first; of two names of which none is the other's beginning, the old one.
fn in_order<'name>(old: &'name str, new: &'name str) -> [&'name str; 2] {
    if old.starts_with(new) { [new, old] } else { [old, new] }
}

/// The names without the prefixes that they have as a pair.
fn stripped<'name>(old: &'name str, new: &'name str) -> Option<(&'name str, &'name str)> {
    if let (Some(old), Some(new)) = (strip("a/", old), strip("b/", new)) {
        return Some((old, new));
    }
    let (first, second) = (old.get(..2)?, new.get(..2)?);
    let is_pair = ["b/a/", "1/2/", "2/1/"].contains(&&*format!("{first}{second}"))
        || first != second
            && [first, second].iter().all(|it| ["i/", "w/", "c/", "o/"].contains(it));
    (is_pair && old.len() > 2 && old[2..] == new[2..]).then(|| (&old[2..], &new[2..]))
}

fn strip<'name>(prefix: &str, name: &'name str) -> Option<&'name str> {
    name.strip_prefix(prefix).filter(|rest| !rest.is_empty())
}
