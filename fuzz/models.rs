//! The parsers once more, written from their specifications: slow, short, and unlike the originals.

use regex_automata::meta;
use ringfence::regex::PatternOptions;
use serde_json::Value;

/// What a path parses to: its names, and whether its spelling demands a folder; or the rule it breaks.
pub type Parsed = Result<(Vec<String>, bool), &'static str>;

/// A model's path, character by character.
pub fn workspace_path(text: &str, windows: bool) -> Parsed {
    let characters: Vec<char> = text.chars().collect();
    let is_separator = |at: usize| matches!(characters.get(at), Some('/' | '\\'));
    if characters.iter().all(|character| character.is_whitespace()) {
        return Err("blank");
    }
    if characters.contains(&'\0') {
        return Err("NUL");
    }
    let has_drive =
        characters[0].is_ascii_alphabetic() && characters.get(1) == Some(&':') && is_separator(2);
    let has_share = is_separator(0) && is_separator(1) && characters[..2] != ['/', '/'];
    if has_drive || has_share {
        return Err("drive or share");
    }
    if is_separator(0) {
        return Err("absolute");
    }
    let mut names: Vec<String> = Vec::new();
    let mut name = String::new();
    let mut demands_folder = false;
    for at in 0..=characters.len() {
        if at < characters.len() && !is_separator(at) {
            name.push(characters[at]);
            continue;
        }
        demands_folder = ["", ".", ".."].contains(&name.as_str());
        if name == ".." && names.pop().is_none() {
            return Err("above the root");
        }
        if !demands_folder {
            if windows && !is_windows_name(&name) {
                return Err("Windows");
            }
            names.push(name.clone());
        }
        name.clear();
    }
    Ok((names, demands_folder))
}

fn is_windows_name(name: &str) -> bool {
    let mut devices: Vec<String> =
        ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"].map(str::to_owned).into();
    for port in ["COM", "LPT"] {
        devices.extend("0123456789¹²³".chars().map(|digit| format!("{port}{digit}")));
    }
    let before_dot = name.split('.').next().unwrap_or_default();
    let stem = before_dot.trim_end_matches(' ').to_ascii_uppercase();
    !devices.contains(&stem)
        && !name.ends_with('.')
        && !name.ends_with(' ')
        && name.chars().all(|character| !"<>:\"|?*".contains(character) && character >= ' ')
}

/// Whether a file may be created at a path.
pub fn is_new_file_path(text: &str) -> bool {
    let Ok((names, demands_folder)) = workspace_path(text, cfg!(windows)) else { return false };
    let bytes: usize = names.iter().map(|name| name.len() + 1).sum();
    let forbidden = |character: char| {
        let code = u32::from(character);
        let is_control = code < 0x20 || (0x7F..0xA0).contains(&code);
        let is_bidi = [0x61C, 0x200E, 0x200F].contains(&code) || (0x2028..=0x202E).contains(&code);
        let blanks = [
            0xAD, 0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x200B, 0x2800, 0x3164, 0xFEFF,
            0xFFA0, 0x1D159,
        ];
        let is_format = (0x2060..=0x206F).contains(&code)
            || (0xFFF0..=0xFFFB).contains(&code)
            || (0x1BCA0..=0x1BCA3).contains(&code)
            || (0x1D173..=0x1D17A).contains(&code)
            || (0xE0000..=0xE0FFF).contains(&code) && !(0xE0100..=0xE01EF).contains(&code);
        is_control || is_bidi || is_format || blanks.contains(&code)
    };
    !names.is_empty()
        && !demands_folder
        && !is_drive(&names[0])
        && !is_misspelt(text)
        && names[0] != "~"
        && names.iter().all(|name| name.len() <= 255)
        && bytes <= 4096
        && !text.chars().any(forbidden)
}

fn is_drive(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|letter| letter.is_ascii_alphabetic())
        && characters.next() == Some(':')
}

/// As a URI, in quotes, or with a shell's escapes.
fn is_misspelt(text: &str) -> bool {
    let lowercase = text.to_ascii_lowercase();
    let scheme_end = lowercase
        .find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c)))
        .filter(|&end| end > 1 && lowercase.as_bytes()[0].is_ascii_alphabetic())
        .filter(|&end| lowercase[end..].starts_with(':'));
    let is_uri = scheme_end.is_some_and(|end| {
        &lowercase[..end] == "file"
            || [":/", ":\\"].iter().any(|it| lowercase[end..].starts_with(it))
    });
    let quotes = ["\"\"", "''", "``", "<>", "“”", "‘’"];
    let is_quoted = quotes.iter().any(|pair| {
        let (open, close) = pair.split_at(pair.len() / 2);
        text.len() >= pair.len()
            && text.starts_with(open)
            && text.ends_with(close)
            && text.contains(['/', '\\'])
    });
    let escaped = [" ", ")", "]", "}", "'", "\"", "`", "&", ";"];
    is_uri || is_quoted || escaped.iter().any(|it| text.contains(&format!("\\{it}")))
}

/// A file's text with its line ends made LF, and its lines.
pub fn lines(text: &str) -> (String, Vec<String>) {
    let normalised = text.replace("\r\n", "\n");
    let mut lines: Vec<String> = normalised.split('\n').map(str::to_owned).collect();
    if lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    (normalised, lines)
}

/// The arguments of a request for a document, from a JSON value: a path, and a number of bytes.
pub fn source_request(arguments: &Value) -> Option<(String, Option<u64>)> {
    let empty = serde_json::Map::new();
    let object = match arguments {
        Value::Null => &empty,
        arguments => arguments.as_object()?,
    };
    let path = object.get("path")?.as_str()?;
    if path.trim().is_empty() {
        return None;
    }
    let most = match object.get("maxBytes") {
        None | Some(Value::Null) => None,
        Some(number) => Some(positive_integer(number.as_f64()?, 9_007_199_254_740_991)?),
    };
    Some((path.to_owned(), most))
}

/// The integer that a JavaScript number is, if it is one from 1 to `most`, by its text.
pub fn positive_integer(number: f64, most: u64) -> Option<u64> {
    let text = format!("{number:.0}");
    let integer: u64 = text.parse().ok()?;
    let is_whole = number.fract() == 0.0;
    (is_whole && (1..=most).contains(&integer)).then_some(integer)
}

/// The matches of each line alone that are not empty; `None` if the other engine refuses the pattern,
/// or reads it in another way.
pub fn matches_by_line(
    pattern: &str,
    options: PatternOptions,
    text: &str,
) -> Option<Vec<(usize, usize)>> {
    let pattern = if options.literal { regex_syntax::escape(pattern) } else { pattern.to_owned() };
    let syntax = regex_automata::util::syntax::Config::new()
        .case_insensitive(options.case_insensitive)
        .multi_line(options.line_anchors)
        .dot_matches_new_line(options.dot_matches_line_feed);
    if has_crlf_flag(&pattern) {
        return None;
    }
    let regex = meta::Builder::new().syntax(syntax).build(&pattern).ok()?;
    let (mut start, mut found) = (0, Vec::new());
    for line in text.split('\n') {
        let ranges = regex.find_iter(line).map(|found| found.range());
        let ranges = ranges.filter(|range| !range.is_empty());
        found.extend(ranges.map(|range| (start + range.start, start + range.end)));
        start += line.len() + 1;
    }
    Some(found)
}

/// Whether a pattern has the flag `R`, which the other engine heeds.
fn has_crlf_flag(pattern: &str) -> bool {
    let tree = regex_syntax::ast::parse::Parser::new().parse(pattern);
    pattern.contains('R') && tree.is_ok_and(|tree| format!("{tree:?}").contains("CRLF"))
}

/// Whether a glob without wildcards selects a path; `None` for other globs.
pub fn plain_glob(glob: &str, path: &str, is_folder: bool) -> Option<bool> {
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || "._-/".contains(character);
    if !glob.chars().all(is_plain) || glob.starts_with("./") || path.contains("//") {
        return None;
    }
    let folders_alone = glob.ends_with('/');
    let glob = glob.strip_suffix('/').unwrap_or(glob);
    let matches = match glob.strip_prefix('/') {
        Some(_) => glob.trim_start_matches('/') == path,
        None if glob.contains('/') => glob == path,
        None => path.rsplit('/').next() == Some(glob),
    };
    Some(matches && (is_folder || !folders_alone))
}

/// Whether a name, as a pattern, means itself: it has no character that is special in one.
pub fn is_plain_name(name: &str) -> bool {
    let special = ['*', '?', '[', ']', '{', '}', ',', '\\', '!', '#', ' '];
    !name.contains(special) && !name.contains('\0')
}
