//! Prints a parsed patch, for tests: what is printed is parsed to the same sections.

#![allow(clippy::format_collect, clippy::format_push_string, reason = "tests need no speed")]

use super::patch::{FileChange, Hunk, HunkLine, LineKind, Section, Stated};

/// Sections as a V4A patch.
#[must_use]
pub fn v4a(sections: &[Section<'_>]) -> String {
    let mut text = "*** Begin Patch\n".to_owned();
    for section in sections {
        // A path may end in ` ***` itself, so there is always one to peel off.
        let path = &section.paths[0];
        match &section.change {
            FileChange::Add { lines, .. } => {
                text += &format!("*** Add File: {path} ***\n");
                text += &body(lines);
            }
            FileChange::Delete { .. } => text += &format!("*** Delete File: {path} ***\n"),
            FileChange::Update { hunks, to, .. } => {
                text += &format!("*** Update File: {path} ***\n");
                if let Some(to) = to {
                    text += &format!("*** Move to: {to} ***\n");
                }
                text.extend(hunks.iter().map(v4a_hunk));
            }
        }
    }
    text + "*** End Patch\n"
}

fn v4a_hunk(hunk: &Hunk<'_>) -> String {
    let mut text = String::new();
    if hunk.narrowing.is_empty() {
        text += "@@\n";
    }
    for narrowing in &hunk.narrowing {
        // The text may look like numbers itself, so there are always some to ignore.
        text += &format!("@@ -1 +1 @@ {}\n", narrowing.text);
    }
    text += &body(&hunk.lines);
    text + if hunk.is_at_end { "*** End of File\n" } else { "" }
}

/// Sections as a unified diff, of git or a plain one.
#[must_use]
pub fn unified(sections: &[Section<'_>], is_git: bool) -> String {
    sections.iter().map(|section| unified_section(section, is_git)).collect()
}

fn unified_section(section: &Section<'_>, is_git: bool) -> String {
    let path = &section.paths[0];
    let (mut old, mut new) = (quoted("a/", path), quoted("b/", path));
    let mut headers = format!("diff --git {old} {new}\n");
    let mode = |is_executable| if is_executable { "100755" } else { "100644" };
    let hunks: String = match &section.change {
        FileChange::Add { lines, is_executable } => {
            headers += &format!("new file mode {}\n", mode(*is_executable));
            "/dev/null".clone_into(&mut old);
            whole("@@ -0,0 +1 @@\n", lines)
        }
        FileChange::Delete { content } => {
            headers += "deleted file mode 100644\n";
            "/dev/null".clone_into(&mut new);
            whole("@@ -1 +0,0 @@\n", content.as_deref().unwrap_or_default())
        }
        FileChange::Update { hunks, to, executable } => {
            if let Some(to) = to {
                headers +=
                    &format!("rename from {}\nrename to {}\n", quoted("", path), quoted("", to));
            }
            let (before, after) = executable.map_or((false, false), |it| (!it, it));
            headers += &format!("old mode {}\nnew mode {}\n", mode(before), mode(after));
            hunks.iter().map(unified_hunk).collect()
        }
    };
    let headers = if is_git { headers } else { String::new() };
    let pair = format!("--- {old}\n+++ {new}\n");
    let pair = if hunks.is_empty() { String::new() } else { pair };
    headers + &pair + &hunks
}

fn whole(header: &str, lines: &[HunkLine<'_>]) -> String {
    if lines.is_empty() { String::new() } else { header.to_owned() + &body(lines) }
}

fn unified_hunk(hunk: &Hunk<'_>) -> String {
    let body = body(&hunk.lines);
    let Some(Stated { old_start, new_start, .. }) = hunk.stated else {
        // The empty line keeps two last lines that look like a header from being one.
        return format!("@@\n{body}\n");
    };
    let (old, new) = (without(LineKind::Added, hunk), without(LineKind::Removed, hunk));
    format!("@@ -{old_start},{old} +{new_start},{new} @@\n{body}")
}

fn without(kind: LineKind, hunk: &Hunk<'_>) -> u64 {
    hunk.lines.iter().filter(|line| line.kind != kind).count() as u64
}

fn body(lines: &[HunkLine<'_>]) -> String {
    let printed = lines.iter().map(|line| {
        let sign = match line.kind {
            LineKind::Context => ' ',
            LineKind::Removed => '-',
            LineKind::Added => '+',
        };
        let end = if line.has_no_end { "\n\\ No newline at end of file\n" } else { "\n" };
        format!("{sign}{}{end}", line.text)
    });
    printed.collect()
}

fn quoted(prefix: &str, path: &str) -> String {
    let escaped = path.bytes().map(|byte| match byte {
        b'"' => "\\\"".to_owned(),
        b'\\' => "\\\\".to_owned(),
        b'\t' => "\\t".to_owned(),
        b' '..=b'~' => char::from(byte).to_string(),
        other => format!("\\{other:03o}"),
    });
    format!("\"{prefix}{}\"", escaped.collect::<String>())
}

/// Sections without what is lost in print: numbers of lines, further spellings, and counts that the hunks belie.
#[must_use]
pub fn comparable(mut sections: Vec<Section<'_>>) -> Vec<Section<'_>> {
    for section in &mut sections {
        section.line = 0;
        section.paths.truncate(1);
        match &mut section.change {
            FileChange::Add { lines, .. } | FileChange::Delete { content: Some(lines) } => {
                without_numbers(lines);
            }
            FileChange::Delete { content: None } => {}
            FileChange::Update { hunks, .. } => {
                for hunk in hunks {
                    hunk.line = 0;
                    let old_count = without(LineKind::Added, hunk);
                    hunk.stated = hunk.stated.map(|stated| Stated { old_count, ..stated });
                    for narrowing in &mut hunk.narrowing {
                        narrowing.line = 0;
                    }
                    without_numbers(&mut hunk.lines);
                }
            }
        }
    }
    sections
}

fn without_numbers(lines: &mut [HunkLine<'_>]) {
    for line in lines {
        line.line = 0;
    }
}

/// The numbers of all lines that the sections name, in the order of the text.
#[must_use]
pub fn numbers(sections: &[Section<'_>]) -> Vec<u64> {
    let of = |lines: &[HunkLine<'_>]| lines.iter().map(|line| line.line).collect::<Vec<_>>();
    let mut numbers = Vec::new();
    for section in sections {
        numbers.push(section.line);
        match &section.change {
            FileChange::Add { lines, .. } => numbers.extend(of(lines)),
            FileChange::Delete { content } => {
                numbers.extend(content.iter().flat_map(|lines| of(lines)));
            }
            FileChange::Update { hunks, .. } => {
                for hunk in hunks {
                    numbers.extend(hunk.narrowing.iter().map(|narrowing| narrowing.line));
                    numbers.extend(of(&hunk.lines));
                }
            }
        }
    }
    numbers
}
