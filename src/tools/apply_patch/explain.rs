//! The failure of a hunk that has no place: what differs, where, and what to do.

mod gap;

use std::ops::Range;

use self::gap::Gap;
use super::file_lines::{FileLines, Grade, Pattern};
use super::locate::Misfit;
use super::patch::{Hunk, HunkLine, LineKind};
use crate::tools::edit_file::closest::{self, Closest, Difference, LINE_FOLDINGS};
use crate::tools::edit_file::explain::{difference_at, in_words, way_out_of};
use crate::tools::edit_file::fold::{unescaped, without_line_numbers};
use crate::tools::failure::{Detail, ErrorCode, Failure};

/// A longer line of the file is not quoted in a message.
const MAX_QUOTED_BYTES: usize = 200;

/// The first line of a hunk that differs from the closest lines of the file.
struct FirstDifference<'call> {
    wanted: &'call HunkLine<'call>,
    /// The line in the file, from 1.
    line: u64,
    /// Its text; `None` if the file ends before.
    found: Option<&'call str>,
}

/// The failure of the hunk with an index.
pub fn failure_of_misfit(
    file: &FileLines<'_>,
    hunks: &[Hunk<'_>],
    index: usize,
    misfit: &Misfit,
) -> Failure {
    let hunk = &hunks[index];
    match misfit {
        Misfit::Cancelled => Failure::cancelled(),
        Misfit::TooCostly => {
            let sentence = format!(
                "the hunk on line {} of the patch may stand in too many places of the file, which has the same few \
                 lines over and over: give hunks with lines that occur less often",
                hunk.line
            );
            Failure::new(ErrorCode::SizeLimitExceeded, sentence)
        }
        Misfit::Ambiguous { lines } => ambiguous(index, hunk, lines),
        Misfit::BeyondFile { lines } => {
            let sentence = format!(
                "the hunk on line {} of the patch only adds lines, at a line that the file does not have, which has \
                 {lines} lines: begin the hunk with an unchanged line of the file, sent with a space before it",
                hunk.line
            );
            failure_of(ErrorCode::HunkAmbiguous, sentence, index, hunk.line)
                .with("lines", Detail::Numbers(Vec::new()))
        }
        Misfit::NotFound => not_found(file, index, hunk),
        Misfit::NoSuchLine { narrowing } => no_such_line(file, index, hunk, *narrowing),
        Misfit::BeforeNarrowing { line } => before_narrowing(file, index, hunk, *line),
        Misfit::OutOfOrder => stands_elsewhere(
            file,
            index,
            hunk,
            "but before the place of the previous hunk: give the hunks in the order of the file",
        ),
        Misfit::NotAtEnd => stands_elsewhere(
            file,
            index,
            hunk,
            "but not as the patch says at the end of the file: the marker `*** End of File` or `\\ No newline at end \
             of file` is wrong, or lines are missing after them",
        ),
        Misfit::Overlaps { other } => {
            let rule = format!(
                "but the hunk on line {} of the patch changes the same lines: make one hunk of the two",
                hunks[*other].line
            );
            stands_elsewhere(file, index, hunk, &rule)
        }
    }
}

/// A failure of the hunk with an index. `line` is the line of the patch that is at fault.
fn failure_of(code: ErrorCode, sentence: String, index: usize, line: u64) -> Failure {
    Failure::new(code, sentence)
        .with("hunk", Detail::Number(index as u64))
        .with("patch_line", Detail::Number(line))
}

fn ambiguous(index: usize, hunk: &Hunk<'_>, lines: &[u64]) -> Failure {
    let sentence = if lines.is_empty() {
        format!(
            "the hunk on line {} of the patch only adds lines and does not say where: begin it with an unchanged line \
             of the file, sent with a space before it",
            hunk.line
        )
    } else {
        let told: Vec<_> = lines.iter().map(u64::to_string).collect();
        // The text behind the numbers of a unified diff names no line.
        let other_way = match hunk.stated {
            Some(_) => "correct the line number behind `@@ -`",
            None => "in a V4A patch put an @@ line before it that names a line above it",
        };
        format!(
            "the hunk on line {} of the patch fits several places, at the lines {}: add unchanged lines around the \
             change, or {other_way}",
            hunk.line,
            told.join(", ")
        )
    };
    failure_of(ErrorCode::HunkAmbiguous, sentence, index, hunk.line)
        .with("lines", Detail::Numbers(lines.to_vec()))
}

fn not_found(file: &FileLines<'_>, index: usize, hunk: &Hunk<'_>) -> Failure {
    let old: Vec<_> = hunk.old_lines().copied().collect();
    let subject = format!("the hunk on line {} of the patch does not match the file", hunk.line);
    let applied = already_applied(file, hunk);
    if applied.is_none()
        && let Some(gap) = Gap::in_hunk(file, &old)
    {
        return gap.failure(file, (index, hunk.line), &old, &subject);
    }
    let closest = applied
        .or_else(|| closest_where_stated(file, hunk, &old))
        .or_else(|| closest_behind_narrowing(file, hunk, &old))
        .or_else(|| closest_to(file, &old));
    mismatch(file, (index, hunk.line), &old, &subject, closest)
}

/// The lines at the stated place, if more than half of them are right.
fn closest_where_stated(
    file: &FileLines<'_>,
    hunk: &Hunk<'_>,
    old: &[HunkLine<'_>],
) -> Option<Closest> {
    let start = usize::try_from(hunk.stated?.old_start).ok()?.checked_sub(1)?;
    let end = start.checked_add(old.len()).filter(|&end| end <= file.count())?;
    let right = old.iter().zip(start..).filter(|(line, at)| line.text == file.line(*at)).count();
    if right * 2 <= old.len() {
        return None;
    }
    closest_within(file, start..end, old)
        .or_else(|| Some(lines_at(file, start, old.len(), Difference::Other)))
}

/// The closest lines behind the line that the last `@@` names.
fn closest_behind_narrowing(
    file: &FileLines<'_>,
    hunk: &Hunk<'_>,
    old: &[HunkLine<'_>],
) -> Option<Closest> {
    let from = narrowed_line(file, hunk)?;
    closest_within(file, from..file.count(), old)
}

/// The line behind the one that the last `@@` names; `None` without any.
fn narrowed_line(file: &FileLines<'_>, hunk: &Hunk<'_>) -> Option<usize> {
    hunk.narrowing.iter().fold(None, |from: Option<usize>, named| {
        let mut lines = from.unwrap_or(0)..file.count();
        let line = lines.find(|&line| file.line(line).trim() == named.text.trim());
        line.map(|line| line + 1).or(from)
    })
}

fn closest_within(
    file: &FileLines<'_>,
    lines: Range<usize>,
    old: &[HunkLine<'_>],
) -> Option<Closest> {
    let before = lines.start as u64;
    let closest = closest_to(&file.part(lines), old)?;
    let (start_line, end_line) = (closest.start_line + before, closest.end_line + before);
    Some(Closest { start_line, end_line, ..closest })
}

/// The failure of a hunk whose lines stand in the file, but not behind the line that its `@@` names, or only where an
/// earlier hunk changes them. `narrowed` is the line behind the named one.
fn before_narrowing(
    file: &FileLines<'_>,
    index: usize,
    hunk: &Hunk<'_>,
    narrowed: usize,
) -> Failure {
    let Some(lines) = lines_of_hunk(file, hunk) else { return not_found(file, index, hunk) };
    if lines.start >= narrowed {
        let rule = "but an earlier hunk changes them: make one hunk of the two";
        return stands_elsewhere(file, index, hunk, rule);
    }
    // Without the text, the hunk could go to yet another place.
    let way_out =
        if lines.start == 0 { "leave the text of the @@ out" } else { "name a line above it" };
    let subject = format!(
        "the lines of the hunk on line {} of the patch do not stand behind the line that its @@ names (they do stand \
         before it, at line {}: to change that place, {way_out})",
        hunk.line,
        lines.start + 1
    );
    let old: Vec<_> = hunk.old_lines().copied().collect();
    match closest_within(file, narrowed..file.count(), &old) {
        None => failure_at(file, lines, subject, (index, hunk.line)),
        closest => mismatch(file, (index, hunk.line), &old, &subject, closest),
    }
}

fn no_such_line(file: &FileLines<'_>, index: usize, hunk: &Hunk<'_>, narrowing: usize) -> Failure {
    let named = hunk.narrowing[narrowing];
    let wanted =
        HunkLine { line: named.line, kind: LineKind::Context, text: named.text, has_no_end: false };
    let at = (index, named.line);
    if let Some(place) = first_place(file, Grade::Exact, &[wanted]) {
        let sentence = format!(
            "the line that the @@ on line {} of the patch names stands in the file only before the place of the \
             previous hunk or @@, at line {}: give the hunks in the order of the file, or leave the text of this @@ out",
            named.line,
            place + 1
        );
        return failure_at(file, place..place + 1, sentence, at);
    }
    let subject = format!(
        "the line that the @@ on line {} of the patch names does not stand in the file; an @@ names one whole line",
        named.line
    );
    if let Some(line) = line_with(file, named.text.trim()) {
        let sentence = format!("{subject}, and line {} is longer{}", line + 1, quoted(file, line));
        return failure_at(file, line..line + 1, sentence, at);
    }
    let closest = closest_to(file, &[wanted]);
    // Blanks around the line do not matter, so the first difference in the line says nothing.
    let other = closest.as_ref().filter(|closest| closest.difference == Difference::Other);
    if let Some(line) = other.and_then(|closest| usize::try_from(closest.start_line - 1).ok()) {
        let sentence = format!("{subject}; line {} is the closest{}", line + 1, quoted(file, line));
        return failure_at(file, line..line + 1, sentence, at);
    }
    if let (None, Some(lines)) = (&closest, lines_of_hunk(file, hunk)) {
        let sentence = format!(
            "{subject}; the hunk's own lines do, first at line {}: leave the text of the @@ out, or name a line above \
             the place that you mean",
            lines.start + 1
        );
        return failure_at(file, lines, sentence, at);
    }
    mismatch(file, at, &[wanted], &subject, closest)
}

/// The first line that has a text in it. A text of one or two letters is in many lines.
fn line_with(file: &FileLines<'_>, text: &str) -> Option<usize> {
    let mut lines = 0..file.count();
    if text.len() < 3 { None } else { lines.find(|&line| file.line(line).contains(text)) }
}

/// A line of the file behind a colon, if it is short enough for a message.
fn quoted(file: &FileLines<'_>, line: usize) -> String {
    let line = file.line(line).trim();
    if line.len() > MAX_QUOTED_BYTES { String::new() } else { format!(": `{line}`") }
}

/// The failure of a hunk, with these lines of the file as the closest. They are as the patch has them, or differ in what
/// the sentence says.
fn failure_at(
    file: &FileLines<'_>,
    lines: Range<usize>,
    sentence: String,
    (index, patch_line): (usize, u64),
) -> Failure {
    let closest = lines_at(file, lines.start, lines.len(), Difference::Other);
    failure_of(ErrorCode::HunkNotFound, sentence, index, patch_line)
        .with("closest", closest_detail(closest, None))
}

/// The failure of a hunk whose lines do stand in the file.
fn stands_elsewhere(file: &FileLines<'_>, index: usize, hunk: &Hunk<'_>, rule: &str) -> Failure {
    let sentence = format!(
        "the lines of the hunk on line {} of the patch stand in the file, {rule}",
        hunk.line
    );
    match lines_of_hunk(file, hunk) {
        Some(lines) => failure_at(file, lines, sentence, (index, hunk.line)),
        None => failure_of(ErrorCode::HunkNotFound, sentence, index, hunk.line)
            .with("closest", Detail::Null),
    }
}

/// The failure of the removal of a file that holds more or fewer lines than the patch removes.
pub fn holds_other_lines(file: &FileLines<'_>, hunk: &Hunk<'_>) -> Failure {
    let old: Vec<_> = hunk.old_lines().copied().collect();
    let closest = lines_at(file, 0, file.count(), Difference::Other);
    let subject = format!(
        "the patch deletes the file, which has {} lines, but removes {} lines of it: remove them all, or change the \
         file instead",
        file.count(),
        old.len()
    );
    let first = first_difference(file, &closest, &old);
    let detail = closest_detail(closest, first.as_ref());
    failure_of(ErrorCode::HunkNotFound, subject, 0, hunk.line).with("closest", detail)
}

fn mismatch(
    file: &FileLines<'_>,
    (index, patch_line): (usize, u64),
    old: &[HunkLine<'_>],
    subject: &str,
    closest: Option<Closest>,
) -> Failure {
    let (hint, detail) = match closest {
        None => {
            let hint =
                "no lines are like it: read the file, and copy the lines from there".to_owned();
            (hint, Detail::Null)
        }
        Some(closest) => {
            let first = first_difference(file, &closest, old);
            let hint = hint_of(&closest, first.as_ref());
            (hint, closest_detail(closest, first.as_ref()))
        }
    };
    let left_out = old.iter().find(|line| is_ellipsis(line.text));
    let advice = left_out.map_or_else(String::new, |line| {
        format!(
            "; line {} of the patch seems to stand for lines that are left out, which a hunk cannot do: give all its \
             lines, or make two hunks",
            line.line
        )
    });
    let sentence = format!("{subject}; {hint}{advice}");
    failure_of(ErrorCode::HunkNotFound, sentence, index, patch_line).with("closest", detail)
}

fn hint_of(closest: &Closest, first: Option<&FirstDifference<'_>>) -> String {
    let lines = line_range(closest.start_line, closest.end_line);
    let is_one = closest.start_line == closest.end_line;
    let (are, agree) = if is_one { ("is", "matches") } else { ("are", "match") };
    let place = first.map_or_else(String::new, |first| format!(": {}", first.in_words()));
    match closest.difference {
        Difference::AlreadyApplied => format!(
            "the file already has the hunk's new lines, at {lines}, so this patch may have been applied before: read the \
             file"
        ),
        Difference::LineNumbers => format!(
            "its lines begin with line numbers, which are not in the file: leave them out, and {lines} {agree}"
        ),
        Difference::Escapes => format!(
            "{lines} {agree} if \\t, \\\" and \\\\ stand for the characters: send the characters as the file has them"
        ),
        Difference::Other => format!("{lines} {are} the closest{place}"),
        difference => {
            let (reason, way_out) = (in_words(difference), way_out_of(difference));
            format!("{lines} {agree} but for {reason}{place}{way_out}")
        }
    }
}

/// `line 3`, or `lines 3 to 5`.
fn line_range(first: u64, last: u64) -> String {
    if first == last { format!("line {first}") } else { format!("lines {first} to {last}") }
}

/// Whether a line says that lines are left out, as `...` and `// ... existing code ...` do.
fn is_ellipsis(line: &str) -> bool {
    let is_mark = |char: char| char.is_whitespace() || "/#*-<!;%({[".contains(char);
    let text = line.trim_start_matches(is_mark);
    text.starts_with("...") || text.starts_with('…')
}

impl FirstDifference<'_> {
    fn in_words(&self) -> String {
        let sent = format!("line {} of the patch", self.wanted.line);
        let Some(found) = self.found else {
            return format!("the file ends before {sent}");
        };
        let pairs = found.chars().zip(self.wanted.text.chars());
        let same =
            pairs.take_while(|(one, other)| one == other).map(|(one, _)| one.len_utf8()).sum();
        difference_at(self.line, found, same, &self.wanted.text[same..], &sent)
    }

    fn detail(&self) -> Detail {
        Detail::Object(vec![
            ("patch_line", Detail::Number(self.wanted.line)),
            ("line", Detail::Number(self.line)),
            ("expected", Detail::Text(self.wanted.text.to_owned())),
            ("found", self.found.map_or(Detail::Null, |found| Detail::Text(found.to_owned()))),
        ])
    }
}

fn closest_detail(closest: Closest, first: Option<&FirstDifference<'_>>) -> Detail {
    Detail::Object(vec![
        ("start_line", Detail::Number(closest.start_line)),
        ("end_line", Detail::Number(closest.end_line)),
        ("text", Detail::Text(closest.text)),
        ("difference", Detail::Text(closest.difference.as_str().to_owned())),
        ("first_difference", first.map_or(Detail::Null, FirstDifference::detail)),
    ])
}

fn first_difference<'call>(
    file: &'call FileLines<'_>,
    closest: &Closest,
    old: &'call [HunkLine<'call>],
) -> Option<FirstDifference<'call>> {
    old.iter().zip(closest.start_line..).find_map(|(wanted, line)| {
        let index = usize::try_from(line - 1).ok()?;
        let found = (index < file.count()).then(|| file.line(index));
        (found != Some(wanted.text)).then_some(FirstDifference { wanted, line, found })
    })
}

/// The place where the new lines of a hunk stand, as if it had been applied before: where it is stated, or the only
/// one.
fn already_applied(file: &FileLines<'_>, hunk: &Hunk<'_>) -> Option<Closest> {
    let new: Vec<_> =
        hunk.lines.iter().filter(|line| line.kind != LineKind::Removed).copied().collect();
    let pattern = pattern_of(file, Grade::Exact, &new)?;
    let stated =
        hunk.stated.and_then(|stated| usize::try_from(stated.new_start).ok()?.checked_sub(1));
    let start = match stated.filter(|&start| pattern.is_at(start)) {
        Some(start) => start,
        None => only(pattern.candidates(0).filter(|&start| pattern.is_at(start)))?,
    };
    Some(lines_at(file, start, new.len(), Difference::AlreadyApplied))
}

fn only(mut places: impl Iterator<Item = usize>) -> Option<usize> {
    let first = places.next()?;
    places.next().is_none().then_some(first)
}

fn pattern_of<'file>(
    file: &'file FileLines<'_>,
    grade: Grade,
    lines: &[HunkLine<'_>],
) -> Option<Pattern<'file>> {
    if lines.is_empty() {
        return None;
    }
    Pattern::of(file, grade, lines.iter().map(|line| line.text))
}

fn first_place(file: &FileLines<'_>, grade: Grade, lines: &[HunkLine<'_>]) -> Option<usize> {
    let pattern = pattern_of(file, grade, lines)?;
    pattern.candidates(0).find(|&start| pattern.is_at(start))
}

/// The lines of the file that are a hunk's, at their first place, by the strictest grade that finds them.
fn lines_of_hunk(file: &FileLines<'_>, hunk: &Hunk<'_>) -> Option<Range<usize>> {
    let old: Vec<_> = hunk.old_lines().copied().collect();
    let start = Grade::ALL.into_iter().find_map(|grade| first_place(file, grade, &old))?;
    Some(start..start + old.len())
}

fn lines_at(file: &FileLines<'_>, start: usize, count: usize, difference: Difference) -> Closest {
    closest::of_lines(&file.view(), start..start + count, difference)
}

/// The lines of the file that a hunk may have meant. Nothing here is ever applied.
fn closest_to(file: &FileLines<'_>, old: &[HunkLine<'_>]) -> Option<Closest> {
    let wanted: Vec<_> = old.iter().map(|line| line.text).collect();
    let joined = wanted.join("\n");
    let at = |start, difference| Some(lines_at(file, start, old.len(), difference));
    // What keeps the hunk from these lines is no difference.
    if let Some(start) = first_place(file, Grade::Exact, old) {
        return at(start, Difference::Other);
    }
    for plain in without_line_numbers(&joined) {
        let pattern = Pattern::of(file, Grade::Exact, plain.split('\n'));
        let place =
            pattern.and_then(|pattern| pattern.candidates(0).find(|&start| pattern.is_at(start)));
        if let Some(start) = place.filter(|_| !plain.trim().is_empty()) {
            return at(start, Difference::LineNumbers);
        }
    }
    let plain: Vec<_> = wanted.iter().map(|line| unescaped(line).text).collect();
    let pattern = Pattern::of(file, Grade::Exact, plain.iter().map(|line| &**line));
    let place = pattern
        .and_then(|pattern| only(pattern.candidates(0).filter(|&start| pattern.is_at(start))));
    if let Some(start) = place {
        return at(start, Difference::Escapes);
    }
    let view = file.view();
    for (folding, difference) in LINE_FOLDINGS {
        if !folding.can_differ(&view, &joined) || joined.trim().is_empty() {
            continue;
        }
        let folded = format!("\n{}", folding.of_file(&view));
        let wanted = format!("\n{}\n", folding.of_part(&joined));
        if let Some(found) = memchr::memmem::find(folded.as_bytes(), wanted.as_bytes()) {
            let start = crate::text::lines_ended(&folded.as_bytes()[..found]);
            return at(usize::try_from(start).unwrap_or(usize::MAX), difference);
        }
    }
    let lines = closest::most_alike(&view, &joined)?;
    Some(closest::of_lines(&view, lines, Difference::Other))
}
